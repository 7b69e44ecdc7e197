#include "libcore/scheduler/preemption_nodes.h"

#include <algorithm>

namespace yk {

namespace {

/// So few candidates are listed and sorted by node; for more the nodes are searched for.
constexpr std::size_t kListed = 256;

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

void NodeChoice::try_node(NodeId id, std::vector<Candidate> candidates) {
    const Node& node = s_.nodes[id];
    const Shape& shape = s_.shapes[ask_.shape];
    if (fits(node.available, shape.resource)) return; // it was refused there (P-055)
    ReachSum reach{node.available};
    for (const Candidate& each : candidates)
        reach.add(*each.size, each.allocation->is(Allocation::PreemptSelf), each.allocation->is(Allocation::Originator),
                  0);
    const std::uint64_t lowest = reach.sum().lowest_score(shape.need, bit_of(0));
    if (lowest == 0 || !is_worthwhile(lowest, id)) return;
    ++planned_;
    std::optional<NodeVictims> found = plan_node(ground_.view, node, shape.resource, std::move(candidates));
    if (!found) return;
    const std::uint64_t score = score_of(*found, found->index);
    if (!is_worthwhile(score, id)) return;
    const Harm harm = least_harm_ ? harm_of(*found, found->index, now_) : Harm{};
    if (least_harm_ && best_ && score == best_score_) {
        const bool same = !harm.less_than(best_harm_) && !best_harm_.less_than(harm);
        if (best_harm_.less_than(harm) || (same && node.rank > s_.nodes[best_->node].rank)) return;
    }
    best_score_ = score;
    best_harm_ = harm;
    best_ = std::move(found);
    best_->node = id;
}

void NodeChoice::try_node(NodeId id) {
    std::vector<Candidate> here = candidates_.on_node(s_.nodes[id]);
    if (!here.empty()) try_node(id, std::move(here));
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
        if (takes_part(s_, s_.nodes[node], ask_, now_)) try_node(node, std::move(here));
    }
}

void NodeChoice::try_by_nodes() {
    std::uint64_t leaves = 0;
    for (const Queue* leaf : candidates_.leaves()) leaves |= bit_of(leaf->index);
    for (const NodeId id : closed_nodes()) try_node(id);
    s_.victims.search(
        s_.shapes[ask_.shape].need, leaves,
        [&](NodeId id) {
            if (takes_part(s_, s_.nodes[id], ask_, now_)) try_node(id);
        },
        [&](std::uint64_t score, NodeId id) { return is_worthwhile(score, id); });
}

std::optional<NodeVictims> NodeChoice::best(bool tried) {
    const bool few = candidates_.count(kListed) <= kListed;
    if (!tried || !few) s_.victims.bring_up_to_date(s_);
    if (!tried)
        if (const NodeId node = free_node(); node.valid()) return NodeVictims{node, {}, -1};
    few ? try_by_candidates() : try_by_nodes();
    return best_;
}

} // namespace yk
