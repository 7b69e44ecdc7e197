// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/backoff.h"

#include <catch2/catch.hpp>

namespace yk::rs {

using namespace std::chrono_literals;

TEST_CASE("rs R-078 a back-off doubles up to its most, and half of it is chance") {
    Chance chance{7};
    const BackoffRange range{50ms, 60s};
    Duration expected = 50ms;
    for (unsigned failures = 0; failures < 100; ++failures, expected = std::min<Duration>(2 * expected, 60s))
        for (int each = 0; each < 20; ++each) {
            const Duration wait = backoff(range, failures, chance);
            CHECK(wait >= expected / 2);
            CHECK(wait <= expected);
        }
    CHECK(backoff(range, 4'000'000'000U, chance) <= 60s);
    CHECK(backoff({80s, 60s}, 3, chance) <= 60s);
}

TEST_CASE("the same seed gives the same chances") {
    Chance one{42}, same{42}, other{43};
    const std::uint64_t first = one.next();
    CHECK(first == same.next());
    CHECK(first != other.next());
    CHECK(one.between(5ms, 5ms) == 5ms);
}

TEST_CASE("rs R-034 while a database is away one call at a time asks again, with growing pauses") {
    Breaker breaker{{100ms, 1s}, 3};
    Instant now{0};
    CHECK(breaker.may_call(now));
    breaker.begin();
    CHECK(breaker.failed(now));
    CHECK_FALSE(breaker.failed(now)); // a second call that was under way is no news
    CHECK_FALSE(breaker.may_call(now));
    Duration longest{};
    for (int probe = 0; probe < 20; ++probe) {
        const Instant due = breaker.next_probe().value();
        longest = std::max(longest, due - now);
        CHECK(due - now <= 1s);
        now = due;
        CHECK(breaker.may_call(now));
        breaker.begin();
        CHECK_FALSE(breaker.may_call(now)); // one only
        CHECK_FALSE(breaker.next_probe().has_value());
        CHECK_FALSE(breaker.failed(now));
    }
    CHECK(longest >= 500ms);
    CHECK(breaker.down_since() == Instant{0});
    now = breaker.next_probe().value();
    breaker.begin();
    CHECK(breaker.answered());
    CHECK(breaker.is_up());
    CHECK_FALSE(breaker.answered());
    breaker.begin();
    CHECK(breaker.failed(now));
    CHECK(breaker.next_probe().value() - now <= 100ms); // it begins anew
}

} // namespace yk::rs
