// SPDX-License-Identifier: Apache-2.0
#include "protocol/wire/cursor.h"

#include <array>

namespace yk::wire {

namespace {

constexpr std::array<std::string_view, 10> kTypeTexts{"nil",          "a boolean",      "an integer", "a float",
                                                      "a text",       "binary",         "a list",     "a map",
                                                      "an extension", "an invalid byte"};

/// The number of payload bytes of a scalar, which its first byte fixes.
std::size_t scalar_size(std::uint8_t head) noexcept {
    switch (head) {
    case 0xcc:
    case 0xd0: return 1;
    case 0xcd:
    case 0xd1: return 2;
    case 0xca:
    case 0xce:
    case 0xd2: return 4;
    case 0xcb:
    case 0xcf:
    case 0xd3: return 8;
    default: return 0;
    }
}

Integer from_signed(std::int64_t value) noexcept {
    return {static_cast<std::uint64_t>(value), value < 0};
}

} // namespace

std::string_view text(Type type) noexcept {
    return kTypeTexts[static_cast<std::size_t>(type)];
}

Integer Cursor::integer() noexcept {
    YK_ASSUME(type() == Type::Integer, "the next value is an integer");
    const std::uint8_t head = take<std::uint8_t>();
    switch (head) {
    case 0xcc: return {take<std::uint8_t>(), false};
    case 0xcd: return {take<std::uint16_t>(), false};
    case 0xce: return {take<std::uint32_t>(), false};
    case 0xcf: return {take<std::uint64_t>(), false};
    case 0xd0: return from_signed(static_cast<std::int8_t>(take<std::uint8_t>()));
    case 0xd1: return from_signed(static_cast<std::int16_t>(take<std::uint16_t>()));
    case 0xd2: return from_signed(static_cast<std::int32_t>(take<std::uint32_t>()));
    case 0xd3: return from_signed(static_cast<std::int64_t>(take<std::uint64_t>()));
    default: return from_signed(static_cast<std::int8_t>(head)); // positive and negative fixint
    }
}

double Cursor::real() noexcept {
    YK_ASSUME(type() == Type::Real, "the next value is a float");
    if (take<std::uint8_t>() == 0xca) return static_cast<double>(std::bit_cast<float>(take<std::uint32_t>()));
    return std::bit_cast<double>(take<std::uint64_t>());
}

void Cursor::skip() noexcept {
    for (std::uint64_t left = 1; left != 0; --left) {
        switch (type()) {
        case Type::Text: text(); break;
        case Type::Binary: binary(); break;
        case Type::List: left += list(); break;
        case Type::Map: left += std::uint64_t{2} * map(); break;
        default: bytes(1 + scalar_size(first())); break;
        }
    }
}

} // namespace yk::wire
