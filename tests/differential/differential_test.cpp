// SPDX-License-Identifier: Apache-2.0
// The fast core against its twin: the same random commands, the same callbacks and events in the same order, the same
// sums and states. On failure the commands are shrunk and printed in the form of tests/property/regressions/.
//
//   YK_SEED=17 differential          one round with this seed
//   YK_ROUNDS=1000 differential      more rounds
//   YK_CHILD=1                       every round in a child process: a crash is shrunk like a difference

#include <cstdlib>
#include <iostream>

#include <catch2/catch.hpp>

#include "tests/differential/pair.h"
#include "tests/support/random_commands.h"
#include "tests/support/shrink.h"

namespace yk::testing {

namespace {

constexpr std::uint64_t kRounds = 60;
constexpr std::uint64_t kRoundsWithout = 8; // of each way to do without a shortcut
constexpr std::size_t kLength = 120;

void report(std::uint64_t seed, const std::vector<Command>& commands, const Shortcuts& shortcuts) {
    const auto differs = [&](const auto& list) { return difference(list, shortcuts).has_value(); };
    const auto shorter = shrink(commands, differs);
    const bool crashes = fails_in_child([&](const auto& list) { return differs(list) && false; }, shorter);
    // past Catch, which would break the lines
    std::cout << "# YK_SEED=" << seed << "\n"
              << print(shorter)
              << (crashes ? "the core crashes" : difference(shorter, shortcuts).value_or("no difference")) << std::endl;
    FAIL("YK_SEED=" << seed);
}

void play_rounds(std::uint64_t rounds, const Shortcuts& shortcuts) {
    const auto differs = [&](const auto& list) { return difference(list, shortcuts).has_value(); };
    for (const std::uint64_t seed : seeds(rounds)) {
        INFO("YK_SEED=" << seed);
        const auto commands = RandomCommands(seed).run(kLength);
        const bool in_child = std::getenv("YK_CHILD") != nullptr;
        if (in_child ? fails_in_child(differs, commands) : differs(commands)) report(seed, commands, shortcuts);
    }
}

} // namespace

TEST_CASE("the fast core and its twin say the same") {
    play_rounds(kRounds, {});
}

TEST_CASE("no decision depends on a shortcut") {
    SECTION("blocks") {
        play_rounds(kRoundsWithout, {.blocks = false});
    }
    SECTION("summaries") {
        play_rounds(kRoundsWithout, {.summaries = false});
    }
    SECTION("groups") {
        play_rounds(kRoundsWithout, {.groups = false});
    }
    SECTION("any of them") {
        play_rounds(kRoundsWithout, {false, false, false});
    }
}

TEST_CASE("earlier failures stay repaired") {
    for (const auto& [name, commands] : regressions(YK_SOURCE_DIR)) {
        INFO(name);
        CHECK(!commands.empty());
        CHECK(difference(commands).value_or("") == "");
    }
}

} // namespace yk::testing
