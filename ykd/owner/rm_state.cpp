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
    std::array<si::CoreState, 6> next; // from New, Running, Recovering, Failed, Suspended, Lost: as CoreState counts
    bool has_notice;
};
constexpr Transition kRegister{{Running, Running, Running, Running, Running, Running}, false};
constexpr Transition kRecover{{Recovering, Recovering, Recovering, Recovering, Recovering, Recovering}, false};
constexpr Transition kSucceed{{New, Running, Running, Failed, Suspended, Lost}, true};
constexpr Transition kFail{{New, Running, Failed, Failed, Suspended, Lost}, true};
constexpr Transition kBreak{{New, Failed, Recovering, Failed, Suspended, Lost}, true};
constexpr Transition kRetry{{New, Running, Recovering, Recovering, Suspended, Lost}, true};
constexpr Transition kAccept{{New, Running, Recovering, Running, Suspended, Lost}, true};
constexpr Transition kUnregister{{New, New, New, New, New, New}, false};
constexpr Transition kSuspend{{New, Suspended, Recovering, Failed, Suspended, Lost}, true};
constexpr Transition kResume{{New, Running, Recovering, Failed, Running, Lost}, true};
constexpr Transition kLose{{New, Lost, Lost, Lost, Lost, Lost}, false};

struct Row {
    RmEvent event;
    Causes begins, ends;
    Transition transition;
    std::string_view reason;
};

// The rows stand in the order of RmEvent. A recovery that ends forgets its causes: those that last are reported again,
// so that it is Running first, and Suspended after that (I-202).
constexpr std::array<Row, 16> kTable{{
    {Registered, kNone, kAll, kRegister, "registered"},
    {RegisteredToRecover, kNone, kAll, kRecover, "registered with recovery"},
    {RecoverySucceeded, kNone, kAll, kSucceed, "recovery succeeded"},
    {RecoveryFailed, kNone, kNone, kFail, {}},
    {ConsistencyLost, kNone, kNone, kBreak, {}},
    {RecoveryRetried, kNone, kNone, kRetry, "recovery is tried again"},
    {RecoveryAccepted, kNone, kAll, kAccept, "accepted as it is"},
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

} // namespace

std::optional<RmStateChange> RmState::handle(RmEvent event, std::string_view reason) {
    const bool ends_recovery = event == RecoverySucceeded || event == RecoveryAccepted;
    if (ends_recovery && state_ != Recovering && state_ != Failed) return std::nullopt; // its causes stay
    const Row& row = kTable[static_cast<std::size_t>(event)];
    causes_ = static_cast<Causes>((causes_ & ~row.ends) | row.begins);
    if (event == Registered || event == RegisteredToRecover) removal_taken_ = false;
    si::CoreState next = row.transition.next[static_cast<std::size_t>(state_)];
    if (next == Running && causes_ != kNone) next = Suspended;
    const si::CoreState from = std::exchange(state_, next);
    if (from == next) return std::nullopt;
    return RmStateChange{from, next, std::string(row.reason.empty() ? reason : row.reason), row.transition.has_notice,
                         event};
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
