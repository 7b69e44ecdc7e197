// SPDX-License-Identifier: Apache-2.0
#pragma once
// The reasons of Explain (I-354) as texts for a person, with numbers in the units of the tables.

#include <string>

#include "protocol/wire/value.h"

namespace yk::cli {

/// The text of one reason; without numbers in the reason it is the text of the daemon. `nodes`: how the nodes answered
/// for the ask, used when the reason itself does not contain it.
[[nodiscard]] std::string reason_text(const wire::Value& reason, const wire::Value& nodes);

/// How the nodes answered for an ask: `2 of 14 nodes could host an ask now (best: n0007, free 40Gi 16 vcore); 9 lack
/// vcore, 3 drained`
[[nodiscard]] std::string nodes_text(const wire::Value& nodes);

/// What is left of a guarantee, which may be below 0: `nothing, 9Gi above it`, `2 vcore, 9Gi above it`.
[[nodiscard]] std::string left_text(const wire::Value& remaining);

} // namespace yk::cli
