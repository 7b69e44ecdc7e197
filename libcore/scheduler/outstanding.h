#pragma once
// Which pending asks could run if the cluster were larger (S-520, S-521): they fit their queues and users, only no
// node.
//
// Reads the partition, changes nothing. Thread: the partition's owner. Cost: what is not reported yet, and for an
// application that has such an ask all of its asks that fit.

#include <unordered_map>
#include <vector>

#include "libcore/scheduler/partition_state.h"

namespace yk {

class OutstandingAsks {
public:
    explicit OutstandingAsks(const PartitionState& state) : s_(state) {}

    /// Those not reported before, in the order of the walk. REQUIRES: the orders are refreshed.
    [[nodiscard]] std::vector<AllocationId> find();

private:
    /// What the queues and the application's users leave, without the size of the cluster.
    [[nodiscard]] Limit room_for(const Application& application) const;
    void visit(const Queue& queue);
    void visit(const Application& application);
    void report(AllocationId ask);

    const PartitionState& s_;
    std::vector<AllocationId> found_;
    std::unordered_map<const Queue*, Resource> promised_; // what was newly reported, by queue
};

} // namespace yk
