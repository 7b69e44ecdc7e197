// SPDX-License-Identifier: Apache-2.0
#include "libcore/resources/resource.h"

#include <algorithm>

namespace yk {

void Resource::add_one_by_one(const Resource& other) {
    present_ |= other.present_;
    for (std::size_t i = 0; i < kInline; ++i) inline_[i] = sat_add(inline_[i], other.inline_[i]);
    if (!other.more_) return;
    for (std::uint64_t left = other.present_ >> kInline << kInline; left != 0; left &= left - 1) {
        const auto id = static_cast<ResourceId>(std::countr_zero(left));
        lane(id) = sat_add(lane(id), other.get(id));
    }
}

void Resource::sub_one_by_one(const Resource& other) {
    present_ |= other.present_;
    for (std::size_t i = 0; i < kInline; ++i) inline_[i] = sat_sub(inline_[i], other.inline_[i]);
    if (!other.more_) return;
    for (std::uint64_t left = other.present_ >> kInline << kInline; left != 0; left &= left - 1) {
        const auto id = static_cast<ResourceId>(std::countr_zero(left));
        lane(id) = sat_sub(lane(id), other.get(id));
    }
}

void Resource::sub_clamped(const Resource& other) {
    sub(other);
    clamp();
}

void Resource::clamp() noexcept {
    for_each([this](ResourceId id, std::int64_t value) {
        if (value < 0) lane(id) = 0;
    });
}

void Resource::prune_more() noexcept {
    for (std::size_t i = 0; i < more_->size(); ++i)
        if ((*more_)[i] == 0) present_ &= ~(std::uint64_t{1} << (i + kInline));
}

[[gnu::hot]] void Resource::max_with(const Resource& other) {
    present_ |= other.present_;
    for (std::size_t i = 0; i < kInline; ++i) inline_[i] = std::max(inline_[i], other.inline_[i]);
    for (std::uint64_t left = present_ >> kInline << kInline; left != 0; left &= left - 1) {
        const auto id = static_cast<ResourceId>(std::countr_zero(left));
        set(id, std::max(get(id), other.get(id)));
    }
}

std::int64_t Resource::more_bits() const noexcept {
    std::int64_t bits = 0;
    for (const std::int64_t amount : *more_) bits |= amount;
    return bits;
}

bool Resource::equals(const Resource& other) const noexcept {
    for (std::uint64_t left = present_ | other.present_; left != 0; left &= left - 1) {
        const auto id = static_cast<ResourceId>(std::countr_zero(left));
        if (get(id) != other.get(id)) return false;
    }
    return true;
}

bool Resource::deep_equals(const Resource& other) const noexcept {
    return present_ == other.present_ && equals(other);
}

[[gnu::hot]] bool fits(const Resource& big, const Resource& small) noexcept {
    bool beyond = false;
    for (std::size_t i = 0; i < Resource::kInline; ++i)
        beyond |= small.inline_[i] > std::max<std::int64_t>(big.inline_[i], 0);
    for (std::uint64_t left = small.present_ >> Resource::kInline << Resource::kInline; left != 0; left &= left - 1) {
        const auto id = static_cast<ResourceId>(std::countr_zero(left));
        beyond |= small.get(id) > std::max<std::int64_t>(big.get(id), 0);
    }
    return !beyond;
}

ResourceId ResourceNames::find(std::string_view name) const noexcept {
    for (std::size_t id = 0; id < names_.size(); ++id)
        if (names_[id] == name) return static_cast<ResourceId>(id);
    return npos;
}

ResourceId ResourceNames::intern(std::string_view name) {
    const ResourceId known = find(name);
    if (known != npos || names_.size() == kMaxResourceTypes) return known;
    const auto id = static_cast<ResourceId>(names_.size());
    names_.emplace_back(name);
    const auto after = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                        [this](ResourceId other, std::string_view n) { return names_[other] < n; });
    by_name_.insert(after, id);
    return id;
}

std::string NamedResource::text() const {
    if (absent()) return "nil resource";
    std::string out = "map[";
    for_each([&out](std::string_view name, std::int64_t value) {
        if (out.size() > 4) out += ' ';
        out.append(name).append(":").append(std::to_string(value));
    });
    return out + "]";
}

} // namespace yk
