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
        fields(message, typename Schema<T>::fields{});
    }

private:
    static constexpr std::size_t kMostInOneByte = 15; // entries of a map whose header is one byte

    template <class T, class... F>
    void fields(const T& message, Fields<F...>) {
        static const T kAbsent{};
        if constexpr (sizeof...(F) > kMostInOneByte) {
            packer_.map((std::size_t{is_present<F>(message, kAbsent)} + ...));
            static_cast<void>((field<F>(message, kAbsent) + ...));
        } else { // the count is filled in once it is known
            const std::size_t header = packer_.buffer().size();
            packer_.map(0);
            const std::size_t count = (std::size_t{0} + ... + field<F>(message, kAbsent));
            packer_.buffer().patch(header, static_cast<char>(0x80 | count));
        }
    }
    template <class F, class T>
    static bool is_present(const T& message, const T& absent) {
        return F::required || message.*F::member != absent.*F::member;
    }
    template <class F, class T>
    std::size_t field(const T& message, const T& absent) {
        if (!is_present<F>(message, absent)) return 0;
        packer_.key(F::literal);
        write(message.*F::member);
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
        if (!value) return packer_.nil(); // required, but not given
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
    void write(const si::Devices& value) { value.on.empty() ? message(value) : write(value.on); }
    void write(const si::Binary& value) { packer_.binary(value.bytes); }
    void write(const si::EncodedMap& value) { packer_.raw(value.bytes); }

    Packer packer_;
};

} // namespace yk::wire
