// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads what a daemon answered, whatever it is: a member that is absent or of another type reads as empty, and an
// answer that cannot be read is an error.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/client/client.h"
#include "protocol/si/enums.h"
#include "protocol/si/messages.h"
#include "protocol/wire/codec.h"
#include "protocol/wire/value.h"

namespace yk::rm {

[[nodiscard]] const wire::Value& member_of(const wire::Value& map, const char* key);
[[nodiscard]] bool flag_of(const wire::Value& map, const char* key);
[[nodiscard]] std::uint64_t number_of(const wire::Value& map, const char* key);
[[nodiscard]] std::string text_of(const wire::Value& map, const char* key);
[[nodiscard]] si::CoreState core_state_of(const wire::Value& map, const char* key);
/// The body of an item; null when it cannot be read.
[[nodiscard]] wire::Value body_of(const si::StreamItem& item);

/// The message in an encoded body; nullopt when it cannot be read.
template <class T>
[[nodiscard]] std::optional<T> message_in(std::string_view body) {
    const auto scanned = wire::scan_body(body);
    if (!scanned.ok()) return std::nullopt;
    auto message = wire::decode<T>(*scanned);
    if (!message.ok()) return std::nullopt;
    return std::move(message).value();
}

[[nodiscard]] wire::CallError failure(wire::CallError::Kind kind, std::string message);
[[nodiscard]] wire::CallError malformed(std::string_view what, const std::string& why);

/// The message in an answer to a request of kind `what`.
template <class T>
[[nodiscard]] wire::CallResult<T> decoded(std::string_view what, const wire::CallResult<std::string>& answer) {
    if (!answer.ok()) return answer.error();
    const auto scanned = wire::scan_body(*answer);
    if (!scanned.ok()) return malformed(what, scanned.error().message);
    auto message = wire::decode<T>(*scanned);
    if (!message.ok()) return malformed(what, message.error().path + ": " + message.error().message);
    return std::move(message).value();
}

} // namespace yk::rm
