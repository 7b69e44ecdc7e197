// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state machine of applications as a table (S-140). Effects of entering and leaving are the partition's
// (libcore/changes/application_states.cpp).

#include <cstdint>
#include <optional>
#include <string_view>

#include "libcore/ports/event.h"

namespace yk {

enum class ApplicationState : std::uint8_t {
    New,
    Accepted,
    Running,
    Resuming,
    Completing,
    Completed,
    Failing,
    Failed,
    Rejected,
    Expired
};

enum class ApplicationEvent : std::uint8_t { Run, Complete, Fail, Resume, Reject, Expire };

/// The state after the event; nullopt: an error that leaves the state unchanged.
[[nodiscard]] std::optional<ApplicationState> next_state(ApplicationState from, ApplicationEvent event) noexcept;

/// The name of the state on the wire: `New`, `Accepted`, ... (I-040).
[[nodiscard]] std::string_view text_of(ApplicationState state) noexcept;
/// The name of the transition on the wire: `runApplication`, ... (I-041).
[[nodiscard]] std::string_view text_of(ApplicationEvent event) noexcept;
/// The detail of the event record for entering the state (S-600).
[[nodiscard]] EventDetail event_detail(ApplicationState state) noexcept;

} // namespace yk
