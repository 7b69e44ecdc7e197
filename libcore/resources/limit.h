// SPDX-License-Identifier: Apache-2.0
#pragma once
// Limit: a bound on amounts by type. A missing type is unlimited (S-034), the opposite of Resource; so the two do not
// convert into each other. A queue's max and every headroom are Limits. Values of a headroom may be negative.

#include "libcore/resources/resource.h"

namespace yk {

class Limit {
public:
    Limit() = default;
    explicit Limit(Resource bounds) : bounds_(std::move(bounds)) {}

    /// Limits nothing.
    [[nodiscard]] bool unlimited() const noexcept { return bounds_.empty(); }
    [[nodiscard]] const Resource& bounds() const noexcept { return bounds_; }

    /// Whether `amount` is within the bounds. A negative bound counts as 0; an amount of 0 or less always fits
    /// (fitsUndef, S-011).
    [[nodiscard]] bool allows(const Resource& amount) const noexcept;
    /// allows(amount + used), tested for the types of `amount` only (S-252).
    [[nodiscard]] bool allows_more(const Resource& amount, const Resource& used) const noexcept;
    /// What is left of the bounds when `used` is taken (subExisting, S-005).
    [[nodiscard]] Limit headroom(const Resource& used) const;
    /// Per type the smaller of both bounds; a type that only one side has keeps its bound (cmin, S-009).
    void tighten(const Limit& other);
    /// The bounds of `own` replace those of the same type (S-202).
    void overlay(const Limit& own);

    [[nodiscard]] bool same_as(const Limit& other) const noexcept { return bounds_.deep_equals(other.bounds_); }

private:
    Resource bounds_;
};

} // namespace yk
