#include "libcore/resources/resource.h"

#include <algorithm>

namespace yk {

void Resource::add(const Resource& other) {
    present_ |= other.present_;
    for (std::size_t i = 0; i < kInline; ++i) inline_[i] = sat_add(inline_[i], other.inline_[i]);
    if (!other.more_) return;
    for (std::uint64_t left = other.present_ >> kInline << kInline; left != 0; left &= left - 1) {
        const auto id = static_cast<ResourceId>(std::countr_zero(left));
        lane(id) = sat_add(lane(id), other.get(id));
    }
}

void Resource::sub(const Resource& other) {
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

void Resource::prune() noexcept {
    for (std::size_t i = 0; i < kInline; ++i)
        if (inline_[i] == 0) present_ &= ~(std::uint64_t{1} << i);
    if (!more_) return;
    for (std::size_t i = 0; i < more_->size(); ++i)
        if ((*more_)[i] == 0) present_ &= ~(std::uint64_t{1} << (i + kInline));
}

void Resource::max_with(const Resource& other) {
    const std::uint64_t types = present_ | other.present_;
    for (std::uint64_t left = types; left != 0; left &= left - 1) {
        const auto id = static_cast<ResourceId>(std::countr_zero(left));
        set(id, std::max(get(id), other.get(id)));
    }
}

bool Resource::is_zero() const noexcept {
    bool zero = true;
    for_each([&zero](ResourceId, std::int64_t value) { zero = zero && value == 0; });
    return zero;
}

bool Resource::gt_zero() const noexcept {
    bool above = false;
    bool below = false;
    for_each([&](ResourceId, std::int64_t value) {
        above = above || value > 0;
        below = below || value < 0;
    });
    return above && !below;
}

bool Resource::has_negative() const noexcept {
    bool negative = false;
    for_each([&negative](ResourceId, std::int64_t value) { negative = negative || value < 0; });
    return negative;
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

bool fits(const Resource& big, const Resource& small) noexcept {
    for (std::uint64_t left = small.types(); left != 0; left &= left - 1) {
        const auto id = static_cast<ResourceId>(std::countr_zero(left));
        const std::int64_t value = small.get(id);
        if (value > 0 && value > big.get(id)) return false;
    }
    return true;
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
