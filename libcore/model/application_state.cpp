// SPDX-License-Identifier: Apache-2.0
#include "libcore/model/application_state.h"

#include <array>

namespace yk {

namespace {

using State = ApplicationState;
constexpr std::size_t kStates = 10;
constexpr std::size_t kEvents = 6;
constexpr auto kNo = static_cast<State>(255);

// Rows in the order of ApplicationState, columns in the order of ApplicationEvent:
//   run, complete, fail, resume, reject, expire
constexpr std::array<std::array<State, kEvents>, kStates> kNext{{
    /* New        */ {State::Accepted, kNo, State::Failing, State::Resuming, State::Rejected, kNo},
    /* Accepted   */ {State::Running, State::Completing, State::Failing, State::Resuming, kNo, kNo},
    /* Running    */ {State::Running, State::Completing, State::Failing, kNo, kNo, kNo},
    /* Resuming   */ {State::Accepted, kNo, kNo, kNo, kNo, kNo},
    /* Completing */ {State::Running, State::Completed, kNo, kNo, kNo, kNo},
    /* Completed  */ {kNo, kNo, kNo, kNo, kNo, State::Expired},
    /* Failing    */ {kNo, kNo, State::Failed, kNo, kNo, kNo},
    /* Failed     */ {kNo, kNo, kNo, kNo, kNo, State::Expired},
    /* Rejected   */ {kNo, kNo, kNo, kNo, kNo, State::Expired},
    /* Expired    */ {kNo, kNo, kNo, kNo, kNo, kNo},
}};

struct StateText {
    std::string_view text;
    EventDetail detail;
};
constexpr std::array<StateText, kStates> kTexts{{
    {"New", EventDetail::AppNew},
    {"Accepted", EventDetail::AppAccepted},
    {"Running", EventDetail::AppRunning},
    {"Resuming", EventDetail::AppResuming},
    {"Completing", EventDetail::AppCompleting},
    {"Completed", EventDetail::AppCompleted},
    {"Failing", EventDetail::AppFailing},
    {"Failed", EventDetail::AppFailed},
    {"Rejected", EventDetail::AppReject},
    {"Expired", EventDetail::AppExpired},
}};

constexpr std::array<std::string_view, kEvents> kEventTexts{"runApplication",    "completeApplication",
                                                            "failApplication",   "resumeApplication",
                                                            "rejectApplication", "expireApplication"};

} // namespace

std::optional<ApplicationState> next_state(ApplicationState from, ApplicationEvent event) noexcept {
    const State to = kNext[static_cast<std::size_t>(from)][static_cast<std::size_t>(event)];
    if (to == kNo) return std::nullopt;
    return to;
}

std::string_view text_of(ApplicationState state) noexcept {
    return kTexts[static_cast<std::size_t>(state)].text;
}
std::string_view text_of(ApplicationEvent event) noexcept {
    return kEventTexts[static_cast<std::size_t>(event)];
}
EventDetail event_detail(ApplicationState state) noexcept {
    return kTexts[static_cast<std::size_t>(state)].detail;
}

} // namespace yk
