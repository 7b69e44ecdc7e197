#pragma once
// Shares: fractions of a total, for the sort orders (S-020 to S-024). Not resources: they never mix with amounts.

#include <array>
#include <cstdint>
#include <vector>

#include "libcore/resources/limit.h"
#include "libcore/resources/resource.h"

namespace yk {

/// One share per type of a resource, largest first. Compared place by place, a missing place counts as 0 (S-021): a
/// strict weak order.
class Shares {
public:
    void push(double share); // keeps the order
    void clear() noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] double at(std::size_t place) const noexcept {
        return place < kInline ? inline_[place] : place - kInline < more_.size() ? more_[place - kInline] : 0.0;
    }
    /// Whether they have the same places.
    friend bool operator==(const Shares& a, const Shares& b) noexcept {
        return a.count_ == b.count_ && a.inline_ == b.inline_ && a.more_ == b.more_;
    }
    /// The dominant share, 0 when there is none.
    [[nodiscard]] double largest() const noexcept { return inline_[0]; }

private:
    static constexpr std::size_t kInline = 4;
    std::array<double, kInline> inline_{}; // unused places hold 0
    std::vector<double> more_;
    std::size_t count_ = 0;
};

/// S-020: value / total per type; 0 for 0; the raw value where `total` is null, lacks the type or has 0 of it.
void shares_of(const Resource& amounts, const Resource* total, Shares& into);
[[nodiscard]] Shares shares_of(const Resource& amounts, const Resource* total);

/// S-021: below 0 when `left` is smaller, 0 when equal.
[[nodiscard]] int compare_shares(const Shares& left, const Shares& right) noexcept;

/// S-022. `guaranteed` may be null (not set).
[[nodiscard]] double fair_share(const Resource& allocated, const Resource* guaranteed, const Limit& fair_max) noexcept;

/// S-023: how far `available` is from holding `ask`; 0 when it fits, at most one per type.
[[nodiscard]] double lack(const Resource& ask, const Resource& available) noexcept;

/// S-024: percent of the capacity in use, for the types in both.
[[nodiscard]] Resource abs_used(const Resource& capacity, const Resource& used);

} // namespace yk
