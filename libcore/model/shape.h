// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shapes: the distinct (resource, required node, stated devices) of pending asks. Asks of one shape succeed or fail
// together, so what is known of one is known of all.
//
// Owner: PartitionContext. Thread: the partition's owner.
// A shape is *blocked* when no node of the index can take it now, and *reserve-blocked* when none could even be
// reserved for it. Blocks are knowledge, not state: they are set by a search that found nothing and cleared by whatever
// could change the answer, so dropping all of them changes no decision.
// Each shape stands on one of kShapeBits mask bits; beyond that many shapes they share bits, and a bit is closed only
// when every shape on it is blocked: a collision costs an attempt in vain, never a wrong result.

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "libcore/base/slab.h"
#include "libcore/model/ids.h"
#include "libcore/model/node.h"
#include "libcore/model/shape_list.h"
#include "libcore/resources/lanes.h"
#include "libcore/resources/resource.h"

namespace yk {

/// What is below an index entry: bit b of `tries` is set when an ask of a shape on b may be tried, of `reserves`
/// when one is old enough to reserve a node (S-403).
struct Masks {
    std::uint64_t tries = 0;
    std::uint64_t reserves = 0;

    [[nodiscard]] bool any(const Masks& wanted) const noexcept {
        return ((tries & wanted.tries) | (reserves & wanted.reserves)) != 0;
    }
    [[nodiscard]] bool covers(const Masks& other) const noexcept {
        return ((other.tries & ~tries) | (other.reserves & ~reserves)) == 0;
    }
    void merge(const Masks& other) noexcept {
        tries |= other.tries;
        reserves |= other.reserves;
    }
    friend bool operator==(const Masks&, const Masks&) = default;
};

inline constexpr std::uint32_t kShapeBits = 62;
/// `tries`: the entry must be looked at whatever its shapes (back-off counts asks, S-345).
inline constexpr std::uint64_t kVisitBit = std::uint64_t{1} << 63;
/// `reserves`: the entry has reservations that may be fulfilled now (step 1, S-410).
inline constexpr std::uint64_t kReservedBit = std::uint64_t{1} << 63;
/// `reserves`: the entry has placeholders that may be replaced now (step 2, G-032).
inline constexpr std::uint64_t kReplaceBit = std::uint64_t{1} << 62;

struct Shape {
    Resource resource;
    std::string required_node;         // empty: any node
    std::vector<DeviceDemand> devices; // that its asks state, by type; of others the amount says it (F-003)
    Lanes need{};
    std::uint32_t uses = 0;   // asks and allocations of this shape
    std::uint32_t groups = 0; // of pending asks
    std::uint8_t bit = 0;
    std::int16_t fit_bit = -1;  // in the node index, -1: none
    bool expensive = false;     // a search of it was long and it has no bit yet
    std::int16_t wide_bit = -1; // in WideFits, -1: none
    bool blocked = false;
    bool reserve_blocked = false;
    std::uint32_t searches = 0;           // counted for the assignment of fit bits; halved now and then
    std::uint64_t looks = 0;              // summaries read without one, since it was last considered
    std::vector<AllocationId> reserved{}; // asks of this shape that hold a reservation
    std::uint64_t hash = 0;
    ShapeId next_same_hash{};
    std::uint32_t arrivals_at = kNotCounted; // where WorkloadCounts count them

    static constexpr std::uint32_t kNotCounted = ~std::uint32_t{0};

    [[nodiscard]] bool is_pinned() const noexcept { return !required_node.empty(); }
    [[nodiscard]] std::uint64_t mask() const noexcept { return std::uint64_t{1} << bit; }
    [[nodiscard]] DeviceAsk device_ask() const noexcept { return {resource, devices}; }
};

/// Whether the node has available what an ask of the shape wants, as amounts and as devices.
[[nodiscard]] inline bool takes(const Node& node, const Shape& shape) noexcept {
    return fits(node.available, shape.resource) && (!node.devices || node.devices->have(shape.device_ask()));
}
/// Whether the node is large enough for it.
[[nodiscard]] inline bool could_take(const Node& node, const Shape& shape) noexcept {
    return fits(node.capacity, shape.resource) && (!node.devices || node.devices->could_have(shape.device_ask()));
}

class ShapeTable {
public:
    /// The shape of these, made when new; its uses count one more.
    ShapeId acquire(const Resource& resource, std::string_view required_node,
                    const std::vector<DeviceDemand>& devices = {}) noexcept;
    void release(ShapeId id) noexcept { --shapes_[id].uses; }
    /// One more group of pending asks. True for the first: blocks on the shape's bit no longer hold everywhere.
    bool add_group(ShapeId id) noexcept;
    void remove_group(ShapeId id) noexcept;

    [[nodiscard]] Shape& operator[](ShapeId id) noexcept { return shapes_[id]; }
    [[nodiscard]] const Shape& operator[](ShapeId id) const noexcept { return shapes_[id]; }

    void block(ShapeId id) noexcept;
    void unblock(ShapeId id) noexcept;
    void block_reserve(ShapeId id) noexcept;
    void unblock_reserve(ShapeId id) noexcept;
    /// The mask bits of shapes that are not blocked: what step 3 of a cycle looks for.
    [[nodiscard]] const Masks& open() const noexcept { return open_; }
    /// How many shapes with pending asks stand on the bit.
    [[nodiscard]] std::uint32_t shapes_on_bit(std::uint32_t bit) const noexcept { return on_bit_[bit]; }

    /// f(ShapeId) for each blocked shape; f may unblock it.
    template <class F>
    void for_each_blocked(F&& f) {
        for (std::size_t i = blocked_.ids().size(); i-- > 0;) f(blocked_.ids()[i]);
    }
    /// f(ShapeId) for each reserve-blocked shape; f may unblock it.
    template <class F>
    void for_each_reserve_blocked(F&& f) {
        for (std::size_t i = reserve_blocked_.size(); i-- > 0;) f(reserve_blocked_[i]);
    }
    /// f(ShapeId) for each blocked shape with a required node; f may unblock it.
    template <class F>
    void for_each_pinned_blocked(F&& f) {
        if (pinned_blocked_ == 0) return;
        for_each_blocked([&](ShapeId id) {
            if (shapes_[id].is_pinned()) f(id);
        });
    }
    /// f(ShapeId) for each blocked shape that `available` might hold, judged by the lanes; f may unblock it.
    template <class F>
    void for_each_blocked_below(const Lanes& available, F&& f) {
        blocked_.for_each_within(available, f);
    }
    template <class F>
    void for_each(F&& f) const {
        shapes_.for_each(f);
    }

    /// Unused shapes are kept for their next ask. True when so many were made that sweep() is due.
    [[nodiscard]] bool sweep_due() const noexcept { return shapes_.size() > sweep_at_; }
    /// Forgets the shapes that nobody uses; f(ShapeId) is called before that for each.
    template <class F>
    void sweep(F&& f) {
        std::vector<ShapeId> unused;
        shapes_.for_each([&](ShapeId id) {
            if (shapes_[id].uses == 0) unused.push_back(id);
        });
        for (const ShapeId id : unused) {
            f(id);
            forget(id);
        }
        sweep_at_ = 2 * shapes_.size() + kKeep;
    }

private:
    static constexpr std::size_t kKeep = 1024;

    [[nodiscard]] static std::uint64_t hash_of(const Resource& resource, std::string_view required_node,
                                               const std::vector<DeviceDemand>& devices) noexcept;
    void forget(ShapeId id);
    template <class Change>
    void change(Shape& shape, Change&& change);

    Slab<Shape> shapes_;
    std::unordered_map<std::uint64_t, ShapeId> by_hash_; // the first of a chain
    ShapeList blocked_;
    // per bit, counting shapes with pending asks only
    std::array<std::uint32_t, kShapeBits> on_bit_{};
    std::array<std::uint32_t, kShapeBits> unblocked_{};
    std::array<std::uint32_t, kShapeBits> reservable_{}; // blocked but not reserve-blocked
    std::array<std::uint32_t, kShapeBits> made_on_{};    // all shapes, to assign bits evenly
    std::size_t sweep_at_ = kKeep;
    std::vector<ShapeId> reserve_blocked_;
    std::size_t pinned_blocked_ = 0;
    Masks open_{kVisitBit, 0};
};

} // namespace yk
