// SPDX-License-Identifier: Apache-2.0
#pragma once
// Plays commands against a core: a ClusterContext or anything with the same door.

#include <string>

#include "libcore/cluster/cluster_context.h"
#include "libcore/config/config.h"
#include "tests/support/command_text.h"

namespace yk::testing {

/// The clock of every run starts here: late enough that asks can be older (creationTime tags).
inline constexpr Instant kStart{1'000'000'000'000'000'000};

/// Through the product's own loader, with all of its checks.
[[nodiscard]] Result<config::Configuration> load_configuration(const std::string& yaml);

/// What a configuration command came to, in one word each: the loader's no, the core's no, yes.
template <class Core>
std::string play_configuration(Core& core, const std::string& yaml, Instant now) {
    const auto loaded = load_configuration(yaml);
    if (!loaded.ok()) return "invalid: " + loaded.error().text();
    return core.configure(loaded.value(), now).ok() ? "ok" : "refused";
}

/// A step of a recovery; nothing when there is none of that name.
void play_recovery(ClusterRecovery& recovery, const std::string& step, Instant now);

/// Plays everything but Advance. Returns the outcome in words.
template <class Core>
std::string play(Core& core, const Command& command, Instant now) {
    switch (command.kind) {
    case CommandKind::Config: return play_configuration(core, command.text, now);
    case CommandKind::Allocations: core.apply(allocation_request(command), now); break;
    case CommandKind::Applications: core.apply(application_request(command), now); break;
    case CommandKind::Nodes: core.apply(node_request(command), now); break;
    case CommandKind::Answers: {
        std::string outcome;
        if constexpr (requires { core.apply(CallAnswer{}, now); })
            for (const CallAnswer& answer : call_answers(command)) outcome += core.apply(answer, now) ? "ok " : "late ";
        return outcome;
    }
    case CommandKind::Cycle: {
        std::string outcome;
        for (std::int64_t i = 0; i < command.count; ++i)
            outcome += "allocations=" + std::to_string(core.cycle(now).allocations) + " ";
        return outcome;
    }
    case CommandKind::Recovery:
        if constexpr (requires { core.recovery(); }) play_recovery(core.recovery(), command.text, now);
        break;
    case CommandKind::Advance: break;
    }
    return {};
}

/// Lets `by` pass, stopping at every timer on the way.
template <class Core>
void advance(Core& core, Instant& now, Duration by) {
    const Instant target = now + by;
    for (auto next = core.next_timer(); next && *next <= target; next = core.next_timer()) {
        if (*next > now) now = *next;
        core.fire_timers(now);
    }
    now = target;
    core.fire_timers(now);
}

} // namespace yk::testing
