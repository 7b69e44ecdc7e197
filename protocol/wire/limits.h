// SPDX-License-Identifier: Apache-2.0
#pragma once
// Limits on fields (I-316), and the error messages about them and about missing fields.

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/wire/error.h"
#include "protocol/wire/text.h"

namespace yk::wire {

inline constexpr std::uint32_t kMaxListElements = 100'000; // of one list, nil elements included
// The most bytes of one map of tags, attributes or settings in a message. It keeps the callback about one ask far below
// the smallest message that a polling client may ask for. Resource maps need no limit: a partition knows only a small
// number of types.
inline constexpr std::size_t kMaxTagBytes = 256U << 10;

[[nodiscard]] std::string missing_message(std::string_view field);
[[nodiscard]] std::string list_limit_message(std::size_t elements);
[[nodiscard]] std::string tags_limit_message(std::size_t bytes);
/// The error for a text with this fault: E_LIMIT or E_INVALID, without a path.
[[nodiscard]] WireError text_error(TextFault fault, std::string_view text, TextRule rule);

} // namespace yk::wire
