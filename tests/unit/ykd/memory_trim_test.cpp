#include "ykd/service/memory_trim.h"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using yk::SteadyClock;
using yk::service::MemoryTrim;

TEST_CASE("memory is looked at by one at a time, and more often when it is short") {
    MemoryTrim trim;
    const SteadyClock::time_point now = SteadyClock::now();
    REQUIRE(trim.take(false, now));
    CHECK_FALSE(trim.take(false, now + 1h)); // the first one is not done
    trim.run(UINT64_MAX);
    CHECK_FALSE(trim.take(false, now + 9s));
    REQUIRE(trim.take(true, now + 9s)); // short of memory meanwhile
    trim.run(UINT64_MAX);
    CHECK_FALSE(trim.take(true, now + 9s + 900ms));
    CHECK(trim.take(false, now + 10s));
}
