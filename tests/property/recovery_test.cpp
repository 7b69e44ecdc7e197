// SPDX-License-Identifier: Apache-2.0
// I-220, I-231: whatever the order in which an RM replays its books, the core ends with the same, and that is what the
// books say.

#include <algorithm>
#include <functional>
#include <iostream>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/partition/partition_context.h"
#include "libcore/reports/pages.h"
#include "libcore/reports/snapshot.h"
#include "tests/property/recovery_books.h"
#include "tests/property/sums.h"
#include "tests/support/player.h"
#include "tests/support/recorder.h"
#include "tests/support/recovery_text.h"
#include "tests/support/shrink.h"
#include "tests/support/state_text.h"

namespace yk::testing {

namespace {

constexpr std::uint64_t kRounds = 100;
constexpr int kOrders = 4; // of one seed

struct Replay {
    Recorder said;
    ClusterContext core{"rm", {}, said.callbacks, said.events};

    explicit Replay(const std::vector<Command>& commands) {
        for (const Command& command : commands) play(command);
    }
    Replay() = default;
    void play(const Command& command) { testing::play(core, command, kStart); }
    [[nodiscard]] RecoveryView view() { return core.recovery().view(); }
};

/// What a core has that recovered, but for what may depend on the order: the states of applications of which something
/// was released, and what follows from them.
std::string left_in(Replay& replay) {
    std::string text = text_of(replay.view()) + "\n" + digest_text(replay.view()) + "\n";
    for (const std::string& partition : replay.core.partition_names()) {
        const PartitionState& state = *replay.core.read(partition);
        text += text_of(partition_view(state));
        for (ApplicationView app : application_views(state, ApplicationList::Active, true)) {
            app.state_log.clear();
            app.state.clear();
            app.started.reset();
            app.submitted = {}; // follows the oldest ask, also one that was released (S-103)
            app.max_used.clear();
            app.placeholder_data.clear(); // counts those that were released, too
            const auto by_key = [](const auto& a, const auto& b) { return a.key < b.key; };
            std::sort(app.asks.begin(), app.asks.end(), by_key);
            std::sort(app.allocations.begin(), app.allocations.end(), by_key);
            text += text_of(app);
        }
        for (const NodeView& node : node_views(state, true)) {
            text += text_of(node);
            std::vector<std::string> foreign;
            for (const AllocationView& each : node.foreign) foreign.push_back(each.key);
            std::sort(foreign.begin(), foreign.end());
            text += fmt::format("    foreign {}\n", fmt::join(foreign, " "));
        }
        const std::function<void(const QueueView&)> add = [&](const QueueView& queue) {
            QueueView here = queue;
            here.children.clear();
            here.running_applications = 0;
            here.allocating_accepted.clear();
            text += text_of(here);
            for (const QueueView& child : queue.children) add(child);
        };
        add(*queue_view(state, "root", true));
        for (const bool groups : {false, true})
            for (const UsageView& view : usage_views(state, groups)) {
                const std::function<void(const UsageQueueView&)> add_usage = [&](const UsageQueueView& at) {
                    for (const auto& [type, value] : at.usage)
                        if (value != 0) text += fmt::format("  {} at {} {}:{}\n", view.name, at.path, type, value);
                    for (const UsageQueueView& child : at.children) add_usage(child);
                };
                add_usage(view.root);
            }
    }
    return text;
}

std::map<Name, std::string> states_in(Replay& replay) {
    std::map<Name, std::string> states;
    for (const std::string& partition : replay.core.partition_names())
        for (const ApplicationView& app :
             application_views(*replay.core.read(partition), ApplicationList::Active, false))
            states[{partition, app.id}] = app.state;
    return states;
}

/// How often each allocation was announced: partition, application, key.
std::map<std::pair<Name, std::string>, int> announced_in(const Replay& replay) {
    std::map<std::pair<Name, std::string>, int> times;
    for (const std::string& line : replay.said.callbacks.lines) {
        if (line[0] != 'N') continue; // N [rm]default app/k on ...
        const std::size_t name = line.find(']') + 1, blank = line.find(' ', name), slash = line.find('/', blank),
                          end = line.find(' ', slash);
        ++times[{{line.substr(name, blank - name), line.substr(blank + 1, slash - blank - 1)},
                 line.substr(slash + 1, end - slash - 1)}];
    }
    return times;
}

/// What the RM was refused.
std::string refusal_in(const Replay& replay) {
    for (const std::string& line : replay.said.callbacks.lines)
        if (line.find(" code=") != std::string::npos) return line + "; ";
    return {};
}

bool is_above(const ResourceMapView& one, const ResourceMapView& other) {
    return std::any_of(one.begin(), one.end(), [&](const auto& entry) {
        const auto found = other.find(entry.first);
        return entry.second > (found == other.end() ? 0 : found->second);
    });
}

/// The first node of which more is in use than the books say.
std::string overused(Replay& replay, const RecoveryBooks& books) {
    for (const std::string& partition : replay.core.partition_names())
        for (const NodeView& node : node_views(*replay.core.read(partition), false)) {
            ResourceMapView used = node.allocated;
            for (const auto& [type, value] : node.occupied) used[type] += value;
            if (is_above(used, books.most().at({partition, node.id}))) return "node " + node.id + " is overused; ";
        }
    return {};
}

/// What is wrong with the core after all of the commands, or after one of them.
std::string wrong_under_way(const std::vector<Command>& commands, const RecoveryBooks* books = nullptr) {
    Replay replay;
    for (const Command& command : commands) {
        replay.play(command);
        std::string wrong = refusal_in(replay);
        for (const std::string& fault : replay.core.check()) wrong += fault + "; ";
        if (replay.core.counters().corrections != 0) wrong += "a number had to be clamped (S-182); ";
        if (books != nullptr) wrong += overused(replay, *books);
        if (!wrong.empty()) return fmt::format("after {}: {}", print(command), wrong);
    }
    replay.core.recovery().end(kStart);
    replay.play(Command{CommandKind::Cycle, {}, 3, {}});
    auto faults = replay.core.check();
    const auto more = wrong_sums(replay.core);
    faults.insert(faults.end(), more.begin(), more.end());
    return faults.empty() ? "" : fmt::format("in the end: {}", fmt::join(faults, "; "));
}

/// How the core differs from the same commands in the straight order; empty: it does not. Books from which something is
/// missing by now have no order that is right.
std::string difference(const std::vector<Command>& commands) {
    if (commands.size() < 2 || commands[1].kind != CommandKind::Recovery) return {};
    Replay straight{straight_order(commands)}, other{commands};
    const RecoveryView expected = straight.view();
    if (expected.quarantine_total + expected.unused_tombstones != 0 || !refusal_in(straight).empty()) return {};
    if (auto wrong = wrong_under_way(commands); !wrong.empty()) return wrong;
    for (const bool ended : {false, true}) {
        const std::string a = left_in(straight), b = left_in(other);
        if (a != b) return fmt::format("{}: straight\n{}\nbut in this order\n{}", ended ? "ended" : "open", a, b);
        straight.core.recovery().end(kStart);
        other.core.recovery().end(kStart);
    }
    return {};
}

/// What differs from the books, in words.
std::string wrong_by(const RecoveryBooks& books, const std::vector<Command>& commands) {
    std::string wrong = wrong_under_way(commands, &books);
    Replay replay{commands};
    const RecoveryView view = replay.view();
    for (const auto& [partition, digests] : books.digests())
        if (view.partitions.at(partition).restored != digests) wrong += "digests of " + partition + "; ";
    if (view.pending_asks() != books.asks()) wrong += "the number of asks; ";
    if (view.quarantine_total + view.incomplete_total + view.unused_tombstones != 0 || !view.faults.empty())
        wrong += text_of(view) + "; ";
    const RecoveryProgress progress = replay.core.recovery().progress();
    if (progress.nodes != view.restored(RecoveryKind::Nodes).count() ||
        progress.applications != view.restored(RecoveryKind::Applications).count() ||
        progress.allocations != view.restored(RecoveryKind::Allocations).count() ||
        progress.pending_asks != view.pending_asks() || progress.quarantined != 0)
        wrong += "progress; ";
    const auto states = states_in(replay);
    for (const auto& [name, state] : books.states())
        if (states.at(name) != state) wrong += fmt::format("{} is {}, not {}; ", name.second, states.at(name), state);
    for (const auto& [name, submitted] : books.submitted())
        if (application_view(*replay.core.read(name.first), name.second)->submitted != submitted)
            wrong += fmt::format("the submission of {}; ", name.second);
    const auto announced = announced_in(replay);
    for (const auto& each : books.announced())
        if (const auto found = announced.find(each); found == announced.end() || found->second != 1)
            wrong += fmt::format("{} of {} was not announced once; ", each.second, each.first.second);
    replay.core.recovery().end(kStart);
    for (const auto& [name, state] : states_in(replay)) // what lost all that it had completes
        if (state != states.at(name) && state != "Completing")
            wrong += fmt::format("{} ended {}; ", name.second, state);
    return wrong;
}

} // namespace

TEST_CASE("I-220 I-231 I-244 in whatever order an RM replays its books, all invariants hold, and the core has them") {
    std::size_t quarantined = 0, buried = 0;
    for (const std::uint64_t seed : seeds(kRounds)) {
        INFO("YK_SEED=" << seed);
        RecoveryBooks books{seed};
        for (int order = 0; order < kOrders; ++order) {
            const std::vector<Command> commands = books.any_order();
            const auto fails = [](const auto& list) { return !difference(list).empty(); };
            if (fails_in_child(fails, commands)) {
                const auto shorter = shrink(commands, fails);
                std::cout << "# YK_SEED=" << seed << "\n" << print(shorter) << difference(shorter) << std::endl;
                FAIL("YK_SEED=" << seed);
            }
            const std::string wrong = wrong_by(books, commands);
            if (!wrong.empty()) {
                std::cout << "# YK_SEED=" << seed << "\n" << print(commands) << wrong << std::endl;
                FAIL("YK_SEED=" << seed);
            }
            Replay replay;
            for (const Command& command : commands) {
                replay.play(command);
                quarantined += replay.core.recovery().progress().quarantined != 0 ? 1U : 0U;
                for (const std::string& partition : replay.core.partition_names())
                    buried += replay.core.read(partition)->recovery.tombstones.size() != 0 ? 1U : 0U;
            }
        }
    }
    CHECK(quarantined > 100); // the orders are not straight
    CHECK(buried > 20);
}

} // namespace yk::testing
