// SPDX-License-Identifier: Apache-2.0
#pragma once
// RmState: the state of an RM (docs/spec/interface.md 3.1) and everything that changes it, as one table of events
// (rm_state.cpp). A registered RM is Running, or Suspended while there is a cause for that: its stream is congested, it
// gives no sign of life, it lets calls time out. Causes may overlap; the suspension ends with the last of them.
// One that registers with recovery is Recovering until what it replayed was verified; when that fails, or an invariant
// of its partitions breaks, it is Failed until an operator or itself resolves that. Neither becomes Suspended: causes
// are noted, and decide when it runs.
//
// Owner: RmOwner, which reports what happened and publishes the changes that come back. Thread: the owner thread of
// the RM. It reads no clock and calls nothing. Invariants:
//   A  while the state is Running there is no cause
//   B  while the state is Suspended there is a cause

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/base/time.h"
#include "protocol/si/enums.h"
#include "ykd/runtime/outbound_stream.h"

namespace yk {

/// What can change the state of an RM.
enum class RmEvent : std::uint8_t {
    Registered,
    RegisteredToRecover,
    RecoverySucceeded, // what was replayed is what the RM has (I-238)
    RecoveryFailed,    // it is not, or a timer of the recovery is over (I-213, I-239)
    ConsistencyLost,   // an invariant of its partitions is broken (I-245)
    RecoveryRetried,   // ResolveRecovery: retry or reset (I-254)
    RecoveryAccepted,  // ResolveRecovery: accept
    Unregistered,
    StreamCongested,  // at least three quarters of its stream's limits are used (I-370)
    StreamEased,      // at most half of them
    StreamOverflowed, // the stream broke, and what was queued is gone (I-371)
    NotHeard,         // no sign of life for the liveness timeout (I-385)
    HeardAgain,       // a sign of life within the liveness timeout
    SilentTooLong,    // no sign of life for the session's time to live
    CallsTimedOut,    // ten calls in a row (I-379)
    PollsAgain        // the first poll after these
};

/// The causes of a suspension. Each is begun by one event and ended by another.
enum class SuspensionCause : std::uint8_t { Stream = 1, Liveness = 2, Calls = 4 };

/// For how long an RM may give no sign of life (I-385).
struct LivenessLimits {
    Duration liveness_timeout = std::chrono::seconds{30}; // then it is suspended
    Duration session_ttl = std::chrono::seconds{300};     // then it is lost
    Duration rm_retention = std::chrono::hours{24};       // then it is removed
};

/// A transition from one state to another one.
struct RmStateChange {
    si::CoreState from{}, to{};
    std::string reason;
    bool has_notice = false; // the RM gets a Notice STATE: its stream goes on (I-201)
    RmEvent event{};         // that led to it
};

class RmState {
public:
    explicit RmState(const LivenessLimits& limits) : limits_(limits) {}

    [[nodiscard]] si::CoreState state() const { return state_; }
    [[nodiscard]] bool has(SuspensionCause cause) const { return (causes_ & static_cast<std::uint8_t>(cause)) != 0; }

    /// Applies the event's row of the table; nullopt: the state stays. An event may be reported again while it lasts.
    /// `reason` is used where the table has none: for Unregistered, RecoveryFailed and ConsistencyLost.
    std::optional<RmStateChange> handle(RmEvent event, std::string_view reason = {});
    /// Handles how full the stream is; Crowded changes nothing.
    std::optional<RmStateChange> handle(Pressure pressure);
    /// Handles that the last sign of life came so long ago.
    std::optional<RmStateChange> handle_last_sign(Duration ago);
    /// Whether the RM, which is lost, is to be removed because the last sign of life came so long ago. True only once
    /// in a registration.
    [[nodiscard]] bool take_removal(Duration last_sign_ago);

private:
    const LivenessLimits limits_;
    si::CoreState state_ = si::CoreState::New;
    std::uint8_t causes_ = 0; // a set of SuspensionCause
    bool removal_taken_ = false;
};

} // namespace yk
