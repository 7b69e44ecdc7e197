// SPDX-License-Identifier: Apache-2.0
// Random runs of the framework. `ykd_sim --framework` plays more of them, and one alone by its seed.
#include <catch2/catch.hpp>

#include "tests/support/resource_state/random_run.h"

namespace yk::testing {
namespace {

constexpr std::uint64_t kRuns = 80;

struct Played {
    std::uint64_t repairs = 0, losses = 0;

    void play(const Troubles& troubles) {
        for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
            RandomRun run{troubles, seed};
            INFO("seed " << seed);
            REQUIRE(run.play() == "");
            repairs += run.repairs();
            losses += run.losses();
        }
    }
};

} // namespace

TEST_CASE("rs R-099, rs R-147, F-49 random runs without a fault converge, and nothing had to be repaired") {
    Played all;
    all.play(no_troubles());
    CHECK(all.repairs == 0);
}

TEST_CASE("rs R-082, rs R-147, F-05, F-06, F-14, F-15 random runs with a log that loses, doubles, reorders and cuts "
          "converge") {
    Played all;
    for (const bool chained : {false, true}) all.play(log_troubles(chained));
    CHECK(all.losses > 400);
    CHECK(all.repairs > 8); // by resyncs alone, where nothing says that an event is missing
}

TEST_CASE("rs R-082, rs R-147, F-36, F-50 random runs with a database and handlers that fail converge") {
    Played all;
    all.play(call_troubles());
    CHECK(all.repairs == 0);
}

TEST_CASE(
    "rs R-082, rs R-147, F-04, F-08, F-30 random runs with everything at once, crashes and restores too, converge") {
    Played all;
    for (const bool chained : {false, true}) all.play(all_troubles(chained));
    CHECK(all.losses > 40);
}

TEST_CASE("rs R-060, rs R-147 the same seed makes the same run again") {
    RandomRun one{all_troubles(false), 5}, same{all_troubles(false), 5}, other{all_troubles(false), 6};
    CHECK(one.play() == same.play());
    CHECK(other.play().empty());
    CHECK(one.notices().size() > 5);
    CHECK(one.notices() == same.notices());
    CHECK(one.notices() != other.notices());
}

} // namespace yk::testing
