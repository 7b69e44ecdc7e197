#pragma once
// The state machine of applications as a table (S-140). Effects of entering and leaving are the partition's
// (scheduler/application_life.cpp).

#include <cstdint>
#include <optional>
#include <string_view>

#include "libcore/scheduler/event.h"

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

/// I-040.
[[nodiscard]] std::string_view text_of(ApplicationState state) noexcept;
/// I-041: `runApplication` and so on.
[[nodiscard]] std::string_view text_of(ApplicationEvent event) noexcept;
/// S-600: the detail of the event that tells of this state.
[[nodiscard]] EventDetail event_detail(ApplicationState state) noexcept;

} // namespace yk
