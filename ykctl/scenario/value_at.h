// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads members of a body from the daemon without trusting its types: one that is absent or of another type reads as
// empty.

#include <cstdint>
#include <string>

#include "protocol/wire/value.h"

namespace yk::scenario {

using wire::Value;

[[nodiscard]] inline const Value& value_at(const Value& map, const char* key) {
    static const Value kNone;
    if (!map.is_object()) return kNone;
    const auto found = map.find(key);
    return found != map.end() ? *found : kNone;
}

[[nodiscard]] inline std::string text_at(const Value& map, const char* key) {
    const Value& value = value_at(map, key);
    return value.is_string() ? value.get<std::string>() : std::string{};
}

[[nodiscard]] inline std::int64_t integer_at(const Value& map, const char* key) {
    const Value& value = value_at(map, key);
    return value.is_number_integer() ? value.get<std::int64_t>() : 0;
}

[[nodiscard]] inline bool boolean_at(const Value& map, const char* key) {
    const Value& value = value_at(map, key);
    return value.is_boolean() && value.get<bool>();
}

[[nodiscard]] inline const Value& list_at(const Value& map, const char* key) {
    static const Value kNone = Value::array();
    const Value& value = value_at(map, key);
    return value.is_array() ? value : kNone;
}

/// The member as a map; an empty one when there is none.
[[nodiscard]] inline const Value& map_at(const Value& map, const char* key) {
    static const Value kNone = Value::object();
    const Value& value = value_at(map, key);
    return value.is_object() ? value : kNone;
}

} // namespace yk::scenario
