// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scaling/weekly_schedule.h"

#include <algorithm>

namespace yk::mcs {
namespace {

constexpr std::int64_t kDay = std::int64_t{24} * 60; // in minutes
constexpr std::int64_t kWeek = 7 * kDay;
constexpr std::int64_t kEpochDay = 3; // 1970-01-01 was a Thursday

[[nodiscard]] std::int64_t minute_of_week(Instant wall) {
    constexpr std::int64_t minute_ns = std::int64_t{60} * 1'000'000'000;
    const std::int64_t minutes = wall.ns / minute_ns - (wall.ns % minute_ns < 0 ? 1 : 0);
    const std::int64_t since_monday = (minutes + kEpochDay * kDay) % kWeek;
    return since_monday < 0 ? since_monday + kWeek : since_monday;
}

/// Minutes since the entry began last; kWeek: it has no day.
[[nodiscard]] std::int64_t began_before(const ScheduleEntry& entry, std::int64_t minute) {
    std::int64_t least = kWeek;
    for (std::int64_t day = 0; day < 7; ++day) {
        if ((entry.days >> day & 1) == 0) continue;
        least = std::min(least, (minute - day * kDay - entry.minute + kWeek) % kWeek);
    }
    return least;
}

} // namespace

std::optional<std::size_t> entry_at(std::span<const ScheduleEntry> schedule, Instant wall) {
    const std::int64_t minute = minute_of_week(wall);
    std::optional<std::size_t> found;
    std::int64_t least = kWeek;
    for (std::size_t at = 0; at < schedule.size(); ++at) {
        const std::int64_t before = began_before(schedule[at], minute);
        const bool is_later = before < least;
        if (!is_later && (!found || before > least || schedule[at].replicas <= schedule[*found].replicas)) continue;
        if (before == kWeek) continue;
        found = at;
        least = before;
    }
    return found;
}

} // namespace yk::mcs
