// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scaling/placed_history.h"

#include <catch2/catch.hpp>

using namespace yk;
using namespace yk::mcs;

namespace {

Instant at(std::int64_t second) {
    return Instant{second * 1'000'000'000};
}

} // namespace

TEST_CASE("rs R-114 a count of placed replicas lasts until another one is seen") {
    PlacedHistory history;
    CHECK(history.since(at(0)) == PlacedRange{0, 0});
    history.note(2, at(10));
    history.note(2, at(20));
    CHECK(history.since(at(0)) == PlacedRange{2, 2});
    history.note(5, at(30));
    history.note(4, at(40));
    CHECK(history.since(at(29)) == PlacedRange{2, 5});
    CHECK(history.since(at(30)) == PlacedRange{4, 5});
    CHECK(history.since(at(40)) == PlacedRange{4, 4});
}

TEST_CASE("rs R-114 of many counts the oldest become one range") {
    PlacedHistory history;
    for (std::int64_t count = 0; count <= 100; ++count) history.note(count, at(count));
    CHECK(history.since(at(99)) == PlacedRange{99, 100});
    CHECK(history.since(at(95)) == PlacedRange{95, 100});
    CHECK(history.since(at(0)) == PlacedRange{0, 100});
    CHECK(history.since(at(50)) == PlacedRange{0, 100}); // wider than it was, never narrower
}
