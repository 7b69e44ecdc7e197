// Queue preemption with an RM that has preemption predicates: the plans it is asked about, and the one it agreed to
// (P-062 to P-064).

#include <algorithm>

#include "libcore/scheduler/preemption.h"

namespace yk {

namespace {

/// What the node would cost the ask now; index -1 and no victim: it fits as it is (P-054).
std::optional<NodeVictims> offer_of(const PartitionState& state, GuaranteeView& view, Candidates& candidates,
                                    const Allocation& ask, NodeId id, Instant now) {
    const Node& node = state.nodes[id];
    const Resource& size = state.resource_of(ask);
    if (!takes_part(state, node, ask, now)) return std::nullopt;
    if (fits(node.available, size)) return NodeVictims{id, {}, -1};
    std::vector<Candidate> here;
    for (const AllocationId each : node.allocations)
        if (const auto candidate = candidates.candidate(each)) here.push_back(*candidate);
    if (here.empty()) return std::nullopt;
    auto found = plan_node(view, node, size, std::move(here));
    if (found) found->node = id;
    return found;
}

} // namespace

/// Everything an attempt looks at.
struct PreemptionPlanner::Ground {
    Ground(const PartitionState& state, AllocationId id)
        : ask(state.allocations[id]),
          leaf(*state.applications[ask.application].queue),
          view(state, leaf),
          candidates(state, view, ask, leaf) {}

    const Allocation& ask;
    const Queue& leaf;
    GuaranteeView view;
    Candidates candidates;
};

std::vector<NodeId> PreemptionPlanner::nodes_to_offer(AllocationId id, bool nodes_tried, Instant now) const {
    Ground ground{s_, id};
    std::vector<std::pair<int, NodeId>> found; // in id order, which the sort keeps
    if (!may_attempt(ground.view, ground.candidates, ground.leaf, s_.resource_of(ground.ask))) return {};
    s_.nodes.for_each([&](NodeId node) {
        const auto offer = offer_of(s_, ground.view, ground.candidates, ground.ask, node, now);
        if (offer && !(nodes_tried && offer->index < 0)) found.emplace_back(offer->index, node); // P-055
    });
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<NodeId> nodes;
    for (const auto& [index, node] : found) nodes.push_back(node);
    return nodes;
}

std::optional<VictimOffer> PreemptionPlanner::offer(AllocationId id, NodeId node, Instant now) const {
    Ground ground{s_, id};
    const auto found = offer_of(s_, ground.view, ground.candidates, ground.ask, node, now);
    if (!found) return std::nullopt;
    VictimOffer offer{node, s_.nodes[node].rank, {}, found->index, {}};
    for (int i = -1; i < static_cast<int>(found->plan.size()); ++i) {
        if (i >= 0) offer.plan.push_back(found->plan[static_cast<std::size_t>(i)].id);
        offer.scores.push_back(score_of(*found, i));
    }
    return offer;
}

PreemptionPlan PreemptionPlanner::plan_agreed(AllocationId id, const VictimOffer& agreed, int last, Instant now) const {
    return concluded(search_agreed(id, agreed, last, now), id, now);
}

PreemptionPlan PreemptionPlanner::search_agreed(AllocationId id, const VictimOffer& agreed, int last,
                                                Instant now) const {
    Ground ground{s_, id};
    PreemptionPlan plan;
    const auto end = [&](PreemptionResult result) {
        plan.result = result;
        ground.candidates.describe(plan.attempt);
        return std::move(plan);
    };
    plan.attempt.nodes_tried = 1;
    const Resource& size = s_.resource_of(ground.ask);
    if (!may_attempt(ground.view, ground.candidates, ground.leaf, size)) return end(PreemptionResult::Guarantees);
    const auto found = offer_of(s_, ground.view, ground.candidates, ground.ask, agreed.node, now);
    const auto count = static_cast<std::size_t>(last + 1);
    if (!found || found->plan.size() < count || found->index > last) return end(PreemptionResult::Released);
    const bool same = std::equal(agreed.plan.begin(), agreed.plan.begin() + (last + 1), found->plan.begin(),
                                 [](AllocationId a, const Candidate& b) { return a == b.id; });
    if (!same) return end(PreemptionResult::Released);
    plan.node = agreed.node;
    return end(add_victims(ground.view, ground.candidates, ground.leaf, size, *found, last, plan.victims));
}

} // namespace yk
