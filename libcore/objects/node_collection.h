#pragma once
// NodeCollection: the nodes of a partition, by id and in policy order (S-230 to S-234).
//
// Owner: PartitionContext. Thread: the partition's owner.
// The index holds the open nodes (schedulable, without reservation) under (score, rank). Beside every subtree stand
// the largest available amounts and, for the shapes searched most, one bit each: "might fit somewhere below". Both may
// be too hopeful, never too pessimistic, so a search is exact.
// Cost: find_first one descent for shapes with a fit bit; others whose search was long get a bit in WideFits.

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/config/config.h"
#include "libcore/objects/node.h"
#include "libcore/objects/wide_fits.h"

namespace yk {

struct NodeSummary {
    std::uint64_t fit = 0; // bit b: the shape with fit bit b might fit
    Lanes room{};          // largest available per type
};

struct NodeTraits {
    using Key = NodeKey;
    using Summary = NodeSummary;
    static constexpr std::uint32_t kCapacity = 32;
    Slab<Node>* nodes;

    static bool less(const Key& a, const Key& b) noexcept { return a < b; }
    static void merge(Summary& into, const Summary& from) noexcept {
        into.fit |= from.fit;
        raise(into.room, from.room);
    }
    static bool same(const Summary& a, const Summary& b) noexcept { return a.fit == b.fit && yk::same(a.room, b.room); }
    static bool falls(const Summary& whole, const Summary& gone, const Summary& fresh) noexcept {
        return (gone.fit & ~fresh.fit) != 0 || holds_up(whole.room, gone.room, fresh.room);
    }
    IndexSlot& slot(std::uint32_t value) const noexcept { return (*nodes)[NodeId{value}].slot; }
};

class NodeCollection {
public:
    /// `summaries`: false makes every search test the nodes one by one.
    explicit NodeCollection(ShapeTable& shapes, bool summaries = true);

    // --- by id ------------------------------------------------------------------------------------------------------
    [[nodiscard]] NodeId find(std::string_view id) const;
    /// A new node; REQUIRES: unknown id.
    NodeId add(std::string_view id);
    void remove(NodeId id);
    /// To be called now and then: when most nodes have gone, returns their memory.
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
    /// The same for the nodes after `id`, until f returns true.
    template <class F>
    void until_after(std::string_view id, F&& f) const {
        for (auto node = by_id_.upper_bound(id); node != by_id_.end() && !f(node->second);) ++node;
    }

    // --- order ------------------------------------------------------------------------------------------------------
    /// S-232: empty weights mean vcore 1 and memory 1. `weights` in name order.
    void set_policy(config::NodeSortPolicy policy, std::vector<std::pair<ResourceId, double>> weights);
    /// S-231.
    [[nodiscard]] double used_share(const Node& node) const noexcept;
    /// S-230.
    [[nodiscard]] double score(const Node& node) const noexcept {
        const double share = used_share(node);
        return policy_ == config::NodeSortPolicy::BinPacking ? 1.0 - share : share;
    }
    /// The node's amounts or flags changed: re-file it at the next refresh. `grew`: it may take more than before.
    void touch(NodeId id, bool grew);
    /// Files every touched node; f(NodeId, const Node&, bool grew) for each.
    template <class F>
    void refresh(F&& f) {
        for (std::size_t i = 0; i < dirty_.size(); ++i) {
            Node& node = nodes_[dirty_[i]];
            node.dirty.forget();
            file(dirty_[i], node);
            const bool grew = node.grew;
            node.grew = false;
            f(dirty_[i], static_cast<const Node&>(node), grew);
        }
        dirty_.clear();
    }
    [[nodiscard]] bool has_dirty() const noexcept { return !dirty_.empty(); }
    void reserve_room() { dirty_.reserve(dirty_.size() + 4); }

    // --- search; REQUIRES: refreshed -------------------------------------------------------------------------------
    /// The first open node in order that can take the shape; none: no node can.
    [[nodiscard]] NodeId find_first(ShapeId shape);
    /// The first open nodes in order that can take the shape, at most `count`, without those `skip` is true for.
    template <class Skip>
    [[nodiscard]] std::vector<NodeId> find_some(const Shape& shape, std::size_t count, Skip&& skip) const {
        std::vector<NodeId> found;
        if (count == 0) return found;
        index_.visit([&shape](const NodeSummary& below) { return within(shape.need, below.room); },
                     [&](std::uint32_t value) {
                         const NodeId id{value};
                         if (fits(nodes_[id].available, shape.resource) && !skip(id)) found.push_back(id);
                         return found.size() == count;
                     });
        return found;
    }
    /// S-403: the open node large enough whose free amounts lack least, the first in order on ties; none: no such node.
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
    static constexpr std::uint32_t kDealAfter = 16;     // searches before a shape gets a bit
    static constexpr std::uint32_t kHalveAfter = 8192;  // searches after which all counts are halved
    static constexpr std::uint32_t kDearAfter = 512;    // summaries read in a search that was long
    static constexpr std::size_t kDealAfterRounds = 16; // that long searches went round all nodes: as dear as dealing

    void file(NodeId id, Node& node);
    [[nodiscard]] NodeSummary summary_of(const Node& node) const noexcept;
    void give_rank(Node& node, std::map<std::string, NodeId, std::less<>>::iterator place);
    void relabel();
    void count_search(ShapeId id);
    void deal_bit(ShapeId id, std::size_t bit);
    [[nodiscard]] NodeId find_by_bit(const Shape& shape) const;
    [[nodiscard]] NodeId find_by_lanes(ShapeId id);
    [[nodiscard]] NodeId find_by_looking(const Shape& shape) const;
    void note_dear(ShapeId id, std::uint32_t looked);
    void make_wide();
    void drop_wide();

    ShapeTable& shapes_;
    const bool summaries_;
    Slab<Node> nodes_;
    std::map<std::string, NodeId, std::less<>> by_id_;
    config::NodeSortPolicy policy_ = config::NodeSortPolicy::Fair;
    std::vector<std::pair<ResourceId, double>> weights_;
    OrderedIndex<NodeTraits> index_;
    std::vector<NodeId> dirty_;
    FitNeeds needs_;
    std::array<ShapeId, kFitBits> fit_shapes_{};
    std::size_t fit_used_ = 0; // bits from here on are free
    std::uint32_t searches_ = 0;
    std::unique_ptr<WideFits> wide_; // none: no search is long
    std::vector<ShapeId> dear_;      // wait for a wide bit
    std::uint64_t dear_looks_ = 0;   // summaries read in long searches since bits were dealt
};

} // namespace yk
