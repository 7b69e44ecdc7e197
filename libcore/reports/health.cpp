// SPDX-License-Identifier: Apache-2.0
// Health checks 3 to 11. A page is a number of equations.

#include "libcore/reports/health.h"

#include <algorithm>
#include <unordered_map>

#include "libcore/planning/queue_walk.h"
#include "libcore/reports/at_end.h"

namespace yk {

namespace {

enum Check : std::size_t { // positions in health_checks()
    NegativePartition,
    NegativeNode,
    PartitionSum,
    NodeSum,
    ReservationCount,
    OrphanOnNode,
    OrphanOnApplication,
    QueueUsage,
    UserUsage
};

class HealthPage {
public:
    HealthPage(const PartitionState& state, std::vector<HealthCheckView>& checks) : state_(state), checks_(checks) {}

    /// The sums over all nodes: one equation, which a page cannot divide.
    void partition() {
        if (state_.capacity.has_negative() || state_.queues.root().allocated.has_negative())
            fail(NegativePartition, state_.full_name);
        Resource capacity;
        std::size_t reserved = 0;
        state_.nodes.for_each([&](NodeId id) {
            capacity.add(state_.nodes[id].capacity);
            reserved += state_.nodes[id].reservations.size();
        });
        if (!capacity.equals(state_.capacity) && !is_at_end({&capacity, &state_.capacity}))
            fail(PartitionSum, state_.full_name);
        note(ReservationCount, state_.full_name + ": " + std::to_string(reserved) + " on " +
                                   std::to_string(state_.nodes.size()) + " nodes");
    }
    void node(const Node& node) {
        const std::string what = "node " + node.id;
        if (node.capacity.has_negative() || node.allocated.has_negative() || node.occupied.has_negative())
            fail(NegativeNode, what);
        Resource sum = node.available;
        sum.add(node.allocated);
        sum.add(node.occupied);
        if (node.devices) sum.sub(node.devices->lost());
        if (!sum.equals(node.capacity) &&
            !is_at_end({&node.capacity, &node.occupied, &node.allocated, &node.available}))
            fail(NodeSum, what);
        for (const AllocationId allocation : node.allocations)
            if (!is_listed(allocation)) fail(OrphanOnNode, what);
    }
    /// Compares the queue with the sum of its applications, or of its children.
    void queue(const Queue& queue) {
        Resource sum;
        std::unordered_map<std::uint32_t, Resource> users; // by node of usage
        for (const ApplicationId id : queue.applications) {
            const Application& application = state_.applications[id];
            Resource held = application.allocated;
            held.add(application.placeholder);
            sum.add(held);
            Resource placed = allocations(application);
            if (application.user_usage.valid()) users[application.user_usage.index].add(placed);
        }
        for (const auto& [name, child] : queue.children) sum.add(child->allocated);
        if (!sum.equals(queue.allocated) && !is_at_end({&sum, &queue.allocated})) wrong_sum(QueueUsage, queue.path);
        for (const auto& [index, held] : users)
            if (const UsageNode& node = state_.users[UsageNodeId{index}];
                !node.usage.equals(held) && !is_at_end({&held, &node.usage}))
                wrong_usage(node);
    }
    /// Compares the usage of a user at each queue with that at the queues below. Leaves are compared with their
    /// applications by queue().
    void tracker(const UsageTracker& tracker) {
        std::unordered_map<std::uint32_t, Resource> below; // by node
        for (const UsageNodeId id : tracker.nodes)
            if (state_.users[id].parent.valid()) below[state_.users[id].parent.index].add(state_.users[id].usage);
        for (const UsageNodeId id : tracker.nodes) {
            const UsageNode& node = state_.users[id];
            const auto sum = below.find(id.index);
            if (sum != below.end() ? !node.usage.equals(sum->second) && !is_at_end({&node.usage, &sum->second})
                                   : node.linked == 0 && !node.usage.is_zero())
                wrong_usage(node);
        }
    }

private:
    /// Whether its application is known and lists it.
    [[nodiscard]] bool is_listed(AllocationId id) const {
        const Allocation& each = state_.allocations[id];
        if (!state_.applications.alive(each.application)) return false;
        if (each.is(Allocation::InFlight)) return true; // it is listed once its placeholder is removed (G-040)
        const auto& listed = state_.applications[each.application].allocations;
        return each.links.placed.in_application < listed.size() && listed[each.links.placed.in_application] == id;
    }
    /// The sum of the application's allocations, each of which is tested to be on its node.
    Resource allocations(const Application& application) {
        Resource sum;
        for (const AllocationId allocation : application.allocations) {
            const Allocation& each = state_.allocations[allocation];
            sum.add(state_.resource_of(each));
            const auto& on_node = state_.nodes[each.node].allocations;
            if (each.links.placed.on_node >= on_node.size() || on_node[each.links.placed.on_node] != allocation)
                fail(OrphanOnApplication, "application " + application.id);
        }
        return sum;
    }
    void wrong_usage(const UsageNode& node) {
        wrong_sum(UserUsage, "user " + std::string{node.tracker->name} + " at " + std::string{node.path});
    }
    void wrong_sum(Check check, const std::string& what) {
        std::string& diagnosis = checks_.at(check).diagnosis;
        diagnosis += (diagnosis.empty() ? "wrong sum: " : ", ") + state_.full_name + " " + what;
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

    const PartitionState& state_;
    std::vector<HealthCheckView>& checks_;
};

void take(std::size_t& budget, std::size_t objects) {
    budget -= std::min(budget, objects);
}

} // namespace

bool health_page(const PartitionState& state, HealthCursor& cursor, std::size_t& budget,
                 std::vector<HealthCheckView>& checks) {
    HealthPage page{state, checks};
    const auto next_stage = [&cursor] {
        ++cursor.stage;
        cursor.view = {};
    };
    if (cursor.stage == 0) {
        page.partition();
        next_stage();
    }
    if (cursor.stage == 1) {
        state.nodes.until_after(cursor.view.after, [&](NodeId id) {
            page.node(state.nodes[id]);
            cursor.view.after = state.nodes[id].id;
            take(budget, 1 + state.nodes[id].allocations.size());
            return budget == 0;
        });
        if (budget == 0) return false;
        next_stage();
    }
    if (cursor.stage == 2) {
        QueueWalk walk{[&](const Queue& queue) {
            if (budget == 0) return false;
            page.queue(queue);
            cursor.view.after = queue.path;
            take(budget, 1 + queue.applications.size());
            return true;
        }};
        if (!walk.run(state.queues.root(), cursor.view.after)) return false;
        next_stage();
    }
    const auto& users = state.users.users();
    for (auto each = users.upper_bound(cursor.view.after); cursor.stage == 3 && each != users.end(); ++each) {
        if (budget == 0) return false;
        page.tracker(each->second);
        cursor.view.after = each->first;
        take(budget, 1 + each->second.nodes.size());
    }
    if (cursor.stage == 3) next_stage();
    return budget > 0;
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

bool has_huge_amounts(const PartitionState& state) {
    constexpr std::int64_t kHuge = std::int64_t{1} << 50; // thousands of them have a sum within the range
    bool is_huge = false;
    const auto look = [&is_huge](ResourceId, std::int64_t amount) {
        is_huge = is_huge || amount >= kHuge || amount <= -kHuge;
    };
    state.shapes.for_each([&](ShapeId id) { state.shapes[id].resource.for_each(look); });
    state.nodes.for_each([&](NodeId id) {
        state.nodes[id].capacity.for_each(look);
        state.nodes[id].occupied.for_each(look);
    });
    return is_huge;
}

} // namespace yk
