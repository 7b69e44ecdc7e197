#include "libcore/scheduler/preemption.h"

#include <algorithm>

#include "libcore/scheduler/preemption_nodes.h"
#include "libcore/scheduler/preemption_queues.h"
#include "libcore/scheduler/preemption_required.h"

namespace yk {

namespace {

/// P-040, second form: with the ask in and all candidates out, nothing requested is below zero.
bool fits_without_candidates(GuaranteeView& view, Candidates& candidates, const Queue& leaf, const Resource& ask) {
    const std::size_t mark = view.changes();
    view.charge(ask);
    for (const Candidate& each : candidates.all()) view.remove(*each.leaf, *each.size);
    const std::optional<Resource> left = view.remaining(leaf);
    view.rewind(mark);
    return left && all_common(*left, ask, [&](ResourceId id) { return ask.get(id) <= 0 || left->get(id) >= 0; });
}

} // namespace

bool PreemptionPlanner::may_attempt(GuaranteeView& view, Candidates& candidates, const Queue& leaf,
                                    const Resource& ask) {
    const std::optional<Resource> left = view.remaining(leaf);
    if (!left) return false;
    const bool concerned = !all_common(*left, ask, [&](ResourceId id) { return ask.get(id) <= 0; }); // D-37
    if (!concerned) return false;
    const bool fits_now = all_common(*left, ask, [&](ResourceId id) { return ask.get(id) <= left->get(id); });
    return fits_now || fits_without_candidates(view, candidates, leaf, ask);
}

PreemptionPlan PreemptionPlanner::plan_queue(AllocationId id, bool nodes_tried, Instant now) const {
    const Allocation& ask = s_.allocations[id];
    const Resource& size = s_.resource_of(ask);
    const Queue& leaf = *s_.applications[ask.application].queue;
    GuaranteeView view{s_, leaf};
    Candidates candidates{s_, view, ask, leaf};
    if (!may_attempt(view, candidates, leaf, size)) return {PreemptionResult::Guarantees, {}, {}};
    const std::optional<NodeVictims> chosen = NodeChoice{s_, view, candidates, id, now}.best(nodes_tried);
    if (!chosen) return {PreemptionResult::NoHelp, {}, {}};
    return with_queue_victims(view, candidates, leaf, size, *chosen, chosen->index);
}

PreemptionPlan PreemptionPlanner::with_queue_victims(GuaranteeView& view, Candidates& candidates, const Queue& leaf,
                                                     const Resource& size, const NodeVictims& chosen, int last) {
    PreemptionPlan plan{PreemptionResult::Victims, chosen.node, {}};
    Deficits deficits{leaf, size};
    for (int i = 0; i <= last; ++i) { // P-063: as a whole
        const Candidate& victim = chosen.plan[static_cast<std::size_t>(i)];
        view.remove(*victim.leaf, *victim.size);
        view.charge(*victim.size);
        deficits.take(victim);
        plan.victims.push_back(victim.id);
    }
    if (!deficits.none()) {
        std::vector<Candidate> others;
        for (const Candidate& each : candidates.all())
            if (std::find(plan.victims.begin(), plan.victims.end(), each.id) == plan.victims.end())
                others.push_back(each);
        const auto extras = extra_victims(view, deficits, size, std::move(others));
        if (!extras) return {PreemptionResult::Shortfall, {}, {}};
        for (const Candidate& each : *extras) plan.victims.push_back(each.id);
    }
    if (plan.victims.empty()) return {PreemptionResult::NoHelp, {}, {}};
    return plan;
}

PreemptionPlan PreemptionPlanner::plan_required(AllocationId ask) const {
    PreemptionPlan plan;
    plan.node = s_.reservations[s_.allocations[ask].reservation].node;
    const auto victims = required_node_victims(s_, s_.allocations[ask], s_.nodes[plan.node]);
    plan.result = victims ? PreemptionResult::Victims : PreemptionResult::NoVictim;
    if (victims) plan.victims = *victims;
    return plan;
}

} // namespace yk
