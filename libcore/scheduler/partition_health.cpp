// Health checks 3 to 11 (interface.md 5.6): sums over the objects themselves, without pictures, because they run in the
// background while the scheduler works. Each equation is between numbers of one instant (I-445); a piece is a number of
// equations.

#include <algorithm>
#include <unordered_map>

#include "libcore/scheduler/partition_context.h"
#include "libcore/scheduler/queue_walk.h"

namespace yk {

namespace {

enum Check : std::size_t { // positions in health_checks()
    NegativePartition,
    NegativeNode,
    PartitionSum,
    NodeSum,
    Reservations,
    OrphanOnNode,
    OrphanOnApplication,
    QueueUsage,
    UserUsage
};

class HealthPiece {
public:
    HealthPiece(const PartitionState& state, std::vector<HealthCheckView>& checks) : s_(state), checks_(checks) {}

    /// Check 5 is one equation over all nodes.
    void partition() {
        if (s_.capacity.has_negative() || s_.root->allocated.has_negative()) fail(NegativePartition, s_.full_name);
        Resource capacity;
        std::size_t reserved = 0;
        s_.nodes.for_each([&](NodeId id) {
            capacity.add(s_.nodes[id].capacity);
            reserved += s_.nodes[id].reservations.size();
        });
        if (!capacity.equals(s_.capacity)) fail(PartitionSum, s_.full_name);
        note(Reservations,
             s_.full_name + ": " + std::to_string(reserved) + " on " + std::to_string(s_.nodes.size()) + " nodes");
    }
    void node(const Node& node) {
        const std::string what = "node " + node.id;
        if (node.capacity.has_negative() || node.allocated.has_negative() || node.occupied.has_negative())
            fail(NegativeNode, what);
        Resource sum = node.available;
        sum.add(node.allocated);
        sum.add(node.occupied);
        if (!sum.equals(node.capacity)) fail(NodeSum, what);
        for (const AllocationId allocation : node.allocations)
            if (!is_listed(allocation)) fail(OrphanOnNode, what);
    }
    /// What the applications of a leaf, or the children of a parent, have.
    void queue(const Queue& queue) {
        Resource sum;
        std::unordered_map<std::uint32_t, Resource> users; // by node of usage
        for (const ApplicationId id : queue.applications) {
            const Application& application = s_.applications[id];
            Resource held = application.allocated;
            held.add(application.placeholder);
            sum.add(held);
            Resource placed = allocations(application);
            if (application.user_usage.valid()) users[application.user_usage.index].add(placed);
        }
        for (const auto& [name, child] : queue.children) sum.add(child->allocated);
        if (!sum.equals(queue.allocated)) wrong_sum(QueueUsage, queue.path);
        for (const auto& [index, held] : users)
            if (!s_.users[UsageNodeId{index}].usage.equals(held)) wrong_usage(s_.users[UsageNodeId{index}]);
    }
    /// Applications are in leaves only, and their sums are compared there.
    void tracker(const UsageTracker& tracker) {
        std::unordered_map<std::uint32_t, Resource> below; // by node
        for (const UsageNodeId id : tracker.nodes)
            if (s_.users[id].parent.valid()) below[s_.users[id].parent.index].add(s_.users[id].usage);
        for (const UsageNodeId id : tracker.nodes) {
            const UsageNode& node = s_.users[id];
            const auto sum = below.find(id.index);
            if (sum != below.end() ? !node.usage.equals(sum->second) : node.linked == 0 && !node.usage.is_zero())
                wrong_usage(node);
        }
    }

private:
    /// By its application, which is known.
    [[nodiscard]] bool is_listed(AllocationId id) const {
        const Allocation& each = s_.allocations[id];
        if (!s_.applications.alive(each.application)) return false;
        if (each.is(Allocation::InFlight)) return true; // G-040: listed when its placeholder is gone
        const auto& listed = s_.applications[each.application].allocations;
        return each.place.placed.in_application < listed.size() && listed[each.place.placed.in_application] == id;
    }
    /// What they add up to.
    Resource allocations(const Application& application) {
        Resource sum;
        for (const AllocationId allocation : application.allocations) {
            const Allocation& each = s_.allocations[allocation];
            sum.add(s_.resource_of(each));
            const auto& on_node = s_.nodes[each.node].allocations;
            if (each.place.placed.on_node >= on_node.size() || on_node[each.place.placed.on_node] != allocation)
                fail(OrphanOnApplication, "application " + application.id);
        }
        return sum;
    }
    void wrong_usage(const UsageNode& node) {
        wrong_sum(UserUsage, "user " + std::string{node.tracker->name} + " at " + std::string{node.path});
    }
    void wrong_sum(Check check, const std::string& what) {
        std::string& diagnosis = checks_.at(check).diagnosis;
        diagnosis += (diagnosis.empty() ? "wrong sum: " : ", ") + s_.full_name + " " + what;
        checks_.at(check).succeeded = false;
    }
    void note(Check check, const std::string& text) {
        std::string& diagnosis = checks_.at(check).diagnosis;
        diagnosis += (diagnosis.empty() ? "" : "; ") + text;
    }
    void fail(Check check, const std::string& text) {
        checks_.at(check).succeeded = false;
        note(check, text);
    }

    const PartitionState& s_;
    std::vector<HealthCheckView>& checks_;
};

void take(std::size_t& room, std::size_t objects) {
    room -= std::min(room, objects);
}

} // namespace

bool PartitionContext::health_piece(HealthPlace& place, std::size_t& room, std::vector<HealthCheckView>& checks) const {
    HealthPiece piece{s_, checks};
    const auto next_stage = [&place] {
        ++place.stage;
        place.view = {};
    };
    if (place.stage == 0) {
        piece.partition();
        next_stage();
    }
    if (place.stage == 1) {
        s_.nodes.until_after(place.view.after, [&](NodeId id) {
            piece.node(s_.nodes[id]);
            place.view.after = s_.nodes[id].id;
            take(room, 1 + s_.nodes[id].allocations.size());
            return room == 0;
        });
        if (room == 0) return false;
        next_stage();
    }
    if (place.stage == 2) {
        QueueWalk walk{[&](const Queue& queue) {
            if (room == 0) return false;
            piece.queue(queue);
            place.view.after = queue.path;
            take(room, 1 + queue.applications.size());
            return true;
        }};
        if (!walk.run(*s_.root, place.view.after)) return false;
        next_stage();
    }
    const auto& users = s_.users.users();
    for (auto each = users.upper_bound(place.view.after); place.stage == 3 && each != users.end(); ++each) {
        if (room == 0) return false;
        piece.tracker(each->second);
        place.view.after = each->first;
        take(room, 1 + each->second.nodes.size());
    }
    if (place.stage == 3) next_stage();
    return room > 0;
}

std::vector<HealthCheckView> health_checks() {
    return {
        {"Negative resources (partitions)", true, "no partition total or allocated value below zero", {}},
        {"Negative resources (nodes)", true, "no capacity, allocated or occupied value below zero", {}},
        {"Consistency of data (partition)", true, "partition total equals the sum of its nodes", {}},
        {"Consistency of data (node)", true, "capacity equals allocated, occupied and available", {}},
        {"Reservation check", true, "reservations per node", {}},
        {"Orphan allocation on node check",
         true,
         "every allocation on a node belongs to a known application that lists it",
         {}},
        {"Orphan allocation on app check", true, "every allocation of an application is on its node", {}},
        {"Queue usage", true, "a queue has what its children or applications have", {}},
        {"User usage", true, "what is tracked for a user is the sum of its allocations", {}},
    };
}

} // namespace yk
