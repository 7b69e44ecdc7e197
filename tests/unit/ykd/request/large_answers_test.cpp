// SPDX-License-Identifier: Apache-2.0
#include "ykd/request/large_answers.h"

#include <catch2/catch.hpp>

#include "ykd/daemon/daemon.h"

using namespace yk;
using namespace yk::service;
using Entry = LargeAnswers::Entry;

namespace {

/// Calls that nobody sent.
struct Turns {
    Daemon daemon{DaemonSettings{}, "test"};
    std::vector<CallPtr> started;
    LargeAnswers turns{[this](const CallPtr& call) { started.push_back(call); }};

    CallPtr call() {
        auto made = std::make_shared<Call>(daemon.parts().calls, wire::Request{});
        made->drop();
        return made;
    }
    /// Enters so many; those that began.
    std::vector<CallPtr> enter(std::size_t count, const std::string& identity) {
        std::vector<CallPtr> begun;
        for (std::size_t n = 0; n < count; ++n) {
            CallPtr one = call();
            if (turns.enter(one, identity) == Entry::Begins) begun.push_back(one);
        }
        return begun;
    }
};

} // namespace

TEST_CASE("A3 of requests with large answers eight of an identity are at work at once, in their order") {
    Turns turns;
    auto begun = turns.enter(8, "alice");
    REQUIRE(begun.size() == 8);
    const CallPtr ninth = turns.call(), tenth = turns.call();
    CHECK(turns.turns.enter(ninth, "alice") == Entry::Waits);
    CHECK(turns.turns.enter(tenth, "alice") == Entry::Waits);
    CHECK(turns.enter(8, "bob").size() == 8);
    CHECK(turns.started.empty());
    turns.turns.leave(*begun[3]);
    CHECK(turns.started == std::vector{ninth});
    turns.turns.leave(*begun[3]); // once
    turns.turns.leave(*turns.call());
    CHECK(turns.started.size() == 1);
    turns.turns.leave(*ninth);
    CHECK(turns.started == std::vector{ninth, tenth});
}

TEST_CASE("A3 identities take turns when all places are taken") {
    Turns turns;
    std::vector<CallPtr> begun;
    for (const char* name : {"a", "b"})
        for (const CallPtr& one : turns.enter(8, name)) begun.push_back(one);
    REQUIRE(begun.size() == LargeAnswers::Limits{}.in_all);
    turns.enter(100, "a");
    const CallPtr late = turns.call();
    CHECK(turns.turns.enter(late, "late") == Entry::Waits);
    turns.turns.leave(*begun[0]);
    turns.turns.leave(*begun[1]);
    REQUIRE(turns.started.size() == 2);
    CHECK(turns.started[1] == late);
}

TEST_CASE("A3 who waits for an RM's thread does not keep the others, and is not followed by any number") {
    Turns turns;
    const auto stuck = turns.enter(8, "alice");
    const CallPtr next = turns.call();
    CHECK(turns.turns.enter(next, "alice") == Entry::Waits);
    turns.turns.sweep(SteadyClock::now());
    CHECK(turns.started.empty());
    const auto later = [] { return SteadyClock::now() + 2 * LargeAnswers::kTurn; };
    turns.turns.sweep(later());
    CHECK(turns.started == std::vector{next});
    std::vector<CallPtr> all = turns.enter(7, "alice");
    for (int round = 0; round < 3; ++round) {
        turns.turns.sweep(later());
        for (const CallPtr& one : turns.enter(8, "alice")) all.push_back(one);
    }
    CHECK(8 + 1 + all.size() == LargeAnswers::kMostOverdue);
    turns.turns.sweep(later());
    CHECK(turns.enter(1, "alice").empty());
    CHECK(turns.enter(8, "bob").size() == 8);
    turns.turns.leave(*stuck[0]);
    CHECK(turns.started.size() == 1 + LargeAnswers::Limits{}.of_identity);
}

TEST_CASE("A3 nobody waits without end for its turn, and not any number") {
    Turns turns;
    const auto begun = turns.enter(8, "alice");
    for (std::size_t n = 0; n < LargeAnswers::kMostWaiting; ++n)
        CHECK(turns.turns.enter(turns.call(), "alice") == Entry::Waits);
    CHECK(turns.turns.enter(turns.call(), "alice") == Entry::Refused);
    turns.turns.leave(*begun[0]);
    CHECK(turns.started.size() == 1);
    turns.turns.sweep(SteadyClock::now() + std::chrono::hours{1}); // all are answered, and the turns are over
    CHECK(turns.started.size() == 1);
    CHECK(turns.turns.enter(turns.call(), "alice") == Entry::Begins);
    turns.turns.clear();
    CHECK(turns.enter(8, "alice").size() == 8);
}
