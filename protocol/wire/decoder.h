// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decoder: fills structs from scanned bytes by their Schema. The first fault ends the decoding; its path is put
// together while the calls return, so that a sound message pays nothing for it.

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "protocol/si/messages.h"
#include "protocol/wire/body.h"
#include "protocol/wire/cursor.h"
#include "protocol/wire/error.h"
#include "protocol/wire/limits.h"
#include "protocol/wire/schema.h"

namespace yk::wire {

template <class T>
concept Message = requires {
    typename Schema<T>::fields;
};

/// The largest integer that the enum knows; larger ones are read as 0 (I-007).
template <class Enum>
inline constexpr std::uint64_t kLastValue = 0;
template <>
inline constexpr std::uint64_t kLastValue<si::TerminationType> = 4;
template <>
inline constexpr std::uint64_t kLastValue<si::NodeAction> = 6;
template <>
inline constexpr std::uint64_t kLastValue<si::CoreState> = 5;

/// Decodes one body; used once. Views the body, which outlives it.
class Decoder {
public:
    Decoder(Body body, DecodeOptions options) noexcept : cursor_(body), options_(options) {}

    /// Fills `out`. Returns false when the message has a fault, which error() then holds.
    template <Message T>
    bool message(T& out) {
        constexpr auto& table = kTable<T>;
        std::uint32_t seen = 0;
        std::size_t next = 0; // senders mostly keep the order of the table
        for (std::uint32_t left = cursor_.map(); left != 0; --left) {
            const std::string_view key = cursor_.text();
            const std::size_t index = find(table, key, next);
            if (index == table.size()) {
                if (options_.strict) return fail_unknown(key);
                cursor_.skip();
                continue;
            }
            next = index + 1;
            if (cursor_.pass_nil()) continue;
            if (!table[index].read(*this, out)) return in_field(table[index].name);
            seen |= 1U << index;
        }
        if constexpr (requires { Schema<T>::normalize(out); }) Schema<T>::normalize(out);
        return check_required(out, seen);
    }

    [[nodiscard]] WireError&& error() && { return std::move(error_); }

private:
    template <class T>
    struct Row {
        std::string_view name;
        bool (*read)(Decoder&, T&);
    };

    template <class T, class F>
    static bool read_field(Decoder& decoder, T& out) {
        return decoder.read(out.*F::member, F::rule);
    }
    template <class T, class... F>
    static constexpr auto make_table(Fields<F...>) {
        static_assert(sizeof...(F) <= 32, "one word of seen bits");
        return std::array<Row<T>, sizeof...(F)>{Row<T>{F::name, &read_field<T, F>}...};
    }
    template <class T>
    static constexpr auto kTable = make_table<T>(typename Schema<T>::fields{});

    template <class Table>
    static std::size_t find(const Table& table, std::string_view key, std::size_t next) noexcept {
        if (next < table.size() && table[next].name == key) return next;
        std::size_t index = 0;
        while (index < table.size() && table[index].name != key) ++index;
        return index;
    }

    // --- required fields --------------------------------------------------------------------------------------------
    template <class Value>
    static bool is_empty_text(const Value& value) {
        if constexpr (std::is_same_v<Value, std::string>) return value.empty();
        return false;
    }
    /// An empty required text counts as missing (I-317).
    template <class F, class T>
    bool check_field(const T& out, bool seen) {
        if (!F::required || (seen && !is_empty_text(out.*F::member))) return true;
        return fail_missing(F::name);
    }
    template <class T, class... F, std::size_t... I>
    bool check_fields(const T& out, std::uint32_t seen, Fields<F...>, std::index_sequence<I...>) {
        return (check_field<F>(out, (seen >> I & 1U) != 0) && ...);
    }
    template <class T>
    bool check_required(const T& out, std::uint32_t seen) {
        constexpr std::size_t count = kTable<T>.size();
        if (!check_fields(out, seen, typename Schema<T>::fields{}, std::make_index_sequence<count>{})) return false;
        if constexpr (requires { Schema<T>::missing(out); }) {
            const std::string_view name = Schema<T>::missing(out);
            if (!name.empty()) return fail_missing(name);
        }
        return true;
    }

    // --- values, by type of the member ------------------------------------------------------------------------------
    bool read(std::string& out, TextRule rule) {
        std::string_view value;
        if (!text(value, rule)) return false;
        out.assign(value);
        return true;
    }
    bool read(bool& out, TextRule) {
        if (!expect(Type::Boolean)) return false;
        out = cursor_.boolean();
        return true;
    }
    template <class Number>
    requires std::is_integral_v<Number>
    bool read(Number& out, TextRule) {
        if (!expect(Type::Integer)) return false;
        const Integer value = cursor_.integer();
        if (!fits<Number>(value)) return fail_range(std::is_signed_v<Number>, sizeof(Number) * 8);
        out = static_cast<Number>(value.bits);
        return true;
    }
    template <class Enum>
    requires std::is_enum_v<Enum>
    bool read(Enum& out, TextRule) { // an unknown integer is read as value 0 (I-007)
        if (!expect(Type::Integer)) return false;
        const Integer value = cursor_.integer();
        const bool known = !value.negative && value.bits <= kLastValue<Enum>;
        out = known ? static_cast<Enum>(value.bits) : Enum{};
        return true;
    }
    template <Message T>
    bool read(T& out, TextRule) {
        return expect(Type::Map) && message(out);
    }
    template <class T>
    bool read(std::optional<T>& out, TextRule rule) {
        return read(out.emplace(), rule);
    }
    template <class T>
    bool read(std::vector<T>& out, TextRule rule) {
        std::uint32_t size = 0;
        if (!list(size)) return false;
        out.reserve(size < kFirstReserve ? size : kFirstReserve);
        for (std::uint32_t i = 0; i < size; ++i) {
            if (cursor_.pass_nil()) continue; // a nil element is skipped (I-009)
            if (!read(out.emplace_back(), rule)) return in_element(i);
        }
        return true;
    }
    bool read(si::Binary& out, TextRule);
    bool read(si::EncodedMap& out, TextRule);
    bool read(si::Resources& out, TextRule) { return entries(out, TextRule::Id); }
    bool read(si::DeviceSizes& out, TextRule) { return entries(out, TextRule::Id); }
    bool read(si::Devices& out, TextRule rule) {
        return cursor_.type() == Type::List ? read(out.on, rule) : expect(Type::Map) && message(out);
    }
    bool read(si::StringMap& out, TextRule) {
        const char* const begin = cursor_.position();
        if (!entries(out, TextRule::TagValue)) return false;
        const auto bytes = static_cast<std::size_t>(cursor_.position() - begin);
        return bytes <= kMaxTagBytes || fail_tags(bytes);
    }

    /// Messages by name; as in a list, there are at most so many.
    template <Message T>
    bool read(std::vector<std::pair<std::string, T>>& out, TextRule rule) {
        if (!expect(Type::Map)) return false;
        Cursor ahead = cursor_;
        const std::uint32_t size = ahead.map();
        return check_size(size) && entries(out, rule);
    }

    /// A map with names as keys; an entry whose value is nil counts as absent (I-002).
    template <class Value>
    bool entries(std::vector<std::pair<std::string, Value>>& out, TextRule rule) {
        if (!expect(Type::Map)) return false;
        const std::uint32_t size = cursor_.map();
        out.reserve(size < kFirstReserve ? size : kFirstReserve);
        for (std::uint32_t i = 0; i < size; ++i) {
            const std::string_view key = cursor_.text();
            if (!check(key, TextRule::Id)) return false; // a bad key is reported with the path of its map (I-317)
            if (cursor_.pass_nil()) continue;
            auto& entry = out.emplace_back();
            entry.first.assign(key);
            if (!read(entry.second, rule)) return in_field(key);
        }
        return true;
    }

    template <class Number>
    static bool fits(Integer value) noexcept {
        constexpr auto max = static_cast<std::uint64_t>(std::numeric_limits<Number>::max());
        if (!value.negative) return value.bits <= max;
        if constexpr (std::is_unsigned_v<Number>) return false;
        return static_cast<std::int64_t>(value.bits) >= static_cast<std::int64_t>(std::numeric_limits<Number>::min());
    }

    bool text(std::string_view& out, TextRule rule) {
        if (!expect(Type::Text)) return false;
        out = cursor_.text();
        return check(out, rule);
    }
    bool check(std::string_view text, TextRule rule) {
        const TextFault fault = check_text(text, rule);
        return fault == TextFault::None || fail_text(fault, text, rule);
    }
    bool expect(Type type) { return cursor_.type() == type || fail_type(type); }
    bool list(std::uint32_t& size);
    bool check_size(std::uint32_t elements);

    // --- faults -----------------------------------------------------------------------------------------------------
    bool fail(si::ErrorCode code, std::string message);
    bool fail_type(Type expected);
    bool fail_range(bool is_signed, std::size_t bits);
    bool fail_text(TextFault fault, std::string_view text, TextRule rule);
    bool fail_tags(std::size_t bytes);
    bool fail_missing(std::string_view name);
    bool fail_unknown(std::string_view key);
    bool in_field(std::string_view name);
    bool in_element(std::uint32_t index);

    // The most elements for which a list or map reserves memory before they are read: a sender could announce many that
    // are nil, at one byte each.
    static constexpr std::uint32_t kFirstReserve = 1024;

    Cursor cursor_;
    DecodeOptions options_;
    WireError error_;
};

} // namespace yk::wire
