// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state machine of queues and partitions (S-160).

#include <cstdint>
#include <optional>
#include <string_view>

namespace yk {

enum class ObjectState : std::uint8_t { Active, Draining, Stopped };
enum class ObjectEvent : std::uint8_t { Remove, Start, Stop };

/// The state after the event; nullopt: the event is an error in this state and changes nothing.
[[nodiscard]] constexpr std::optional<ObjectState> next_state(ObjectState from, ObjectEvent event) noexcept {
    switch (event) {
    case ObjectEvent::Start: return ObjectState::Active;
    case ObjectEvent::Remove:
        if (from == ObjectState::Stopped) return std::nullopt;
        return ObjectState::Draining;
    case ObjectEvent::Stop:
        if (from == ObjectState::Draining) return std::nullopt;
        return ObjectState::Stopped;
    }
    return std::nullopt;
}

[[nodiscard]] constexpr std::string_view text_of(ObjectState state) noexcept {
    switch (state) {
    case ObjectState::Active: return "Active";
    case ObjectState::Draining: return "Draining";
    case ObjectState::Stopped: return "Stopped";
    }
    return "";
}

} // namespace yk
