// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one RM may hold, and what it holds: counts of its objects and the bytes of their names, so that no RM can use up
// the memory of all. The limits come in with Settings.
//
// Admission is tested before anything is changed: what is refused leaves nothing behind. What exists already is never
// refused for its count. What the RM reports as running (existing allocations and the node that brings them,
// allocations with a node, foreign ones) is a fact that a scheduler must know to be right: it is counted, and refused
// only at twice the limit, so that the order of a recovery loses nothing.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/ports/command.h"

namespace yk {

/// Limits; 0: none. The defaults are twice what the largest benchmarks play.
struct Budget {
    std::uint64_t nodes = 100'000;
    std::uint64_t applications = 200'000; // live ones
    std::uint64_t asks = 2'000'000;       // pending asks and allocations, foreign ones included
    std::uint64_t queues = 200'000;       // made by placement rules
    std::uint64_t names = 512U << 20;     // bytes of ids, keys, tags, attributes, users and groups
    std::uint64_t ended = 10'000; // of each partition, kept for people: so many that ended and so many refused (I-735)
    std::uint64_t resource_types = 64; // of each partition, 1 to 64; those that its configuration names are not refused
};

/// What is counted.
enum class Held : std::uint8_t { Nodes, Applications, Asks, Queues, Names };
inline constexpr std::array kAllHeld{Held::Nodes, Held::Applications, Held::Asks, Held::Queues, Held::Names};

/// `nodes`, `asks`, ...
[[nodiscard]] std::string_view name_of(Held what) noexcept;
/// `rmMaxNodes`, ...: the setting that limits it.
[[nodiscard]] std::string_view key_of(Held what) noexcept;
[[nodiscard]] std::uint64_t limit_of(const Budget& budget, Held what) noexcept;
[[nodiscard]] std::uint64_t& limit_of(Budget& budget, Held what) noexcept;

/// A count of each kind.
struct Holdings {
    std::array<std::uint64_t, kAllHeld.size()> counts{};

    [[nodiscard]] std::uint64_t of(Held what) const noexcept { return counts[static_cast<std::size_t>(what)]; }
    std::uint64_t& of(Held what) noexcept { return counts[static_cast<std::size_t>(what)]; }
    /// For a chain: Holdings{}.plus(Held::Nodes, 1).plus(Held::Names, 80).
    [[nodiscard]] Holdings plus(Held what, std::uint64_t count) const noexcept;
};

/// The memory that so many take, in bytes, roughly: each ask is counted as if no other had its size.
[[nodiscard]] std::uint64_t memory_of(const Holdings& held) noexcept;

/// The bytes that a name with its entry in a table takes, and those of tags: what Held::Names counts.
[[nodiscard]] std::uint64_t bytes_of(std::string_view name) noexcept;
[[nodiscard]] std::uint64_t bytes_of(const Tags& tags) noexcept;
[[nodiscard]] std::uint64_t bytes_of_tag(std::string_view key, std::string_view value) noexcept;

/// Bytes of one entry, beside its name, of a table that grows with what an RM names.
inline constexpr std::uint64_t kPerEntry = 192;

/// Counts for one partition and its RM. Owner: PartitionState.
class BudgetMeter {
public:
    /// `rm`: the counts over all partitions of the RM. `budget`: the limits in force, which a reload may change. Both
    /// outlive the meter.
    BudgetMeter(Holdings& rm, const Budget& budget) : rm_(rm), budget_(budget) {}
    BudgetMeter(const BudgetMeter&) = delete;
    BudgetMeter& operator=(const BudgetMeter&) = delete;
    ~BudgetMeter();

    void add(Held what, std::uint64_t count = 1) noexcept {
        own_.of(what) += count;
        rm_.of(what) += count;
    }
    void take(Held what, std::uint64_t count = 1) noexcept {
        own_.of(what) -= count;
        rm_.of(what) -= count;
    }
    [[nodiscard]] const Holdings& own() const noexcept { return own_; }

    struct Shortage {
        Held what;
        std::string text; // `the resource manager has 5 of at most 5 nodes (rmMaxNodes of ykd.conf)`
    };
    /// The first limit that the RM would pass with `claim` on top of what it holds; nullopt: none. `fact`: the RM
    /// reports what runs already, so that twice the limit applies.
    [[nodiscard]] std::optional<Shortage> shortage(const Holdings& claim, bool fact) const;
    /// Whether the RM has more bytes of names than it may.
    [[nodiscard]] bool has_too_many_names() const noexcept;

private:
    Holdings own_;
    Holdings& rm_;
    const Budget& budget_;
};

} // namespace yk
