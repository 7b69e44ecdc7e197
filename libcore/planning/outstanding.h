// SPDX-License-Identifier: Apache-2.0
#pragma once
// OutstandingAsks: pending asks that could run if the cluster were larger: they fit the limits of their queues and
// users, but no node (S-520, S-521). An autoscaler is notified of them.
//
// Reads the partition, changes nothing. Thread: the partition's owner. Cost: all applications, and
// all asks of those that have one that was tried in vain and not reported before.

#include <unordered_map>
#include <vector>

#include "libcore/state/partition_state.h"

namespace yk {

class OutstandingAsks {
public:
    explicit OutstandingAsks(const PartitionState& state) : state_(state) {}

    /// Those not reported before, in the order of the walk. Call it once. REQUIRES: the indexes are up to date.
    [[nodiscard]] std::vector<AllocationId> find();

private:
    /// The headroom of the queues below the root and of the application's user and group: without the cluster's size.
    [[nodiscard]] Limit headroom_for(const Application& application) const;
    void visit(const Queue& queue);
    void visit(const Application& application);
    void report(AllocationId ask);

    const PartitionState& state_;
    std::vector<AllocationId> found_;
    std::unordered_map<const Queue*, Resource> promised_; // sizes of the asks in found_, by queue
};

} // namespace yk
