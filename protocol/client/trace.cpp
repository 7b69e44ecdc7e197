// SPDX-License-Identifier: Apache-2.0
#include "protocol/client/trace.h"

#include <cstdio>

#include <fmt/format.h>

#include "libcore/base/text.h"
#include "protocol/wire/body_reader.h"

namespace yk::wire {

namespace {

std::string hexadecimal(const Value::binary_t& bytes) {
    std::string out;
    for (const std::uint8_t byte : bytes) out += fmt::format("{:02x}", byte);
    return out;
}

void make_printable(Value& value) {
    if (value.is_binary()) {
        value = hexadecimal(value.get_binary());
    } else if (value.is_object()) {
        for (auto& [key, member] : value.items()) {
            if (key == "token")
                member = "***";
            else
                make_printable(member);
        }
    } else if (value.is_array()) {
        for (Value& element : value) make_printable(element);
    }
}

} // namespace

std::string message_text(std::string_view message) {
    const auto body = scan_body(message);
    if (!body) return fmt::format("{} bytes that are no message: {}", message.size(), body.error().message);
    Value value = decode_value(*body);
    make_printable(value);
    return escaped_lines(value.dump(-1, ' ', false, Value::error_handler_t::replace), "\\u");
}

void trace_message(std::string_view direction, std::string_view message) {
    fmt::print(stderr, "{} {}\n", direction, message_text(message));
}

} // namespace yk::wire
