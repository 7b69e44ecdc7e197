// SPDX-License-Identifier: Apache-2.0
#include "protocol/brokers/time_allowance.h"

#include <catch2/catch.hpp>

namespace yk::rs {

TEST_CASE("rs R-056 questions of one call have what is left of its time, and never none at all") {
    using namespace std::chrono_literals;
    TimeAllowance allowance;
    CHECK(allowance.left(1s) == 1s); // no call has begun
    allowance.begin(1h);
    CHECK(allowance.left(1s) == 1s);
    allowance.begin(0s);
    CHECK(allowance.left(1s) == 10ms);
    CHECK(allowance.left(1ms) == 1ms);
}

} // namespace yk::rs
