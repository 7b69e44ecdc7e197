// SPDX-License-Identifier: Apache-2.0
// Two instances of the Autoscaler share a database and a table of leases; the simulation (ykd_sim --mcs) plays more
// seeds of the same.
#include <catch2/catch.hpp>

#include "tests/support/mcs/instance_pair.h"

namespace yk::testing {

TEST_CASE(
    "rs R-147, rs R-141, F-39, F-40, F-41 of two instances one writes, whatever befalls them, and all converges") {
    std::size_t epochs = 0;
    std::uint64_t fenced = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        INFO("seed " << seed);
        InstancePair pair{seed, true};
        REQUIRE(pair.play() == "");
        epochs += pair.epochs();
        fenced += pair.fenced();
    }
    CHECK(epochs > 40); // many takeovers
    CHECK(fenced > 0);  // and late writes
}

TEST_CASE("rs R-147, rs R-099 two instances without a fault repair nothing") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        INFO("seed " << seed);
        InstancePair pair{seed, false};
        REQUIRE(pair.play() == "");
        CHECK(pair.repairs() == 0);
        CHECK(pair.epochs() == 1);
    }
}

} // namespace yk::testing
