// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/suspects.h"

#include <catch2/catch.hpp>

namespace yk::rs {

using namespace std::chrono_literals;
using Ids = std::vector<std::string>;

TEST_CASE("rs R-099 a difference is a repair only if the log was consumed and had no event of it") {
    Suspects suspects{5s};
    const Instant now{0};
    const auto at = [](std::uint64_t sequence) { return Cursor{"e", {{0, sequence}}}; };
    suspects.add("announced", at(10), now);
    suspects.add("missed", at(10), now);
    suspects.add("later", at(20), now);
    suspects.clear("announced", 0, {0, 9});
    suspects.clear("missed", 0, {0, 11}); // of a later change
    suspects.clear("nobody", 0, {0, 1});
    CHECK(suspects.take_repairs(at(9), now) == Ids{});
    CHECK(suspects.take_repairs(at(12), now) == Ids{"missed"});
    CHECK(suspects.take_repairs(at(12), now) == Ids{});
    CHECK(suspects.take_repairs(at(20), now) == Ids{"later"});
}

TEST_CASE("rs R-099 where the log's head is not known, or of another log, time decides") {
    Suspects suspects{5s};
    const Instant now{0};
    suspects.add("a", std::nullopt, now);
    suspects.add("b", Cursor{"other", {{0, 1}}}, now);
    suspects.add("c", std::nullopt, now);
    suspects.clear("c", 0, {0, 1});
    const Cursor consumed{"e", {{0, 100}}};
    CHECK(suspects.take_repairs(consumed, now + 4s) == Ids{});
    CHECK(suspects.take_repairs(consumed, now + 5s) == Ids{"a", "b"});
}

TEST_CASE("rs R-099 an event that comes by a broker clears a difference, too") {
    Suspects suspects{5s};
    suspects.add("a", Cursor{"database", {{0, 10}}}, {});
    suspects.add("b", Cursor{"database", {{0, 10}}}, {});
    suspects.clear("a", 7, {0, 11}); // the head has no such lane
    suspects.clear("b", 0, {0, 11});
    CHECK(suspects.take_repairs({"broker", {{0, 1}, {0, 1}}}, Instant{0} + 5s) == Ids{"b"});
}

TEST_CASE("suspects are bounded") {
    Suspects suspects{5s};
    for (std::size_t each = 0; each < Suspects::kMost + 5; ++each) suspects.add(std::to_string(each), std::nullopt, {});
    CHECK(suspects.size() == Suspects::kMost);
}

} // namespace yk::rs
