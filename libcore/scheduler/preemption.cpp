#include "libcore/scheduler/preemption.h"

#include <algorithm>

#include "libcore/scheduler/preemption_nodes.h"
#include "libcore/scheduler/preemption_queues.h"
#include "libcore/scheduler/preemption_required.h"

namespace yk {

namespace {

/// Storm guard: a queue with preemption.victims.perminute whose asks would have more victims in this minute. The first
/// decision of a minute passes, or an ask that needs many would wait for ever.
bool is_storm(const Queue& leaf, std::size_t victims, Instant now) {
    for (const Queue* queue = &leaf; queue != nullptr; queue = queue->parent) {
        const std::uint64_t limit = queue->properties.victims_per_minute;
        const std::uint64_t before = queue->recent_victims(now);
        if (limit > 0 && before > 0 && before + victims > limit) return true;
    }
    return false;
}

} // namespace

PreemptionPlan PreemptionPlanner::plan_queue(AllocationId id, bool nodes_tried, Instant now) const {
    PreemptionGround ground{s_, id};
    return concluded(search(ground, nodes_tried, now), ground, now);
}

PreemptionPlan PreemptionPlanner::concluded(PreemptionPlan plan, const PreemptionGround& ground, Instant now) const {
    if (plan && is_storm(ground.leaf, plan.victims.size(), now)) plan.result = PreemptionResult::Storm;
    ground.candidates.describe(plan.attempt);
    plan.attempt.at = now;
    plan.attempt.result = plan.result;
    if (plan.node.valid()) plan.attempt.node = s_.nodes[plan.node].id;
    plan.attempt.victims = plan ? plan.victims.size() : 0;
    return plan;
}

PreemptionPlan PreemptionPlanner::search(PreemptionGround& ground, bool nodes_tried, Instant now) const {
    PreemptionPlan plan;
    plan.result = PreemptionResult::Guarantees;
    if (!may_attempt(ground)) return plan;
    NodeChoice choice{ground, now};
    const std::optional<NodeVictims> chosen = choice.best(nodes_tried);
    plan.attempt.nodes_tried = choice.nodes_planned();
    plan.result = PreemptionResult::NoHelp;
    if (!chosen) return plan;
    plan.node = chosen->node;
    plan.result = add_victims(ground, *chosen, chosen->index, plan.victims);
    return plan;
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
