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

    /// S-011 fitsUndef(this, amount): a negative bound counts as 0; an amount of 0 or less always fits.
    [[nodiscard]] bool allows(const Resource& amount) const noexcept;
    /// S-252: allows(amount + used), tested for the types of `amount` only.
    [[nodiscard]] bool allows_more(const Resource& amount, const Resource& used) const noexcept;
    /// What `used` leaves of it (subExisting, S-005).
    [[nodiscard]] Limit headroom(const Resource& used) const;
    /// cmin (S-009): per type the smaller bound, a type of one side only keeps it.
    void tighten(const Limit& other);
    /// S-202: the bounds of `own` replace those of the same type.
    void overlay(const Limit& own);

    [[nodiscard]] bool same_as(const Limit& other) const noexcept { return bounds_.deep_equals(other.bounds_); }

private:
    Resource bounds_;
};

} // namespace yk
