// SPDX-License-Identifier: Apache-2.0
#pragma once
// SchedulingIndexes: keeps every index of a partition in step with the objects. A change only marks objects as dirty;
// refresh() then files each of them once, from nodes and groups up to the root, and lifts the blocks that may no longer
// hold.
//
// Owner: PartitionContext. Thread: the partition's owner. Cost of marking: O(1). Cost of refresh(): the dirty objects,
// times the logarithm of their siblings; after rebuild_queues() all queues.

#include <vector>

#include "libcore/state/partition_state.h"
#include "libcore/state/victim_index.h"

namespace yk {

class SchedulingIndexes {
public:
    SchedulingIndexes(PartitionState& state, VictimIndex& victims) : state_(state), victims_(victims) {}

    void mark_dirty(GroupId id) noexcept;
    void mark_dirty(ApplicationId id) noexcept;
    /// `grew`: the headroom of the queue may have grown.
    void mark_dirty(Queue& queue, bool grew = false) noexcept;
    /// Marks every queue from the leaf to the root: each may have more headroom.
    void path_grew(Queue& leaf) noexcept;
    /// Called when the queue was made, or a leaf's own limits, guarantee or policy changed: its key and those of its
    /// applications are computed anew.
    void queue_changed(Queue& queue) noexcept;
    /// Called when the keys of all queues changed: cluster size, limits. refresh() computes them anew.
    void rebuild_queues() noexcept { rebuild_ = true; }
    /// The same when the keys of all applications changed as well: policies, guarantees.
    void rebuild_all() noexcept { rebuild_ = rebuild_applications_ = true; }
    /// Forgets marks of a group, application or queue that is about to be removed.
    void forget(GroupId id) noexcept;
    void forget(ApplicationId id) noexcept;
    void forget(Queue& queue) noexcept;
    /// Reserves memory for the marks of one more change, so that committing it requests none.
    void reserve_capacity();

    /// Brings all indexes up to date.
    void refresh() noexcept;
    /// Called when the queue blocks a shape.
    void blocked(Queue& queue) noexcept;
    /// The group's asks do not fit the limit of a user or group: not tried until that has enough headroom (C-409).
    void hold(GroupId id, UsageNodeId at) noexcept;
    /// The application may not run because of that limit on running applications (C-410).
    void hold(ApplicationId id, UsageNodeId at) noexcept;
    /// Ends a hold, if there is one; the caller marks the object.
    void let_go(AskGroup& group) noexcept;
    void let_go(Application& application) noexcept;
    /// Called when the first group of the shape was made. Shapes share bits: a queue that blocked all shapes of the bit
    /// does not block this one.
    void shape_appeared(ShapeId id) noexcept;
    /// The reservation is tried again: something changed in its favour.
    void wake(ReservationId id) noexcept;
    /// No placeholder of the application can be replaced until its gang changes or a node may take more.
    void stall_gang(ApplicationId id) noexcept;
    /// Tries again to replace placeholders, in all applications where that had stalled.
    void wake_gangs() noexcept;
    /// A cycle begins: drops shapes that nobody uses, when they are many; without Shortcuts::blocks also all blocks,
    /// which the cycle finds out again.
    void begin_cycle() noexcept;

    /// The masks of a group and the summary of an application, as they should be in the indexes.
    [[nodiscard]] Masks masks_of(const AskGroup& group) const noexcept;
    [[nodiscard]] OrderSummary summary_of(const Application& application) const noexcept;

private:
    void node_refreshed(NodeId id, const Node& node, bool grew) noexcept;
    void unblock(ShapeId id) noexcept;
    void file(GroupId id) noexcept;
    void file(ApplicationId id) noexcept;
    void file(Queue& queue) noexcept;
    void stop_blocking(Queue& queue) noexcept;
    void drop_blocks() noexcept;
    void lift_blocks() noexcept;
    void lift_holds() noexcept;
    void wake_headroom() noexcept;
    void rekey_all(Queue& queue) noexcept;
    void refile_applications(Queue& leaf) noexcept;
    void compute_fair_max(Queue& queue) noexcept;

    [[nodiscard]] static ApplicationKey key_of(const Application& application) noexcept;

    PartitionState& state_;
    VictimIndex& victims_;
    std::vector<GroupId> groups_;
    std::vector<ApplicationId> applications_;
    std::vector<std::vector<Queue*>> queues_; // by depth
    std::size_t marked_queues_ = 0;
    std::vector<Queue*> blocking_;             // queues that block shapes, and some that no longer do
    std::vector<ApplicationId> stalled_gangs_; // and some that were removed or are not stalled any more
    Shares scratch_;
    bool any_grew_ = false; // whether the headroom of a dirty queue may have grown
    bool rebuild_ = false;
    bool rebuild_applications_ = false;
};

} // namespace yk
