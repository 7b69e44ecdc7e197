// SPDX-License-Identifier: Apache-2.0
#include "libcore/planning/gang_planner.h"

#include <algorithm>

#include "libcore/preemption/node_space.h"
#include "libcore/state/walk.h"

namespace yk {

ApplicationId GangPlanner::find() const {
    indexes_.refresh();
    ApplicationId found;
    Walk{state_.applications}.run(state_.queues.root(), Masks{0, kReplaceBit}, false,
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
        const Allocation& ask = state_.allocations[cursor.at->second];
        if (ask.is(Allocation::Parked))
            plan.waiting = plan.waiting || !ask.is(Allocation::Refused);
        else if (try_ask(cursor.at->second, *cursor.group, plan, first) || !plan.too_small.empty())
            return plan;
        if (++cursor.at == cursor.group->asks.end())
            cursors.pop_back();
        else
            std::push_heap(cursors.begin(), cursors.end(), later);
    }
    return first.swaps() && !plan.waiting ? elsewhere(std::move(first)) : plan;
}

/// Looks for a placeholder on whose node the ask may run. `first` keeps the first pair in which the ask is not larger
/// than the placeholder: if no node of a placeholder will do, that pair is swapped across nodes.
bool GangPlanner::try_ask(AllocationId ask, const TaskGroup& group, SwapPlan& plan, SwapPlan& first) const {
    const Resource& wanted = state_.resource_of(state_.allocations[ask]);
    for (const AllocationId placeholder : group.free) {
        const Allocation& held = state_.allocations[placeholder];
        if (!fits(state_.resource_of(held), wanted)) {
            plan.too_small.push_back({placeholder, ask});
            continue;
        }
        if (!first.swaps()) {
            first.placeholder = placeholder;
            first.ask = ask;
        }
        if (!has_devices_for(ask, placeholder) || !may_run_on(ask, held.node, plan)) continue;
        plan.placeholder = placeholder;
        plan.ask = ask;
        plan.node = held.node;
        plan.to_ask.clear();
        return true;
    }
    if (!plan.to_ask.empty()) plan.ask = ask;
    return !plan.to_ask.empty();
}

/// Whether the devices that the ask wants are free on the placeholder's node once that is gone (F-007).
bool GangPlanner::has_devices_for(AllocationId ask, AllocationId placeholder) const {
    const Allocation& held = state_.allocations[placeholder];
    const Node& node = state_.nodes[held.node];
    if (!node.devices) return true;
    NodeSpace space{node, state_.shapes[state_.allocations[ask].shape]};
    space.take_off(placeholder, state_.resource_of(held));
    return space.has_devices();
}

/// Whether the ask may run on the node, apart from its size: required node (S-430) and the RM's predicates. A node that
/// the RM has to be asked about is added to the plan, and does not count as allowed yet.
bool GangPlanner::may_run_on(AllocationId ask, NodeId node, SwapPlan& plan) const {
    const Shape& shape = state_.shapes[state_.allocations[ask].shape];
    if (shape.is_pinned() && shape.required_node != state_.nodes[node].id) return false;
    if (!state_.calls.options.predicates) return true;
    if (const Inquiry* inquiry = state_.inquiries.find(ask)) {
        if (inquiry->has_refused(node)) return false;
        if (std::count(inquiry->fits.begin(), inquiry->fits.end(), node) > 0) return true;
    }
    if (plan.to_ask.size() < state_.calls.options.batch &&
        std::count(plan.to_ask.begin(), plan.to_ask.end(), node) == 0)
        plan.to_ask.push_back(node);
    return false;
}

/// No ask may run on a placeholder's node: the first pair of the right size, with another node for the ask.
SwapPlan GangPlanner::elsewhere(SwapPlan first) const {
    for (const NodeId node : other_nodes(first.ask)) {
        if (!may_run_on(first.ask, node, first)) continue;
        first.node = node;
        first.to_ask.clear();
        return first;
    }
    first.placeholder = {};
    return first;
}

/// Schedulable nodes that the ask fits on and that are not kept for others, in order (G-035).
std::vector<NodeId> GangPlanner::other_nodes(AllocationId ask) const {
    const Shape& shape = state_.shapes[state_.allocations[ask].shape];
    if (!shape.is_pinned()) {
        const Inquiry* inquiry = state_.inquiries.find(ask);
        return state_.nodes.find_some(shape, state_.calls.options.batch, [inquiry](NodeId node) {
            return inquiry != nullptr && inquiry->has_refused(node);
        });
    }
    const NodeId id = state_.nodes.find(shape.required_node);
    if (!id.valid()) return {};
    const Node& node = state_.nodes[id];
    const ReservationId own = state_.allocations[ask].reservation;
    const bool kept = std::any_of(node.reservations.begin(), node.reservations.end(),
                                  [own](ReservationId held) { return held != own; });
    if (!node.schedulable || kept || !takes(node, shape)) return {};
    return {id};
}

} // namespace yk
