// SPDX-License-Identifier: Apache-2.0
#include "libcore/nodes/node_collection.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "libcore/resources/share.h"

namespace yk {

namespace {

constexpr std::uint64_t kFirstRank = std::uint64_t{1} << 62;
constexpr std::uint64_t kRankGap = std::uint64_t{1} << 40;

} // namespace

NodeCollection::NodeCollection(ShapeTable& shapes, bool summaries)
    : shapes_(shapes), summaries_(summaries), index_(NodeTraits{&nodes_}) {}

NodeId NodeCollection::find(std::string_view id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? NodeId{} : found->second;
}

NodeId NodeCollection::add(std::string_view id) noexcept {
    const NodeId made = nodes_.make();
    Node& node = nodes_[made];
    node.id = id;
    const auto [entry, is_new] = by_id_.emplace(node.id, made);
    YK_ASSUME(is_new, "a node is made once");
    give_rank(node, entry);
    if (boards_) boards_->add(made, entry == by_id_.begin() ? NodeId{} : std::prev(entry)->second);
    mark_dirty(made, true);
    return made;
}

/// Gives the node a rank between those of its neighbours in id order; when there is none left all nodes get new ranks.
void NodeCollection::give_rank(Node& node, std::map<std::string, NodeId, std::less<>>::iterator entry) noexcept {
    const auto after = std::next(entry);
    if (by_id_.size() == 1) {
        node.rank = kFirstRank;
    } else if (after == by_id_.end()) {
        node.rank = nodes_[std::prev(entry)->second].rank + kRankGap;
    } else {
        const std::uint64_t above = nodes_[after->second].rank;
        const std::uint64_t below =
            entry == by_id_.begin() ? above - 2 * kRankGap : nodes_[std::prev(entry)->second].rank;
        node.rank = below + (above - below) / 2;
        if (node.rank == below) relabel();
    }
}

void NodeCollection::relabel() noexcept {
    index_.clear();
    drop_wide();
    std::uint64_t rank = kFirstRank;
    for (const auto& [name, id] : by_id_) {
        nodes_[id].rank = rank;
        rank += kRankGap;
        mark_dirty(id, false);
    }
}

void NodeCollection::remove(NodeId id) noexcept {
    if (nodes_[id].slot.in_index()) index_.erase(id.index);
    if (nodes_[id].wide_slot.in_index()) wide_->remove(id);
    if (boards_) boards_->remove(id);
    if (nodes_[id].dirty.listed())
        take_off(dirty_, nodes_[id].dirty, [this](NodeId each) -> ListSlot& { return nodes_[each].dirty; });
    by_id_.erase(nodes_[id].id);
    nodes_.destroy(id);
}

void NodeCollection::set_policy(const NodeSortPolicy& policy,
                                std::vector<std::pair<ResourceId, double>> weights) noexcept {
    policy_ = &policy;
    weights_ = std::move(weights);
    drop_wide();
    boards_.reset();
    if (policy.gain_for_ask != nullptr) boards_ = std::make_unique<ShapeBoards>(policy, nodes_, shapes_);
    NodeId before;
    for (const auto& [name, id] : by_id_) {
        if (boards_) boards_->add(id, before);
        before = id;
        mark_dirty(id, false);
    }
}

[[gnu::hot]] double NodeCollection::used_share(const Node& node) const noexcept {
    double sum = 0;
    double weights = 0;
    for (const auto& [id, weight] : weights_) {
        const std::int64_t capacity = node.capacity.get(id);
        if (weight == 0.0 || !node.capacity.has(id) || capacity == 0) continue;
        const double used = 1.0 - static_cast<double>(node.available.get(id)) / static_cast<double>(capacity);
        sum += weight * used;
        weights += weight;
    }
    return weights > 0 ? sum / weights : 0.0;
}

[[gnu::hot]] void NodeCollection::mark_dirty(NodeId id, bool grew) noexcept {
    Node& node = nodes_[id];
    node.grew = node.grew || grew;
    enlist(dirty_, node.dirty, id);
}

void NodeCollection::file(NodeId id, Node& node) noexcept {
    if (boards_) boards_->changed(id);
    if (!node.is_open()) {
        if (node.slot.in_index()) index_.erase(id.index);
        if (node.wide_slot.in_index()) wide_->remove(id);
        return;
    }
    any_devices_ = any_devices_ || node.devices != nullptr;
    const NodeKey key{ordered_bits(score(node)), node.rank};
    const NodeSummary summary = summary_of(node);
    if (wide_) wide_->file(id, key, summary.available);
    if (node.slot.in_index())
        index_.update(id.index, key, summary);
    else
        index_.insert(id.index, key, summary);
}

NodeSummary NodeCollection::summary_of(const Node& node) const noexcept {
    const Lanes available = lanes_of(node.available);
    const std::uint64_t fit = needs_.within(available, fit_used_);
    return {node.devices ? with_devices(node, fit) : fit, available};
}

/// The bits of those shapes whose devices are free as well: amounts say little where they are on many devices.
std::uint64_t NodeCollection::with_devices(const Node& node, std::uint64_t fit) const noexcept {
    for (std::uint64_t left = fit; left != 0; left &= left - 1) {
        const auto bit = static_cast<std::size_t>(std::countr_zero(left));
        const bool is_free =
            bit < fit_used_ && fit_shapes_[bit].valid() && node.devices->have(shapes_[fit_shapes_[bit]].device_ask());
        if (!is_free) fit &= ~(std::uint64_t{1} << bit);
    }
    return fit;
}

void NodeCollection::count_search(ShapeId id) {
    Shape& shape = shapes_[id];
    ++shape.searches;
    if (++searches_ == kHalveAfter) {
        searches_ = 0;
        shapes_.for_each([this](ShapeId each) { shapes_[each].searches /= 2; });
        if (wide_ && wide_->take_searches() < kHalveAfter / 64) drop_wide();
    }
    if (shape.fit_bit >= 0 || shape.searches < kAssignAfter || shape.looks < index_.size()) return;
    shape.looks = 0;
    if (fit_used_ < kFitBits) {
        assign_bit(id, fit_used_++);
        return;
    }
    const auto searches_of = [this](ShapeId each) { return each.valid() ? shapes_[each].searches : 0; };
    const auto least = std::min_element(fit_shapes_.begin(), fit_shapes_.end(),
                                        [&](ShapeId a, ShapeId b) { return searches_of(a) < searches_of(b); });
    if (searches_of(*least) * 2 < shape.searches)
        assign_bit(id, static_cast<std::size_t>(least - fit_shapes_.begin()));
    else
        shape.searches = 0; // to be compared again after as many searches
}

void NodeCollection::assign_bit(ShapeId id, std::size_t bit) {
    if (fit_shapes_[bit].valid()) shapes_[fit_shapes_[bit]].fit_bit = -1;
    fit_shapes_[bit] = id;
    shapes_[id].fit_bit = static_cast<std::int16_t>(bit);
    needs_.set(bit, shapes_[id].need);
    const std::uint64_t mask = std::uint64_t{1} << bit;
    const Shape& shape = shapes_[id];
    index_.resummarise([&](std::uint32_t value, NodeSummary summary) { // one pass over the open nodes
        const NodeDevices* const devices = any_devices_ ? nodes_[NodeId{value}].devices.get() : nullptr;
        const bool may_fit =
            within(shape.need, summary.available) && (devices == nullptr || devices->have(shape.device_ask()));
        summary.fit = may_fit ? summary.fit | mask : summary.fit & ~mask;
        return summary;
    });
}

void NodeCollection::forget_shape(ShapeId id) {
    if (shapes_[id].wide_bit >= 0) wide_->forget(shapes_[id]);
    if (boards_) boards_->forget_shape(id);
    if (shapes_[id].expensive) expensive_.erase(std::find(expensive_.begin(), expensive_.end(), id));
    const std::int16_t bit = shapes_[id].fit_bit;
    if (bit < 0) return;
    needs_.clear(static_cast<std::size_t>(bit));
    fit_shapes_[static_cast<std::size_t>(bit)] = {};
}

[[gnu::hot]] NodeId NodeCollection::find_first(ShapeId id) {
    YK_ASSUME(!has_dirty(), "changed nodes must be filed before a search");
    if (boards_) return find_on_boards(id);
    if (!summaries_) return find_by_looking(shapes_[id]);
    count_search(id);
    const Shape& shape = shapes_[id];
    if (shape.fit_bit >= 0) return find_by_bit(shape);
    return shape.wide_bit >= 0 ? wide_->find_first(shape) : find_by_lanes(id);
}

NodeId NodeCollection::find_on_boards(ShapeId id) {
    if (summaries_) return boards_->find_first(id);
    const std::vector<NodeId> order = boards_->in_order(shapes_[id]);
    return order.empty() ? NodeId{} : order.front();
}

NodeId NodeCollection::find_by_looking(const Shape& shape) const {
    NodeId found;
    index_.visit([](const NodeSummary&) { return true; }, Taking{nodes_, shape, found});
    return found;
}

[[gnu::hot]] NodeId NodeCollection::find_by_bit(const Shape& shape) const {
    NodeId found;
    const std::uint64_t bit = std::uint64_t{1} << shape.fit_bit;
    index_.visit([bit](const NodeSummary& below) { return (below.fit & bit) != 0; }, Taking{nodes_, shape, found});
    return found;
}

NodeId NodeCollection::find_by_lanes(ShapeId id) {
    Shape& shape = shapes_[id];
    NodeId found;
    std::uint32_t looked = 0;
    const auto may = [&](const NodeSummary& below) {
        ++looked;
        return within(shape.need, below.available);
    };
    index_.visit(may, Taking{nodes_, shape, found});
    shape.looks += looked;
    if (looked > kExpensiveAfter) note_expensive(id, looked);
    return found;
}

void NodeCollection::note_expensive(ShapeId id, std::uint32_t looked) {
    if (!shapes_[id].expensive) expensive_.push_back(id);
    shapes_[id].expensive = true;
    expensive_looks_ += looked;
    if (expensive_looks_ < kAssignAfterRounds * index_.size()) return;
    expensive_looks_ = 0;
    if (wide_ && wide_->bits_left() < expensive_.size()) drop_wide(); // then bits go to the shapes that still need one
    if (!wide_) make_wide();
    while (expensive_.size() > wide_->bits_left()) { // the others wait for their next long search
        shapes_[expensive_.back()].expensive = false;
        expensive_.pop_back();
    }
    for (const ShapeId each : fit_shapes_) // a shape may lose its fit bit to another one
        if (each.valid() && shapes_[each].wide_bit < 0 && !shapes_[each].expensive &&
            expensive_.size() < wide_->bits_left())
            expensive_.push_back(each);
    wide_->assign_bits(expensive_, shapes_);
    for (const ShapeId each : expensive_) shapes_[each].expensive = false;
    expensive_.clear();
}

void NodeCollection::make_wide() {
    wide_ = std::make_unique<WideFits>(nodes_);
    index_.for_each([this](std::uint32_t value) {
        const NodeId id{value};
        wide_->file(id, index_.key_of(value), lanes_of(nodes_[id].available));
    });
}

void NodeCollection::drop_wide() {
    if (wide_) wide_->forget_all(shapes_);
    wide_.reset();
}

NodeId NodeCollection::find_to_reserve(const Shape& shape) const {
    YK_ASSUME(!has_dirty(), "changed nodes must be filed before a search");
    double best = std::numeric_limits<double>::infinity();
    NodeId found;
    // What every node below lacks at least. Rounding to float may make it a little too large, so it is lowered a bit.
    const auto may = [&](const NodeSummary& below) {
        double bound = 0;
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            if (shape.need[lane] > below.available[lane])
                bound += static_cast<double>(shape.need[lane] - below.available[lane]) /
                         static_cast<double>(shape.need[lane]);
        return !summaries_ || bound * 0.999999 - 1e-6 < best;
    };
    index_.visit(may, [&](std::uint32_t value) {
        const Node& node = nodes_[NodeId{value}];
        if (!could_take(node, shape)) return false;
        const double missing = lack(shape.resource, node.available);
        if (missing < best) {
            best = missing;
            found = {value};
        }
        return false;
    });
    return found;
}

std::string NodeCollection::check() const {
    std::string fault = index_.check();
    if (!fault.empty() || !dirty_.empty()) return fault;
    for (const auto& [name, id] : by_id_) {
        const Node& node = nodes_[id];
        if (node.slot.in_index() != node.is_open()) return "node " + name + ": in the index, but not open, or missing";
        if (node.slot.in_index() && index_.key_of(id.index).score != ordered_bits(score(node)))
            return "node " + name + ": stale score";
        if (wide_ && node.wide_slot.in_index() != node.is_open()) return "node " + name + ": open, but not in WideFits";
    }
    if (wide_) fault = wide_->check();
    return fault.empty() && boards_ ? boards_->check() : fault;
}

} // namespace yk
