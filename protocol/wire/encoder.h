// SPDX-License-Identifier: Apache-2.0
#pragma once
// Encoder: writes structs by their Schema. A field that has its default value is left out unless it is required.

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "protocol/wire/decoder.h"
#include "protocol/wire/packer.h"
#include "protocol/wire/schema.h"

namespace yk::wire {

/// Appends messages to a Buffer, which outlives it.
class Encoder {
public:
    explicit Encoder(Buffer& out) noexcept : packer_(out) {}

    template <Message T>
    void message(const T& message) {
        // The count is filled in once it is known. There are at most 15 fields, so the header is one byte (see
        // Decoder).
        const std::size_t header = packer_.buffer().size();
        packer_.map(0);
        const std::size_t count = fields(message, typename Schema<T>::fields{});
        packer_.buffer().patch(header, static_cast<char>(0x80 | count));
    }

private:
    template <class T, class... F>
    std::size_t fields(const T& message, Fields<F...>) {
        static const T absent{};
        return (field<F>(message, absent) + ...);
    }
    template <class F, class T>
    std::size_t field(const T& message, const T& absent) {
        const auto& value = message.*F::member;
        if (!F::required && value == absent.*F::member) return 0;
        packer_.key(F::literal);
        write(value);
        return 1;
    }

    void write(const std::string& value) { packer_.text(value); }
    void write(bool value) { packer_.boolean(value); }
    template <class Number>
    requires std::is_integral_v<Number>
    void write(Number value) {
        if constexpr (std::is_signed_v<Number>)
            packer_.integer(value);
        else
            packer_.natural(value);
    }
    template <class Enum>
    requires std::is_enum_v<Enum>
    void write(Enum value) { packer_.natural(static_cast<std::uint64_t>(value)); }
    template <Message T>
    void write(const T& value) {
        message(value);
    }
    template <class T>
    void write(const std::optional<T>& value) {
        write(*value);
    }
    template <class T>
    void write(const std::vector<T>& values) {
        packer_.list(values.size());
        for (const T& value : values) write(value);
    }
    template <class Value>
    void write(const std::vector<std::pair<std::string, Value>>& entries) {
        packer_.map(entries.size());
        for (const auto& [key, value] : entries) {
            packer_.text(key);
            write(value);
        }
    }
    void write(const si::Binary& value) { packer_.binary(value.bytes); }
    void write(const si::EncodedMap& value) { packer_.raw(value.bytes); }

    Packer packer_;
};

} // namespace yk::wire
