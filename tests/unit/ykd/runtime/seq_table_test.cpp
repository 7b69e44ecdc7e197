// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/seq_table.h"

#include <catch2/catch.hpp>

#include <string>

using namespace yk;
using Table = SeqTable<int, std::string>;
using Verdict = Table::Verdict;

namespace {

const SteadyClock::time_point kStart = SteadyClock::now();
const SteadyClock::time_point kLater = kStart + std::chrono::seconds{1};

Verdict admit(Table& table, std::uint64_t seq, std::uint64_t fingerprint = 1, int call = 0) {
    return table.admit(seq, fingerprint, call, kLater).verdict;
}

} // namespace

TEST_CASE("I-330 numbers start at 1 and go up by 1") {
    Table table;
    CHECK(admit(table, 0) == Verdict::Old);
    CHECK(admit(table, 1) == Verdict::Execute);
    CHECK_FALSE(table.finish(true, "one"));
    CHECK(table.last_executed() == 1);
    CHECK(admit(table, 2) == Verdict::Execute);
}

TEST_CASE("I-331 an executed number is answered from memory, a forgotten one is old") {
    Table table(2);
    for (std::uint64_t seq = 1; seq <= 3; ++seq) {
        REQUIRE(admit(table, seq, seq) == Verdict::Execute);
        table.finish(true, "reply " + std::to_string(seq));
    }
    int call = 0;
    const auto again = table.admit(3, 3, call, kLater);
    CHECK(again.verdict == Verdict::Replay);
    CHECK(again.reply == "reply 3");
    CHECK(admit(table, 1, 1) == Verdict::Old);
}

TEST_CASE("I-331 a copy of what executes takes over its reply") {
    Table table;
    REQUIRE(admit(table, 1, 5) == Verdict::Execute);
    CHECK(admit(table, 1, 5) == Verdict::Superseded);
}

TEST_CASE("I-332 what comes early is held until its turn") {
    Table table;
    CHECK(admit(table, 2, 1, 22) == Verdict::Held);
    CHECK(admit(table, 3, 1, 33) == Verdict::Held);
    REQUIRE(admit(table, 1) == Verdict::Execute);
    CHECK(table.finish(true, "") == 22);
    CHECK(table.finish(true, "") == 33);
    CHECK_FALSE(table.finish(true, ""));
}

TEST_CASE("I-332 a gap that does not fill in time ends the held ones, but not while a call executes") {
    Table table;
    CHECK(admit(table, 3, 1, 33) == Verdict::Held);
    CHECK(table.expire(kStart).empty());
    REQUIRE(admit(table, 1) == Verdict::Execute);
    CHECK(table.expire(kLater).empty());
    table.finish(true, "");
    CHECK(table.expire(kLater) == std::vector<int>{33});
    CHECK(table.expected() == 2);
}

TEST_CASE("I-332 at most 16 are held") {
    Table table;
    for (std::uint64_t seq = 2; seq < 2 + Table::kHeld; ++seq) REQUIRE(admit(table, seq) == Verdict::Held);
    CHECK(admit(table, 100) == Verdict::Gap);
}

TEST_CASE("I-333 a retryable error leaves the number to be used again") {
    Table table;
    REQUIRE(admit(table, 1) == Verdict::Execute);
    CHECK_FALSE(table.finish(false, "busy"));
    CHECK(admit(table, 1) == Verdict::Execute);
}

TEST_CASE("I-334 the same number with other content is a conflict, remembered, executing or held") {
    Table table;
    REQUIRE(admit(table, 1, 5) == Verdict::Execute);
    CHECK(admit(table, 1, 6) == Verdict::Conflict);
    CHECK(admit(table, 2, 7, 22) == Verdict::Held);
    CHECK(admit(table, 2, 8) == Verdict::Conflict);
    table.finish(true, "one");
    CHECK(admit(table, 1, 6) == Verdict::Conflict);
}

TEST_CASE("A3 of large replies fewer are remembered, and one that is too large is not") {
    Table table;
    for (std::uint64_t seq = 1; seq <= 4; ++seq) {
        REQUIRE(admit(table, seq, seq) == Verdict::Execute);
        table.finish(true, "reply", Table::kKeptBytes / 2 - 1);
    }
    CHECK(admit(table, 2, 2) == Verdict::Old);
    CHECK(admit(table, 3, 3) == Verdict::Replay);
    REQUIRE(admit(table, 5, 5) == Verdict::Execute);
    table.finish(true, "reply", Table::kKeptBytes + 1);
    CHECK(admit(table, 5, 5) == Verdict::Old);
    REQUIRE(admit(table, 6, 6) == Verdict::Execute);
    table.finish(true, "reply", Table::kKeptBytes);
    CHECK(admit(table, 6, 6) == Verdict::Replay);
}

TEST_CASE("I-332 the first held call to end is known") {
    Table table;
    int call = 1;
    CHECK_FALSE(table.first_end());
    table.admit(3, 3, call, kLater);
    table.admit(2, 2, call, kLater - std::chrono::seconds{1});
    CHECK(table.first_end() == kLater - std::chrono::seconds{1});
}
