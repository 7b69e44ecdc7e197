// SPDX-License-Identifier: Apache-2.0
#include "libcore/preemption/queue_preemption.h"

#include <algorithm>

#include "libcore/base/check.h"

#include "libcore/preemption/nodes.h"
#include "libcore/preemption/queues.h"
#include "libcore/preemption/required.h"

namespace yk {

namespace {

/// Storm guard: whether the asks of a queue with property preemption.victims.perminute would have more victims in this
/// minute. The first decision of a minute always passes, or an ask that needs many victims would wait for ever.
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
    AttemptContext attempt{state_, victims_, id};
    return concluded(search(attempt, nodes_tried, now), attempt, now);
}

PreemptionPlan PreemptionPlanner::concluded(PreemptionPlan plan, const AttemptContext& attempt, Instant now) const {
    if (plan && is_storm(attempt.leaf, plan.victims.size(), now)) plan.result = PreemptionResult::Storm;
    attempt.candidates.describe(plan.attempt);
    plan.attempt.at = now;
    plan.attempt.result = plan.result;
    if (plan.node.valid()) plan.attempt.node = state_.nodes[plan.node].id;
    plan.attempt.victims = plan ? plan.victims.size() : 0;
    return plan;
}

PreemptionPlan PreemptionPlanner::search(AttemptContext& attempt, bool nodes_tried, Instant now) const {
    PreemptionPlan plan;
    plan.result = PreemptionResult::Guarantees;
    if (!may_attempt(attempt)) return plan;
    NodeChoice choice{attempt, now};
    const std::optional<NodeVictims> chosen = choice.best(nodes_tried);
    plan.attempt.nodes_tried = choice.nodes_planned();
    plan.result = PreemptionResult::NoHelp;
    if (!chosen) return plan;
    plan.node = chosen->node;
    plan.result = add_victims(attempt, *chosen, chosen->index, plan.victims);
    return plan;
}

PreemptionPlan PreemptionPlanner::plan_required(AllocationId ask, Instant now) const {
    YK_ASSUME(state_.allocations[ask].reservation.valid(),
              "an ask with a required node preempts where it has reserved");
    PreemptionPlan plan;
    plan.node = state_.reservations[state_.allocations[ask].reservation].node;
    plan.attempt.at = now;
    plan.attempt.node = state_.nodes[plan.node].id;
    plan.attempt.nodes_tried = 1;
    const auto victims = required_node_victims(state_, state_.allocations[ask], state_.nodes[plan.node], &plan.attempt);
    plan.result = victims ? PreemptionResult::Victims : PreemptionResult::NoVictim;
    if (victims) plan.victims = *victims;
    plan.attempt.result = plan.result;
    plan.attempt.victims = plan.victims.size();
    return plan;
}

} // namespace yk
