// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/clock.h"

#include <catch2/catch.hpp>

using namespace yk;

namespace {

constexpr Duration kSecond = std::chrono::seconds{1};
constexpr Duration kHour = std::chrono::hours{1};

} // namespace

TEST_CASE("A10 a clock that is set while a core goes by it is followed slowly, without a jump and never far back") {
    for (const Duration set : {kHour, -kHour}) {
        RealClock clock(kHour * 1000, kHour);
        Duration steady = kHour, wall = kHour * 1000 + set;
        Instant before = clock.at(steady);
        for (int i = 0; i < 1000; ++i) {
            steady += kSecond;
            wall += kSecond;
            clock.follow(wall, steady, false);
            const Duration passed = clock.at(steady) - before;
            CHECK(passed >= kSecond - RealClock::kSlew);
            CHECK(passed <= kSecond + RealClock::kSlew);
            before = clock.at(steady);
        }
        CHECK(clock.follow(wall, steady, false) == set - (set > Duration{0} ? 1001 : -1001) * RealClock::kSlew);
    }
}

TEST_CASE("A10 it gets there, and stays") {
    RealClock clock(kHour, Duration{0});
    const Duration set = 25 * RealClock::kSlew + RealClock::kSlew / 2;
    for (int i = 1; i <= 26; ++i) clock.follow(kHour + set + i * kSecond, i * kSecond, false);
    CHECK(clock.at(26 * kSecond).ns == (kHour + set + 26 * kSecond).count());
    CHECK(clock.follow(kHour + set + 27 * kSecond, 27 * kSecond, false) == Duration{0});
    CHECK(clock.at(27 * kSecond).ns == (kHour + set + 27 * kSecond).count());
}

TEST_CASE("A10 while nobody goes by it, it is right at once") {
    RealClock clock(Duration{0}, kHour); // started in 1970
    CHECK(clock.follow(kHour * 500'000, kHour + kSecond, true) == Duration{0});
    CHECK(clock.at(kHour + kSecond).ns == (kHour * 500'000).count());
    CHECK(clock.follow(kHour, kHour + 2 * kSecond, true) == Duration{0});
    CHECK(clock.at(kHour + 2 * kSecond).ns == kHour.count());
}
