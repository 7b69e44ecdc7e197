#include "ykd/service/memory_trim.h"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using yk::SteadyClock;
using yk::service::MemoryTrim;

constexpr std::uint64_t kMiB = 1 << 20;

TEST_CASE("memory is given back when much was removed, one at a time") {
    MemoryTrim trim;
    const SteadyClock::time_point now = SteadyClock::now();
    CHECK_FALSE(trim.take(false, 1000 * kMiB, now));
    CHECK_FALSE(trim.take(false, 800 * kMiB, now)); // less than a quarter
    REQUIRE(trim.take(false, 500 * kMiB, now));
    CHECK_FALSE(trim.take(false, 10 * kMiB, now + 1h)); // the first one is not done
    trim.run(UINT64_MAX);
    CHECK_FALSE(trim.take(false, 10 * kMiB, now + 9s));
    REQUIRE(trim.take(false, 10 * kMiB, now + 10s));
    trim.run(UINT64_MAX);
    CHECK_FALSE(trim.take(false, 0, now + 1h)); // so little is not worth it
}

TEST_CASE("memory is given back every second when it is short, less often while that is in vain") {
    MemoryTrim trim;
    SteadyClock::time_point now = SteadyClock::now();
    for (const auto pause : {1s, 2s, 4s, 8s, 8s}) {
        CHECK(trim.take(true, 0, now));
        CHECK_FALSE(trim.take(true, 0, now + 1h));
        trim.run(UINT64_MAX);
        CHECK_FALSE(trim.take(true, 0, now + pause - 1ms));
        CHECK_FALSE(trim.take(false, 0, now + pause));
        now += pause;
    }
}
