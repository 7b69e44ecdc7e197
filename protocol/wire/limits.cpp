// SPDX-License-Identifier: Apache-2.0
#include "protocol/wire/limits.h"

#include <fmt/format.h>

namespace yk::wire {

std::string missing_message(std::string_view field) {
    return fmt::format("'{}' is required", field);
}

std::string list_limit_message(std::size_t elements) {
    return fmt::format("{} elements, at most {} are allowed in one list: send several messages", elements,
                       kMaxListElements);
}

std::string tags_limit_message(std::size_t bytes) {
    return fmt::format("{} bytes of names and values, at most {} are allowed in one map", bytes, kMaxTagBytes);
}

WireError text_error(TextFault fault, std::string_view text, TextRule rule) {
    switch (fault) {
    case TextFault::TooLong:
        return {
            si::ErrorCode::Limit, fmt::format("{} bytes, at most {} are allowed", text.size(), max_bytes(rule)), {}};
    case TextFault::ControlCharacter: return {si::ErrorCode::Invalid, "control characters are not allowed here", {}};
    default: return {si::ErrorCode::Invalid, "the text is not UTF-8", {}};
    }
}

} // namespace yk::wire
