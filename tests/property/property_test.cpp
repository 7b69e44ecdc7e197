// SPDX-License-Identifier: Apache-2.0
// Random commands on a core alone: after each, every invariant of S-181 holds, by the core's own check() and by sums
// made here from its views; and a run that was written down and read back says the same again, byte for byte.

#include <algorithm>
#include <functional>
#include <iostream>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/partition/partition_context.h"
#include "libcore/reports/snapshot.h"
#include "tests/property/sums.h"
#include "tests/support/player.h"
#include "tests/support/random_commands.h"
#include "tests/support/random_rules.h"
#include "tests/support/recorder.h"
#include "tests/support/shrink.h"
#include "tests/support/state_text.h"

namespace yk::testing {

namespace {

constexpr std::uint64_t kRounds = 40;
constexpr std::size_t kLength = 150;

Settings with(const Budget& budget) {
    Settings settings;
    settings.budget = budget;
    return settings;
}

struct Run {
    explicit Run(const Budget& budget = {}) : core("rm", with(budget), said.callbacks, said.events) {}

    Recorder said;
    ClusterContext core;
    Instant now = kStart;

    void play(const Command& command) {
        if (command.kind == CommandKind::Advance)
            advance(core, now, std::chrono::milliseconds{command.count});
        else
            testing::play(core, command, now);
    }
};

/// The first broken invariant with the command after which it broke; empty when all hold.
std::string broken(const std::vector<Command>& commands, const Budget& budget = {}) {
    Run run{budget};
    for (const Command& command : commands) {
        run.play(command);
        auto faults = run.core.check();
        const auto more = wrong_sums(run.core);
        faults.insert(faults.end(), more.begin(), more.end());
        if (run.core.counters().corrections != 0) faults.emplace_back("a number had to be clamped (S-182)");
        for (const Held what : {Held::Nodes, Held::Applications, Held::Asks}) // facts are refused at twice the limit
            if (limit_of(budget, what) > 0 && run.core.holdings().of(what) > 2 * limit_of(budget, what))
                faults.push_back(fmt::format("more {} than there may be", name_of(what)));
        if (!faults.empty()) return fmt::format("after {}: {}", print(command), fmt::join(faults, "; "));
    }
    return {};
}

/// Confirms each release that the core asked for and that was not confirmed yet. Whether there was one.
bool confirm_all(Run& run) {
    const auto lines = run.said.take().callbacks;
    bool any = false;
    for (const std::string& line : lines) {
        if (line[0] != 'L') continue;
        for (auto at = line.find('['); at < head_of(line).size(); at = line.find('[', at + 1)) {
            // [[rm]partition app/key type=2]
            const std::size_t name = line.find(']', at) + 1, app = line.find(' ', name) + 1,
                              key = line.find('/', app) + 1, type = line.find(" type=", key);
            if (line[at + 1] != '[' || line[type + 6] == '1') continue; // an echo needs no answer
            run.play(*parse_command(fmt::format("alloc release part={} app={} key={} type={}",
                                                line.substr(name, app - 1 - name), line.substr(app, key - 1 - app),
                                                line.substr(key, type - key), line[type + 6])));
            any = true;
        }
    }
    return any;
}

/// Halves of replacements and allocations on their way out that are left when the RM has confirmed everything.
std::string left_over(const std::vector<Command>& commands) {
    Run run;
    for (const Command& command : commands) run.play(command);
    for (int round = 0; confirm_all(run) || round < 3; ++round) {
        run.play(Command{CommandKind::Cycle, {}, 5, {}});
        if (round == 10'000) return "the core asks for ever";
    }
    std::string left;
    for (const std::string& name : run.core.partition_names()) {
        const PartitionState& state = run.core.find_partition(name)->state();
        state.allocations.for_each([&](AllocationId id) {
            const Allocation& each = state.allocations[id];
            if (each.is(Allocation::Released) || each.is(Allocation::Preempted) || each.is(Allocation::InFlight))
                left += fmt::format("{} is left on its way out; ", each.key.view());
        });
    }
    return left;
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

TEST_CASE("S-181 S-414 all invariants hold after every command; what is placed holds no reservation") {
    for (const std::uint64_t seed : seeds(kRounds)) {
        INFO("YK_SEED=" << seed);
        const auto commands = RandomCommands(seed).run(kLength);
        if (broken(commands).empty()) continue;
        const auto shorter = shrink(commands, [](const auto& list) { return !broken(list).empty(); });
        std::cout << "# YK_SEED=" << seed << "\n" << print(shorter) << broken(shorter) << std::endl;
        FAIL("YK_SEED=" << seed);
    }
}

TEST_CASE("S-181 G-026 all invariants hold with gangs, whatever the RM confirms") {
    for (const std::uint64_t seed : seeds(kRounds)) {
        INFO("YK_SEED=" << seed);
        const auto commands = RandomCommands(seed, RandomCommands::Mix::Gangs).run(kLength);
        const auto fails = [](const auto& list) { return !broken(list).empty() || !left_over(list).empty(); };
        if (!fails(commands)) continue;
        const auto shorter = shrink(commands, fails);
        std::cout << "# YK_SEED=" << seed << "\n"
                  << print(shorter) << broken(shorter) << left_over(shorter) << std::endl;
        FAIL("YK_SEED=" << seed);
    }
}

TEST_CASE("A10 all invariants hold when the budget is small, and it is used up") {
    std::size_t refused = 0;
    for (const std::uint64_t seed : seeds(kRounds)) {
        INFO("YK_SEED=" << seed);
        auto commands =
            RandomCommands(seed, seed % 2 == 0 ? RandomCommands::Mix::Gangs : RandomCommands::Mix::Plain).run(kLength);
        if (seed % 3 == 0) add_rules(commands, seed);
        const Budget budget{.nodes = 1 + seed % 5,
                            .applications = 1 + seed % 4,
                            .asks = 2 + seed % 11,
                            .queues = 1 + seed % 3,
                            .names = 1'000 + seed % 7 * 500,
                            .ended = 1 + seed % 6};
        Run run{budget};
        for (const Command& command : commands) run.play(command);
        for (const std::string& line : run.said.take().callbacks)
            refused += line.find("code=1025") != std::string::npos ? 1U : 0U;
        const auto fails = [&](const auto& list) { return !broken(list, budget).empty(); };
        if (!fails(commands)) continue;
        const auto shorter = shrink(commands, fails);
        std::cout << "# YK_SEED=" << seed << "\n" << print(shorter) << broken(shorter, budget) << std::endl;
        FAIL("YK_SEED=" << seed);
    }
    CHECK(refused > 0);
}

TEST_CASE("the random gangs come to every end") {
    const std::vector<std::string> ends{" type=4]", " type=2]",       " Resuming ",    " Failing ",
                                        " Failed ", "ALLOC_REPLACED", "ALLOC_TIMEOUT", "is larger than placeholder"};
    std::vector<int> seen(ends.size(), 0);
    const auto missing = [&seen] { return std::find(seen.begin(), seen.end(), 0) != seen.end(); };
    for (std::uint64_t seed = 1; seed <= 400 && missing(); ++seed) { // what a seed gives depends on the compiler
        Run run;
        for (const Command& command : RandomCommands(seed, RandomCommands::Mix::Gangs).run(kLength)) run.play(command);
        const Recorder::Lines lines = run.said.take();
        for (const auto* list : {&lines.callbacks, &lines.events, &lines.requests})
            for (const std::string& line : *list)
                for (std::size_t i = 0; i < ends.size(); ++i)
                    seen[i] += line.find(ends[i]) != std::string::npos ? 1 : 0;
    }
    for (std::size_t i = 0; i < ends.size(); ++i) {
        INFO(ends[i]);
        CHECK(seen[i] > 0);
    }
}

TEST_CASE("S-181 C-232 C-434 all invariants hold with rules, dynamic queues and templates") {
    std::size_t made = 0;
    for (const std::uint64_t seed : seeds(kRounds / 2)) {
        INFO("YK_SEED=" << seed);
        auto commands = RandomCommands(seed).run(kLength);
        add_rules(commands, seed);
        const std::string reported = story(commands);
        for (std::size_t at = reported.find("QUEUE_DYNAMIC"); at != std::string::npos;
             at = reported.find("QUEUE_DYNAMIC", at + 1))
            ++made;
        if (broken(commands).empty()) continue;
        const auto shorter = shrink(commands, [](const auto& list) { return !broken(list).empty(); });
        std::cout << "# YK_SEED=" << seed << "\n" << print(shorter) << broken(shorter) << std::endl;
        FAIL("YK_SEED=" << seed);
    }
    CHECK(made > 10); // queues were made and swept
}

TEST_CASE("S-163 nothing that an RM can send stops a queue or a partition") {
    const std::function<bool(const QueueView&)> any_stopped = [&](const QueueView& queue) {
        return queue.state == "Stopped" || std::any_of(queue.children.begin(), queue.children.end(), any_stopped);
    };
    bool drained = false;
    const std::function<bool(const QueueView&)> any_drains = [&](const QueueView& queue) {
        return queue.state == "Draining" || std::any_of(queue.children.begin(), queue.children.end(), any_drains);
    };
    for (const std::uint64_t seed : seeds(8)) {
        INFO("YK_SEED=" << seed);
        Run run;
        for (const Command& command : RandomCommands(seed).run(kLength)) {
            run.play(command);
            for (const std::string& name : run.core.partition_names()) {
                CHECK(partition_view(*run.core.read(name)).state == "Active");
                const QueueView root = *queue_view(*run.core.read(name), "root", true);
                CHECK_FALSE(any_stopped(root));
                drained = drained || any_drains(root);
            }
        }
    }
    CHECK(drained); // the commands do change states
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
