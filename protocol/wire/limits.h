#pragma once
// Limits on fields (I-316), and how they and missing fields are told.

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/wire/error.h"
#include "protocol/wire/text.h"

namespace yk::wire {

inline constexpr std::uint32_t kMaxListElements = 100'000; // nil ones included

[[nodiscard]] std::string missing_message(std::string_view field);
[[nodiscard]] std::string list_limit_message(std::size_t elements);
/// E_LIMIT or E_INVALID, without path.
[[nodiscard]] WireError text_error(TextFault fault, std::string_view text, TextRule rule);

} // namespace yk::wire
