// SPDX-License-Identifier: Apache-2.0
// Users, nodes, the database, the core and a person with a shell do anything at any moment; once they stop, rows and
// core agree, and everything that is wanted runs. The simulation (ykd_sim --mcs) plays more seeds of the same.
#include <catch2/catch.hpp>

#include "tests/support/mcs/random_scheduling.h"

namespace yk::testing {

TEST_CASE(
    "rs R-084 rs R-104 rs R-147 whatever happens, in the end rows and core agree and everything that is wanted runs") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        INFO("seed " << seed);
        REQUIRE(RandomScheduling{seed}.play() == "");
    }
}

} // namespace yk::testing
