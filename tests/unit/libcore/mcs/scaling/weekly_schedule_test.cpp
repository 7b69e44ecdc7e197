// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scaling/weekly_schedule.h"

#include <catch2/catch.hpp>

namespace yk::testing {

using namespace mcs;

namespace {

/// A time of the week of Monday, 2026-11-23.
Instant at(int day, int hour, int minute) {
    constexpr std::int64_t monday = 1'795'392'000; // seconds since 1970
    return Instant{(monday + ((day * 24 + hour) * 60 + minute) * 60) * 1'000'000'000};
}
ScheduleEntry entry(unsigned days, int hour, std::int64_t replicas) {
    return {static_cast<std::uint8_t>(days), static_cast<std::uint16_t>(hour * 60), replicas};
}

} // namespace

TEST_CASE("rs R-110 the entry that began last holds, across midnight and the end of the week") {
    const ScheduleEntry office[] = {entry(0x1f, 8, 10), entry(0x1f, 18, 2)}; // Monday to Friday
    CHECK(entry_at(office, at(0, 8, 0)) == 0U);
    CHECK(entry_at(office, at(0, 17, 59)) == 0U);
    CHECK(entry_at(office, at(0, 18, 0)) == 1U);
    CHECK(entry_at(office, at(1, 0, 0)) == 1U);
    CHECK(entry_at(office, at(6, 12, 0)) == 1U); // Sunday: still Friday evening's
    CHECK(entry_at(office, at(7, 7, 59)) == 1U); // Monday before eight
    CHECK(entry_at(office, at(7, 8, 0)) == 0U);
}

TEST_CASE("rs R-110 an entry of one day holds for a week") {
    const ScheduleEntry once[] = {entry(1U << 6U, 23, 5)};
    for (int day = 0; day < 7; ++day) CHECK(entry_at(once, at(day, 0, 0)) == 0U);
    CHECK(entry_at({}, at(0, 0, 0)) == std::nullopt);
    const ScheduleEntry never[] = {entry(0, 8, 5)};
    CHECK(entry_at(never, at(0, 9, 0)) == std::nullopt);
}

TEST_CASE("rs R-110 of entries that begin together the one with the most replicas holds, and time may be before 1970") {
    const ScheduleEntry two[] = {entry(0x7f, 8, 3), entry(1, 8, 9), entry(1, 8, 4)};
    CHECK(entry_at(two, at(0, 9, 0)) == 1U);
    CHECK(entry_at(two, at(1, 9, 0)) == 0U);
    const ScheduleEntry wednesday[] = {entry(1U << 2U, 23, 1), entry(1U << 3U, 0, 2)}; // 1970 began on a Thursday
    CHECK(entry_at(wednesday, Instant{-1}) == 0U);
    CHECK(entry_at(wednesday, Instant{0}) == 1U);
}

} // namespace yk::testing
