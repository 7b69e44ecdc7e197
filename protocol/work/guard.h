// SPDX-License-Identifier: Apache-2.0
#pragma once
// Guard: a small process that ends the process groups of commands when the process that started them is gone, however
// it ended. It waits for the other end of a socket to be closed and does nothing else; signals of a terminal do not
// reach it.

#include <sys/types.h>

#include <cstddef>
#include <set>

#include "libcore/base/result.h"
#include "protocol/posix/descriptor.h"

namespace yk::work {

/// Owner: Commands. Thread: one.
class Guard {
public:
    /// `most`: how many groups there are at once at most.
    [[nodiscard]] static Result<Guard> start(std::size_t most);
    /// Ends the guard, and the groups that were not removed.
    ~Guard();
    Guard(Guard&& other) noexcept;
    Guard& operator=(Guard&&) = delete;
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    /// An error: a guard that somebody ended could not be started again.
    [[nodiscard]] Result<void> add(pid_t group);
    /// To be called before the leader of the group is reaped, after which its number may be that of another one.
    void remove(pid_t group);
    [[nodiscard]] pid_t pid() const { return pid_; }

private:
    explicit Guard(std::size_t most) : most_(most) {}
    [[nodiscard]] Result<void> begin();
    [[nodiscard]] bool send(pid_t number) const;
    void end();

    std::size_t most_ = 0;
    std::set<pid_t> groups_; // for a guard that takes the place of this one
    pid_t pid_ = -1;
    Descriptor channel_;
};

} // namespace yk::work
