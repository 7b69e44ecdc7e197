// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeCollection: the nodes of a partition, by id and in policy order (S-230 to S-234).
//
// Owner: PartitionContext. Thread: the partition's owner.
// A policy that gives a node another score for each ask has ShapeBoards, and the index the order of ids. The index
// holds the open nodes (schedulable, without reservation) under (score, rank). Beside every subtree stand the largest
// available amounts and, for the shapes searched most, one bit each: "might fit somewhere below". Both may be too high,
// never too low, so that a search misses no node. Cost: find_first one descent for shapes with a fit bit; others whose
// search was long get a bit in WideFits.

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/check.h"
#include "libcore/model/node.h"
#include "libcore/nodes/shape_boards.h"
#include "libcore/nodes/wide_fits.h"
#include "libcore/policies/node_sort_policy.h"

namespace yk {

struct NodeSummary {
    std::uint64_t fit = 0; // bit b: the shape with fit bit b might fit
    Lanes available{};     // the largest amounts, each type by itself
};

struct NodeTraits {
    using Key = NodeKey;
    using Summary = NodeSummary;
    static constexpr std::uint32_t kCapacity = 32;
    Slab<Node>* nodes;

    static bool less(const Key& a, const Key& b) noexcept { return a < b; }
    static void merge(Summary& into, const Summary& from) noexcept {
        into.fit |= from.fit;
        raise(into.available, from.available);
    }
    static bool same(const Summary& a, const Summary& b) noexcept {
        return a.fit == b.fit && yk::same(a.available, b.available);
    }
    static bool falls(const Summary& whole, const Summary& before, const Summary& after) noexcept {
        return (before.fit & ~after.fit) != 0 || holds_up(whole.available, before.available, after.available);
    }
    IndexSlot& slot(std::uint32_t value) const noexcept { return (*nodes)[NodeId{value}].slot; }
};

class NodeCollection {
public:
    /// `summaries`: false makes every search test the nodes one by one.
    explicit NodeCollection(ShapeTable& shapes, bool summaries = true);

    // --- by id ------------------------------------------------------------------------------------------------------
    [[nodiscard]] NodeId find(std::string_view id) const;
    /// Makes a node. REQUIRES: the id is unknown.
    NodeId add(std::string_view id) noexcept;
    void remove(NodeId id) noexcept;
    /// To be called now and then: returns the memory when most nodes were removed.
    void give_back() { nodes_.give_back(); }
    [[nodiscard]] Node& operator[](NodeId id) noexcept { return nodes_[id]; }
    [[nodiscard]] const Node& operator[](NodeId id) const noexcept { return nodes_[id]; }
    [[nodiscard]] std::size_t size() const noexcept { return by_id_.size(); }
    [[nodiscard]] bool alive(NodeId id) const noexcept { return nodes_.alive(id); }
    /// f(NodeId) in id order.
    template <class F>
    void for_each(F&& f) const {
        for (const auto& [name, id] : by_id_) f(id);
    }
    /// As for_each() for the nodes after `id`, until f returns true.
    template <class F>
    void until_after(std::string_view id, F&& f) const {
        for (auto node = by_id_.upper_bound(id); node != by_id_.end() && !f(node->second);) ++node;
    }

    // --- order ------------------------------------------------------------------------------------------------------
    /// `weights` in name order. Every node is filed anew at the next refresh (S-232).
    void set_policy(const NodeSortPolicy& policy, std::vector<std::pair<ResourceId, double>> weights) noexcept;
    /// The weighted fraction of its capacity that is in use (S-231).
    [[nodiscard]] double used_share(const Node& node) const noexcept;
    /// Its score by the policy in force, if that is the same for all asks; the lowest comes first (S-230).
    [[nodiscard]] double score(const Node& node) const noexcept {
        return policy_->score != nullptr ? policy_->score({used_share(node)}) : 0.0;
    }
    /// Where the policy gives a node another score for each ask; nullptr: it has one for all. Knowledge, not state.
    [[nodiscard]] ShapeBoards* boards() const noexcept { return boards_.get(); }
    /// To be called when amounts or flags of the node changed: it is filed anew at the next refresh. `grew`: it may
    /// take more than before.
    void mark_dirty(NodeId id, bool grew) noexcept;
    /// Files every marked node; f(NodeId, const Node&, bool grew) for each.
    template <class F>
    void refresh(F&& f) noexcept {
        for (std::size_t i = 0; i < dirty_.size(); ++i) {
            Node& node = nodes_[dirty_[i]];
            node.dirty.forget();
            file(dirty_[i], node);
            const bool grew = node.grew;
            node.grew = false;
            f(dirty_[i], static_cast<const Node&>(node), grew);
        }
        dirty_.clear();
        if (boards_) boards_->settle();
    }
    [[nodiscard]] bool has_dirty() const noexcept { return !dirty_.empty(); }
    void reserve_capacity() { dirty_.reserve(dirty_.size() + 4); }

    // --- search; REQUIRES: refreshed since the last change -----------------------------------------------------------
    /// The first open node in order that can take the shape; none: no node can.
    [[nodiscard]] NodeId find_first(ShapeId shape);
    /// The first open nodes in order that can take the shape, at most `count`, without those `skip` is true for.
    template <class Skip>
    [[nodiscard]] std::vector<NodeId> find_some(const Shape& shape, std::size_t count, Skip&& skip) const {
        YK_ASSUME(!has_dirty(), "changed nodes must be filed before a search");
        std::vector<NodeId> found;
        if (count == 0) return found;
        if (boards_) {
            for (const NodeId id : boards_->in_order(shape)) {
                if (found.size() == count) break;
                if (!skip(id)) found.push_back(id);
            }
            return found;
        }
        index_.visit([&shape](const NodeSummary& below) { return within(shape.need, below.available); },
                     [&](std::uint32_t value) {
                         const NodeId id{value};
                         if (takes(nodes_[id], shape) && !skip(id)) found.push_back(id);
                         return found.size() == count;
                     });
        return found;
    }
    /// The open node that is large enough and lacks least for the shape, on ties the first in order; none: no such node
    /// (S-403).
    [[nodiscard]] NodeId find_to_reserve(const Shape& shape) const;
    /// f(NodeId) for all open nodes in order.
    template <class F>
    void for_each_open(F&& f) const {
        index_.for_each([&f](std::uint32_t value) { f(NodeId{value}); });
    }
    void forget_shape(ShapeId id);

    /// Empty when every invariant of the index holds.
    [[nodiscard]] std::string check() const;

private:
    /// Searches before a shape gets a fit bit. Nor does it get one before these have read as many summaries as there
    /// are nodes: that is what assigning costs.
    static constexpr std::uint32_t kAssignAfter = 16;
    static constexpr std::uint32_t kHalveAfter = 8192;    // searches after which all counts are halved
    static constexpr std::uint32_t kExpensiveAfter = 512; // a search that reads more summaries was long
    /// Wide bits are assigned when long searches have read as many summaries as so many walks over all nodes: that is
    /// what assigning costs.
    static constexpr std::size_t kAssignAfterRounds = 16;

    void file(NodeId id, Node& node) noexcept;
    [[nodiscard]] NodeSummary summary_of(const Node& node) const noexcept;
    [[nodiscard]] std::uint64_t with_devices(const Node& node, std::uint64_t fit) const noexcept;
    void give_rank(Node& node, std::map<std::string, NodeId, std::less<>>::iterator entry) noexcept;
    void relabel() noexcept;
    void count_search(ShapeId id);
    void assign_bit(ShapeId id, std::size_t bit);
    [[nodiscard]] NodeId find_on_boards(ShapeId id);
    [[nodiscard]] NodeId find_by_bit(const Shape& shape) const;
    [[nodiscard]] NodeId find_by_lanes(ShapeId id);
    [[nodiscard]] NodeId find_by_looking(const Shape& shape) const;
    void note_expensive(ShapeId id, std::uint32_t looked);
    void make_wide();
    void drop_wide();

    ShapeTable& shapes_;
    const bool summaries_;
    Slab<Node> nodes_;
    std::map<std::string, NodeId, std::less<>> by_id_;
    const NodeSortPolicy* policy_ = &default_node_sort_policy();
    std::vector<std::pair<ResourceId, double>> weights_;
    OrderedIndex<NodeTraits> index_;
    std::vector<NodeId> dirty_;
    FitNeeds needs_;
    std::array<ShapeId, kFitBits> fit_shapes_{};
    std::size_t fit_used_ = 0; // bits from here on are free
    bool any_devices_ = false; // some node that was filed had devices
    std::uint32_t searches_ = 0;
    std::unique_ptr<ShapeBoards> boards_; // null: the policy has one score for all asks
    std::unique_ptr<WideFits> wide_;      // null: no searches were long
    std::vector<ShapeId> expensive_;      // wait for a wide bit
    std::uint64_t expensive_looks_ = 0;   // summaries read in long searches since wide bits were assigned
};

} // namespace yk
