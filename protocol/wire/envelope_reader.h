// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the decoders of request and reply envelopes share.

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "protocol/wire/cursor.h"
#include "protocol/wire/error.h"
#include "protocol/wire/text.h"

namespace yk::wire {

/// Reads envelope keys by type. Keeps the first fault, with the key as its path.
class EnvelopeReader {
public:
    std::optional<WireError> fault;

    bool fail(si::ErrorCode code, std::string_view key, std::string message) {
        if (!fault) fault = WireError{code, std::move(message), std::string{key}};
        return false;
    }
    bool expect(const Cursor& cursor, Type type, std::string_view key) {
        if (cursor.type() == type) return true;
        return fail(si::ErrorCode::Type, key, fmt::format("expected {}, got {}", text(type), text(cursor.type())));
    }
    template <class Unsigned>
    bool natural(Cursor& cursor, std::string_view key, Unsigned& out) {
        if (!expect(cursor, Type::Integer, key)) return false;
        const Integer value = cursor.integer();
        if (value.negative || value.bits > std::numeric_limits<Unsigned>::max())
            return fail(si::ErrorCode::Type, key,
                        fmt::format("the integer is not between 0 and {}", std::numeric_limits<Unsigned>::max()));
        out = static_cast<Unsigned>(value.bits);
        return true;
    }
    bool boolean(Cursor& cursor, std::string_view key, bool& out) {
        if (!expect(cursor, Type::Boolean, key)) return false;
        out = cursor.boolean();
        return true;
    }
    bool utf8(Cursor& cursor, std::string_view key, std::string_view& out) {
        if (!expect(cursor, Type::Text, key)) return false;
        const std::string_view value = cursor.text();
        if (!is_utf8(value)) return fail(si::ErrorCode::Invalid, key, "the text is not UTF-8");
        out = value;
        return true;
    }
    bool map(Cursor& cursor, std::string_view key, Body& out) {
        if (!expect(cursor, Type::Map, key)) return false;
        out = cursor.body();
        return true;
    }
};

} // namespace yk::wire
