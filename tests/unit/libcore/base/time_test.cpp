// SPDX-License-Identifier: Apache-2.0
#include "libcore/base/time.h"

#include <catch2/catch.hpp>

using namespace yk;

TEST_CASE("sums of times stay at the ends of time") {
    constexpr Instant now{1'795'000'000'000'000'000}, last{kMaxQuantity}, first{kMinQuantity};
    CHECK(now + Duration::max() == last); // such as the longest delay that a configuration can hold
    CHECK(last + Duration{1} == last);
    CHECK(first - Duration{1} == first);
    CHECK(last - first == Duration::max());
    CHECK(now + Duration{5} - Duration{5} == now);
    CHECK((now + Duration{5}) - now == Duration{5});
}
