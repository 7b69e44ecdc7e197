// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cursor: walks msgpack that scan() has accepted. Since the structure is known to be sound, it checks no bounds; only
// the type of each value is left to be checked.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "libcore/base/check.h"
#include "protocol/wire/body.h"

namespace yk::wire {

enum class Type : std::uint8_t { Nil, Boolean, Integer, Real, Text, Binary, List, Map, Extension, Invalid };

/// The type as messages name it: `an integer`, `a map`.
[[nodiscard]] std::string_view text(Type type) noexcept;

/// The type that a first byte announces.
[[nodiscard]] constexpr Type type_of(std::uint8_t first) noexcept {
    if (first < 0x80 || first >= 0xe0) return Type::Integer;
    if (first < 0x90) return Type::Map;
    if (first < 0xa0) return Type::List;
    if (first < 0xc0) return Type::Text;
    switch (first) {
    case 0xc0: return Type::Nil;
    case 0xc2:
    case 0xc3: return Type::Boolean;
    case 0xc4:
    case 0xc5:
    case 0xc6: return Type::Binary;
    case 0xca:
    case 0xcb: return Type::Real;
    case 0xd9:
    case 0xda:
    case 0xdb: return Type::Text;
    case 0xdc:
    case 0xdd: return Type::List;
    case 0xde:
    case 0xdf: return Type::Map;
    case 0xc1: return Type::Invalid;
    default: return first >= 0xcc && first <= 0xd3 ? Type::Integer : Type::Extension;
    }
}

/// A big-endian number of `Unsigned`'s width.
template <class Unsigned>
[[nodiscard]] inline Unsigned load_big(const char* at) noexcept {
    Unsigned value = 0;
    std::memcpy(&value, at, sizeof value);
    if constexpr (sizeof(Unsigned) == 1) return value;
    if constexpr (sizeof(Unsigned) == 2) return __builtin_bswap16(value);
    if constexpr (sizeof(Unsigned) == 4) return __builtin_bswap32(value);
    if constexpr (sizeof(Unsigned) == 8) return __builtin_bswap64(value);
}
static_assert(std::endian::native == std::endian::little, "load_big swaps");

/// Any msgpack integer. `bits` is in two's complement when it is negative.
struct Integer {
    std::uint64_t bits = 0;
    bool negative = false;
};

/// The position of the next value in scanned bytes, which outlive the Cursor. Copies are cheap: one can look ahead.
class Cursor {
public:
    explicit Cursor(Body body) noexcept : at_(body.bytes().data()), end_(at_ + body.bytes().size()) {}

    [[nodiscard]] Type type() const noexcept { return type_of(first()); }
    [[nodiscard]] const char* position() const noexcept { return at_; }
    /// Moves past a nil, if one is next; whether one was.
    bool pass_nil() noexcept {
        if (first() != 0xc0) return false;
        ++at_;
        return true;
    }

    // Each reads the next value and moves past it; type() must be the type that is read.
    bool boolean() noexcept {
        YK_ASSUME(type() == Type::Boolean, "the next value is a boolean");
        return take<std::uint8_t>() == 0xc3;
    }
    Integer integer() noexcept;
    double real() noexcept;
    std::string_view text() noexcept {
        YK_ASSUME(type() == Type::Text, "the next value is a text");
        const std::uint8_t head = take<std::uint8_t>();
        if (head < 0xc0) [[likely]]
            return bytes(head & 0x1fU);
        return bytes(size(head - 0xd9U));
    }
    std::string_view binary() noexcept {
        YK_ASSUME(type() == Type::Binary, "the next value is binary");
        return bytes(size(take<std::uint8_t>() - 0xc4U));
    }
    /// Reads the header of a list: the number of its elements, which come next.
    std::uint32_t list() noexcept {
        YK_ASSUME(type() == Type::List, "the next value is a list");
        return count(0xdc);
    }
    /// Reads the header of a map: the number of its pairs, which come next.
    std::uint32_t map() noexcept {
        YK_ASSUME(type() == Type::Map, "the next value is a map");
        return count(0xde);
    }

    /// Moves past one value with everything in it. Costs its number of values.
    void skip() noexcept;
    /// Moves past one map and returns its bytes.
    Body body() noexcept {
        const char* begin = at_;
        skip();
        return Body::of_scanned({begin, static_cast<std::size_t>(at_ - begin)});
    }

private:
    [[nodiscard]] std::uint8_t first() const noexcept {
        YK_ASSUME(at_ < end_, "a cursor stays inside scanned bytes");
        return static_cast<std::uint8_t>(*at_);
    }
    template <class Unsigned>
    Unsigned take() noexcept {
        const auto value = load_big<Unsigned>(at_);
        at_ += sizeof(Unsigned);
        return value;
    }
    std::string_view bytes(std::size_t length) noexcept {
        const std::string_view taken{at_, length};
        at_ += length;
        YK_ASSUME(at_ <= end_, "a cursor stays inside scanned bytes");
        return taken;
    }
    /// A length of 1, 2 or 4 bytes (`form` 0, 1, 2).
    std::uint32_t size(unsigned form) noexcept {
        if (form == 0) return take<std::uint8_t>();
        return form == 1 ? take<std::uint16_t>() : take<std::uint32_t>();
    }
    std::uint32_t count(std::uint8_t sixteen) noexcept {
        const std::uint8_t head = take<std::uint8_t>();
        if (head < 0xa0) return head & 0xfU;
        return head == sixteen ? take<std::uint16_t>() : take<std::uint32_t>();
    }

    const char* at_;
    const char* end_;
};

} // namespace yk::wire
