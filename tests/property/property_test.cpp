// Random commands on a core alone: after each, every invariant of S-181 holds, by the core's own check() and by sums
// made here from its views; and a run that was written down and read back says the same again, byte for byte.

#include <iostream>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "tests/property/sums.h"
#include "tests/support/player.h"
#include "tests/support/random_commands.h"
#include "tests/support/random_rules.h"
#include "tests/support/recorder.h"
#include "tests/support/shrink.h"
#include "tests/support/state_text.h"

namespace yk::testing {

namespace {

constexpr std::uint64_t kRounds = 60;
constexpr std::size_t kLength = 150;

struct Run {
    Recorder said;
    ClusterContext core{"rm", Settings{}, said.callbacks, said.events};
    Instant now = kStart;

    void play(const Command& command) {
        if (command.kind == CommandKind::Advance)
            advance(core, now, std::chrono::milliseconds{command.count});
        else
            testing::play(core, command, now);
    }
};

/// The first broken invariant with the command after which it broke; empty when all hold.
std::string broken(const std::vector<Command>& commands) {
    Run run;
    for (const Command& command : commands) {
        run.play(command);
        auto faults = run.core.check();
        const auto more = wrong_sums(run.core);
        faults.insert(faults.end(), more.begin(), more.end());
        if (run.core.counters().corrections != 0) faults.emplace_back("a number had to be clamped (S-182)");
        if (!faults.empty()) return fmt::format("after {}: {}", print(command), fmt::join(faults, "; "));
    }
    return {};
}

/// Everything said in a run and its last state, as one text.
std::string story(const std::vector<Command>& commands) {
    Run run;
    for (const Command& command : commands) run.play(command);
    const Recorder::Lines lines = run.said.take();
    return fmt::format("{}\n{}\n{}\n{}", fmt::join(lines.callbacks, "\n"), fmt::join(lines.events, "\n"),
                       fmt::join(lines.requests, "\n"), state_text(run.core));
}

} // namespace

TEST_CASE("S-181 all invariants hold after every command") {
    for (const std::uint64_t seed : seeds(kRounds)) {
        INFO("YK_SEED=" << seed);
        const auto commands = RandomCommands(seed).run(kLength);
        if (broken(commands).empty()) continue;
        const auto shorter = shrink(commands, [](const auto& list) { return !broken(list).empty(); });
        std::cout << "# YK_SEED=" << seed << "\n" << print(shorter) << broken(shorter) << std::endl;
        FAIL("YK_SEED=" << seed);
    }
}

TEST_CASE("S-181 C-232 C-434 all invariants hold with rules, dynamic queues and templates") {
    std::size_t made = 0;
    for (const std::uint64_t seed : seeds(kRounds / 2)) {
        INFO("YK_SEED=" << seed);
        auto commands = RandomCommands(seed).run(kLength);
        add_rules(commands, seed);
        const std::string told = story(commands);
        for (std::size_t at = told.find("QUEUE_DYNAMIC"); at != std::string::npos;
             at = told.find("QUEUE_DYNAMIC", at + 1))
            ++made;
        if (broken(commands).empty()) continue;
        const auto shorter = shrink(commands, [](const auto& list) { return !broken(list).empty(); });
        std::cout << "# YK_SEED=" << seed << "\n" << print(shorter) << broken(shorter) << std::endl;
        FAIL("YK_SEED=" << seed);
    }
    CHECK(made > 10); // queues were made and swept
}

TEST_CASE("S-182 earlier failures stay repaired") {
    for (const auto& [name, commands] : regressions(YK_SOURCE_DIR)) {
        INFO(name);
        CHECK(!commands.empty());
        CHECK(broken(commands) == "");
    }
}

TEST_CASE("a run that was recorded and replayed tells the same story, byte for byte") {
    for (const std::uint64_t seed : seeds(8)) {
        INFO("YK_SEED=" << seed);
        const auto commands = RandomCommands(seed).run(kLength);
        const std::string recorded = print(commands);
        const auto again = parse_commands(recorded);
        REQUIRE(again.ok());
        CHECK(print(again.value()) == recorded);
        const std::string first = story(commands);
        CHECK(first.size() > 1000);
        CHECK(first == story(again.value()));
    }
}

TEST_CASE("S-600 without event tracking nothing is recorded and nothing else changes") {
    const auto commands = RandomCommands(5).run(kLength);
    Run with, without;
    Settings settings;
    settings.events_enabled = false;
    without.core.set_settings(settings, kStart);
    for (const Command& command : commands) {
        with.play(command);
        without.play(command);
    }
    CHECK(with.said.callbacks.lines == without.said.callbacks.lines);
    CHECK(without.said.events.lines.empty());
    CHECK(without.said.events.requests.empty());
    CHECK(state_text(with.core) == state_text(without.core));
}

} // namespace yk::testing
