// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bytes for tests: JSON to msgpack, hexadecimal to bytes, requests around a body.

#include <string>
#include <string_view>

#include "protocol/wire/body_reader.h"
#include "protocol/wire/envelope.h"

namespace yk::test {

inline std::string packed(std::string_view json) {
    return wire::encoded_value(wire::Value::parse(json));
}

inline std::string hex(std::string_view digits) {
    std::string out;
    for (std::size_t i = 0; i + 1 < digits.size();) {
        if (digits[i] == ' ') {
            ++i;
            continue;
        }
        out += static_cast<char>(std::stoi(std::string{digits.substr(i, 2)}, nullptr, 16));
        i += 2;
    }
    return out;
}

inline std::string operator*(std::string_view text, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) out += text;
    return out;
}

/// A map header for any number of pairs.
inline std::string map_of(std::size_t pairs) {
    wire::Buffer buffer;
    wire::Packer{buffer}.map(pairs);
    return buffer.str();
}
inline std::string list_of(std::size_t elements) {
    wire::Buffer buffer;
    wire::Packer{buffer}.list(elements);
    return buffer.str();
}
inline std::string text_of(std::string_view text) {
    wire::Buffer buffer;
    wire::Packer{buffer}.text(text);
    return buffer.str();
}

inline constexpr wire::Sid kSid{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

/// A sound request with this body.
inline std::string request(std::string_view kind, std::string_view body) {
    wire::Buffer buffer;
    wire::RequestHeader header;
    header.kind = kind;
    header.id = 7;
    header.sid = kSid;
    header.seq = 1;
    wire::encode_request(buffer, header, body);
    return buffer.str();
}

} // namespace yk::test
