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

constexpr Duration kMinute = std::chrono::minutes{1};

/// Storm guard: a queue with preemption.victims.perminute whose asks would have more victims in this minute. The first
/// decision of a minute passes, or an ask that needs many would wait for ever.
bool is_storm(const Queue& leaf, std::size_t victims, Instant now) {
    for (const Queue* queue = &leaf; queue != nullptr; queue = queue->parent) {
        const std::uint64_t limit = queue->properties.victims_per_minute;
        const std::uint64_t before = now < queue->victims_since + kMinute ? queue->victims_in_minute : 0;
        if (limit > 0 && before > 0 && before + victims > limit) return true;
    }
    return false;
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
    return concluded(search(id, nodes_tried, now), id, now);
}

PreemptionPlan PreemptionPlanner::concluded(PreemptionPlan plan, AllocationId id, Instant now) const {
    const Queue& leaf = *s_.applications[s_.allocations[id].application].queue;
    if (plan && is_storm(leaf, plan.victims.size(), now)) plan.result = PreemptionResult::Storm;
    plan.attempt.at = now;
    plan.attempt.result = plan.result;
    if (plan.node.valid()) plan.attempt.node = s_.nodes[plan.node].id;
    plan.attempt.victims = plan ? plan.victims.size() : 0;
    return plan;
}

PreemptionPlan PreemptionPlanner::search(AllocationId id, bool nodes_tried, Instant now) const {
    const Allocation& ask = s_.allocations[id];
    const Resource& size = s_.resource_of(ask);
    const Queue& leaf = *s_.applications[ask.application].queue;
    GuaranteeView view{s_, leaf};
    Candidates candidates{s_, view, ask, leaf};
    PreemptionPlan plan;
    const auto end = [&](PreemptionResult result) {
        plan.result = result;
        candidates.describe(plan.attempt);
        return std::move(plan);
    };
    if (!may_attempt(view, candidates, leaf, size)) return end(PreemptionResult::Guarantees);
    NodeChoice choice{s_, view, candidates, id, now};
    const std::optional<NodeVictims> chosen = choice.best(nodes_tried);
    plan.attempt.nodes_tried = choice.nodes_planned();
    if (!chosen) return end(PreemptionResult::NoHelp);
    plan.node = chosen->node;
    return end(add_victims(view, candidates, leaf, size, *chosen, chosen->index, plan.victims));
}

PreemptionResult PreemptionPlanner::add_victims(GuaranteeView& view, Candidates& candidates, const Queue& leaf,
                                                const Resource& size, const NodeVictims& chosen, int last,
                                                std::vector<AllocationId>& victims) {
    Deficits deficits{leaf, size};
    for (int i = 0; i <= last; ++i) { // P-063: as a whole
        const Candidate& victim = chosen.plan[static_cast<std::size_t>(i)];
        view.remove(*victim.leaf, *victim.size);
        view.charge(*victim.charge);
        deficits.take(victim);
        victims.push_back(victim.id);
    }
    if (!deficits.none()) {
        std::vector<Candidate> others;
        for (const Candidate& each : candidates.all())
            if (std::find(victims.begin(), victims.end(), each.id) == victims.end()) others.push_back(each);
        const auto extras = extra_victims(view, deficits, size, std::move(others));
        if (!extras) return PreemptionResult::Shortfall;
        for (const Candidate& each : *extras) victims.push_back(each.id);
    }
    return victims.empty() ? PreemptionResult::NoHelp : PreemptionResult::Victims;
}

PreemptionPlan PreemptionPlanner::plan_required(AllocationId ask, Instant now) const {
    PreemptionPlan plan;
    plan.node = s_.reservations[s_.allocations[ask].reservation].node;
    plan.attempt.at = now;
    plan.attempt.node = s_.nodes[plan.node].id;
    plan.attempt.nodes_tried = 1;
    const auto victims = required_node_victims(s_, s_.allocations[ask], s_.nodes[plan.node], &plan.attempt);
    plan.result = victims ? PreemptionResult::Victims : PreemptionResult::NoVictim;
    if (victims) plan.victims = *victims;
    plan.attempt.result = plan.result;
    plan.attempt.victims = plan.victims.size();
    return plan;
}

} // namespace yk
