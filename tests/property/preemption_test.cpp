// SPDX-License-Identifier: Apache-2.0
// Random commands with preemption of all three kinds, and an RM that confirms at once, late, twice, with another type
// or never: after each command every invariant holds (P-130), and in the end nothing is left preempting or reserved in
// vain.

#include <iostream>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/reports/snapshot.h"
#include "tests/property/sums.h"
#include "tests/support/player.h"
#include "tests/support/random_commands.h"
#include "tests/support/recorder.h"
#include "tests/support/shrink.h"

namespace yk::testing {

namespace {

constexpr std::uint64_t kRounds = 60;
constexpr std::size_t kLength = 150;

/// What the RM does with a victim; decided by its key, so that a shortened run behaves the same.
enum class Answer { Now, Late, Twice, OtherType, Never };

Answer answer_for(const std::string& key) {
    switch (std::hash<std::string>{}(key) % 8) {
    case 0: return Answer::Late;
    case 1: return Answer::Twice;
    case 2: return Answer::OtherType;
    case 3: return Answer::Never;
    default: return Answer::Now;
    }
}

struct Victim {
    std::string partition, application, key;
};

class Run {
public:
    void play(const Command& command) {
        if (command.kind == CommandKind::Advance)
            advance(core_, now_, std::chrono::milliseconds{command.count});
        else
            testing::play(core_, command, now_);
        for (const Victim& victim : late_) confirm(victim, TerminationType::PreemptedByScheduler);
        late_.clear();
        for (const Victim& victim : announced()) answer(victim);
    }

    [[nodiscard]] std::string broken() {
        auto faults = core_.check();
        const auto more = wrong_sums(core_);
        faults.insert(faults.end(), more.begin(), more.end());
        return fmt::format("{}", fmt::join(faults, "; "));
    }

    /// Every victim is confirmed, every ask and application goes; what is still there then was forgotten.
    [[nodiscard]] std::string settle() {
        for (int round = 0; round < 20; ++round)
            for (const Victim& victim : marked()) confirm(victim, TerminationType::PreemptedByScheduler);
        for (const std::string& partition : core_.partition_names())
            for (const ApplicationView& app : application_views(*core_.read(partition), ApplicationList::Active, false))
                core_.apply(ApplicationRequest{{}, {{partition, app.id}}}, now_);
        std::string left = broken();
        for (const std::string& partition : core_.partition_names()) {
            const auto root = queue_view(*core_.read(partition), "root", false);
            if (!root->preempting.empty()) left += partition + ": something is left preempting";
            if (partition_view(*core_.read(partition)).reservations != 0) left += partition + ": a reservation is left";
        }
        return left;
    }

    int victims = 0;

private:
    /// Those whom the RM was told about since the last time: `L [partition app/key type=3] ... # wording`.
    std::vector<Victim> announced() {
        std::vector<Victim> found;
        for (const std::string& line : said_.take().callbacks) {
            if (line[0] != 'L') continue;
            for (auto at = line.find(" [["); at != std::string::npos; at = line.find(" [[", at + 1)) {
                const std::string part = line.substr(at + 2, line.find(" type=", at) - at - 2);
                const auto blank = part.find(' '), slash = part.find('/');
                if (line.compare(line.find(" type=", at), 8, " type=3]") != 0) continue;
                found.push_back(
                    {part.substr(0, blank), part.substr(blank + 1, slash - blank - 1), part.substr(slash + 1)});
            }
        }
        return found;
    }

    [[nodiscard]] std::vector<Victim> marked() {
        std::vector<Victim> found;
        for (const std::string& partition : core_.partition_names())
            for (const ApplicationView& app : application_views(*core_.read(partition), ApplicationList::Active, true))
                for (const AllocationView& each : app.allocations)
                    if (each.preempted) found.push_back({partition, app.id, each.key});
        return found;
    }

    void answer(const Victim& victim) {
        ++victims;
        switch (answer_for(victim.key)) {
        case Answer::Now: return confirm(victim, TerminationType::PreemptedByScheduler);
        case Answer::Late: late_.push_back(victim); return;
        case Answer::OtherType: return confirm(victim, TerminationType::StoppedByRm);
        case Answer::Twice:
            confirm(victim, TerminationType::PreemptedByScheduler);
            return confirm(victim, TerminationType::PreemptedByScheduler);
        case Answer::Never: return;
        }
    }

    void confirm(const Victim& victim, TerminationType type) {
        AllocationRequest request;
        request.releases.push_back({victim.partition, victim.application, victim.key, type, {}});
        core_.apply(request, now_);
    }

    Recorder said_;
    ClusterContext core_{"rm", Settings{}, said_.callbacks, said_.events};
    Instant now_ = kStart;
    std::vector<Victim> late_;
};

std::string broken(const std::vector<Command>& commands, int* victims = nullptr) {
    Run run;
    for (const Command& command : commands) {
        run.play(command);
        if (const std::string fault = run.broken(); !fault.empty())
            return fmt::format("after {}: {}", print(command), fault);
    }
    if (victims != nullptr) *victims += run.victims;
    const std::string left = run.settle();
    return left.empty() ? "" : "in the end: " + left;
}

} // namespace

TEST_CASE("P-130 all invariants hold with preemption and an RM of any behaviour, and nothing is left in the end") {
    int victims = 0;
    for (const std::uint64_t seed : seeds(kRounds)) {
        INFO("YK_SEED=" << seed);
        const auto commands = RandomCommands(seed, RandomCommands::Mix::Preemption).run(kLength);
        if (broken(commands, &victims).empty()) continue;
        const auto shorter = shrink(commands, [](const auto& list) { return !broken(list).empty(); });
        std::cout << "# YK_SEED=" << seed << "\n" << print(shorter) << broken(shorter) << std::endl;
        FAIL("YK_SEED=" << seed);
    }
    CHECK(victims > 40); // else this proves nothing
}

} // namespace yk::testing
