// SPDX-License-Identifier: Apache-2.0
// When a change log is asked again.
#include <catch2/catch.hpp>

#include "libcore/resource_state/poll_pace.h"

namespace yk::rs {

using namespace std::chrono_literals;

TEST_CASE("rs R-039 a log is asked ever more rarely while it has nothing, and soon again after an event") {
    constexpr Instant kNow{1'000'000'000};
    PollPace pace{{5ms, 30ms}};
    CHECK(pace.next() < kNow);
    const auto pause_after = [&](bool had_events) {
        pace.begin();
        pace.ended(had_events, false, kNow);
        return pace.next() - kNow;
    };
    for (const auto pause : {10ms, 20ms, 30ms, 30ms}) CHECK(pause_after(false) == pause);
    CHECK(pause_after(true) == 5ms);
    CHECK(pause_after(false) == 10ms);
    pace.begin();
    pace.ended(true, /*has_more=*/true, kNow);
    CHECK(pace.next() == kNow);
}

TEST_CASE("rs R-039 who knows of a commit wakes, also while the log is being asked for what was before") {
    constexpr Instant kNow{1'000'000'000};
    PollPace pace{{5ms, 30ms}};
    pace.begin();
    pace.ended(false, false, kNow);
    pace.wake();
    CHECK(pace.next() < kNow);
    pace.begin();
    pace.wake();
    pace.ended(false, false, kNow);
    CHECK(pace.next() == kNow);
    pace.begin();
    pace.ended(false, false, kNow);
    CHECK(pace.next() == kNow + 10ms);
}

} // namespace yk::rs
