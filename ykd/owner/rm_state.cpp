// SPDX-License-Identifier: Apache-2.0
#include "ykd/owner/rm_state.h"

#include <array>
#include <utility>

namespace yk {
namespace {

using enum si::CoreState;
using enum RmEvent;

using Causes = std::uint8_t; // a set of SuspensionCause
constexpr auto kNone = Causes{0};
constexpr auto kStream = static_cast<Causes>(SuspensionCause::Stream);
constexpr auto kLiveness = static_cast<Causes>(SuspensionCause::Liveness);
constexpr auto kCalls = static_cast<Causes>(SuspensionCause::Calls);
constexpr Causes kAll = kStream | kLiveness | kCalls;

/// Where an event leads. Running stands for Suspended while there is a cause.
struct Transition {
    std::array<si::CoreState, 4> next; // from New, Running, Suspended, Lost
    bool has_notice;
};
constexpr Transition kRegister{{Running, Running, Running, Running}, false};
constexpr Transition kUnregister{{New, New, New, New}, false};
constexpr Transition kSuspend{{New, Suspended, Suspended, Lost}, true};
constexpr Transition kResume{{New, Running, Running, Lost}, true};
constexpr Transition kLose{{New, Lost, Lost, Lost}, false};

struct Row {
    RmEvent event;
    Causes begins, ends;
    Transition transition;
    std::string_view reason;
};

// The rows stand in the order of RmEvent.
constexpr std::array<Row, 10> kTable{{
    {Registered, kNone, kAll, kRegister, "registered"},
    {Unregistered, kNone, kAll, kUnregister, {}},
    {StreamCongested, kStream, kNone, kSuspend, "back-pressure: the callback stream is three quarters full"},
    {StreamEased, kNone, kStream, kResume, "the callback stream is below half of its limits"},
    {StreamOverflowed, kNone, kNone, kLose, "stream overflow"},
    {NotHeard, kLiveness, kNone, kSuspend, "not heard of for the liveness timeout"},
    {HeardAgain, kNone, kLiveness, kResume, "heard again"},
    {SilentTooLong, kNone, kNone, kLose, "silent for too long"},
    {CallsTimedOut, kCalls, kNone, kSuspend, "it let ten calls in a row time out"},
    {PollsAgain, kNone, kCalls, kResume, "it polls again"},
}};

constexpr bool in_order_of_events() {
    for (std::size_t i = 0; i < kTable.size(); ++i)
        if (kTable[i].event != static_cast<RmEvent>(i)) return false;
    return true;
}
static_assert(in_order_of_events());

/// The column of the table. The states of recovery have none: no RM enters them.
constexpr std::size_t column(si::CoreState state) {
    return state == New ? 0 : state == Running ? 1 : state == Suspended ? 2 : 3;
}

} // namespace

std::optional<RmStateChange> RmState::handle(RmEvent event, std::string_view reason) {
    const Row& row = kTable[static_cast<std::size_t>(event)];
    causes_ = static_cast<Causes>((causes_ & ~row.ends) | row.begins);
    if (event == Registered) removal_taken_ = false;
    si::CoreState next = row.transition.next[column(state_)];
    if (next == Running && causes_ != kNone) next = Suspended;
    const si::CoreState from = std::exchange(state_, next);
    if (from == next) return std::nullopt;
    return RmStateChange{from, next, std::string(row.reason.empty() ? reason : row.reason), row.transition.has_notice};
}

std::optional<RmStateChange> RmState::handle(Pressure pressure) {
    if (pressure == Pressure::Crowded) return std::nullopt;
    if (pressure == Pressure::Broken) return handle(StreamOverflowed);
    return handle(pressure == Pressure::Congested ? StreamCongested : StreamEased);
}

std::optional<RmStateChange> RmState::handle_last_sign(Duration ago) {
    if (ago >= limits_.session_ttl) return handle(SilentTooLong);
    return handle(ago >= limits_.liveness_timeout ? NotHeard : HeardAgain);
}

bool RmState::take_removal(Duration last_sign_ago) {
    return state_ == Lost && last_sign_ago >= limits_.rm_retention && !std::exchange(removal_taken_, true);
}

} // namespace yk
