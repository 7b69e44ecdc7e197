// SPDX-License-Identifier: Apache-2.0
// Queue preemption with an RM that has preemption predicates: the plans that it is asked about, and the decision on the
// one that it agreed to (P-062 to P-064).

#include <algorithm>

#include "libcore/preemption/queue_preemption.h"
#include "libcore/preemption/queues.h"

namespace yk {

namespace {

/// The plan of the node as it is now; with index -1 and no victim if the ask fits already; nullopt: none (P-054).
std::optional<NodeVictims> offer_of(AttemptContext& attempt, NodeId id, Instant now) {
    const Node& node = attempt.state.nodes[id];
    if (!takes_part(attempt.state, node, attempt.ask, now)) return std::nullopt;
    if (takes(node, attempt.shape)) return NodeVictims{id, {}, -1};
    std::vector<Candidate> here = attempt.candidates.on_node(node);
    if (here.empty()) return std::nullopt;
    std::optional<NodeVictims> best;
    for (NodeSpace& space : spaces_on(node, attempt.shape, here)) {
        auto found = plan_node(attempt.view, std::move(space), attempt.size, here);
        if (found && (!best || score_of(*found, found->index) < score_of(*best, best->index))) best = std::move(found);
    }
    if (best) best->node = id;
    return best;
}

} // namespace

PreemptionPlanner::Offers PreemptionPlanner::nodes_to_offer(AllocationId id, bool nodes_tried, Instant now) const {
    AttemptContext attempt{state_, victims_, id};
    std::vector<std::pair<int, NodeId>> found; // in id order, which the sort keeps
    const bool may = may_attempt(attempt);
    if (may)
        state_.nodes.for_each([&](NodeId node) {
            const auto offer = offer_of(attempt, node, now);
            // after a search for nodes, one that needs no victim was refused there (P-055)
            if (offer && !(nodes_tried && offer->index < 0)) found.emplace_back(offer->index, node);
        });
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    Offers offers;
    for (const auto& [index, node] : found) offers.nodes.push_back(node);
    if (!offers.nodes.empty()) return offers;
    PreemptionPlan none;
    none.result = may ? PreemptionResult::NoHelp : PreemptionResult::Guarantees;
    offers.attempt = concluded(std::move(none), attempt, now).attempt;
    return offers;
}

std::optional<VictimOffer> PreemptionPlanner::offer(AllocationId id, NodeId node, Instant now) const {
    AttemptContext attempt{state_, victims_, id};
    const auto found = offer_of(attempt, node, now);
    if (!found) return std::nullopt;
    VictimOffer offer{node, state_.nodes[node].rank, {}, found->index, {}};
    for (int i = -1; i < static_cast<int>(found->plan.size()); ++i) {
        if (i >= 0) offer.plan.push_back(found->plan[static_cast<std::size_t>(i)].id);
        offer.scores.push_back(score_of(*found, i));
    }
    return offer;
}

PreemptionPlan PreemptionPlanner::plan_agreed(AllocationId id, const VictimOffer& agreed, int last, Instant now) const {
    AttemptContext attempt{state_, victims_, id};
    return concluded(search_agreed(attempt, agreed, last, now), attempt, now);
}

PreemptionPlan PreemptionPlanner::search_agreed(AttemptContext& attempt, const VictimOffer& agreed, int last,
                                                Instant now) const {
    PreemptionPlan plan;
    plan.attempt.nodes_tried = 1;
    plan.result = PreemptionResult::Guarantees;
    if (!may_attempt(attempt)) return plan;
    const auto found = offer_of(attempt, agreed.node, now);
    const int victims = last + 1;
    const auto count = static_cast<std::size_t>(victims);
    plan.result = PreemptionResult::Released;
    if (!found || found->plan.size() < count || found->index > last) return plan;
    const bool same = std::equal(agreed.plan.begin(), agreed.plan.begin() + victims, found->plan.begin(),
                                 [](AllocationId a, const Candidate& b) { return a == b.id; });
    if (!same) return plan;
    plan.node = agreed.node;
    plan.result = add_victims(attempt, *found, last, plan.victims);
    return plan;
}

} // namespace yk
