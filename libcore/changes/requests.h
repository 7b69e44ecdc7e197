// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the requests of an RM have in common: why an element is refused, what a foreign allocation is.

#include <optional>
#include <string>
#include <string_view>

#include "libcore/ports/callbacks.h"
#include "libcore/ports/command.h"

namespace yk {

/// Why one element of a request is refused.
struct Refusal {
    std::string reason;
    ElementCode code{};
};

inline constexpr std::string_view kForeign = "foreign"; // key of a tag; value `static`: never preempted (S-500)

/// Whether it is an allocation that the core did not place and only counts.
[[nodiscard]] bool is_foreign(const AskSpec& spec);
[[nodiscard]] bool any_negative(const Quantities& quantities);
[[nodiscard]] std::string quoted(std::string_view text);
/// `limit`: PartitionState::most_types().
[[nodiscard]] Refusal too_many_types(const std::string& what, std::uint64_t limit);

/// How a message names an ask, or what a release is about. Called for refusals only: making the text takes longer than
/// accepting an ask.
template <class Spec>
std::string title_of(const Spec& spec) {
    return "allocation key " + quoted(spec.key) + " of application " + quoted(spec.application);
}

} // namespace yk
