#include "libcore/scheduler/gang_planner.h"

#include <algorithm>

#include "libcore/scheduler/walk.h"

namespace yk {

ApplicationId GangPlanner::find() const {
    orders_.refresh();
    ApplicationId found;
    Walk{s_.applications}.run(*s_.root, Masks{0, kReplaceBit}, false,
                              [&](Application&, ApplicationId id, const Masks&) {
                                  found = id;
                                  return true;
                              });
    return found;
}

SwapPlan GangPlanner::plan(const Application& application) const {
    struct Cursor {
        std::map<AskOrder, AllocationId>::const_iterator at;
        const TaskGroup* group;
    };
    const auto later = [](const Cursor& a, const Cursor& b) { return b.at->first < a.at->first; };
    std::vector<Cursor> cursors;
    for (const TaskGroup* group : application.gang.ready) cursors.push_back({group->asks.begin(), group});
    std::make_heap(cursors.begin(), cursors.end(), later);
    SwapPlan plan, first;
    while (!cursors.empty()) { // the asks of all groups in their common order
        std::pop_heap(cursors.begin(), cursors.end(), later);
        Cursor& cursor = cursors.back();
        if (try_ask(cursor.at->second, *cursor.group, plan, first) || !plan.too_small.empty()) return plan;
        if (++cursor.at == cursor.group->asks.end())
            cursors.pop_back();
        else
            std::push_heap(cursors.begin(), cursors.end(), later);
    }
    if (!first.swaps()) return plan;
    first.node = other_node(first.ask);
    return first.node.valid() ? first : plan;
}

/// Looks for a placeholder whose node takes the ask; `first` keeps the first pair that fits by size (trap 9).
bool GangPlanner::try_ask(AllocationId ask, const TaskGroup& group, SwapPlan& plan, SwapPlan& first) const {
    const Resource& wanted = s_.resource_of(s_.allocations[ask]);
    for (const AllocationId placeholder : group.free) {
        const Allocation& held = s_.allocations[placeholder];
        if (!fits(s_.resource_of(held), wanted)) {
            plan.too_small.push_back({placeholder, ask});
            continue;
        }
        if (!first.swaps()) {
            first.placeholder = placeholder;
            first.ask = ask;
        }
        if (!may_run_on(ask, held.node)) continue;
        plan.placeholder = placeholder;
        plan.ask = ask;
        plan.node = held.node;
        return true;
    }
    return false;
}

/// Whether anything but the room speaks against the node: the required node (S-430). Predicates of the RM would be
/// asked here; none are known, so they pass.
bool GangPlanner::may_run_on(AllocationId ask, NodeId node) const {
    const Shape& shape = s_.shapes[s_.allocations[ask].shape];
    return !shape.is_pinned() || shape.required_node == s_.nodes[node].id;
}

/// G-035: a schedulable node with room that is not kept for others. Only an ask with a required node gets here.
NodeId GangPlanner::other_node(AllocationId ask) const {
    const Shape& shape = s_.shapes[s_.allocations[ask].shape];
    const NodeId id = s_.nodes.find(shape.required_node);
    if (!id.valid()) return {};
    const Node& node = s_.nodes[id];
    const ReservationId own = s_.allocations[ask].reservation;
    const bool kept = std::any_of(node.reservations.begin(), node.reservations.end(),
                                  [own](ReservationId held) { return held != own; });
    return node.schedulable && !kept && fits(node.available, shape.resource) ? id : NodeId{};
}

} // namespace yk
