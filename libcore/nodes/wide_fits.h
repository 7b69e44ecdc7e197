// SPDX-License-Identifier: Apache-2.0
#pragma once
// WideFits: a second index of the open nodes, for the shapes beyond the 64 that have a fit bit in NodeCollection. In a
// nearly full cluster the largest amounts of a subtree say little about a single node, so a search without a bit may
// walk over thousands of nodes that have each type but not all together. Here each of up to 1,024 shapes has a bit.
//
// Owner: NodeCollection, which makes it when searches get expensive and drops it when they no longer are. Thread: the
// partition's owner. INVARIANT: holds the nodes of NodeCollection's index under the same keys.
// Cost: filing a node about three times what it costs there; a search one descent.

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/ordered_index.h"
#include "libcore/model/node.h"
#include "libcore/model/shape.h"

namespace yk {

/// A number with the same order among its like as `value` has among doubles; 0.0 and -0.0 give the same.
[[nodiscard]] inline std::uint64_t ordered_bits(double value) noexcept {
    constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

/// Where a node stands in the order of the nodes.
struct NodeKey {
    std::uint64_t score = 0; // ordered_bits() of the score
    std::uint64_t rank = 0;

    friend bool operator<(const NodeKey& a, const NodeKey& b) noexcept { return a.joined() < b.joined(); }

private:
    __extension__ using Joined = unsigned __int128; // compared without a branch
    [[nodiscard]] Joined joined() const noexcept { return Joined{score} << 64 | rank; }
};

/// Visits nodes in order until one takes the shape.
struct Taking {
    const Slab<Node>& nodes;
    const Shape& shape;
    NodeId& found;
    bool operator()(std::uint32_t value) const {
        if (!takes(nodes[NodeId{value}], shape)) return false;
        found = {value};
        return true;
    }
};

class WideFits {
public:
    static constexpr std::size_t kWords = 16;
    static constexpr std::size_t kBits = kWords * kFitBits;

    explicit WideFits(Slab<Node>& nodes) : nodes_(nodes), index_(Traits{&nodes}) {}
    WideFits(const WideFits&) = delete;
    WideFits& operator=(const WideFits&) = delete;
    ~WideFits() { index_.clear(); }

    /// Gives each shape a bit. REQUIRES: as many are left. Cost: one pass over the nodes.
    void assign_bits(const std::vector<ShapeId>& ids, ShapeTable& shapes);
    [[nodiscard]] std::size_t bits_left() const noexcept { return kBits - used_; }
    /// Takes the bit of a shape back; it is not assigned again.
    void forget(Shape& shape) noexcept;
    /// Takes all bits back, before the index is dropped.
    void forget_all(ShapeTable& shapes) noexcept;

    /// Files an open node, new or not, at `key` with `available` amounts.
    void file(NodeId id, const NodeKey& key, const Lanes& available) noexcept;
    void remove(NodeId id) noexcept { index_.erase(id.index); }
    /// The first node in order that can take the shape, which has a bit; none: no node can.
    [[nodiscard]] NodeId find_first(const Shape& shape);
    /// How many searches there were since the last call.
    [[nodiscard]] std::uint32_t take_searches() noexcept { return std::exchange(searches_, 0); }

    /// Empty when every invariant of the index holds.
    [[nodiscard]] std::string check() const { return index_.check(); }

private:
    struct Traits {
        using Key = NodeKey;
        using Summary = std::array<std::uint64_t, kWords>;
        static constexpr std::uint32_t kCapacity = 16; // an entry takes 152 bytes
        Slab<Node>* nodes;

        static bool less(const Key& a, const Key& b) noexcept { return a < b; }
        static void merge(Summary& into, const Summary& from) noexcept {
            for (std::size_t word = 0; word < kWords; ++word) into[word] |= from[word];
        }
        static bool same(const Summary& a, const Summary& b) noexcept { return a == b; }
        static void settle(Summary& whole, const Summary& before, const Summary& after, const Summary* entries,
                           std::uint32_t count) noexcept;
        IndexSlot& slot(std::uint32_t value) const noexcept { return (*nodes)[NodeId{value}].wide_slot; }
    };

    Slab<Node>& nodes_;
    OrderedIndex<Traits> index_;
    std::array<FitNeeds, kWords> needs_{};
    std::array<ShapeId, kBits> owners_{}; // by bit
    std::size_t used_ = 0;                // bits from here on are free
    std::uint32_t searches_ = 0;
};

} // namespace yk
