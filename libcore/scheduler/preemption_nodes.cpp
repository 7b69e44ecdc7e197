#include "libcore/scheduler/preemption_nodes.h"

#include <algorithm>

namespace yk {

namespace {

constexpr std::uint64_t kOptedOut = std::uint64_t{1} << 34;
constexpr std::uint64_t kOriginator = std::uint64_t{1} << 33;

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
        if (!view.may_charge(*each.size)) { // D-31: skipped, the search goes on
            view.rewind(mark);
            continue;
        }
        if (!helps(*each.size, free, ask)) {
            view.rewind(mark);
            tail.push_back(each);
            continue;
        }
        view.charge(*each.size);
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
        if (!victim.is(Allocation::PreemptSelf)) bits |= kOptedOut;
        if (victim.is(Allocation::Originator)) bits |= kOriginator;
    }
    return bits + static_cast<std::uint64_t>(index + 1);
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

/// The first node in id order where the ask fits as it is: an open one, the one it has reserved, or one whose
/// reservation is stale.
NodeId NodeChoice::free_node() const {
    NodeId found = s_.nodes.find_lowest(s_.shapes[ask_.shape]);
    const auto consider = [&](NodeId id) {
        const Node& node = s_.nodes[id];
        if (found.valid() && s_.nodes[found].rank <= node.rank) return;
        if (takes_part(s_, node, ask_, now_) && fits(node.available, s_.resource_of(ask_))) found = id;
    };
    if (ask_.reservation.valid()) consider(s_.reservations[ask_.reservation].node);
    for (const PartitionState::Aged& each : s_.aged)
        if (s_.reservations.alive(each.id) && s_.reservations[each.id].sequence == each.sequence)
            consider(s_.reservations[each.id].node);
    return found;
}

/// No plan has fewer victims than the largest allocation there is would allow on the emptiest node there could be.
std::uint64_t NodeChoice::fewest() const {
    const Resource& ask = s_.resource_of(ask_);
    Resource largest;
    s_.shapes.for_each([&](ShapeId id) {
        if (s_.shapes[id].uses > 0) largest.max_with(s_.shapes[id].resource);
    });
    const Node* own = ask_.reservation.valid() ? &s_.nodes[s_.reservations[ask_.reservation].node] : nullptr;
    std::uint64_t fewest = 1;
    if (!s_.aged.empty()) return fewest; // nodes with stale reservations are not in the index
    ask.for_each([&](ResourceId id, std::int64_t wanted) {
        const std::int64_t most = largest.get(id);
        std::int64_t room = s_.nodes.most_available(id);
        if (own != nullptr) room = std::max(room, own->available.get(id));
        const std::int64_t missing = sat_sub(wanted, room);
        if (most > 0 && missing > 0) fewest = std::max(fewest, static_cast<std::uint64_t>((missing - 1) / most + 1));
    });
    return fewest;
}

void NodeChoice::try_node(NodeId id, std::vector<Candidate> candidates) {
    const Node& node = s_.nodes[id];
    const Resource& ask = s_.resource_of(ask_);
    Resource all = node.available;
    for (const Candidate& each : candidates) all.add(*each.size);
    if (!fits(all, ask) || fits(node.available, ask)) return; // where it fits already, it was refused (P-055)
    ++planned_;
    std::optional<NodeVictims> found = plan_node(view_, node, ask, std::move(candidates));
    if (!found) return;
    const std::uint64_t score = score_of(*found, found->index);
    if (best_ && best_score_ <= score) return;
    best_score_ = score;
    best_ = std::move(found);
    best_->node = id;
}

void NodeChoice::try_by_candidates() {
    std::vector<std::pair<std::uint64_t, std::size_t>> by_rank;
    const std::vector<Candidate>& all = candidates_.all();
    by_rank.reserve(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) by_rank.emplace_back(s_.nodes[all[i].allocation->node].rank, i);
    std::sort(by_rank.begin(), by_rank.end());
    for (std::size_t i = 0; i < by_rank.size() && !is_done();) {
        const NodeId node = all[by_rank[i].second].allocation->node;
        std::vector<Candidate> here;
        for (const std::uint64_t rank = by_rank[i].first; i < by_rank.size() && by_rank[i].first == rank; ++i)
            here.push_back(all[by_rank[i].second]);
        if (takes_part(s_, s_.nodes[node], ask_, now_)) try_node(node, std::move(here));
    }
}

void NodeChoice::try_by_nodes() {
    s_.nodes.until([&](NodeId id) {
        const Node& node = s_.nodes[id];
        if (!takes_part(s_, node, ask_, now_)) return false;
        std::vector<Candidate> here;
        for (const AllocationId each : node.allocations)
            if (const auto candidate = candidates_.candidate(each)) here.push_back(*candidate);
        if (!here.empty()) try_node(id, std::move(here));
        return is_done();
    });
}

std::optional<NodeVictims> NodeChoice::best(bool tried) {
    if (!tried)
        if (const NodeId node = free_node(); node.valid()) return NodeVictims{node, {}, -1};
    bound_ = fewest();
    if (candidates_.count(s_.nodes.size()) <= s_.nodes.size())
        try_by_candidates();
    else
        try_by_nodes();
    return best_;
}

} // namespace yk
