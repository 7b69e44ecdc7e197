// SPDX-License-Identifier: Apache-2.0
#pragma once
// The outcome of one attempt to preempt, for people. The search fills it in as it runs; the last one of each ask is
// kept (section 5 no. 3 of preemption-gang-priority.md).

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "libcore/base/time.h"

namespace yk {

/// How an attempt ended (P-024). The first is success.
enum class PreemptionResult : std::uint8_t {
    Victims,
    Preconditions, // of an attempt, such as the delay of the leaf (P-023)
    Exhausted,     // the attempts of the leaf in this cycle (P-022)
    Guarantees,    // leave nothing for the ask (P-040)
    NoHelp,        // no node, or no victim
    Shortfall,     // all victims together are not enough (P-071)
    Released,      // a victim was released meanwhile (P-072)
    NoVictim,      // required node (P-097)
    TimedOut,      // the RM did not answer (I-379)
    Storm          // enough victims for its queue in this minute
};

/// The message of the ask's log for the result (I-711).
[[nodiscard]] std::string_view text_of(PreemptionResult result) noexcept;

/// Why an allocation below the fence root is no candidate; counted, for people.
enum class Excluded : std::uint8_t {
    No,
    OwnQueue,
    Outside,
    Disabled,
    Protected,
    Type,
    RequiredNode,
    Leaving,
    Priority,
    Sinks,   // its queue below the guarantee; reported by explain only, a search finds out as it runs (P-052)
    TooLarge // for what is left of the guarantee; likewise (P-053)
};
inline constexpr std::size_t kExcludedReasons = 11;

[[nodiscard]] std::string_view text_of(Excluded reason) noexcept;

struct PreemptionAttempt {
    Instant at;
    PreemptionResult result = PreemptionResult::NoHelp;
    std::string fence_root;                                    // empty: a required node
    std::string node;                                          // chosen or required; empty: none
    std::uint64_t victims = 0;                                 // chosen
    std::uint64_t nodes_tried = 0;                             // for which victims were put together
    std::array<std::uint64_t, kExcludedReasons> queues{};      // leaves by why; No: those that may give
    std::array<std::uint64_t, kExcludedReasons> allocations{}; // those looked at; No: candidates
};

} // namespace yk
