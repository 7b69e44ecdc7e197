#pragma once
// What one attempt to preempt came to, for people: kept for the last attempt of each ask (section 5 no. 3 of the
// preemption specification) and made by the search on its way.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "libcore/base/time.h"

namespace yk {

/// How an attempt ended (P-024). The first is success.
enum class PreemptionResult : std::uint8_t {
    Victims,
    Preconditions, // P-023
    Exhausted,     // P-022
    Guarantees,    // P-040
    NoHelp,        // no node, or no victim
    Shortfall,     // P-071
    Released,      // a victim went meanwhile (P-072)
    NoVictim,      // required node (P-097)
    TimedOut,      // the RM did not answer (I-379)
    Storm          // enough victims for its queue in this minute
};

/// I-711.
[[nodiscard]] std::string_view text_of(PreemptionResult result) noexcept;

/// Why an allocation below the fence root is no candidate; for people, counted.
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
    Sinks,   // P-052: only told by explain, a search finds out on its way
    TooLarge // P-053: likewise
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
