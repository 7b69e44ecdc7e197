// Queue preemption with an RM that has preemption predicates: the plans it is asked about, and the one it agreed to
// (P-062 to P-064).

#include <algorithm>

#include "libcore/scheduler/preemption.h"
#include "libcore/scheduler/preemption_queues.h"

namespace yk {

namespace {

/// What the node would cost the ask now; index -1 and no victim: it fits as it is (P-054).
std::optional<NodeVictims> offer_of(PreemptionGround& ground, NodeId id, Instant now) {
    const Node& node = ground.s.nodes[id];
    if (!takes_part(ground.s, node, ground.ask, now)) return std::nullopt;
    if (fits(node.available, ground.size)) return NodeVictims{id, {}, -1};
    std::vector<Candidate> here = ground.candidates.on_node(node);
    if (here.empty()) return std::nullopt;
    auto found = plan_node(ground.view, node, ground.size, std::move(here));
    if (found) found->node = id;
    return found;
}

} // namespace

PreemptionPlanner::Offers PreemptionPlanner::nodes_to_offer(AllocationId id, bool nodes_tried, Instant now) const {
    PreemptionGround ground{s_, id};
    std::vector<std::pair<int, NodeId>> found; // in id order, which the sort keeps
    const bool may = may_attempt(ground);
    if (may)
        s_.nodes.for_each([&](NodeId node) {
            const auto offer = offer_of(ground, node, now);
            if (offer && !(nodes_tried && offer->index < 0)) found.emplace_back(offer->index, node); // P-055
        });
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    Offers offers;
    for (const auto& [index, node] : found) offers.nodes.push_back(node);
    if (!offers.nodes.empty()) return offers;
    PreemptionPlan none;
    none.result = may ? PreemptionResult::NoHelp : PreemptionResult::Guarantees; // P-024
    offers.attempt = concluded(std::move(none), ground, now).attempt;
    return offers;
}

std::optional<VictimOffer> PreemptionPlanner::offer(AllocationId id, NodeId node, Instant now) const {
    PreemptionGround ground{s_, id};
    const auto found = offer_of(ground, node, now);
    if (!found) return std::nullopt;
    VictimOffer offer{node, s_.nodes[node].rank, {}, found->index, {}};
    for (int i = -1; i < static_cast<int>(found->plan.size()); ++i) {
        if (i >= 0) offer.plan.push_back(found->plan[static_cast<std::size_t>(i)].id);
        offer.scores.push_back(score_of(*found, i));
    }
    return offer;
}

PreemptionPlan PreemptionPlanner::plan_agreed(AllocationId id, const VictimOffer& agreed, int last, Instant now) const {
    PreemptionGround ground{s_, id};
    return concluded(search_agreed(ground, agreed, last, now), ground, now);
}

PreemptionPlan PreemptionPlanner::search_agreed(PreemptionGround& ground, const VictimOffer& agreed, int last,
                                                Instant now) const {
    PreemptionPlan plan;
    plan.attempt.nodes_tried = 1;
    plan.result = PreemptionResult::Guarantees;
    if (!may_attempt(ground)) return plan;
    const auto found = offer_of(ground, agreed.node, now);
    const int victims = last + 1;
    const auto count = static_cast<std::size_t>(victims);
    plan.result = PreemptionResult::Released;
    if (!found || found->plan.size() < count || found->index > last) return plan;
    const bool same = std::equal(agreed.plan.begin(), agreed.plan.begin() + victims, found->plan.begin(),
                                 [](AllocationId a, const Candidate& b) { return a == b.id; });
    if (!same) return plan;
    plan.node = agreed.node;
    plan.result = add_victims(ground, *found, last, plan.victims);
    return plan;
}

} // namespace yk
