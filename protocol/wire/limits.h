#pragma once
// Limits on fields (I-316), and how they and missing fields are told.

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/wire/error.h"
#include "protocol/wire/text.h"

namespace yk::wire {

inline constexpr std::uint32_t kMaxListElements = 100'000; // nil ones included
// Of one map of tags, attributes or settings, in bytes of the message. It keeps what the RM is told of one ask far
// below the smallest message that a client which polls may ask for; of resource types a partition has few.
inline constexpr std::size_t kMaxTagBytes = 256U << 10;

[[nodiscard]] std::string missing_message(std::string_view field);
[[nodiscard]] std::string list_limit_message(std::size_t elements);
[[nodiscard]] std::string tags_limit_message(std::size_t bytes);
/// E_LIMIT or E_INVALID, without path.
[[nodiscard]] WireError text_error(TextFault fault, std::string_view text, TextRule rule);

} // namespace yk::wire
