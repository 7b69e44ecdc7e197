// SPDX-License-Identifier: Apache-2.0
#pragma once
// OwnerTask: something to be done on the owner thread of an RM, as it waits in the mailbox.

#include <cstdint>
#include <memory>
#include <optional>

namespace yk {

class RmOwner;

/// Either run() or gone() is called, once. Thread: run() the owner thread, the rest any.
class OwnerTask {
public:
    virtual ~OwnerTask() = default;
    virtual void run(RmOwner& owner) = 0;
    /// The owner was closed before the task's turn came. `accepted`: the task was in the mailbox with a position, not
    /// waiting in line for one.
    virtual void gone(bool accepted) = 0;
    /// What the task is, for the message when the process ends by an exception (AtWork): a literal.
    [[nodiscard]] virtual const char* what() const { return "a question"; }
    /// A task that waited in line was accepted at `position`, or (nullopt) waited beyond its deadline.
    virtual void settled(std::optional<std::uint64_t> /*position*/) {}
};
using OwnerTaskPtr = std::unique_ptr<OwnerTask>;

} // namespace yk
