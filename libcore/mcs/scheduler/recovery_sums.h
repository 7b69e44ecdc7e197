// SPDX-License-Identifier: Apache-2.0
#pragma once
// RecoverySums: the port to the sums by which a resource manager and the core compare what they have at the end of a
// recovery (interface.md 3.4), so that libcore/mcs needs nothing of the interface.

#include <functional>
#include <memory>
#include <string_view>

#include "libcore/mcs/node.h"
#include "libcore/mcs/replicas/core_requests.h"

namespace yk::mcs {

/// One comparison. Owner: Scheduler. Thread: its owner's.
class RecoverySums {
public:
    virtual ~RecoverySums() = default;
    virtual void add(const Node& node) = 0;
    virtual void add_application(std::string_view partition, std::string_view application_id) = 0;
    virtual void add(const AskReplica& placed, std::string_view node_id) = 0;
    [[nodiscard]] virtual EndRecovery result(std::uint32_t attempt) const = 0;
};
using MakeRecoverySums = std::function<std::unique_ptr<RecoverySums>()>;

} // namespace yk::mcs
