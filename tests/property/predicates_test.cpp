// SPDX-License-Identifier: Apache-2.0
// Random commands on a core whose RM has a say in every placement, and answers as it likes: late, twice, never, about
// the wrong nodes, with a no. After each command every invariant holds; the run with its answers, written down and read
// back, says the same again; and an RM that comes to its senses gets everything placed that can be.

#include <iostream>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "tests/property/sums.h"
#include "tests/support/player.h"
#include "tests/support/random_commands.h"
#include "tests/support/recorder.h"
#include "tests/support/shrink.h"
#include "tests/support/state_text.h"

namespace yk::testing {

namespace {

constexpr std::uint64_t kRounds = 25;
constexpr std::size_t kLength = 100;

/// What the RM was asked, from a recorded line: `P1 app/k on n,m reserve` or `V1 app/k on n victims=a,b start=0`.
struct Asked {
    std::uint64_t call = 0;
    std::vector<std::string> nodes;
    std::size_t victims = 0; // 0: an ordinary call
    int start = 0;
};

std::vector<std::string> names(std::string text) {
    std::vector<std::string> list;
    for (std::size_t at = 0; !text.empty(); text.erase(0, at == std::string::npos ? at : at + 1)) {
        at = text.find(',');
        list.push_back(text.substr(0, at));
        if (at == std::string::npos) break;
    }
    return list;
}

std::string field(const std::string& line, const std::string& head) {
    const std::size_t at = line.find(head);
    if (at == std::string::npos) return {};
    const std::size_t from = at + head.size();
    return line.substr(from, line.find(' ', from) - from);
}

Asked parse(const std::string& line) {
    Asked asked;
    asked.call = std::stoull(line.substr(1));
    asked.nodes = names(field(line, " on "));
    if (line[0] != 'V') return asked;
    asked.victims = names(field(line, "victims=")).size();
    asked.start = std::stoi(field(line, "start="));
    return asked;
}

struct Run {
    Recorder said;
    ClusterContext core{"rm", Settings{}, said.callbacks, said.events};
    Instant now = kStart;
    std::size_t mark_alive = 0; // lines that the RM has looked at

    explicit Run(std::uint32_t in_flight) {
        RmCallOptions options;
        options.predicates = options.preemption_predicates = true;
        options.batch = 3;
        options.in_flight = in_flight;
        core.set_rm_calls(options);
    }
    void play(const Command& command) {
        if (command.kind == CommandKind::Advance)
            advance(core, now, std::chrono::milliseconds{command.count});
        else
            testing::play(core, command, now);
    }
    std::vector<Asked> asked() {
        std::vector<Asked> calls;
        for (; mark_alive < said.callbacks.lines.size(); ++mark_alive) {
            const std::string& line = said.callbacks.lines[mark_alive];
            const bool digit = line.size() > 1 && line[1] >= '0' && line[1] <= '9';
            if (digit && (line[0] == 'P' || line[0] == 'V')) calls.push_back(parse(line));
        }
        return calls;
    }
};

std::uint32_t in_flight_of(std::uint64_t seed) {
    return seed % 3 == 0 ? 2 : 1024;
}

class Moods {
public:
    explicit Moods(std::uint64_t seed) : random_(seed) {}

    /// Some answers to what was asked, this time or before.
    std::vector<Command> answer(const std::vector<Asked>& asked) {
        open_.insert(open_.end(), asked.begin(), asked.end());
        std::vector<Command> answers;
        for (std::size_t i = 0; i < open_.size();) {
            if (random_.chance(40)) { // later
                ++i;
                continue;
            }
            answers.push_back(*parse_command(text(open_[i])));
            if (!random_.chance(10)) open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
            if (random_.chance(20)) break;
        }
        return answers;
    }

private:
    std::string text(const Asked& asked) {
        const std::uint64_t call = random_.chance(3) ? asked.call + 7 : asked.call;
        if (random_.chance(15)) return fmt::format("answer timeout call={}", call);
        if (random_.chance(5)) return fmt::format("answer failed call={} error=down", call);
        if (asked.victims > 0) {
            if (random_.chance(25)) return fmt::format("answer preempt call={}", call);
            const auto index = static_cast<int>(random_.between(0, static_cast<std::int64_t>(asked.victims))) +
                               (random_.chance(80) ? asked.start : -2);
            return fmt::format("answer preempt call={} index={}", call, index);
        }
        std::string yes, no;
        for (const std::string& node : asked.nodes) {
            if (random_.chance(5)) continue; // not a word about it
            const bool fits = random_.chance(60);
            std::string& list = fits ? yes : no;
            list += (list.empty() ? "" : ",") + node + (fits ? "" : ":why" + std::to_string(random_.between(0, 3)));
        }
        if (random_.chance(5)) yes += (yes.empty() ? "" : ",") + std::string{"nowhere"};
        return fmt::format("answer fit call={}{}{}", call, yes.empty() ? "" : " yes=" + yes,
                           no.empty() ? "" : " no=" + no);
    }

    Random random_;
    std::vector<Asked> open_;
};

/// The commands with the answers that an RM of these moods gives to them.
std::vector<Command> with_answers(const std::vector<Command>& commands, std::uint64_t seed) {
    Run run{in_flight_of(seed)};
    Moods moods{seed};
    std::vector<Command> all;
    for (const Command& command : commands) {
        all.push_back(command);
        run.play(command);
        for (Command& answer : moods.answer(run.asked())) {
            run.play(answer);
            all.push_back(std::move(answer));
        }
    }
    return all;
}

/// The first broken invariant with the command after which it broke; empty when all hold.
std::string broken(const std::vector<Command>& commands, std::uint64_t seed) {
    Run run{in_flight_of(seed)};
    for (const Command& command : commands) {
        run.play(command);
        auto faults = run.core.check();
        const auto more = wrong_sums(run.core);
        faults.insert(faults.end(), more.begin(), more.end());
        if (!faults.empty()) return fmt::format("after {}: {}", print(command), fmt::join(faults, "; "));
    }
    return {};
}

/// Asks that still wait for the RM although it says yes to everything, at once.
std::string left_waiting(const std::vector<Command>& commands, std::uint64_t seed) {
    Run run{in_flight_of(seed)};
    for (const Command& command : commands) run.play(command);
    static_cast<void>(run.asked());
    for (std::uint64_t call = 1; call < 100'000 && run.core.calls_in_flight() > 0; ++call)
        run.play(*parse_command(fmt::format("answer timeout call={}", call)));
    run.play(Command{CommandKind::Advance, {}, 31'000, {}});
    for (int idle = 0, round = 0; idle < 3; ++round) {
        if (round == 10'000) return "the core asks for ever";
        run.play(Command{CommandKind::Cycle, {}, 5, {}});
        const auto asked = run.asked();
        idle = asked.empty() ? idle + 1 : 0;
        for (const Asked& each : asked)
            run.play(*parse_command(
                each.victims > 0 ? fmt::format("answer preempt call={} index={}", each.call, each.start)
                                 : fmt::format("answer fit call={} yes={}", each.call, fmt::join(each.nodes, ","))));
    }
    return run.core.calls_in_flight() == 0 ? std::string{} : "a call was never made";
}

std::string story(const std::vector<Command>& commands, std::uint64_t seed) {
    Run run{in_flight_of(seed)};
    for (const Command& command : commands) run.play(command);
    const Recorder::Lines lines = run.said.take();
    return fmt::format("{}\n{}\n{}\n{}", fmt::join(lines.callbacks, "\n"), fmt::join(lines.events, "\n"),
                       fmt::join(lines.requests, "\n"), state_text(run.core));
}

void check_rounds(RandomCommands::Mix mix) {
    for (const std::uint64_t seed : seeds(kRounds)) {
        INFO("YK_SEED=" << seed);
        const auto commands = with_answers(RandomCommands(seed, mix).run(kLength), seed);
        const auto fails = [seed](const auto& list) {
            return !broken(list, seed).empty() || !left_waiting(list, seed).empty();
        };
        if (!fails(commands)) continue;
        const auto shorter = shrink(commands, fails);
        std::cout << "# YK_SEED=" << seed << "\n"
                  << print(shorter) << broken(shorter, seed) << left_waiting(shorter, seed) << std::endl;
        FAIL("YK_SEED=" << seed);
    }
}

} // namespace

TEST_CASE("I-377 S-181 all invariants hold whatever the RM answers") {
    check_rounds(RandomCommands::Mix::Plain);
}

TEST_CASE("I-377 G-032 all invariants hold whatever the RM answers about gangs") {
    check_rounds(RandomCommands::Mix::Gangs);
}

TEST_CASE("I-377 P-062 all invariants hold whatever the RM answers about victims") {
    check_rounds(RandomCommands::Mix::Preemption);
}

TEST_CASE("I-377 a run with answers, written down and read back, says the same again") {
    for (const std::uint64_t seed : seeds(10)) {
        INFO("YK_SEED=" << seed);
        const auto commands = with_answers(RandomCommands(seed).run(kLength), seed);
        const auto again = parse_commands(print(commands));
        REQUIRE(again.ok());
        CHECK(story(commands, seed) == story(*again, seed));
    }
}

} // namespace yk::testing
