// SPDX-License-Identifier: Apache-2.0
#include "protocol/rm/rm_client.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "protocol/rm/answers.h"
#include "tests/support/books_folder.h"
#include "tests/unit/protocol/rm/client_rig.h"

namespace yk::testing {

using rm::Handled;
using rm::State;
using rm::Went;
using wire::Value;

TEST_CASE("I-203 the states of the RM side follow each other as drawn") {
    using enum State;
    CHECK(rm::may_follow(New, Registered));
    CHECK(rm::may_follow(Registered, Running));
    CHECK(rm::may_follow(Registered, Recovering));
    CHECK(rm::may_follow(Recovering, Running));
    CHECK(rm::may_follow(Recovering, Failed));
    CHECK(rm::may_follow(Failed, Recovering));
    CHECK_FALSE(rm::may_follow(New, Running));
    CHECK_FALSE(rm::may_follow(New, Recovering));
    CHECK_FALSE(rm::may_follow(Running, Recovering));
    CHECK_FALSE(rm::may_follow(Running, Registered));
}

TEST_CASE("I-203 changes of the state are counted, each pair for itself") {
    Begun rig;
    const auto counted = [&] {
        std::string text;
        for (const rm::Transition& each : rig.client->transitions())
            text += std::string{rm::text(each.from)} + "->" + std::string{rm::text(each.to)} + " " +
                    std::to_string(each.times) + "; ";
        return text;
    };
    CHECK(counted() == "New->Registered 1; Registered->Running 1; ");
    rig.steps(3);
    CHECK(counted() == "New->Registered 1; Registered->Running 1; "); // nothing changed
    rig.daemon.restart();
    rig.steps(4);
    CHECK(rig.client->state() == State::Running);
    CHECK(counted() == "New->Registered 2; Registered->Running 2; Running->New 1; ");
}

TEST_CASE("I-361 what was handled is acknowledged by the next poll, and not before") {
    Begun rig;
    CHECK(rig.program.text() == "New->Registered, Registered->Running");
    rig.daemon.put("Notice", {{"code", "HELLO"}});
    rig.daemon.put("Notice", {{"code", "HELLO"}});
    rig.steps();
    CHECK(rig.daemon.ack == 0);
    CHECK(rig.program.handled == std::vector<std::uint64_t>{1, 2});
    rig.steps();
    CHECK(rig.daemon.ack == 2);
    CHECK(rig.program.handled.size() == 2);
}

TEST_CASE("I-361 an item that could not be handled comes again; one after which the program ends is acknowledged") {
    Begun rig;
    for (int i = 0; i < 3; ++i) rig.daemon.put("Notice", {{"code", "HELLO"}});
    rig.program.handler = [&](const si::StreamItem& item) {
        if (item.n != 2) return Handled::Done;
        rig.daemon.refuses = {"UpdateAllocation", si::ErrorCode::Busy};
        CHECK_FALSE(rig.client->send(si::AllocationRequest{}).ok());
        return Handled::Again;
    };
    rig.steps(2);
    CHECK(rig.program.handled == std::vector<std::uint64_t>{1});
    rig.program.handler = [](const si::StreamItem& item) { return item.n == 2 ? Handled::Stop : Handled::Done; };
    const auto went = rig.client->step(std::chrono::milliseconds{0});
    REQUIRE(went.ok());
    CHECK(*went == Went::Stopped);
    REQUIRE(rig.client->end().ok());
    CHECK(rig.daemon.ack == 2);
    CHECK(rig.program.handled == std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("I-365 what comes again after it was handled is skipped") {
    Begun rig;
    rig.daemon.repeats = true;
    rig.daemon.put("Notice", {{"code", "HELLO"}});
    rig.daemon.put("Notice", {{"code", "HELLO"}});
    rig.steps();
    rig.daemon.put("Notice", {{"code", "HELLO"}});
    rig.steps(2);
    CHECK(rig.daemon.ack == 3);
    CHECK(rig.program.handled == std::vector<std::uint64_t>{1, 2, 3});
}

TEST_CASE("I-365 what was handled is not handled again by another session of the same registration") {
    Begun rig;
    rig.daemon.put("Notice", {{"code", "HELLO"}});
    rig.daemon.put("Notice", {{"code", "HELLO"}});
    rig.steps();
    REQUIRE(rig.daemon.ack == 0);
    rig.daemon.lose_session();
    rig.steps(3);
    CHECK(rig.daemon.ack == 2);
    CHECK(rig.program.handled == std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("I-356 a daemon that is gone is dialled after 50 ms, then less and less often, up to every 5 s") {
    Begun rig;
    rig.program.text();
    rig.daemon.is_gone = true;
    rig.steps(9);
    CHECK(rig.program.pauses == std::vector<std::int64_t>{50, 100, 200, 400, 800, 1600, 3200, 5000, 5000});
    CHECK(rig.program.text() == "gone");
    rig.daemon.is_gone = false;
    rig.steps();
    CHECK(rig.program.text() == "answers");
    rig.program.pauses.clear();
    rig.daemon.is_gone = true;
    rig.steps();
    CHECK(rig.program.pauses == std::vector<std::int64_t>{50});
}

TEST_CASE("I-356 a program that wants to end while it dials ends") {
    Begun rig;
    rig.daemon.is_gone = true;
    rig.program.wants_to_end = true;
    const auto went = rig.client->step(std::chrono::milliseconds{0});
    REQUIRE(went.ok());
    CHECK(*went == Went::Stopped);
    CHECK(rig.client->end().ok());
}

TEST_CASE("I-356 after a restart of the daemon an RM without books is registered anew") {
    Begun rig;
    rig.program.text();
    rig.daemon.restart();
    rig.steps(2);
    CHECK(rig.program.text() == "Running->New, New->Registered, Registered->Running, anew: ykd was restarted");
    rig.daemon.put("Notice", {{"code", "HELLO"}});
    rig.steps();
    CHECK(rig.program.handled == std::vector<std::uint64_t>{1});
}

TEST_CASE("I-356 a session that was lost is followed by another, which goes on with what the RM has") {
    Begun rig;
    rig.daemon.has_something = true;
    rig.program.text();
    rig.daemon.lose_session();
    rig.daemon.put("Notice", {{"code", "HELLO"}});
    rig.steps(3);
    CHECK(rig.program.text() == "Running->New, New->Registered, Registered->Running, kept: E_FORBIDDEN");
    CHECK(rig.program.handled == std::vector<std::uint64_t>{1});
}

TEST_CASE("I-371 an RM that is lost is dropped and registered anew, but by who had this registration") {
    Begun rig;
    rig.daemon.has_something = true;
    rig.daemon.lose_rm();
    rig.daemon.registered_as.clear();
    SECTION("it had") {
        rig.steps(2);
        CHECK(rig.daemon.registered_as == std::vector<std::string>{"resume", "drop"});
        CHECK(rig.client->state() == State::Running);
    }
    SECTION("somebody has registered it since") {
        ++rig.daemon.epoch;
        rig.steps();
        const auto went = rig.client->step(std::chrono::milliseconds{0});
        REQUIRE_FALSE(went.ok());
        CHECK(went.error().name == "E_BUSY_STATE");
        CHECK(rig.daemon.registered_as == std::vector<std::string>{"resume"});
    }
}

TEST_CASE("I-127 an RM that another process took over is given up") {
    Begun rig;
    SECTION("its poll is superseded") {
        rig.daemon.refuses = {"Poll", si::ErrorCode::Superseded};
        rig.steps(); // by a poll of its own, perhaps
        rig.daemon.take_over();
        const auto went = rig.client->step(std::chrono::milliseconds{0});
        REQUIRE_FALSE(went.ok());
        CHECK(went.error().name == "E_SUPERSEDED");
    }
    SECTION("its poll is superseded by one of its own that came late") {
        rig.daemon.refuses = {"Poll", si::ErrorCode::Superseded};
        rig.steps(3);
    }
    SECTION("between two polls") {
        rig.daemon.take_over();
        const auto went = rig.client->step(std::chrono::milliseconds{0});
        REQUIRE_FALSE(went.ok());
        CHECK(went.error().name == "E_SUPERSEDED");
        CHECK(went.error().code == static_cast<std::uint32_t>(si::ErrorCode::Superseded));
    }
    SECTION("while the session was lost") {
        rig.daemon.has_something = rig.daemon.is_served_by_another = true;
        rig.daemon.lose_session();
        rig.steps();
        rig.program.in_pause = [&] { rig.program.wants_to_end = true; };
        const auto went = rig.client->step(std::chrono::milliseconds{0});
        REQUIRE_FALSE(went.ok());
        CHECK(went.error().name == "E_BUSY_STATE");
    }
}

TEST_CASE("I-356 a refusal that stays is final, one that passes is not") {
    Rig rig;
    rig.daemon.refuses = {"RegisterResourceManager", si::ErrorCode::ConfigInvalid};
    const auto begun = rig.client->begin();
    REQUIRE_FALSE(begun.ok());
    CHECK(begun.error().name == "E_CONFIG_INVALID");
    CHECK(rig.client->state() == State::Failed);

    Rig other;
    REQUIRE(other.client->begin().ok());
    other.daemon.restart();
    other.steps();
    other.daemon.refuses = {"RegisterResourceManager", si::ErrorCode::Busy};
    other.steps(2);
    CHECK(other.client->state() == State::Running);
    other.daemon.restart();
    other.steps();
    other.daemon.refuses = {"RegisterResourceManager", si::ErrorCode::Forbidden};
    CHECK_FALSE(other.client->step(std::chrono::milliseconds{0}).ok());
}

TEST_CASE("I-269 an RM with books comes back with what it had") {
    const BooksFolder folder;
    Begun rig{folder.file()}; // reports nothing, and polls what came of it
    CHECK(rig.program.text() ==
          "New->Registered, Registered->Recovering, reports 0, Recovering->Running, recovered: running");
    put_node(rig.daemon, "n");
    put_application(rig.daemon, "app");
    put_ask(rig.daemon, "placed", "n");
    put_ask(rig.daemon, "waits");
    put_node(rig.daemon, "refused", false);
    rig.steps(2);
    rig.daemon.claims.clear();

    SECTION("after a restart of the daemon") {
        rig.daemon.restart();
        rig.steps(2);
        CHECK(rig.program.text() == "Running->New, New->Registered, Registered->Recovering, anew: ykd was restarted");
        rig.daemon.kinds.clear();
        rig.steps();
        CHECK(rig.daemon.kinds == std::vector<std::string>{"Ping", "UpdateApplication", "UpdateNode",
                                                           "UpdateAllocation", "UpdateAllocation", "RecoveryDone"});
        CHECK(rig.program.text() == "ykd was restarted; reports 1, Recovering->Running, recovered: running");
    }
    SECTION("after its own, and one of the daemon") {
        rig.daemon.restart();
        rig.restart(folder.file());
        REQUIRE(rig.client->begin().ok());
        rig.steps();
    }
    SECTION("when the daemon is restarted while it reports") {
        rig.daemon.restart();
        rig.steps(2);
        rig.daemon.refuses = {"UpdateNode", si::ErrorCode::SessionUnknown};
        rig.steps();
        rig.daemon.restart();
        rig.steps(3);
    }
    SECTION("when the daemon is busy while it reports") {
        rig.daemon.restart();
        rig.steps(2);
        rig.daemon.refuses = {"UpdateNode", si::ErrorCode::Busy};
        rig.steps();
    }
    CHECK(rig.daemon.claims == std::vector<std::string>{"1/1/1/1"});
    CHECK(rig.client->state() == State::Running);
    rig.steps(2);
    put_node(rig.daemon, "n2");
    rig.steps();
    rig.daemon.restart();
    rig.steps(3);
    CHECK(rig.daemon.claims.back() == "2/1/1/1");
}

TEST_CASE("I-269 a process that comes back goes on in the stream where the books end") {
    const BooksFolder folder;
    Begun rig{folder.file()};
    put_node(rig.daemon, "n");
    rig.steps(2);
    put_node(rig.daemon, "n2");
    rig.daemon.refuses = {"Poll", si::ErrorCode::Busy};
    rig.program.text();
    SECTION("nothing was lost") {
        rig.steps();
        rig.restart(folder.file());
        REQUIRE(rig.client->begin().ok());
        rig.steps();
        CHECK(rig.daemon.kinds == std::vector<std::string>{"RegisterResourceManager"});
    }
    SECTION("its recovery was interrupted") {
        rig.daemon.refuses.reset();
        rig.steps();
        rig.daemon.core = si::CoreState::Failed;
        rig.restart(folder.file());
        rig.daemon.registered_as.clear();
        REQUIRE(rig.client->begin().ok());
        CHECK(rig.daemon.registered_as == std::vector<std::string>{"resume", "drop"});
        rig.steps();
    }
    SECTION("the RM was lost meanwhile") {
        rig.daemon.refuses.reset();
        rig.steps();
        rig.daemon.lose_rm();
        rig.restart(folder.file());
        rig.daemon.registered_as.clear();
        REQUIRE(rig.client->begin().ok());
        CHECK(rig.daemon.registered_as == std::vector<std::string>{"resume", "drop"});
        rig.steps();
    }
    SECTION("others have served it without these books") {
        rig.steps(3);
        rig.daemon.put("Notice", {{"code", "HELLO"}});
        rig.daemon.ack = 100;
        rig.restart(folder.file());
        rig.daemon.registered_as.clear();
        const auto begun = rig.client->begin();
        REQUIRE_FALSE(begun.ok());
        CHECK(begun.error().name == "E_BUSY_STATE");
        CHECK(rig.daemon.registered_as == std::vector<std::string>{"resume", "refuse"});
        return;
    }
    rig.daemon.restart();
    rig.steps(3);
    CHECK(rig.daemon.claims.back() == "2/0/0/0");
}

TEST_CASE("I-269 a request is taken with all that came of it, however the stream cuts that up") {
    const BooksFolder folder;
    Begun rig{folder.file()};
    rig.program.handled.clear();
    rig.daemon.most_in_reply = 3;
    rig.daemon.put("Notice", {{"code", "HELLO"}});
    Value request = node_request("n");
    request["answers"] = 3;
    rig.daemon.put("Request", request);
    for (int i = 0; i < 2; ++i)
        rig.daemon.put("UpdateNode", {{"accepted", {{{"nodeID", "n"}, {"partitionName", "default"}}}}});
    rig.daemon.put("Notice", {{"code", "BETWEEN"}});
    rig.daemon.put("UpdateNode", {{"accepted", {{{"nodeID", "n"}, {"partitionName", "default"}}}}});
    rig.steps(); // the notice
    CHECK(rig.program.handled.size() == 1);
    rig.daemon.max_items.clear();
    rig.steps(2); // too few, then all
    CHECK(rig.program.handled.size() == 6);
    CHECK(rig.daemon.max_items.front() == 1000);
    CHECK(rig.daemon.max_items.back() > 1000);
    rig.steps();
    CHECK(rig.daemon.max_items.back() == 1000);
    CHECK(rig.daemon.ack == rig.program.handled.back());
}

TEST_CASE("I-239 what the core does not believe is reported again; what it refuses stays visible") {
    const BooksFolder folder;
    Rig rig{folder.file()};
    REQUIRE(rig.client->begin().ok());
    rig.daemon.results = {"retry", "retry", "failed"};
    rig.program.text();
    rig.steps(3);
    CHECK(rig.daemon.attempts == std::vector<std::uint32_t>{1, 2, 3});
    CHECK(rig.program.text() == "reports 0, recovered: retry, corrects 0/0/0/0, recovered: retry, corrects 0/0/0/0, "
                                "Recovering->Failed, recovered: failed");
    SECTION("it goes on polling") {
        rig.steps(3);
        CHECK(rig.client->state() == State::Failed);
        put_node(rig.daemon, "n");
        rig.steps();
    }
    SECTION("somebody accepts it") {
        rig.daemon.put_state(si::CoreState::Failed, si::CoreState::Running);
        rig.steps();
        CHECK(rig.client->state() == State::Running);
    }
    SECTION("somebody has it try again") {
        rig.steps();
        rig.daemon.put_state(si::CoreState::Failed, si::CoreState::Recovering);
        rig.steps(2);
        CHECK(rig.daemon.attempts.back() == 1);
        CHECK(rig.client->state() == State::Running);
    }
    SECTION("a notice of that which came late changes nothing") {
        rig.steps();
        rig.daemon.put_state(si::CoreState::Failed, si::CoreState::Recovering);
        rig.daemon.core = si::CoreState::Running;
        rig.steps(2);
        CHECK(rig.daemon.attempts.size() == 3);
        CHECK(rig.client->state() == State::Running);
    }
}

TEST_CASE("I-183 a partition that a new configuration removed goes from the books with all that was there") {
    const BooksFolder folder;
    Begun rig{folder.file()};
    put_node(rig.daemon, "n");
    put_application(rig.daemon, "app");
    rig.steps(2);
    SECTION("it stays") {
        rig.daemon.put("Notice", {{"code", "PARTITIONS"}, {"details", {{"partitions", {"default", "x"}}}}});
        rig.steps(2);
        rig.daemon.restart();
        rig.steps(3);
        CHECK(rig.daemon.claims.back() == "1/1/0/0");
    }
    SECTION("it goes") {
        rig.daemon.put("Notice", {{"code", "PARTITIONS"}, {"details", {{"partitions", {"x"}}}}});
        rig.steps(2);
        rig.daemon.restart();
        rig.steps(3);
        CHECK(rig.daemon.claims.back() == "0/0/0/0");
    }
}

TEST_CASE("I-203 a client goes on with a registration that its program made, and drains its stream") {
    Rig rig;
    si::RegisterResourceManagerRequest request;
    request.rm_id = "rm";
    const auto answer = rig.daemon.call(request, rm::kOwnTimeout);
    rig.client->begin(rm::decoded<si::RegisterResourceManagerResponse>("RegisterResourceManager", answer).value());
    CHECK(rig.program.text() == "New->Registered, Registered->Running");
    rig.daemon.most_in_reply = 1;
    for (int i = 0; i < 3; ++i) rig.daemon.put("Notice", {{"code", "HELLO"}});
    REQUIRE(rig.client->drain().ok());
    CHECK(rig.program.handled == std::vector<std::uint64_t>{1, 2, 3});
    rig.daemon.refuses = {"Poll", si::ErrorCode::ResyncRequired};
    const auto drained = rig.client->drain();
    REQUIRE_FALSE(drained.ok());
    CHECK(drained.error().name == "E_RESYNC_REQUIRED");
    CHECK(rig.client->state() == State::Running); // nothing is done about it
}

TEST_CASE("I-213 a recovery whose time is over is Failed") {
    const BooksFolder folder;
    Rig rig{folder.file()};
    REQUIRE(rig.client->begin().ok());
    rig.daemon.put_state(si::CoreState::Recovering, si::CoreState::Failed);
    rig.steps();
    CHECK(rig.client->state() == State::Failed);
    CHECK(rig.daemon.attempts.empty());
}

TEST_CASE("I-213 a replay that is refused because its time is over ends; any other refusal is final") {
    const BooksFolder folder;
    Begun rig{folder.file()};
    put_node(rig.daemon, "n");
    rig.steps(2);
    rig.daemon.restart();
    rig.steps(2);
    rig.daemon.refuses = {"UpdateNode", si::ErrorCode::Limit};
    SECTION("its time is over") {
        rig.daemon.fails_then = true;
        rig.steps(2);
        CHECK(rig.client->state() == State::Failed);
    }
    SECTION("it goes on") {
        CHECK_FALSE(rig.client->step(std::chrono::milliseconds{0}).ok());
    }
}

TEST_CASE("I-269 a daemon that does not report requests is no place for books") {
    const BooksFolder folder;
    Rig rig{folder.file()};
    rig.daemon.knows_echo = false;
    const auto begun = rig.client->begin();
    REQUIRE_FALSE(begun.ok());
    CHECK(begun.error().message.find("echoRequests") != std::string::npos);
}

} // namespace yk::testing
