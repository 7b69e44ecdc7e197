#include "libcore/scheduler/preemption_nodes.h"

#include <algorithm>

namespace yk {

namespace {

/// Whether `amount` brings `free` nearer to holding the ask.
bool helps(const Resource& amount, const Resource& free, const Resource& ask) {
    return !all_common(amount, ask, [&](ResourceId id) {
        return amount.get(id) <= 0 || ask.get(id) <= 0 || ask.get(id) <= free.get(id);
    });
}

/// The candidates that may go, those that help first: head and tail of P-054.
std::vector<Candidate> arrange(GuaranteeView& view, Resource free, const Resource& ask,
                               const std::vector<Candidate>& candidates) {
    const std::size_t before = view.changes();
    std::vector<Candidate> head;
    std::vector<Candidate> tail;
    for (const Candidate& each : candidates) {
        if (!view.may_take(*each.leaf, *each.size, ask)) continue;
        const std::size_t mark = view.changes();
        view.remove(*each.leaf, *each.size);
        if (!view.may_charge(*each.charge)) { // D-31: skipped, the search goes on
            view.rewind(mark);
            continue;
        }
        if (!helps(*each.size, free, ask)) {
            view.rewind(mark);
            tail.push_back(each);
            continue;
        }
        view.charge(*each.charge);
        free.add(*each.size);
        head.push_back(each);
    }
    view.rewind(before);
    head.insert(head.end(), tail.begin(), tail.end());
    return head;
}

} // namespace

std::optional<NodeVictims> plan_node(GuaranteeView& view, const Node& node, const Resource& ask,
                                     std::vector<Candidate> candidates) {
    std::sort(candidates.begin(), candidates.end(), goes_before);
    const std::vector<Candidate> order = arrange(view, node.available, ask, candidates);
    const std::size_t before = view.changes();
    NodeVictims found;
    Resource free = node.available;
    for (const Candidate& each : order) {
        if (!view.may_take(*each.leaf, *each.size, ask)) continue;
        view.remove(*each.leaf, *each.size);
        free.add(*each.size);
        found.plan.push_back(each);
        if (found.index < 0 && fits(free, ask)) found.index = static_cast<int>(found.plan.size()) - 1;
    }
    view.rewind(before);
    if (found.index < 0) return std::nullopt;
    return found;
}

namespace {

/// Takes candidates that bring `free` nearer to holding the ask, in order, as long as it does not; `take` may refuse.
template <class Take>
bool fill_up(Resource& free, const Resource& ask, std::vector<Candidate>& candidates, std::vector<Candidate>& taken,
             Take&& take) {
    const auto useful = [&](const Candidate& each) { return helps(*each.size, free, ask); };
    const auto later = [](const Candidate& a, const Candidate& b) { return goes_before(b, a); };
    const auto begin = candidates.begin();
    auto end = std::partition(begin, candidates.end(), useful); // whoever does not help now never will
    std::make_heap(begin, end, later);                          // few are taken: no full sort
    while (!fits(free, ask) && begin != end) {
        std::pop_heap(begin, end--, later);
        if (!useful(*end) || !take(*end)) continue;
        free.add(*end->size);
        taken.push_back(*end);
    }
    return fits(free, ask);
}

} // namespace

std::optional<NodeVictims> plan_needed(GuaranteeView& view, const Node& node, const Resource& ask,
                                       std::vector<Candidate>& candidates) {
    NodeVictims found;
    Resource free = node.available;
    const std::size_t before = view.changes();
    const bool enough = fill_up(free, ask, candidates, found.plan, [&view, &ask](const Candidate& each) {
        if (!view.may_take(*each.leaf, *each.size, ask)) return false;
        const std::size_t mark = view.changes();
        view.remove(*each.leaf, *each.size);
        const bool charged = view.may_charge(*each.charge);
        charged ? view.charge(*each.charge) : view.rewind(mark); // D-31: skipped, the search goes on
        return charged;
    });
    view.rewind(before);
    if (!enough) return std::nullopt; // what does not help now does not make up for it
    bool all_go = true;               // in the second walk nothing is charged
    for (const Candidate& each : found.plan) {
        all_go = all_go && view.may_take(*each.leaf, *each.size, ask);
        view.remove(*each.leaf, *each.size);
    }
    view.rewind(before);
    if (!all_go) return plan_node(view, node, ask, std::move(candidates));
    found.index = static_cast<int>(found.plan.size()) - 1;
    return found;
}

FreePlan plan_freely(const Node& node, const Resource& ask, const Resource& most, std::vector<Candidate>& candidates) {
    FreePlan made{true, NodeVictims{}, {}};
    Resource free = node.available;
    const bool enough = fill_up(free, ask, candidates, made.victims->plan, [&made](const Candidate& each) {
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
           holder.priority < ask.priority && now - reservation.since > state.settings.reservation_timeout; // D-38
}

bool takes_part(const PartitionState& state, const Node& node, const Allocation& ask, Instant now) {
    return node.schedulable && fits(node.capacity, state.resource_of(ask)) &&
           std::all_of(node.reservations.begin(), node.reservations.end(),
                       [&](ReservationId id) { return id == ask.reservation || is_stale(state, id, ask, now); });
}

NodeChoice::NodeChoice(PreemptionGround& ground, Instant now)
    : ground_(ground),
      s_(ground.s),
      candidates_(ground.candidates),
      ask_(ground.ask),
      now_(now),
      least_harm_(ground.leaf.properties.least_harm) {}

/// Nodes that are not open and may take part all the same: the one that the ask has reserved, and those whose
/// reservations are stale.
std::vector<NodeId> NodeChoice::closed_nodes() const {
    std::vector<NodeId> nodes;
    const auto add = [&](NodeId id) {
        if (!s_.nodes[id].is_open() && takes_part(s_, s_.nodes[id], ask_, now_)) nodes.push_back(id);
    };
    if (ask_.reservation.valid()) add(s_.reservations[ask_.reservation].node);
    for (const PartitionState::Aged& each : s_.aged)
        if (s_.reservations.alive(each.id) && s_.reservations[each.id].sequence == each.sequence)
            add(s_.reservations[each.id].node);
    return nodes;
}

/// The first node in id order where the ask fits as it is.
NodeId NodeChoice::free_node() const {
    const Shape& shape = s_.shapes[ask_.shape];
    const auto can_take = [&](NodeId id) { return fits(s_.nodes[id].available, shape.resource); };
    NodeId found = s_.victims.first_free(shape.need, can_take);
    for (const NodeId id : closed_nodes())
        if (can_take(id) && (!found.valid() || s_.nodes[id].rank < s_.nodes[found].rank)) found = id;
    return found;
}

/// Whether a plan of this score on the node would be better than the best so far.
bool NodeChoice::is_worthwhile(std::uint64_t score, NodeId id) const {
    if (!best_ || score != best_score_) return !best_ || score < best_score_;
    return least_harm_ || s_.nodes[id].rank < s_.nodes[best_->node].rank;
}

/// The score of what was found on the node, which is kept if it is better than all before.
std::uint64_t NodeChoice::consider(NodeId id, std::optional<NodeVictims> found) {
    if (!found) return ScoreBoard::kOut;
    const std::uint64_t score = score_of(*found, found->index);
    if (!is_worthwhile(score, id)) return score;
    const Harm harm = least_harm_ ? harm_of(*found, found->index, now_) : Harm{};
    if (least_harm_ && best_ && score == best_score_) {
        const bool same = !harm.less_than(best_harm_) && !best_harm_.less_than(harm);
        if (best_harm_.less_than(harm) || (same && s_.nodes[id].rank > s_.nodes[best_->node].rank)) return score;
    }
    best_score_ = score;
    best_harm_ = harm;
    best_ = std::move(found);
    best_->node = id;
    return score;
}

std::uint64_t NodeChoice::try_node(NodeId id, std::vector<Candidate> candidates) {
    const Node& node = s_.nodes[id];
    if (candidates.empty() || !takes_part(s_, node, ask_, now_)) return ScoreBoard::kOut;
    if (fits(node.available, ground_.size)) return ScoreBoard::kOut; // it was refused there (P-055)
    ++planned_;
    return consider(id, plan_needed(ground_.view, node, ground_.size, candidates));
}

/// The same where nothing is in the way of a plan within `most`. What a plan beyond it takes is added to `wanted`.
NodeChoice::Outcome NodeChoice::try_freely(NodeId id, const Resource& most, Resource& wanted) {
    std::vector<Candidate> here = candidates_.on_node(s_.nodes[id]);
    const Node& node = s_.nodes[id];
    const bool out = here.empty() || !takes_part(s_, node, ask_, now_) || fits(node.available, ground_.size);
    if (out) return {ScoreBoard::kOut, true};
    if (freely_) {
        FreePlan made = plan_freely(node, ground_.size, most, here);
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
    for (std::size_t i = 0; i < all.size(); ++i) by_rank.emplace_back(s_.nodes[all[i].allocation->node].rank, i);
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
    for (const NodeId id : closed_nodes()) try_node(id, candidates_.on_node(s_.nodes[id]));
    VictimIndex::Kind& kind = s_.victims.kind(ground_.size);
    Resource wanted = kind.most; // not before the next attempt: what gives freely was found out for `most`
    const VictimIndex::Terms terms = candidates_.terms(kind.most);
    freely_ = terms.freely;
    const Lanes& need = s_.shapes[ask_.shape].need;
    ScoreBoard& board = s_.victims.board(kind, terms, need);
    std::vector<std::size_t> passing; // scores that hold for this attempt only
    for (ScoreBoard::Place place = board.next({}); place.score != ScoreBoard::kOut; place = board.next(place)) {
        const NodeId id = s_.victims.node_at(place.at);
        if (!is_worthwhile(place.score, id)) break;
        const Outcome outcome = try_freely(id, kind.most, wanted);
        if (outcome.score != place.score) {
            board.set(place.at, outcome.score);
            if (!outcome.lasting) passing.push_back(place.at);
        } else if (least_harm_) {
            ++place.at;
        } else {
            break; // no other costs less
        }
    }
    for (const std::size_t at : passing) board.set(at, s_.victims.bound(at, need, terms.bits()));
    kind.most = wanted;
}

std::optional<NodeVictims> NodeChoice::best(bool tried) {
    const std::size_t listed = s_.settings.shortcuts.listed_victims;
    const bool few = candidates_.count(listed) <= listed;
    if (!tried || !few) s_.victims.bring_up_to_date(s_);
    if (!tried)
        if (const NodeId node = free_node(); node.valid()) return NodeVictims{node, {}, -1};
    few ? try_by_candidates() : try_by_nodes();
    return best_;
}

} // namespace yk
