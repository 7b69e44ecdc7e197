// SPDX-License-Identifier: Apache-2.0
// What MCS does when its daemon is busy, refuses something, or knows nothing of it any more.
#include "ykd/mcs/core_link/core_link.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

#include "protocol/si/tool_requests.h"

#include "tests/support/mcs/linked_mcs.h"

using namespace yk;
using namespace yk::service;
using namespace yk::testing;

TEST_CASE("rs R-123 a recovery that was accepted by a person runs, one that is tried again is reported anew") {
    QueuesDaemon daemon;
    LinkedMcs mcs{daemon};
    Other other{daemon};
    const auto resolve = [&](const char* action) {
        si::ResolveRecoveryRequest request;
        request.rm_id = "mcs";
        request.action = action;
        other.does(request);
    };
    const auto fail = [&] {
        mcs.requests.add(new_node("n1", {ask("k1", 1, "unknown")}));
        for (std::uint32_t attempt = 1; attempt <= 5; ++attempt)
            mcs.requests.add(mcs::EndRecovery{attempt, {1, 0}, {0, 0}, {0, 0}});
        CHECK(mcs.line("recovery failed").size() > 20);
    };
    mcs.recovers = true;
    mcs.begin();
    fail();
    CHECK(mcs.link->core_state() == si::CoreState::Failed);
    resolve("retry");
    CHECK(mcs.line("lost: Recovering").size() > 16);
    CHECK(mcs.line("registered") == "registered, recovers");
    fail();
    resolve("accept");
    CHECK(mcs.line("recovery running").size() > 16);
    CHECK(mcs.line("aside") == "aside 'unknown' 'k1' 'n1'");
}

TEST_CASE("F-53 a registration that is lost is made again") {
    QueuesDaemon daemon;
    LinkedMcs mcs{daemon};
    mcs.begin();
    Other other{daemon};
    for (int times = 0; times < 2; ++times) {
        mcs.requests.add(new_node("n1"));
        CHECK(mcs.line("node") == "node n1");
        other.unregister();
        CHECK(mcs.line("lost").size() > 6);
        CHECK(mcs.line("registered") == "registered");
    }
    CHECK(mcs.link->trouble().empty());
}

TEST_CASE("rs R-122 MCS does not drop what another resource manager of its id has") {
    QueuesDaemon daemon;
    LinkedMcs mcs{daemon};
    mcs.begin();
    mcs.requests.add(new_node("n1"));
    CHECK(mcs.line("node") == "node n1");
    Other other{daemon};
    si::RegisterResourceManagerRequest request;
    request.rm_id = "mcs";
    other.does(request); // takes it over
    CHECK(mcs.line("lost").size() > 6);
    si::NodeRequest nodes;
    nodes.rm_id = "mcs";
    nodes.nodes.emplace_back().node_id = "theirs";
    nodes.nodes.back().action = si::NodeAction::Create;
    other.does(nodes);
    CHECK(mcs.comes([&] { return mcs.link->trouble().rfind("E_BUSY_STATE", 0) == 0; }));
    CHECK(mcs.link->state() == CoreLink::State::Registering);
    other.unregister();
    CHECK(mcs.line("registered") == "registered");
}

TEST_CASE("rs R-122 a session that is lost costs the registration, which is made again in its place") {
    QueuesDaemon daemon;
    LinkedMcs mcs{daemon};
    mcs.begin();
    mcs.requests.add(new_node("n1"));
    CHECK(mcs.line("node") == "node n1");
    daemon.made->parts().sessions.clear();
    mcs.requests.add(new_node("n2"));
    CHECK(mcs.line("lost: E_SESSION_UNKNOWN").size() > 6);
    CHECK(mcs.requests.is_empty());
    CHECK(mcs.line("registered") == "registered"); // what the daemon still had was its own
    mcs.requests.add(new_node("n1"));
    CHECK(mcs.line("node") == "node n1");
}

TEST_CASE("rs R-122 a partition that goes takes the registration with it") {
    QueuesDaemon daemon;
    daemon.write_queues(std::string{kQueues} +
                        "  - name: more\n    queues:\n      - name: root\n        submitacl: \"*\"\n");
    LinkedMcs mcs{daemon};
    mcs.begin();
    auto in_more = new_node("n1");
    in_more.partition = "more";
    mcs.requests.add(in_more);
    CHECK(mcs.line("node") == "node n1");
    daemon.write_queues(kQueues);
    Other{daemon}.does(si::ReloadRequest{});
    CHECK(mcs.line("lost: a partition").size() > 6);
    CHECK(mcs.line("registered") == "registered");
    mcs.requests.add(in_more);
    CHECK(mcs.line("node n1 refused, new").size() > 6);
}

TEST_CASE("I-331 what the daemon is too busy for, or drops, is sent again with the same number") {
    QueuesDaemon daemon;
    LinkedMcs mcs{daemon};
    int busy = 2, dropped = 1, polls = 1, hellos = 1;
    mcs.between = [&](const Sent& sent, wire::Request& request) {
        if (sent.kind == "Hello" && hellos-- > 0) return refuse(request, si::ErrorCode::Busy), true;
        if (sent.kind == "Poll" && polls-- > 0) return refuse(request, si::ErrorCode::Busy), true;
        if (sent.kind != "UpdateNode") return false;
        if (busy-- > 0) return refuse(request, si::ErrorCode::Busy, 1), true;
        if (dropped-- > 0) return request = {}, true;
        return false;
    };
    mcs.begin();
    mcs.requests.add(new_node("n1"));
    mcs.requests.add(application("app"));
    CHECK(mcs.comes([&] { return mcs.link->trouble() == "E_BUSY: by the test"; }));
    CHECK(mcs.line("node") == "node n1");
    CHECK(mcs.line("accepted") == "accepted app"); // behind it
    const auto sent = mcs.sent_of("UpdateNode");
    REQUIRE(sent.size() == 4);
    for (const Sent& each : sent) CHECK(each.seq == sent.front().seq);
    CHECK(mcs.sent_of("UpdateApplication").front().seq == sent.front().seq + 1);
}

TEST_CASE("I-333 a refusal that may have used up a number or not costs no other message") {
    QueuesDaemon daemon;
    LinkedMcs mcs{daemon};
    mcs.begin();
    for (const si::ErrorCode code : {si::ErrorCode::Internal, si::ErrorCode::Invalid}) {
        mcs.between = [&](const Sent& sent, wire::Request& request) { // which never reaches the daemon
            return sent.kind == "UpdateNode" && (refuse(request, code), true);
        };
        mcs.requests.add(new_node("n1"));
        CHECK(mcs.line("node n1 refused, new: E_I").find("by the test") != std::string::npos);
        mcs.between = {};
        mcs.requests.add(application(fmt::format("app{}", static_cast<int>(code))));
        CHECK(mcs.line("accepted").size() > 6);
    }
    CHECK(mcs.sent_of("RegisterResourceManager").size() == 1);
}

TEST_CASE("rs R-122 a link may go while requests are under way") {
    QueuesDaemon daemon;
    for (int times = 0; times < 20; ++times) {
        LinkedMcs mcs{daemon};
        mcs.link->begin();
        for (int turns = 0; turns < times; ++turns) {
            mcs.run();
            mcs.requests.add(new_node(fmt::format("n{}", turns)));
        }
        mcs.link = nullptr;
        mcs.run();
        Other other{daemon};
        CHECK(comes_true([&] { // a registration that was under way may come now
            const RmPtr left = daemon.rm();
            if (!left || left->owner.state() == si::CoreState::New) return true;
            other.try_to_unregister();
            return false;
        }));
    }
}

TEST_CASE("rs R-122 a link is stopped in whatever state it is") {
    QueuesDaemon daemon;
    for (int times = 0; times < 20; ++times) {
        LinkedMcs mcs{daemon};
        mcs.link->begin();
        for (int turns = 0; turns < times; ++turns) {
            mcs.link->turn(steady_instant());
            if (times % 2 == 0) mcs.run();
        }
        mcs.link->stop();
        CHECK(mcs.comes([&] { return mcs.link->is_stopped(); }));
        CHECK(comes_true([&] { return daemon.rm() == nullptr; }));
    }
    LinkedMcs mcs{daemon}; // one that is never let in
    mcs.between = [](const Sent& sent, wire::Request& request) {
        return sent.kind == "RegisterResourceManager" && (refuse(request, si::ErrorCode::Busy), true);
    };
    mcs.link->begin();
    CHECK(mcs.comes([&] { return !mcs.link->trouble().empty(); }));
    mcs.link->stop();
    CHECK(mcs.comes([&] { return mcs.link->is_stopped(); }));
}

TEST_CASE("rs R-122 a link that is stopped by what it reports reports nothing more") {
    for (const std::string last : {"registered", "node n1", "lost"}) {
        QueuesDaemon daemon;
        LinkedMcs mcs{daemon};
        mcs.heard = [&] {
            if (mcs.lines.back().rfind(last, 0) == 0) mcs.link->stop();
        };
        for (const char* id : {"n1", "n2", "n1"}) mcs.requests.add(new_node(id));
        mcs.link->begin();
        if (last == "lost") {
            CHECK_FALSE(mcs.line("node n1 refused").empty());
            Other{daemon}.unregister();
        }
        CHECK(mcs.comes([&] { return mcs.link->is_stopped(); }));
        REQUIRE_FALSE(mcs.lines.empty());
        CHECK(mcs.lines.back().rfind(last, 0) == 0);
        CHECK(comes_true([&] { return daemon.rm() == nullptr; }));
        mcs.heard = {};
        mcs.begin();
    }
}

TEST_CASE("I-263 a daemon that stops does not wait for the link, nor the link for it") {
    QueuesDaemon daemon;
    LinkedMcs mcs{daemon};
    mcs.begin();
    std::atomic<bool> is_over{false};
    std::thread stopping{[&] {
        daemon.made->stop(std::chrono::seconds{20});
        is_over = true;
    }};
    const auto began = std::chrono::steady_clock::now();
    CHECK(mcs.comes([&] { return is_over.load(); })); // its stream is read to the end
    stopping.join();
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds{10});
    mcs.requests.add(new_node("n1"));
    CHECK(mcs.comes([&] { return mcs.link->trouble().rfind("E_SHUTTING_DOWN", 0) == 0; }));
    mcs.link->stop();
    CHECK(mcs.comes([&] { return mcs.link->is_stopped(); }));
}
