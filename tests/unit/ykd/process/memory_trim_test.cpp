// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/memory_trim.h"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using yk::SteadyClock;
using yk::service::MemoryTrim;

constexpr std::uint64_t kMiB = 1 << 20;

TEST_CASE("memory is given back when much was removed, one at a time") {
    MemoryTrim trim;
    const SteadyClock::time_point now = SteadyClock::now();
    CHECK_FALSE(trim.take(false, 1010 * kMiB, 1000 * kMiB, now));
    CHECK_FALSE(trim.take(false, 1010 * kMiB, 800 * kMiB, now)); // less than a quarter
    REQUIRE(trim.take(false, 1010 * kMiB, 500 * kMiB, now));
    CHECK_FALSE(trim.take(false, 1010 * kMiB, 10 * kMiB, now + 1h)); // the first one is not done
    trim.run();
    CHECK_FALSE(trim.take(false, 510 * kMiB, 10 * kMiB, now + 9s));
    REQUIRE(trim.take(false, 510 * kMiB, 10 * kMiB, now + 10s));
    trim.run();
    CHECK_FALSE(trim.take(false, 20 * kMiB, 10 * kMiB, now + 1h));
    CHECK_FALSE(trim.take(false, 40 * kMiB, 10 * kMiB, now + 2h)); // so little is not worth it
    CHECK(trim.take(false, 60 * kMiB, 10 * kMiB, now + 3h));       // by what came and went with messages
}

TEST_CASE("what some large messages leave behind is worth an attempt") {
    MemoryTrim trim;
    const SteadyClock::time_point now = SteadyClock::now();
    CHECK_FALSE(trim.take(false, 16 * kMiB, 0, now));
    CHECK_FALSE(trim.take(false, 36 * kMiB, 0, now));
    CHECK(trim.take(false, 40 * kMiB, 0, now));
}

TEST_CASE("memory that is in use is soon let be") {
    MemoryTrim trim;
    SteadyClock::time_point now = SteadyClock::now();
    CHECK_FALSE(trim.take(false, 10 * kMiB, 0, now));
    for (const auto pause : {10s, 20s, 40s, 80s, 160s}) {
        REQUIRE(trim.take(false, 100 * kMiB, 0, now));
        trim.run();
        CHECK_FALSE(trim.take(false, 100 * kMiB, 0, now + pause - 1ms));
        now += pause;
    }
    CHECK_FALSE(trim.take(false, 100 * kMiB, 0, now + 24h));
    CHECK(trim.take(false, 200 * kMiB, 0, now + 48h));
}

TEST_CASE("memory is given back soon after something else was removed, though former attempts were in vain") {
    MemoryTrim trim;
    SteadyClock::time_point now = SteadyClock::now();
    CHECK_FALSE(trim.take(false, 110 * kMiB, 100 * kMiB, now));
    for (const auto pause : {10s, 20s, 40s}) {
        REQUIRE(trim.take(false, 210 * kMiB, 100 * kMiB, now));
        trim.run();
        now += pause;
    }
    CHECK(trim.take(false, 210 * kMiB, 100 * kMiB, now)); // the next one is due after 80 s
    trim.run();
    CHECK_FALSE(trim.take(false, 210 * kMiB, 60 * kMiB, now + 1s)); // what comes and goes is less than half
    CHECK_FALSE(trim.take(false, 210 * kMiB, 60 * kMiB, now + 15s));
    CHECK_FALSE(trim.take(false, 210 * kMiB, 30 * kMiB, now + 20s));
    CHECK_FALSE(trim.take(false, 210 * kMiB, 30 * kMiB, now + 30s - 1ms));
    CHECK(trim.take(false, 210 * kMiB, 30 * kMiB, now + 30s));
}

TEST_CASE("memory is given back every second when it is short, less often while that is in vain") {
    MemoryTrim trim;
    SteadyClock::time_point now = SteadyClock::now();
    const auto at_once = [&](std::uint64_t resident) {
        const bool taken = trim.take(true, resident, resident, now);
        CHECK_FALSE(trim.take(true, resident, resident, now + 1h)); // it is under way
        trim.run();
        return taken;
    };
    for (const auto pause : {1s, 2s, 4s, 8s, 8s}) {
        CHECK(at_once(1000));
        CHECK_FALSE(trim.take(true, 1000, 1000, now + pause - 1ms));
        CHECK_FALSE(trim.take(false, 1000, 1000, now + pause));
        now += pause;
    }
    CHECK(at_once(900)); // the last one helped
    CHECK_FALSE(trim.take(true, 900, 900, now + 1s - 1ms));
    CHECK(trim.take(true, 900, 900, now + 1s));
}
