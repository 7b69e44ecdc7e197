// SPDX-License-Identifier: Apache-2.0
#include "libcore/preemption/nodes.h"

#include <algorithm>

namespace yk {

namespace {

/// The candidates that may be taken: first those that help, then the others (head and tail of P-054).
std::vector<Candidate> arrange(GuaranteeView& view, NodeSpace space, const Resource& ask,
                               const std::vector<Candidate>& candidates) {
    const std::size_t before = view.changes();
    std::vector<Candidate> head;
    std::vector<Candidate> tail;
    for (const Candidate& each : candidates) {
        if (!view.may_take(*each.leaf, *each.size, ask)) continue;
        const std::size_t mark = view.changes();
        view.remove(*each.leaf, *each.size);
        if (!view.may_charge(*each.charge)) { // it is skipped, the search continues (D-31)
            view.rewind(mark);
            continue;
        }
        if (!space.helped_by(each.id, *each.size)) {
            view.rewind(mark);
            tail.push_back(each);
            continue;
        }
        view.charge(*each.charge);
        space.take_off(each.id, *each.size);
        head.push_back(each);
    }
    view.rewind(before);
    head.insert(head.end(), tail.begin(), tail.end());
    return head;
}

} // namespace

std::optional<NodeVictims> plan_node(GuaranteeView& view, NodeSpace space, const Resource& ask,
                                     std::vector<Candidate> candidates) {
    std::sort(candidates.begin(), candidates.end(), goes_before);
    const std::vector<Candidate> order = arrange(view, space, ask, candidates);
    const std::size_t before = view.changes();
    NodeVictims found;
    for (const Candidate& each : order) {
        if (!view.may_take(*each.leaf, *each.size, ask)) continue;
        view.remove(*each.leaf, *each.size);
        space.take_off(each.id, *each.size);
        found.plan.push_back(each);
        if (found.index < 0 && space.fits()) found.index = static_cast<int>(found.plan.size()) - 1;
    }
    view.rewind(before);
    if (found.index < 0) return std::nullopt;
    return found;
}

namespace {

/// Takes candidates that help, in order, until the ask fits; take(candidate) may refuse one. Whether it fits at the
/// end.
template <class Take>
bool fill_up(NodeSpace& space, std::vector<Candidate>& candidates, std::vector<Candidate>& taken, Take&& take) {
    const auto useful = [&](const Candidate& each) { return space.helped_by(each.id, *each.size); };
    const auto later = [](const Candidate& a, const Candidate& b) { return goes_before(b, a); };
    const auto begin = candidates.begin();
    auto end = std::partition(begin, candidates.end(), useful); // who does not help now never will
    std::make_heap(begin, end, later);                          // the loop takes only some of them: no full sort
    while (!space.fits() && begin != end) {
        std::pop_heap(begin, end--, later);
        if (!useful(*end) || !take(*end)) continue;
        space.take_off(end->id, *end->size);
        taken.push_back(*end);
    }
    return space.fits();
}

} // namespace

std::optional<NodeVictims> plan_needed(GuaranteeView& view, NodeSpace space, const Resource& ask,
                                       std::vector<Candidate>& candidates) {
    NodeVictims found;
    const NodeSpace whole = space;
    const std::size_t before = view.changes();
    const bool enough = fill_up(space, candidates, found.plan, [&view, &ask](const Candidate& each) {
        if (!view.may_take(*each.leaf, *each.size, ask)) return false;
        const std::size_t mark = view.changes();
        view.remove(*each.leaf, *each.size);
        const bool charged = view.may_charge(*each.charge);
        charged ? view.charge(*each.charge) : view.rewind(mark); // it is skipped, the search continues (D-31)
        return charged;
    });
    view.rewind(before);
    if (!enough) return std::nullopt; // candidates that do not help cannot make up for it
    bool all_go = true;               // plan_node() tests again without charges
    for (const Candidate& each : found.plan) {
        all_go = all_go && view.may_take(*each.leaf, *each.size, ask);
        view.remove(*each.leaf, *each.size);
    }
    view.rewind(before);
    if (!all_go) return plan_node(view, whole, ask, std::move(candidates));
    found.index = static_cast<int>(found.plan.size()) - 1;
    return found;
}

FreePlan plan_freely(NodeSpace space, const Resource& most, std::vector<Candidate>& candidates) {
    FreePlan made{true, NodeVictims{}, {}};
    const bool enough = fill_up(space, candidates, made.victims->plan, [&made](const Candidate& each) {
        made.valid = made.valid && each.freely;
        made.total.add(*each.size);
        return true;
    });
    made.victims->index = static_cast<int>(made.victims->plan.size()) - 1;
    if (!enough) made.victims.reset();
    if (enough && (made.total.types() & ~most.types()) != 0) made.valid = false;
    if (enough && !fits(most, made.total)) made.valid = false;
    return made;
}

std::vector<NodeSpace> spaces_on(const Node& node, const Shape& ask, const std::vector<Candidate>& candidates) {
    const NodeSpace space{node, ask};
    if (space.has_devices()) return {space};
    std::vector<AllocationId> leaving;
    leaving.reserve(candidates.size());
    for (const Candidate& each : candidates) leaving.push_back(each.id);
    return space.choices(leaving);
}

std::uint64_t score_of(const NodeVictims& victims, int index) noexcept {
    std::uint64_t bits = 0;
    for (int i = 0; i <= index; ++i) {
        const Allocation& victim = *victims.plan[static_cast<std::size_t>(i)].allocation;
        if (!victim.is(Allocation::PreemptSelf)) bits |= kOptedOutScore;
        if (victim.is(Allocation::Originator)) bits |= kOriginatorScore;
    }
    return bits + static_cast<std::uint64_t>(index + 1);
}

Harm harm_of(const NodeVictims& victims, int index, Instant now) noexcept {
    Harm harm;
    for (int i = 0; i <= index; ++i) {
        const Candidate& victim = victims.plan[static_cast<std::size_t>(i)];
        harm.priorities = sat_add(harm.priorities, victim.priority);
        harm.run_time += now - victim.allocation->bound;
    }
    return harm;
}

bool is_stale(const PartitionState& state, ReservationId id, const Allocation& ask, Instant now) {
    const Reservation& reservation = state.reservations[id];
    const Allocation& holder = state.allocations[reservation.ask];
    return !state.shapes[holder.shape].is_pinned() && !holder.is(Allocation::Triggered) &&
           // the age of the reservation, not that of its ask (D-38)
           holder.priority < ask.priority && now - reservation.since > state.settings.reservation_timeout;
}

bool takes_part(const PartitionState& state, const Node& node, const Allocation& ask, Instant now) {
    return node.schedulable && could_take(node, state.shapes[ask.shape]) &&
           std::all_of(node.reservations.begin(), node.reservations.end(),
                       [&](ReservationId id) { return id == ask.reservation || is_stale(state, id, ask, now); });
}

NodeChoice::NodeChoice(AttemptContext& attempt, Instant now)
    : attempt_(attempt),
      state_(attempt.state),
      candidates_(attempt.candidates),
      ask_(attempt.ask),
      now_(now),
      least_harm_(attempt.leaf.properties.least_harm) {}

/// Nodes with reservations on which the ask may preempt all the same: the one that it has reserved itself, and those
/// whose reservations are stale.
std::vector<NodeId> NodeChoice::closed_nodes() const {
    std::vector<NodeId> nodes;
    const auto add = [&](NodeId id) {
        if (!state_.nodes[id].is_open() && takes_part(state_, state_.nodes[id], ask_, now_)) nodes.push_back(id);
    };
    if (ask_.reservation.valid()) add(state_.reservations[ask_.reservation].node);
    state_.aged.for_each([&](ReservationId each) { add(state_.reservations[each].node); });
    return nodes;
}

/// The first node in id order on which the ask fits without a victim.
NodeId NodeChoice::free_node() const {
    const Shape& shape = state_.shapes[ask_.shape];
    const auto can_take = [&](NodeId id) { return takes(state_.nodes[id], shape); };
    NodeId found = attempt_.victims.first_free(shape.need, can_take);
    for (const NodeId id : closed_nodes())
        if (can_take(id) && (!found.valid() || state_.nodes[id].rank < state_.nodes[found].rank)) found = id;
    return found;
}

/// Whether a plan of this score on the node could be better than the best so far.
bool NodeChoice::is_worthwhile(std::uint64_t score, NodeId id) const {
    if (!best_ || score != best_score_) return !best_ || score < best_score_;
    return least_harm_ || state_.nodes[id].rank < state_.nodes[best_->node].rank;
}

/// Keeps the plan of the node if it is better than all before. Returns its score.
std::uint64_t NodeChoice::consider(NodeId id, std::optional<NodeVictims> found) {
    if (!found) return VictimScores::kOut;
    const std::uint64_t score = score_of(*found, found->index);
    if (!is_worthwhile(score, id)) return score;
    const Harm harm = least_harm_ ? harm_of(*found, found->index, now_) : Harm{};
    if (least_harm_ && best_ && score == best_score_) {
        const bool same = !harm.less_than(best_harm_) && !best_harm_.less_than(harm);
        if (best_harm_.less_than(harm) || (same && state_.nodes[id].rank > state_.nodes[best_->node].rank))
            return score;
    }
    best_score_ = score;
    best_harm_ = harm;
    best_ = std::move(found);
    best_->node = id;
    return score;
}

std::uint64_t NodeChoice::try_node(NodeId id, std::vector<Candidate> candidates) {
    const Node& node = state_.nodes[id];
    if (candidates.empty() || !takes_part(state_, node, ask_, now_)) return VictimScores::kOut;
    if (takes(node, attempt_.shape)) return VictimScores::kOut; // the search for nodes refused it (P-055)
    ++planned_;
    std::uint64_t lowest = VictimScores::kOut;
    for (NodeSpace& space : spaces_on(node, attempt_.shape, candidates))
        lowest =
            std::min(lowest, consider(id, plan_needed(attempt_.view, std::move(space), attempt_.size, candidates)));
    return lowest;
}

/// The same, with plan_freely() where it can decide. If a plan needs more than `most`, `wanted` is raised to it.
NodeChoice::Outcome NodeChoice::try_freely(NodeId id, const Resource& most, Resource& wanted) {
    std::vector<Candidate> here = candidates_.on_node(state_.nodes[id]);
    const Node& node = state_.nodes[id];
    const bool out = here.empty() || !takes_part(state_, node, ask_, now_) || takes(node, attempt_.shape);
    if (out) return {VictimScores::kOut, true};
    if (freely_ && !node.devices) {
        FreePlan made = plan_freely({node, attempt_.shape}, most, here);
        if (made.valid) ++planned_;
        if (made.valid) return {consider(id, std::move(made.victims)), true};
        if (made.victims) wanted.max_with(made.total);
    }
    return {try_node(id, std::move(here)), false};
}

void NodeChoice::try_by_candidates() {
    std::vector<std::pair<std::uint64_t, std::size_t>> by_rank;
    const std::vector<Candidate>& all = candidates_.all();
    by_rank.reserve(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) by_rank.emplace_back(state_.nodes[all[i].allocation->node].rank, i);
    std::sort(by_rank.begin(), by_rank.end());
    for (std::size_t i = 0; i < by_rank.size();) {
        const NodeId node = all[by_rank[i].second].allocation->node;
        std::vector<Candidate> here;
        for (const std::uint64_t rank = by_rank[i].first; i < by_rank.size() && by_rank[i].first == rank; ++i)
            here.push_back(all[by_rank[i].second]);
        try_node(node, std::move(here));
    }
}

void NodeChoice::try_by_nodes() {
    for (const NodeId id : closed_nodes()) try_node(id, candidates_.on_node(state_.nodes[id]));
    VictimIndex::Kind& kind = attempt_.victims.kind(attempt_.shape);
    Resource wanted = kind.most; // for the next attempt: terms() and the scores of this one hold for `most`
    const VictimIndex::Terms terms = candidates_.terms(kind.most);
    freely_ = terms.freely;
    const Lanes& need = state_.shapes[ask_.shape].need;
    VictimScores& board = attempt_.victims.board(kind, terms, need);
    std::vector<std::size_t> passing; // positions of scores that hold for this attempt only
    for (VictimScores::Entry cursor = board.next({}); cursor.score != VictimScores::kOut; cursor = board.next(cursor)) {
        const NodeId id = attempt_.victims.node_at(cursor.at);
        if (!is_worthwhile(cursor.score, id)) break;
        const Outcome outcome = try_freely(id, kind.most, wanted);
        if (outcome.score != cursor.score) {
            board.set(cursor.at, outcome.score);
            if (!outcome.lasting) passing.push_back(cursor.at);
        } else if (least_harm_) {
            ++cursor.at;
        } else {
            break; // no other costs less
        }
    }
    for (const std::size_t at : passing) board.set(at, attempt_.victims.bound(at, need, terms.bits()));
    kind.most = wanted;
}

std::optional<NodeVictims> NodeChoice::best(bool tried) {
    const std::size_t listed = state_.settings.shortcuts.listed_victims;
    const bool by_candidates = candidates_.count(listed) <= listed;
    if (!tried || !by_candidates) attempt_.victims.bring_up_to_date(state_);
    if (!tried)
        if (const NodeId node = free_node(); node.valid()) return NodeVictims{node, {}, -1};
    by_candidates ? try_by_candidates() : try_by_nodes();
    return best_;
}

} // namespace yk
