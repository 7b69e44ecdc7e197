#pragma once
// A reason of Explain (I-354) for a person: made of its numbers, in the units in which tables show them.

#include <string>

#include "protocol/wire/value.h"

namespace yk::cli {

/// `nodes`: how the nodes answered for the ask, for a daemon that does not say it with the reason. Where no numbers
/// tell it, the daemon's own text.
[[nodiscard]] std::string reason_text(const wire::Value& reason, const wire::Value& nodes);

/// `2 of 14 nodes could host an ask now (best: n0007, free 40Gi 16 vcore); 9 lack vcore, 3 drained`
[[nodiscard]] std::string nodes_text(const wire::Value& nodes);

/// What is left of a guarantee, which may be below 0: `nothing, 9Gi above it`, `2 vcore, 9Gi above it`.
[[nodiscard]] std::string left_text(const wire::Value& remaining);

} // namespace yk::cli
