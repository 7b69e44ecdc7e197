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
constexpr std::size_t kLength = 120;

bool differs(const std::vector<Command>& commands) {
    return difference(commands).has_value();
}

void report(std::uint64_t seed, const std::vector<Command>& commands) {
    const auto shorter = shrink(commands, differs);
    const bool crashes =
        fails_in_child([](const auto& list) { return difference(list).has_value() && false; }, shorter);
    // past Catch, which would break the lines
    std::cout << "# YK_SEED=" << seed << "\n"
              << print(shorter) << (crashes ? "the core crashes" : difference(shorter).value_or("no difference"))
              << std::endl;
    FAIL("YK_SEED=" << seed);
}

} // namespace

TEST_CASE("the fast core and its twin say the same") {
    for (const std::uint64_t seed : seeds(kRounds)) {
        INFO("YK_SEED=" << seed);
        const auto commands = RandomCommands(seed).run(kLength);
        if (std::getenv("YK_CHILD") != nullptr) {
            if (fails_in_child(differs, commands)) report(seed, commands);
        } else if (differs(commands)) {
            report(seed, commands);
        }
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
