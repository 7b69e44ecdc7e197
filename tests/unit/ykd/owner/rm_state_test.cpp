// SPDX-License-Identifier: Apache-2.0
// The states of an RM (interface.md 3.1): every row of the table, causes that overlap, the limits of silence.

#include "ykd/owner/rm_state.h"

#include <catch2/catch.hpp>

#include <array>
#include <ostream>
#include <string>
#include <vector>

using namespace yk;
using std::chrono::hours;
using std::chrono::seconds;
using enum si::CoreState;
using enum RmEvent;

namespace yk::si {
std::ostream& operator<<(std::ostream& out, CoreState state) {
    return out << text(state);
}
} // namespace yk::si

namespace {

/// An RM that is registered, and then went through these events.
RmState registered(const std::vector<RmEvent>& events = {}) {
    RmState state{LivenessLimits{}};
    state.handle(Registered);
    for (const RmEvent event : events) state.handle(event);
    return state;
}

/// An RM that registered with recovery, and then went through these events.
RmState recovering(const std::vector<RmEvent>& events = {}) {
    RmState state{LivenessLimits{}};
    state.handle(RegisteredToRecover);
    for (const RmEvent event : events) state.handle(event);
    return state;
}

constexpr std::array kEvents{Registered,      RegisteredToRecover, RecoverySucceeded, RecoveryFailed,
                             ConsistencyLost, RecoveryRetried,     RecoveryAccepted,  Unregistered,
                             StreamCongested, StreamEased,         StreamOverflowed,  NotHeard,
                             HeardAgain,      SilentTooLong,       CallsTimedOut,     PollsAgain};

struct Pair {
    RmEvent begin, end;
    SuspensionCause cause;
    const char* suspended;
    const char* resumed;
};
const std::array<Pair, 3> kPairs{{
    {StreamCongested, StreamEased, SuspensionCause::Stream, "back-pressure: the callback stream is three quarters full",
     "the callback stream is below half of its limits"},
    {NotHeard, HeardAgain, SuspensionCause::Liveness, "not heard of for the liveness timeout", "heard again"},
    {CallsTimedOut, PollsAgain, SuspensionCause::Calls, "it let ten calls in a row time out", "it polls again"},
}};

} // namespace

TEST_CASE("I-202 an RM that is not registered becomes Running or Recovering by its registration, and by nothing else") {
    for (const RmEvent event : kEvents) {
        RmState state{LivenessLimits{}};
        CHECK(state.state() == New);
        const auto change = state.handle(event);
        CHECK(change.has_value() == (event == Registered || event == RegisteredToRecover));
        CHECK(state.state() == (event == Registered ? Running : event == RegisteredToRecover ? Recovering : New));
    }
}

TEST_CASE("I-201 a registration and its end need no notice: the stream begins anew, or is over") {
    RmState state{LivenessLimits{}};
    const auto begun = state.handle(Registered);
    REQUIRE(begun);
    CHECK(begun->from == New);
    CHECK(begun->to == Running);
    CHECK(begun->reason == "registered");
    CHECK(!begun->has_notice);
    CHECK(!state.handle(Registered)); // once more: it goes on running
    const auto ended = state.handle(Unregistered, "it unregistered");
    REQUIRE(ended);
    CHECK(ended->from == Running);
    CHECK(ended->to == New);
    CHECK(ended->reason == "it unregistered");
    CHECK(!ended->has_notice);
}

TEST_CASE("I-202 each cause suspends a running RM, and its end resumes it, both with a notice") {
    for (const Pair& pair : kPairs) {
        RmState state = registered();
        const auto suspended = state.handle(pair.begin);
        REQUIRE(suspended);
        CHECK(suspended->from == Running);
        CHECK(suspended->to == Suspended);
        CHECK(suspended->reason == pair.suspended);
        CHECK(suspended->has_notice);
        CHECK(state.state() == Suspended);
        CHECK(state.has(pair.cause));
        CHECK(!state.handle(pair.begin)); // it lasts
        const auto resumed = state.handle(pair.end);
        REQUIRE(resumed);
        CHECK(resumed->from == Suspended);
        CHECK(resumed->to == Running);
        CHECK(resumed->reason == pair.resumed);
        CHECK(resumed->has_notice);
        CHECK(state.state() == Running);
        CHECK(!state.has(pair.cause));
        CHECK(!state.handle(pair.end)); // nothing to end
    }
}

TEST_CASE("I-202 a suspension ends with the last of its causes, for that one's reason") {
    for (const Pair& first : kPairs) {
        for (const Pair& last : kPairs) {
            if (first.cause == last.cause) continue;
            RmState state = registered({first.begin});
            CHECK(!state.handle(last.begin));
            CHECK(!state.handle(first.end));
            CHECK(state.state() == Suspended);
            CHECK(!state.has(first.cause));
            const auto resumed = state.handle(last.end);
            REQUIRE(resumed);
            CHECK(resumed->to == Running);
            CHECK(resumed->reason == last.resumed);
        }
    }
}

TEST_CASE("I-371 an RM is lost when its stream overflows, and when it is silent for too long; no notice reaches it") {
    const std::array<std::pair<RmEvent, const char*>, 2> losses{
        {{StreamOverflowed, "stream overflow"}, {SilentTooLong, "silent for too long"}}};
    for (const auto& [event, reason] : losses) {
        for (const std::vector<RmEvent>& before : {std::vector<RmEvent>{}, std::vector<RmEvent>{StreamCongested}}) {
            RmState state = registered(before);
            const auto lost = state.handle(event);
            REQUIRE(lost);
            CHECK(lost->from == (before.empty() ? Running : Suspended));
            CHECK(lost->to == Lost);
            CHECK(lost->reason == reason);
            CHECK(lost->event == event);
            CHECK(!lost->has_notice);
        }
    }
}

TEST_CASE("I-202 a lost RM stays lost until it registers again or is removed") {
    for (const RmEvent event : kEvents) {
        RmState state = registered({NotHeard, SilentTooLong});
        const auto change = state.handle(event, "removed");
        if (event == Registered) {
            REQUIRE(change);
            CHECK(change->from == Lost);
            CHECK(state.state() == Running); // no cause is left from before
            CHECK(!change->has_notice);
        } else if (event == RegisteredToRecover) {
            REQUIRE(change);
            CHECK(change->from == Lost);
            CHECK(state.state() == Recovering);
        } else if (event == Unregistered) {
            REQUIRE(change);
            CHECK(change->from == Lost);
            CHECK(change->reason == "removed");
            CHECK(state.state() == New);
        } else {
            CHECK(!change);
            CHECK(state.state() == Lost);
        }
    }
}

TEST_CASE("I-202 a registration ends all causes of a suspension, without a notice") {
    RmState state = registered({StreamCongested, NotHeard, CallsTimedOut});
    const auto change = state.handle(Registered);
    REQUIRE(change);
    CHECK(change->from == Suspended);
    CHECK(change->to == Running);
    CHECK(change->reason == "registered");
    CHECK(!change->has_notice);
    for (const Pair& pair : kPairs) CHECK(!state.has(pair.cause));
}

TEST_CASE("I-370 a stream that is crowded changes nothing, neither on its way up nor on its way down") {
    RmState state = registered();
    CHECK(!state.handle(Pressure::Easing));
    CHECK(!state.handle(Pressure::Crowded));
    CHECK(state.state() == Running);
    CHECK(state.handle(Pressure::Congested));
    CHECK(!state.handle(Pressure::Crowded));
    CHECK(state.state() == Suspended);
    CHECK(state.handle(Pressure::Easing));
    CHECK(state.state() == Running);
    CHECK(state.handle(Pressure::Broken));
    CHECK(state.state() == Lost);
}

TEST_CASE("I-385 a silent RM is suspended, then lost, then removed once") {
    RmState state = registered();
    const Duration instant{1};
    CHECK(!state.handle_last_sign(seconds{30} - instant));
    CHECK(state.handle_last_sign(seconds{30}));
    CHECK(state.state() == Suspended);
    CHECK(state.handle_last_sign(seconds{1})); // a sign of life
    CHECK(state.state() == Running);
    CHECK(state.handle_last_sign(seconds{300} - instant));
    CHECK(state.state() == Suspended);
    CHECK(!state.take_removal(hours{24})); // it is not lost yet
    CHECK(state.handle_last_sign(seconds{300}));
    CHECK(state.state() == Lost);
    CHECK(!state.handle_last_sign(seconds{1}));
    CHECK(!state.take_removal(hours{24} - instant));
    CHECK(state.take_removal(hours{24}));
    CHECK(!state.take_removal(hours{25}));
    SECTION("in the next registration anew") {
        state.handle(Registered);
        state.handle(SilentTooLong);
        CHECK(state.take_removal(hours{24}));
    }
}

// --- recovery -----------------------------------------------------------------------------------------------------

TEST_CASE("I-238 I-239 a recovery ends Running or Failed, with a notice") {
    RmState good = recovering();
    const auto success = good.handle(RecoverySucceeded);
    REQUIRE(success);
    CHECK(success->from == Recovering);
    CHECK(success->to == Running);
    CHECK(success->has_notice);
    RmState bad = recovering();
    const auto failure = bad.handle(RecoveryFailed, "timeout");
    REQUIRE(failure);
    CHECK(failure->to == Failed);
    CHECK(failure->reason == "timeout");
    CHECK(failure->has_notice);
    CHECK(!bad.handle(RecoverySucceeded)); // only resolve helps
    CHECK(bad.state() == Failed);
}

TEST_CASE("I-254 a failed RM recovers once more, or is accepted as it is") {
    RmState retried = recovering({RecoveryFailed});
    CHECK(retried.handle(RecoveryRetried));
    CHECK(retried.state() == Recovering);
    RmState accepted = recovering({RecoveryFailed});
    CHECK(accepted.handle(RecoveryAccepted));
    CHECK(accepted.state() == Running);
}

TEST_CASE("I-245 a running RM fails when an invariant of its partitions breaks") {
    RmState state = registered();
    const auto broken = state.handle(ConsistencyLost, "Queue usage");
    REQUIRE(broken);
    CHECK(broken->to == Failed);
    CHECK(broken->reason == "Queue usage");
}

TEST_CASE("I-202 neither a recovering nor a failed RM is suspended; what lasts suspends it once it runs") {
    for (const Pair& pair : kPairs) {
        for (const std::vector<RmEvent>& before : {std::vector<RmEvent>{}, std::vector<RmEvent>{RecoveryFailed}}) {
            RmState state = recovering(before);
            CHECK(!state.handle(pair.begin));
            CHECK(state.has(pair.cause));
            const auto change = state.handle(before.empty() ? RecoverySucceeded : RecoveryAccepted);
            REQUIRE(change);
            CHECK(change->to == Running);
            CHECK(state.handle(pair.begin)); // it is reported while it lasts
            CHECK(state.state() == Suspended);
        }
    }
}

TEST_CASE("I-202 only the transitions of the table are possible, whatever happens in which order") {
    constexpr std::array<std::array<bool, 6>, 6> kAllowed{{
        // to: New, Running, Recovering, Failed, Suspended, Lost
        {false, true, true, false, false, false}, // from New
        {true, false, true, true, true, true},    // Running; Recovering by another registration
        {true, true, false, true, false, true},   // Recovering
        {true, true, true, false, false, true},   // Failed
        {true, true, true, false, false, true},   // Suspended
        {true, true, true, false, false, false},  // Lost
    }};
    for (const RmEvent a : kEvents)
        for (const RmEvent b : kEvents)
            for (const RmEvent c : kEvents)
                for (const RmEvent d : kEvents) {
                    RmState state{LivenessLimits{}};
                    for (const RmEvent event : {a, b, c, d}) {
                        const auto change = state.handle(event);
                        const bool is_suspended = state.has(SuspensionCause::Stream) ||
                                                  state.has(SuspensionCause::Liveness) ||
                                                  state.has(SuspensionCause::Calls);
                        if (state.state() == Running && is_suspended) FAIL("invariant A");
                        if (state.state() == Suspended && !is_suspended) FAIL("invariant B");
                        if (!change) continue;
                        if (!kAllowed[static_cast<std::size_t>(change->from)][static_cast<std::size_t>(change->to)])
                            FAIL(change->from << " -> " << change->to);
                    }
                }
    SUCCEED();
}
