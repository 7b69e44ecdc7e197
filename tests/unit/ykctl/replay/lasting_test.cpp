// SPDX-License-Identifier: Apache-2.0
#include "ykctl/replay/lasting.h"

#include <algorithm>
#include <deque>
#include <optional>

#include <catch2/catch.hpp>

#include "protocol/si/enums.h"
#include "protocol/si/errors.h"
#include "protocol/si/messages.h"
#include "protocol/si/tool_requests.h"
#include "tests/support/decoded.h"

namespace yk::replay {
namespace {

using wire::CallError;
using wire::CallResult;
using wire::Value;

/// What happens to a request.
enum class Fate {
    Answer,
    Cut,             // no answer; the daemon lives, and the session
    CutInNewSession, // the daemon lives and has forgotten the session
    Restart,         // no answer; the next one is that of another run of the daemon
    QuickRestart,    // the answer is that of another run
    StaysAway,
    Busy
};

/// A daemon to which each request happens as the test says; by default it answers.
class Stage {
public:
    std::deque<Fate> fates;
    std::vector<std::string> seen; // kind and node; with `!`, as one that is sent again with its number
    std::vector<std::string> notes;
    bool has_rm = true;
    std::uint64_t state = 1; // Running
    int waits = 0;

    Reach reach() {
        return {[this](const wire::EncodedRequest& request, bool again) { return send(request, again); },
                [this] { return boot_; }, [this] { return session_; },
                [this](const CallError& why) { return wait(why); },
                [this](const std::string& text) { notes.push_back(text); }};
    }

private:
    static CallError error(CallError::Kind kind, si::ErrorCode code = si::ErrorCode{}) {
        CallError made;
        made.kind = kind;
        made.code = static_cast<std::uint32_t>(code);
        made.message = "lost";
        made.retryable = code == si::ErrorCode::Busy;
        return made;
    }

    CallResult<Value> send(const wire::EncodedRequest& request, bool again) {
        const Value body = wire::decoded(request);
        std::string name{request.kind};
        if (body.contains("nodes")) name = body["nodes"][0]["nodeID"].get<std::string>();
        seen.push_back(name + (again ? "!" : ""));
        fate_ = Fate::Answer;
        if (!fates.empty()) {
            fate_ = fates.front();
            fates.pop_front();
        }
        if (fate_ == Fate::QuickRestart) boot_ += "'";
        if (fate_ == Fate::CutInNewSession) session_ += "'";
        if (fate_ == Fate::Answer || fate_ == Fate::QuickRestart) return answer(request);
        if (fate_ == Fate::Busy) return error(CallError::Kind::Refused, si::ErrorCode::Busy);
        return error(CallError::Kind::OutcomeUnknown);
    }

    [[nodiscard]] CallResult<Value> answer(const wire::EncodedRequest& request) const {
        if (!has_rm) return error(CallError::Kind::Refused, si::ErrorCode::RmUnknown);
        if (request.kind == "Ping") return Value{{"state", state}};
        return Value::object();
    }

    Result<void, CallError> wait(const CallError&) {
        ++waits;
        if (fate_ == Fate::StaysAway) return error(CallError::Kind::Unreachable);
        if (fate_ == Fate::Restart) boot_ += "'";
        return {};
    }

    Fate fate_ = Fate::Answer;
    std::string boot_ = "boot", session_ = "session";
};

wire::EncodedRequest node(const std::string& id) {
    si::NodeRequest request;
    request.nodes.emplace_back().node_id = id;
    return request;
}

using Names = std::vector<std::string>;

/// A registered RM with node `a`, which the daemon has confirmed.
Lasting settled(Stage& stage) {
    Lasting calls{stage.reach(), "replay"};
    REQUIRE(calls.change(si::RegisterResourceManagerRequest{}).ok());
    REQUIRE(calls.change(node("a")).ok());
    REQUIRE(calls.sync().ok());
    stage.seen.clear();
    return calls;
}

TEST_CASE("I-308 replay: what a cut connection left without an answer is sent again with its number") {
    Stage stage;
    Lasting calls = settled(stage);
    stage.fates = {Fate::Cut, Fate::Cut};
    REQUIRE(calls.change(node("b")).ok());
    CHECK(stage.seen == Names{"b", "b!", "b!"});
    CHECK(stage.waits == 2);
    stage.fates = {Fate::Cut};
    REQUIRE(calls.ask([] { return si::StatusRequest{}; }).ok());
    REQUIRE(calls.change(node("c")).ok());
    CHECK(stage.seen == Names{"b", "b!", "b!", "Status", "Status", "c"});
    CHECK(calls.restarts() == 0);
}

TEST_CASE("I-335 replay: in another session of the same daemon only what had no answer is sent again") {
    Stage stage;
    Lasting calls = settled(stage);
    REQUIRE(calls.change(node("b")).ok());
    stage.fates = {Fate::CutInNewSession};
    REQUIRE(calls.change(node("c")).ok());
    CHECK(stage.seen == Names{"b", "c", "c"});
    CHECK(stage.waits == 0); // it answers
}

TEST_CASE("I-267 replay: a restarted daemon gets all since the last answered Sync once more, and nothing before it") {
    Stage stage;
    Lasting calls = settled(stage);
    REQUIRE(calls.change(node("b")).ok());
    stage.fates = {Fate::Restart};
    REQUIRE(calls.change(node("c")).ok());
    CHECK(stage.seen == Names{"b", "c", "Ping", "b", "c"});
    CHECK(calls.restarts() == 1);
    CHECK(stage.notes == Names{"ykd was restarted and has RM replay back; going on, 2 requests sent again"});

    stage.seen.clear();
    stage.fates = {Fate::QuickRestart, Fate::Restart, Fate::Answer, Fate::Restart}; // again and again
    REQUIRE(calls.sync().ok());
    CHECK(stage.seen == Names{"Sync", "Ping", "Ping", "b", "Ping", "b", "c", "Sync"});
    CHECK(calls.restarts() == 4);
    stage.seen.clear();
    stage.fates = {Fate::Restart};
    REQUIRE(calls.ask([] { return si::StatusRequest{}; }).ok());
    CHECK(stage.seen == Names{"Status", "Ping", "Status"}); // nothing is unconfirmed
}

TEST_CASE("replay: before the first answered Sync it begins anew with the registration") {
    Stage stage;
    Lasting calls{stage.reach(), "replay"};
    REQUIRE(calls.change(si::RegisterResourceManagerRequest{}).ok());
    stage.fates = {Fate::Restart};
    REQUIRE(calls.change(node("a")).ok());
    CHECK(stage.seen == Names{"RegisterResourceManager", "a", "RegisterResourceManager", "a"});
}

TEST_CASE("replay: it is lost when the daemon stays away, has no RM of that name, or could not restore it") {
    const auto lost = [](Fate fate, bool has_rm, si::CoreState state) {
        Stage stage;
        Lasting calls = settled(stage);
        stage.has_rm = has_rm;
        stage.state = static_cast<std::uint64_t>(state);
        stage.fates = {fate};
        return !calls.change(node("b")).ok() && calls.is_lost();
    };
    CHECK(lost(Fate::StaysAway, true, si::CoreState::Running));
    CHECK(lost(Fate::Restart, false, si::CoreState::Running));
    CHECK(lost(Fate::Restart, true, si::CoreState::Failed));
    CHECK_FALSE(lost(Fate::Restart, true, si::CoreState::Running));
}

TEST_CASE("replay: what the daemon refuses is no loss, and what cannot come back is one") {
    Stage stage;
    Lasting calls = settled(stage);
    stage.has_rm = false; // deregistered by somebody
    CHECK_FALSE(calls.change(node("b")).ok());
    CHECK_FALSE(calls.is_lost());

    Stage own;
    Reach reach = own.reach();
    reach.wait_for_daemon = {}; // --spawn
    Lasting private_calls{reach, "replay"};
    own.fates = {Fate::Cut};
    CHECK_FALSE(private_calls.change(node("b")).ok());
    CHECK(private_calls.is_lost());
    CHECK(own.waits == 0);
}

TEST_CASE("I-267 replay: a daemon that is busy is asked again, once the RM is there") {
    Stage stage;
    Lasting calls = settled(stage);
    stage.fates = {Fate::Busy, Fate::Busy};
    REQUIRE(calls.change(node("b")).ok());
    CHECK(stage.seen == Names{"b", "b!", "b!"}); // what is busy takes no number
    CHECK(stage.waits == 2);
    Stage full;
    Lasting early{full.reach(), "replay"};
    full.fates = {Fate::Busy};
    CHECK_FALSE(early.change(si::RegisterResourceManagerRequest{}).ok()); // there may be too many RMs
    CHECK_FALSE(early.is_lost());
}

TEST_CASE("replay: changes are confirmed before there are many of them") {
    Stage stage;
    Lasting calls = settled(stage);
    for (std::size_t i = 0; i <= Lasting::kMostUnconfirmed; ++i) REQUIRE(calls.change(node("b")).ok());
    CHECK(std::count(stage.seen.begin(), stage.seen.end(), "Sync") == 1);
    stage.seen.clear();
    stage.fates = {Fate::Restart};
    REQUIRE(calls.change(node("c")).ok());
    CHECK(stage.seen == Names{"c", "Ping", "b", "c"});
}

} // namespace
} // namespace yk::replay
