// SPDX-License-Identifier: Apache-2.0
#include "protocol/rm/answers.h"

#include <algorithm>

#include "protocol/wire/body_reader.h"

namespace yk::rm {

const wire::Value& member_of(const wire::Value& map, const char* key) {
    static const wire::Value kNothing;
    if (!map.is_object()) return kNothing;
    const auto found = map.find(key);
    return found == map.end() ? kNothing : *found;
}

bool flag_of(const wire::Value& map, const char* key) {
    const wire::Value& member = member_of(map, key);
    return member.is_boolean() && member.get<bool>();
}

std::uint64_t number_of(const wire::Value& map, const char* key) {
    const wire::Value& member = member_of(map, key);
    return member.is_number_unsigned() ? member.get<std::uint64_t>() : 0;
}

std::string text_of(const wire::Value& map, const char* key) {
    const wire::Value& member = member_of(map, key);
    return member.is_string() ? member.get<std::string>() : std::string{};
}

si::CoreState core_state_of(const wire::Value& map, const char* key) {
    return static_cast<si::CoreState>(std::min<std::uint64_t>(number_of(map, key), 255));
}

wire::Value body_of(const si::StreamItem& item) {
    const auto scanned = wire::scan_body(item.body.bytes);
    return scanned.ok() ? wire::decode_value(*scanned) : wire::Value{};
}

wire::CallError failure(wire::CallError::Kind kind, std::string message) {
    wire::CallError error;
    error.kind = kind;
    error.message = std::move(message);
    return error;
}

wire::CallError malformed(std::string_view what, const std::string& why) {
    return failure(wire::CallError::Kind::Malformed, std::string{what} + ": " + why);
}

} // namespace yk::rm
