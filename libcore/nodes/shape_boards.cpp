// SPDX-License-Identifier: Apache-2.0
#include "libcore/nodes/shape_boards.h"

#include <algorithm>
#include <utility>

#include "libcore/base/check.h"
#include "libcore/base/commonest.h"

namespace yk {

ShapeBoards::ShapeBoards(const NodeSortPolicy& policy, const Slab<Node>& nodes, const ShapeTable& shapes)
    : policy_(policy), nodes_(nodes), shapes_(shapes) {
    YK_ASSUME(policy.gain_for_ask != nullptr, "the policy says what each ask gains");
}

void ShapeBoards::set_workload(Workload workload) {
    measure_.set(std::move(workload));
    all_stale_ = sizes_changed_ = true;
    ++epoch_;
}

// --- what changes ---------------------------------------------------------------------------------------------------

void ShapeBoards::add(NodeId id, NodeId before) {
    const bool stayed = places_.insert(id, before, [this](std::size_t place) {
        if (facts_.size() < places_.size()) {
            facts_.resize(places_.size());
            idle_.resize(places_.size());
            changes_.grow(places_.size());
        }
        changes_.note(place);
    });
    if (!stayed) number_anew();
}

void ShapeBoards::remove(NodeId id) {
    changes_.note(places_.remove(id));
}

/// Every node has another place.
void ShapeBoards::number_anew() {
    facts_.assign(places_.size(), {});
    idle_.assign(places_.size(), {});
    all_ = {};
    changes_.forget(places_.size());
    devices_of_size_.clear();
    all_stale_ = sizes_changed_ = true;
    ++epoch_;
}

[[gnu::hot]] void ShapeBoards::settle() {
    if (std::exchange(all_stale_, false))
        for (std::size_t place = 0; place < places_.size(); ++place) look_at(place);
    else
        changes_.for_each_since(settled_, [this](std::size_t place) { look_at(place); });
    settled_ = changes_.now();
    if (std::exchange(sizes_changed_, false)) renew_quantum();
}

[[gnu::hot]] void ShapeBoards::look_at(std::size_t place) {
    const Facts before = std::exchange(facts_[place], {});
    Facts& facts = facts_[place];
    Idle counted;
    if (const NodeId id = places_.at(place); id.valid()) {
        const Node& node = nodes_[id];
        facts.is_plain = node.devices == nullptr && measure_.is_plain();
        const double idle = facts.is_plain ? learn_plain(node, facts) : learn_any(node, facts);
        if (node.is_open()) facts.available = lanes_of(node.available);
        if (node.schedulable) counted = {idle, facts.fragments};
    }
    const Idle counted_before = std::exchange(idle_[place], counted);
    all_.idle += counted.idle - counted_before.idle;
    all_.fragments += counted.fragments - counted_before.fragments;
    if (facts.device == before.device && facts.devices == before.devices) return;
    sizes_changed_ = true;
    if (before.devices > 0 && (devices_of_size_[before.device] -= before.devices) == 0)
        devices_of_size_.erase(before.device);
    if (facts.devices > 0) devices_of_size_[facts.device] += facts.devices;
}

/// Both return all that is idle.
double ShapeBoards::learn_plain(const Node& node, Facts& facts) const noexcept {
    facts.idle = measure_.left(node);
    facts.other = measure_.other_left(node);
    facts.concerned = measure_.concerned(facts.idle, facts.other);
    facts.fragments = facts.concerned * facts.idle;
    return facts.idle;
}

double ShapeBoards::learn_any(const Node& node, Facts& facts) const noexcept {
    const IdleNode idle = measure_.idle_of(node);
    const Fragmentation::Sum sum = measure_.sum_of(idle);
    facts.concerned = sum.concerned;
    facts.fragments = sum.fragments;
    if (idle.kind != nullptr) {
        facts.device = idle.kind->whole;
        facts.devices = static_cast<std::uint32_t>(idle.kind->listed);
    }
    return idle.idle();
}

/// A share of the commonest device, in fragments (F-030).
void ShapeBoards::renew_quantum() {
    const std::int64_t device =
        devices_of_size_.empty() ? measure_.workload().commonest_amount() : commonest(devices_of_size_);
    const double quantum = std::max(static_cast<double>(device) * policy_.gain_step * measure_.weights(), 1.0);
    if (quantum != quantum_) ++epoch_;
    quantum_ = quantum;
    quanta_in_one_ = 1 / quantum;
}

// --- search ---------------------------------------------------------------------------------------------------------

[[gnu::hot]] NodeId ShapeBoards::find_first(ShapeId id) {
    settle();
    const Shape& shape = shapes_[id];
    Board& board = board_of(id);
    bring_up_to_date(board);
    for (;;) {
        const Scores::Entry first = board.scores.next({});
        if (first.score == Scores::kOut) return {};
        const NodeId found = places_.at(first.at);
        const bool is_taking = takes(nodes_[found], shape);
        if (is_taking && board.is_exact[first.at] != 0) return found;
        board.is_exact[first.at] = 1;
        board.scores.set(first.at, is_taking ? exact_score(shape, first.at) : Scores::kOut);
    }
}

std::vector<NodeId> ShapeBoards::in_order(const Shape& shape) {
    settle();
    std::vector<std::pair<Score, std::size_t>> entries;
    for (std::size_t place = 0; place < facts_.size(); ++place)
        if (within(shape.need, facts_[place].available) && takes(nodes_[places_.at(place)], shape))
            entries.emplace_back(exact_score(shape, place), place);
    std::sort(entries.begin(), entries.end());
    std::vector<NodeId> nodes;
    nodes.reserve(entries.size());
    for (const auto& [score, place] : entries) nodes.push_back(places_.at(place));
    return nodes;
}

ShapeBoards::Board& ShapeBoards::board_of(ShapeId id) {
    if (board_at_.size() <= id.index) board_at_.resize(id.index + std::size_t{1}, kNoBoard);
    std::uint32_t& at = board_at_[id.index];
    if (at == kNoBoard && boards_.size() < kMostBoards) {
        at = static_cast<std::uint32_t>(boards_.size());
        boards_.push_back({id, {}, {}, 0, 0, 0});
    } else if (at == kNoBoard) {
        const auto oldest = std::min_element(boards_.begin(), boards_.end(),
                                             [](const Board& a, const Board& b) { return a.used < b.used; });
        if (oldest->shape.valid()) board_at_[oldest->shape.index] = kNoBoard;
        at = static_cast<std::uint32_t>(oldest - boards_.begin());
        oldest->shape = id;
        oldest->epoch = 0;
    }
    boards_[at].used = ++uses_;
    return boards_[at];
}

void ShapeBoards::forget_shape(ShapeId id) {
    if (id.index >= board_at_.size()) return;
    const std::uint32_t at = std::exchange(board_at_[id.index], kNoBoard);
    if (at == kNoBoard) return;
    boards_[at].shape = {};
    boards_[at].used = 0; // the first to be used for another one
}

[[gnu::hot]] void ShapeBoards::bring_up_to_date(Board& board) {
    const Asked ask = asked(shapes_[board.shape]);
    if (board.epoch != epoch_) {
        fill(board, ask);
    } else {
        if (board.scores.size() < places_.size()) {
            board.scores.grow(places_.size());
            board.is_exact.resize(places_.size());
        }
        const double enough = enough_for(board.scores.least());
        changes_.for_each_since(
            board.seen, [&](std::size_t place) { board.scores.set(place, score_on(place, ask, enough, board)); });
    }
    board.seen = changes_.now();
}

void ShapeBoards::fill(Board& board, const Asked& ask) {
    board.is_exact.assign(places_.size(), 0);
    Score least = Scores::kOut;
    board.scores.fill(places_.size(), [&](std::size_t place) {
        const Score score = score_on(place, ask, enough_for(least), board);
        least = std::min(least, score);
        return score;
    });
    board.epoch = epoch_;
}

/// The score for now: exact where that is known soon, and where the ask may gain `enough`.
[[gnu::hot]] ShapeBoards::Score ShapeBoards::score_on(std::size_t place, const Asked& ask, double enough,
                                                      Board& board) const noexcept {
    const Facts& node = facts_[place];
    if (!within(ask.need, node.available)) return Scores::kOut;
    const double most_gained = ask.amount * node.concerned; // from the fragments of each shape that has any
    const bool is_exact = node.is_plain && most_gained >= enough;
    board.is_exact[place] = is_exact ? 1 : 0;
    return to_score(is_exact ? gain(node.fragments, left_after(ask, node)) : most_gained);
}

ShapeBoards::Asked ShapeBoards::asked(const Shape& shape) const noexcept {
    const Workload& workload = measure_.workload();
    Asked ask{shape.need, 0, 0};
    if (workload.resource != ResourceNames::npos)
        ask.amount = static_cast<double>(shape.resource.get(workload.resource));
    if (!workload.others.empty()) ask.other = static_cast<double>(shape.resource.get(workload.others[0]));
    return ask;
}

/// How many whole quanta are gained; the more, the lower. By a product and a step to what the quotient would be, since
/// a division takes long.
[[gnu::hot]] ShapeBoards::Score ShapeBoards::to_score(double gain) const noexcept {
    const double nearly = std::clamp(gain * quanta_in_one_, -kMostScore, kMostScore);
    double whole = static_cast<double>(static_cast<std::int32_t>(nearly));
    whole -= whole * quantum_ > gain ? 1 : 0;
    whole += (whole + 1) * quantum_ <= gain && whole < kMostScore ? 1 : 0;
    return static_cast<Score>(-whole);
}

/// The fragments of a node whose amounts say all, with the ask on it.
[[gnu::hot]] Fragments ShapeBoards::left_after(const Asked& ask, const Facts& node) const noexcept {
    const double idle = std::max(node.idle - ask.amount, 0.0);
    return measure_.concerned(idle, std::max(node.other - ask.other, 0.0)) * idle;
}

/// The same of any node.
Fragments ShapeBoards::left_after(const Shape& shape, std::size_t place) const noexcept {
    const Facts& node = facts_[place];
    return node.is_plain ? left_after(asked(shape), node) : measure_.after(nodes_[places_.at(place)], shape).fragments;
}

/// REQUIRES: the node takes the shape.
ShapeBoards::Score ShapeBoards::exact_score(const Shape& shape, std::size_t place) const noexcept {
    return to_score(gain(facts_[place].fragments, left_after(shape, place)));
}

std::string ShapeBoards::check() {
    settle();
    for (std::size_t place = 0; place < places_.size(); ++place) {
        const NodeId id = places_.at(place);
        if (!id.valid()) continue;
        if (places_.of(id) != place) return "node " + nodes_[id].id + ": not in its place";
        if (facts_[place].fragments != measure_.of(measure_.idle_of(nodes_[id])))
            return "node " + nodes_[id].id + ": stale fragments";
    }
    return {};
}

} // namespace yk
