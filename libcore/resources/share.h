// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shares: fractions of a total, for the sort orders (S-020 to S-024). Not resources: they never mix with amounts.

#include <array>
#include <cstdint>
#include <vector>

#include "libcore/resources/limit.h"
#include "libcore/resources/resource.h"

namespace yk {

/// One share per type of a resource, largest first. They are compared position by position, a missing one counts as 0,
/// which is a strict weak order (S-021). More than kInline shares take memory on the heap.
class Shares {
public:
    void push(double share); // keeps the order
    void clear() noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] double at(std::size_t position) const noexcept {
        return position < kInline                  ? inline_[position]
               : position - kInline < more_.size() ? more_[position - kInline]
                                                   : 0.0;
    }
    /// Same shares at the same positions.
    friend bool operator==(const Shares& a, const Shares& b) noexcept {
        return a.count_ == b.count_ && a.inline_ == b.inline_ && a.more_ == b.more_;
    }
    /// The dominant share, 0 when there is none.
    [[nodiscard]] double largest() const noexcept { return inline_[0]; }

private:
    static constexpr std::size_t kInline = 4;
    std::array<double, kInline> inline_{}; // unused positions hold 0
    std::vector<double> more_;
    std::size_t count_ = 0;
};

/// value / total per type; 0 for 0; the raw value where `total` is null, lacks the type or has 0 of it (S-020).
void shares_of(const Resource& amounts, const Resource* total, Shares& into);
[[nodiscard]] Shares shares_of(const Resource& amounts, const Resource* total);

/// Below 0 when `left` is smaller, 0 when they are equal (S-021).
[[nodiscard]] int compare_shares(const Shares& left, const Shares& right) noexcept;

/// The largest allocated / whole over the types, where the whole is the guaranteed amount, or `fair_max` for a type
/// without one; types with neither are left out. `guaranteed` may be null: not set (S-022).
[[nodiscard]] double fair_share(const Resource& allocated, const Resource* guaranteed, const Limit& fair_max) noexcept;

/// How far `available` is from holding `ask`: the missing fraction of each type added up. 0 when it fits, at most 1 per
/// type (S-023).
[[nodiscard]] double lack(const Resource& ask, const Resource& available) noexcept;

/// The percentage of the capacity in use, for the types in both (S-024).
[[nodiscard]] Resource abs_used(const Resource& capacity, const Resource& used);

} // namespace yk
