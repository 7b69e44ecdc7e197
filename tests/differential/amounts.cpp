// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/amounts.h"

#include <algorithm>

#include "libcore/base/saturate.h"

namespace yk::reference {

namespace {

std::int64_t value_of(const Amounts& a, const std::string& type) {
    const auto found = a.find(type);
    return found == a.end() ? 0 : found->second;
}

std::int64_t value_of(const Maybe& a, const std::string& type) {
    return a ? value_of(*a, type) : 0;
}

} // namespace

Amounts add(const Amounts& a, const Amounts& b) {
    Amounts sum = a;
    for (const auto& [type, value] : b) sum[type] = sat_add(value_of(a, type), value);
    return sum;
}

Amounts sub(const Amounts& a, const Amounts& b) {
    Amounts rest = a;
    for (const auto& [type, value] : b) rest[type] = sat_sub(value_of(a, type), value);
    return rest;
}

Amounts add_existing(const Amounts& a, const Amounts& b) {
    Amounts sum;
    for (const auto& [type, value] : a) sum[type] = sat_add(value, value_of(b, type));
    return sum;
}

Amounts sub_existing(const Amounts& a, const Amounts& b) {
    Amounts rest;
    for (const auto& [type, value] : a) rest[type] = sat_sub(value, value_of(b, type));
    return rest;
}

Amounts prune(const Amounts& a) {
    Amounts kept;
    for (const auto& [type, value] : a)
        if (value != 0) kept[type] = value;
    return kept;
}

Maybe cmin(const Maybe& a, const Maybe& b) {
    if (!a) return b;
    if (!b) return a;
    Amounts least = *a;
    for (const auto& [type, value] : *b) {
        const auto found = least.find(type);
        least[type] = found == least.end() ? value : std::min(found->second, value);
    }
    return least;
}

Amounts cmax(const Amounts& a, const Amounts& b) {
    Amounts most;
    for (const auto& [type, value] : a) most[type] = std::max(value, value_of(b, type));
    for (const auto& [type, value] : b) most[type] = std::max(value, value_of(a, type));
    return most;
}

bool fits(const Maybe& big, const Amounts& small) {
    for (const auto& [type, value] : small)
        if (value > 0 && std::max<std::int64_t>(0, value_of(big, type)) < value) return false;
    return true;
}

bool fits_undef(const Maybe& big, const Amounts& small) {
    for (const auto& [type, value] : small) {
        if (!big || big->count(type) == 0) continue;
        if (value > 0 && std::max<std::int64_t>(0, big->at(type)) < value) return false;
    }
    return true;
}

bool equals(const Amounts& a, const Amounts& b) {
    return prune(a) == prune(b);
}

bool is_zero(const Amounts& a) {
    return prune(a).empty();
}

bool has_negative(const Amounts& a) {
    return std::any_of(a.begin(), a.end(), [](const auto& entry) { return entry.second < 0; });
}

bool gt_zero(const Amounts& a) {
    return !has_negative(a) && !is_zero(a);
}

std::vector<double> shares(const Amounts& r, const Maybe& total) {
    std::vector<double> all;
    for (const auto& [type, value] : r) {
        const std::int64_t whole = value_of(total, type);
        if (value == 0)
            all.push_back(0);
        else if (whole == 0)
            all.push_back(static_cast<double>(value));
        else
            all.push_back(static_cast<double>(value) / static_cast<double>(whole));
    }
    std::sort(all.begin(), all.end());
    return all;
}

int usage_compare(const Amounts& a, const Amounts& b, const Maybe& total) {
    const std::vector<double> left = shares(a, total), right = shares(b, total);
    const std::size_t longest = std::max(left.size(), right.size());
    for (std::size_t i = 0; i < longest; ++i) { // the i-th from the largest; an exhausted list counts as 0
        const double l = i < left.size() ? left[left.size() - 1 - i] : 0;
        const double r = i < right.size() ? right[right.size() - 1 - i] : 0;
        if (l < r) return -1;
        if (l > r) return 1;
    }
    return 0;
}

double fair_share(const Amounts& allocated, const Maybe& guaranteed, const Amounts& fair_max) {
    double share = 0;
    for (const auto& [type, value] : allocated) {
        if (value < 0) continue;
        std::int64_t denominator = 0;
        if (guaranteed && guaranteed->count(type) != 0)
            denominator = guaranteed->at(type);
        else if (fair_max.count(type) != 0)
            denominator = fair_max.at(type);
        else
            continue;
        if (denominator > 0)
            share = std::max(share, static_cast<double>(value) / static_cast<double>(denominator));
        else if (value > 0)
            share = std::max(share, 1.0);
    }
    return share;
}

double lack(const Amounts& ask, const Amounts& available) {
    double sum = 0;
    for (const auto& [type, value] : ask) {
        const std::int64_t there = std::max<std::int64_t>(0, value_of(available, type));
        if (value > 0 && value > there) sum += static_cast<double>(value - there) / static_cast<double>(value);
    }
    return sum;
}

} // namespace yk::reference
