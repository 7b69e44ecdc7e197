// SPDX-License-Identifier: Apache-2.0
#pragma once
// RmMemory: an RM that knows what it has: a workload whose asks are placed, as many on each node. It makes the requests
// of a replay one by one, as an RM would that translates objects of its own.

#include <cstdint>
#include <functional>
#include <string>

#include "libcore/base/result.h"
#include "protocol/si/messages.h"
#include "protocol/si/recovery_messages.h"
#include "protocol/wire/encoded_request.h"
#include "tests/bench/workloads/workload.h"

namespace yk::bench {

class RmMemory {
public:
    using Send = std::function<Result<void>(const wire::EncodedRequest& request)>;

    /// The workload has to outlive it.
    RmMemory(const Workload& workload, std::string rm_id);

    /// The registration, without a recovery.
    [[nodiscard]] si::RegisterResourceManagerRequest registration() const;
    /// Sends applications, then nodes with what is placed on them.
    [[nodiscard]] Result<void> replay(const Send& send) const;
    /// What ends a recovery.
    [[nodiscard]] const si::RecoveryDoneRequest& claim() const { return claim_; }
    /// An ask that it does not have.
    [[nodiscard]] si::AllocationRequest new_ask() const;

private:
    [[nodiscard]] si::NodeInfo node(std::size_t index) const;
    [[nodiscard]] si::Allocation allocation(std::size_t index) const;
    [[nodiscard]] std::size_t per_node() const { return workload_.asks.size() / workload_.nodes.size(); }

    const Workload& workload_;
    const std::string rm_id_;
    si::RecoveryDoneRequest claim_;
};

} // namespace yk::bench
