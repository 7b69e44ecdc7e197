// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/json_text.h"

#include "ykctl/render/text.h"

namespace yk::cli {

using wire::Value;

Value without_bytes(const Value& value) {
    if (value.is_binary()) {
        static constexpr char kDigits[] = "0123456789abcdef";
        std::string hex;
        for (const auto byte : value.get_binary()) {
            hex += kDigits[byte >> 4U];
            hex += kDigits[byte & 15U];
        }
        return hex;
    }
    if (!value.is_structured()) return value;
    Value copy = value.is_array() ? Value::array() : Value::object();
    if (value.is_array()) {
        for (const auto& element : value) copy.push_back(without_bytes(element));
    } else {
        for (const auto& [key, member] : value.items()) copy[key] = without_bytes(member);
    }
    return copy;
}

/// Escapes control characters, which a terminal would obey: values may hold names and texts of other users (A10).
std::string json_text(const Value& value, int indent) {
    return escaped_lines(value.dump(indent, ' ', false, Value::error_handler_t::replace), "\\u");
}

std::string pretty_json(const Value& value) {
    return json_text(without_bytes(value), 2) + "\n";
}

std::string json_line(const Value& value) {
    return json_text(without_bytes(value), -1) + "\n";
}

} // namespace yk::cli
