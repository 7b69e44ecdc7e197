// SPDX-License-Identifier: Apache-2.0
#pragma once
// The keys that replies may have at their outermost level (interface.md 4.6), for clients that refuse unknown ones.

#include <optional>
#include <string>
#include <string_view>

#include "protocol/wire/scan.h"

namespace yk::wire {

/// The first key of the reply's body that the table lacks. nullopt when there is none, or the table lacks the kind.
[[nodiscard]] std::optional<std::string> unknown_reply_key(std::string_view kind, Body body);

} // namespace yk::wire
