// SPDX-License-Identifier: Apache-2.0
#include "libcore/resources/share.h"

#include <algorithm>

namespace yk {

[[gnu::hot]] void Shares::push(double share) {
    std::size_t position = count_++;
    if (position >= kInline) more_.push_back(0.0);
    const auto slot = [this](std::size_t i) -> double& { return i < kInline ? inline_[i] : more_[i - kInline]; };
    for (; position > 0 && slot(position - 1) < share; --position) slot(position) = slot(position - 1);
    slot(position) = share;
}

void Shares::clear() noexcept {
    inline_.fill(0.0);
    more_.clear();
    count_ = 0;
}

[[gnu::hot]] void shares_of(const Resource& amounts, const Resource* total, Shares& into) {
    into.clear();
    amounts.for_each([&](ResourceId id, std::int64_t value) {
        if (value == 0) {
            into.push(0.0);
            return;
        }
        const std::int64_t whole = total != nullptr ? total->get(id) : 0;
        into.push(whole == 0 ? static_cast<double>(value) : static_cast<double>(value) / static_cast<double>(whole));
    });
}

Shares shares_of(const Resource& amounts, const Resource* total) {
    Shares shares;
    shares_of(amounts, total, shares);
    return shares;
}

[[gnu::hot]] int compare_shares(const Shares& left, const Shares& right) noexcept {
    const std::size_t positions = std::max(left.size(), right.size());
    for (std::size_t position = 0; position < positions; ++position) {
        if (left.at(position) < right.at(position)) return -1;
        if (left.at(position) > right.at(position)) return 1;
    }
    return 0;
}

[[gnu::hot]] double fair_share(const Resource& allocated, const Resource* guaranteed, const Limit& fair_max) noexcept {
    double largest = 0.0;
    allocated.for_each([&](ResourceId id, std::int64_t value) {
        if (value < 0) return;
        std::int64_t whole = 0;
        if (guaranteed != nullptr && guaranteed->has(id))
            whole = guaranteed->get(id);
        else if (fair_max.bounds().has(id))
            whole = fair_max.bounds().get(id);
        else
            return;
        const double share =
            whole > 0 ? static_cast<double>(value) / static_cast<double>(whole) : (value > 0 ? 1.0 : 0.0);
        largest = std::max(largest, share);
    });
    return largest;
}

double lack(const Resource& ask, const Resource& available) noexcept {
    double sum = 0.0;
    ask.for_each([&](ResourceId id, std::int64_t wanted) {
        const std::int64_t there = std::max<std::int64_t>(available.get(id), 0);
        if (wanted > there) sum += static_cast<double>(wanted - there) / static_cast<double>(wanted);
    });
    return sum;
}

Resource abs_used(const Resource& capacity, const Resource& used) {
    Resource percent;
    constexpr std::int64_t most = 2147483647;
    capacity.for_each([&](ResourceId id, std::int64_t whole) {
        if (!used.has(id)) return;
        const std::int64_t part = used.get(id);
        if (part <= 0) {
            percent.set(id, 0);
        } else if (whole <= 0) {
            percent.set(id, 100);
        } else {
            const double share = static_cast<double>(part) / static_cast<double>(whole) * 100.0;
            percent.set(id, share >= static_cast<double>(most) ? most : static_cast<std::int64_t>(share));
        }
    });
    return percent;
}

} // namespace yk
