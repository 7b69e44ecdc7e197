#pragma once
// Orders: keeps every index of a partition in step with the objects (style guide 6.2, 6.3). A change only marks what it
// touched; refresh() then re-files each marked thing once, from the nodes and groups up to the root, and drops the
// blocks that the changes may have lifted.
//
// Owner: PartitionContext. Thread: the partition's owner. Cost of refresh: what was touched, times the logarithm of its
// siblings; after rebuild_queues() all queues.

#include <vector>

#include "libcore/scheduler/partition_state.h"

namespace yk {

class Orders {
public:
    explicit Orders(PartitionState& state) : s_(state) {}

    void touch(GroupId id);
    void touch(ApplicationId id);
    /// `grew`: its headroom may have grown.
    void touch(Queue& queue, bool grew = false);
    /// Every queue from here to the root may have more headroom.
    void path_grew(Queue& leaf);
    /// The queue was made, or a leaf's own limits, guarantee or policy changed: its keys and those of its applications.
    void queue_changed(Queue& queue);
    /// What enters a queue's key changed for all of them: cluster size, limits.
    void rebuild_queues() { rebuild_ = true; }
    /// So did what enters an application's key: policies, guarantees.
    void rebuild_all() { rebuild_ = rebuild_applications_ = true; }
    /// The group, application or queue goes: forget the mark.
    void forget(GroupId id);
    void forget(ApplicationId id);
    void forget(Queue& queue);
    /// Room for the marks of one more change, so that commit requests no memory.
    void reserve_room();

    void refresh();
    /// The queue blocks a shape now.
    void blocked(Queue& queue);
    /// The group's asks do not fit the limit of a user or group (C-409): not offered until there is room.
    void hold(GroupId id, UsageNodeId at);
    /// The application may not run because of that limit (C-410).
    void hold(ApplicationId id, UsageNodeId at);
    void let_go(AskGroup& group);
    void let_go(Application& application);
    /// The first group of the shape was made: blocks on its bit no longer hold everywhere.
    void shape_appeared(ShapeId id);
    /// The reservation may be fulfilled again.
    void wake(ReservationId id);
    /// Placeholders may be replaced again.
    void wake_gangs();
    /// Forgets all blocks: the next cycle finds out for itself.
    void drop_blocks();
    /// Drops the shapes nobody uses when there are many.
    void sweep_shapes();

    /// What the group and the application have to offer, computed from scratch.
    [[nodiscard]] Masks masks_of(const AskGroup& group) const;
    [[nodiscard]] OrderSummary summary_of(const Application& application) const;

private:
    void node_refreshed(NodeId id, const Node& node, bool grew);
    void unblock(ShapeId id);
    void file(GroupId id);
    void file(ApplicationId id);
    void file(Queue& queue);
    void stop_blocking(Queue& queue);
    void lift_blocks();
    void lift_holds();
    void wake_headroom();
    void rekey_all(Queue& queue);
    void refile_applications(Queue& leaf);
    void compute_fair_max(Queue& queue);

    [[nodiscard]] static ApplicationKey key_of(const Application& application);

    PartitionState& s_;
    std::vector<GroupId> groups_;
    std::vector<ApplicationId> applications_;
    std::vector<std::vector<Queue*>> queues_; // by depth
    std::size_t marked_queues_ = 0;
    std::vector<Queue*> blocking_; // queues that block shapes, and some that did
    Shares scratch_;
    bool any_grew_ = false; // one of the marked queues
    bool rebuild_ = false;
    bool rebuild_applications_ = false;
};

} // namespace yk
