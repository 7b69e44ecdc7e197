// SPDX-License-Identifier: Apache-2.0
#include "libcore/resources/limit.h"

namespace yk {

bool Limit::allows(const Resource& amount) const noexcept {
    for (std::uint64_t left = amount.types() & bounds_.types(); left != 0; left &= left - 1) {
        const auto id = static_cast<ResourceId>(std::countr_zero(left));
        const std::int64_t value = amount.get(id);
        if (value > 0 && value > bounds_.get(id)) return false;
    }
    return true;
}

[[gnu::hot]] bool Limit::allows_more(const Resource& amount, const Resource& used) const noexcept {
    for (std::uint64_t left = amount.types() & bounds_.types(); left != 0; left &= left - 1) {
        const auto id = static_cast<ResourceId>(std::countr_zero(left));
        const std::int64_t value = sat_add(amount.get(id), used.get(id));
        if (value > 0 && value > bounds_.get(id)) return false;
    }
    return true;
}

Limit Limit::headroom(const Resource& used) const {
    Limit left = *this;
    bounds_.for_each([&](ResourceId id, std::int64_t bound) { left.bounds_.set(id, sat_sub(bound, used.get(id))); });
    return left;
}

void Limit::tighten(const Limit& other) {
    other.bounds_.for_each([this](ResourceId id, std::int64_t bound) {
        if (!bounds_.has(id) || bound < bounds_.get(id)) bounds_.set(id, bound);
    });
}

void Limit::overlay(const Limit& own) {
    own.bounds_.for_each([this](ResourceId id, std::int64_t bound) { bounds_.set(id, bound); });
}

} // namespace yk
