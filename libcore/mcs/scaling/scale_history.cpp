// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scaling/scale_history.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "libcore/base/check.h"
#include "libcore/base/saturate.h"

namespace yk::mcs {
namespace {

__extension__ using Wide = __int128;

void join(Recommendation& into, const Recommendation& later) {
    into = {later.at, std::min(into.lowest, later.lowest), std::max(into.highest, later.highest)};
}
void join(ScaleEvent& into, const ScaleEvent& later) {
    into = {later.at, sat_add(into.added, later.added), sat_add(into.removed, later.removed)};
}

/// Makes the two neighbours one that are nearest to each other.
template <class Entry>
void thin(std::vector<Entry>& entries) {
    if (entries.size() <= ScaleHistory::kMostEntries) return;
    std::size_t nearest = 0;
    for (std::size_t at = 1; at + 1 < entries.size(); ++at)
        if (entries[at + 1].at - entries[at].at < entries[nearest + 1].at - entries[nearest].at) nearest = at;
    join(entries[nearest], entries[nearest + 1]);
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(nearest) + 1);
}

template <class Entry>
[[nodiscard, maybe_unused]] bool is_in_order(const std::vector<Entry>& entries) {
    return std::is_sorted(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.at < b.at; });
}

template <class Entry>
void keep_newest(std::vector<Entry>& entries) {
    if (entries.size() <= ScaleHistory::kMostEntries) return;
    entries.erase(entries.begin(), entries.end() - std::ptrdiff_t{ScaleHistory::kMostEntries});
}

template <class Entry>
void forget_older(std::vector<Entry>& entries, Duration age, Instant now) {
    std::erase_if(entries, [&](const Entry& each) { return now - each.at >= age; });
}

[[nodiscard]] Duration longest_period(const DirectionRules& rules) {
    Duration longest{};
    for (const RateRule& rule : rules.rates) longest = std::max(longest, rule.period);
    return longest;
}

[[nodiscard]] std::int64_t saturated(Wide number) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    return number > most ? most : static_cast<std::int64_t>(std::max<Wide>(number, 0));
}

/// Percent are rounded up, so that a small number can grow at all.
[[nodiscard]] std::int64_t grown(std::int64_t start, const RateRule& rule) {
    if (rule.type == RateRule::Type::Replicas) return saturated(Wide{start} + rule.value);
    return saturated((Wide{start} * (Wide{100} + rule.value) + 99) / 100);
}
/// What remains is rounded down, so that a small number can shrink at all.
[[nodiscard]] std::int64_t shrunk(std::int64_t start, const RateRule& rule) {
    if (rule.type == RateRule::Type::Replicas) return saturated(Wide{start} - rule.value);
    return saturated(Wide{start} * (Wide{100} - rule.value) / 100);
}

} // namespace

ScaleHistory::ScaleHistory(std::vector<Recommendation> recommendations, std::vector<ScaleEvent> events)
    : recommendations_(std::move(recommendations)), events_(std::move(events)) {
    YK_ASSUME(is_in_order(recommendations_) && is_in_order(events_), "no entry is older than the one before it");
    keep_newest(recommendations_);
    keep_newest(events_);
}

void ScaleHistory::recommend(std::int64_t replicas, Instant now) {
    const Recommendation made{now, replicas, replicas};
    if (!recommendations_.empty() && recommendations_.back().at == now)
        join(recommendations_.back(), made);
    else
        recommendations_.push_back(made);
    thin(recommendations_);
}

void ScaleHistory::scaled(std::int64_t before, std::int64_t after, Instant now) {
    if (before == after) return;
    events_.push_back({now, std::max<std::int64_t>(0, after - before), std::max<std::int64_t>(0, before - after)});
    thin(events_);
}

void ScaleHistory::forget(const DirectionRules& up, const DirectionRules& down, Instant now) {
    forget_older(recommendations_, std::max(up.window, down.window), now);
    forget_older(events_, std::max(longest_period(up), longest_period(down)), now);
}

std::int64_t ScaleHistory::stabilized(std::int64_t current, std::int64_t wanted, Duration up_window,
                                      Duration down_window, Instant now) const {
    YK_ASSUME(std::max(up_window, down_window) == Duration{} || // then nothing is remembered
                  (!recommendations_.empty() && recommendations_.back().at == now),
              "what is wanted was recommended now");
    std::int64_t lowest = wanted, highest = wanted;
    for (const Recommendation& each : recommendations_) {
        if (now - each.at < up_window) lowest = std::min(lowest, each.lowest);
        if (now - each.at < down_window) highest = std::max(highest, each.highest);
    }
    return std::clamp(current, lowest, highest);
}

/// The number that there was when the rule's period began.
std::int64_t ScaleHistory::at_start_of(const RateRule& rule, std::int64_t current, Instant now) const {
    Wide start = current;
    for (const ScaleEvent& each : events_)
        if (now - each.at < rule.period) start += Wide{each.removed} - each.added;
    return saturated(start);
}

std::int64_t ScaleHistory::upper_limit(std::int64_t current, const DirectionRules& up, Instant now) const {
    if (up.select == DirectionRules::Select::Disabled) return current;
    if (up.rates.empty()) return std::numeric_limits<std::int64_t>::max();
    std::optional<std::int64_t> limit;
    for (const RateRule& rule : up.rates) {
        const std::int64_t allowed = grown(at_start_of(rule, current, now), rule);
        const bool is_generous = up.select == DirectionRules::Select::Max;
        limit = is_generous ? std::max(limit.value_or(allowed), allowed) : std::min(limit.value_or(allowed), allowed);
    }
    return std::max(*limit, current);
}

std::int64_t ScaleHistory::lower_limit(std::int64_t current, const DirectionRules& down, Instant now) const {
    if (down.select == DirectionRules::Select::Disabled) return current;
    if (down.rates.empty()) return 0;
    std::optional<std::int64_t> limit;
    for (const RateRule& rule : down.rates) {
        const std::int64_t allowed = shrunk(at_start_of(rule, current, now), rule);
        const bool is_generous = down.select == DirectionRules::Select::Max;
        limit = is_generous ? std::min(limit.value_or(allowed), allowed) : std::max(limit.value_or(allowed), allowed);
    }
    return std::min(*limit, current);
}

} // namespace yk::mcs
