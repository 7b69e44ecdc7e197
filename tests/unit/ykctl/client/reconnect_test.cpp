// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/reconnect.h"

#include <csignal>

#include <catch2/catch.hpp>

#include "protocol/si/errors.h"

using namespace yk::cli;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

Failure unreachable(const std::string& why = "no such socket") {
    return {Exit::Unreachable, "cannot reach ykd: " + why, {}, 0, {}, {}};
}

Failure refused(yk::si::ErrorCode code, Exit exit) {
    return {exit, "refused", {}, static_cast<std::uint32_t>(code), "E", {}};
}

/// A daemon that comes and goes as the test says, and a clock that only waiting moves.
struct Stage {
    std::vector<std::optional<Failure>> answers; // to one request after the other; then the daemon is there
    std::string boot_id = "one";
    std::string boot_id_when_back = "one";
    int signal_at = -1; // which wait a signal ends, from 0
    std::chrono::steady_clock::time_point now;
    std::vector<milliseconds> waits;
    std::vector<std::string> notes;
    std::size_t asked = 0;

    RedialParts parts() {
        return {[this](milliseconds) -> std::optional<Failure> {
                    if (asked < answers.size() && answers[asked]) return answers[asked++];
                    ++asked;
                    boot_id = boot_id_when_back;
                    return std::nullopt;
                },
                [this](milliseconds time) {
                    waits.push_back(time);
                    if (static_cast<int>(waits.size()) == signal_at + 1) return SIGTERM;
                    now += time;
                    return 0;
                },
                [this] { return boot_id; }, [this](const std::string& text) { notes.push_back(text); },
                [this] { return now; }};
    }
};

int went_on(const Answer<int>& after) {
    if (!after.ok()) FAIL(after.error().message);
    return *after;
}

} // namespace

TEST_CASE("I-308 a daemon that is gone is dialled again after 50 ms, then after twice as long, at most after 5 s") {
    Stage stage;
    stage.answers.assign(9, unreachable());
    Reconnect reconnect{stage.parts()};
    CHECK(went_on(reconnect.after(unreachable(), {})) == 0);
    CHECK(stage.waits ==
          std::vector<milliseconds>{50ms, 100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms, 5000ms, 5000ms, 5000ms});
    CHECK(stage.notes == std::vector<std::string>{"cannot reach ykd: no such socket; dialling again; Ctrl-C ends this",
                                                  "connected again after 21s"});
}

TEST_CASE("a new reason is told, the same one is not repeated") {
    Stage stage;
    stage.answers = {unreachable(), unreachable("refused"), unreachable("refused"), unreachable()};
    Reconnect reconnect{stage.parts()};
    CHECK(went_on(reconnect.after(unreachable(), {})) == 0);
    REQUIRE(stage.notes.size() == 4);
    CHECK(stage.notes[1] == "cannot reach ykd: refused; dialling on");
    CHECK(stage.notes[2] == "cannot reach ykd: no such socket; dialling on");
}

TEST_CASE("I-260 a restart is told from a cut, also when no request has failed") {
    Stage stage;
    Reconnect reconnect{stage.parts()};
    CHECK_FALSE(reconnect.was_restarted());
    CHECK(went_on(reconnect.after(unreachable(), {})) == 0);
    CHECK_FALSE(reconnect.was_restarted());
    stage.boot_id_when_back = "two";
    CHECK(went_on(reconnect.after(unreachable(), {})) == 0);
    CHECK(reconnect.was_restarted());
    CHECK_FALSE(reconnect.was_restarted());
    stage.boot_id = "three";
    CHECK(reconnect.was_restarted());
}

TEST_CASE("a daemon that stops or does not answer is waited for, other failures are the caller's") {
    using yk::si::ErrorCode;
    Stage stage;
    Reconnect reconnect{stage.parts()};
    CHECK(went_on(reconnect.after(refused(ErrorCode::ShuttingDown, Exit::Refused), {})) == 0);
    const auto missing = reconnect.after(refused(ErrorCode::NotFound, Exit::NotFound), {});
    REQUIRE_FALSE(missing.ok());
    CHECK(missing.error().exit == Exit::NotFound);
    stage.boot_id.clear(); // no daemon has answered so far
    const auto never = reconnect.after(unreachable(), {});
    REQUIRE_FALSE(never.ok());
    CHECK(never.error().message == "cannot reach ykd: no such socket");
}

TEST_CASE("who may not use the daemon any more is told at once") {
    Stage stage;
    stage.answers = {unreachable(), refused(yk::si::ErrorCode::Auth, Exit::Denied)};
    Reconnect reconnect{stage.parts()};
    const auto denied = reconnect.after(unreachable(), {});
    REQUIRE_FALSE(denied.ok());
    CHECK(denied.error().exit == Exit::Denied);
}

TEST_CASE("a limit ends the dialling with the last reason") {
    Stage stage;
    stage.answers.assign(100, unreachable("refused"));
    Reconnect reconnect{stage.parts()};
    const auto over = reconnect.after(unreachable(), 1s);
    REQUIRE_FALSE(over.ok());
    CHECK(over.error().exit == Exit::Unreachable);
    CHECK(over.error().message == "cannot reach ykd: refused; it did not come back within 1s");
    CHECK(stage.waits == std::vector<milliseconds>{50ms, 100ms, 200ms, 400ms, 250ms});
    CHECK(stage.notes[0] == "cannot reach ykd: no such socket; dialling again for at most 1s; Ctrl-C ends this");
}

TEST_CASE("a signal ends the dialling, and so does one that has ended a request") {
    Stage stage;
    stage.answers.assign(100, unreachable());
    stage.signal_at = 2;
    Reconnect reconnect{stage.parts()};
    CHECK(went_on(reconnect.after(unreachable(), {})) == SIGTERM);
    CHECK(stage.waits.size() == 3);
    stage.signal_at = 3;
    const Failure interrupted{Exit::Interrupted, "interrupted", {}, 0, {}, {}};
    CHECK(went_on(reconnect.after(interrupted, {})) == SIGTERM);
    CHECK(went_on(reconnect.after(interrupted, {})) == SIGINT); // it was taken already
    CHECK(stage.notes.size() == 1);
}
