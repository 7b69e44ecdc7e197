// SPDX-License-Identifier: Apache-2.0
// What MCS asks the core for, and what it reports of its answers.
#include "ykd/mcs/core_link/core_link.h"

#include <catch2/catch.hpp>

#include <set>

#include "libcore/digest/recovery_digest.h"

#include "tests/support/mcs/linked_mcs.h"

using namespace yk;
using namespace yk::service;
using namespace yk::testing;

TEST_CASE("rs R-122 MCS has replicas placed and released as any resource manager") {
    QueuesDaemon daemon;
    LinkedMcs mcs{daemon};
    mcs.begin();
    mcs.requests.add(new_node("n1"));
    mcs.requests.add(application("app"));
    mcs.requests.add(ask("k1"));
    mcs.requests.add(ask("k2"));
    CHECK(mcs.line("node") == "node n1");
    CHECK(mcs.line("accepted") == "accepted app");
    CHECK(mcs.line("placed") == "placed app k1 on n1");
    CHECK(mcs.line("placed") == "placed app k2 on n1");
    mcs.requests.add(release("k1"));
    CHECK(mcs.line("gone") == "gone app k1: released");
    CHECK(mcs.link->state() == CoreLink::State::Registered);
    CHECK(mcs.link->core_state() == si::CoreState::Running);
    CHECK(mcs.link->trouble().empty());

    mcs.requests.add(node("n1", mcs::NodeAction::Drain));
    mcs.requests.add(ask("k3"));
    mcs.requests.add(node("n1", mcs::NodeAction::Schedulable));
    CHECK(mcs.line("placed") == "placed app k3 on n1");
    mcs.requests.add(node("n1", mcs::NodeAction::Drain));
    mcs.requests.add(node("n1", mcs::NodeAction::Decommission));
    CHECK(mcs.line("gone app k").find(": ") != std::string::npos);
    CHECK_FALSE(mcs.line("gone app k").empty());
    mcs.requests.add(mcs::RemoveApplication{"app", "default"});
    mcs.requests.add(application("app")); // its id is free again
    CHECK(mcs.line("accepted") == "accepted app");
    mcs.requests.add(application("app")); // it is there
    CHECK(mcs.line("") == "accepted app");
    mcs.requests.list_applications();
    CHECK(mcs.line("") == "listed app");

    REQUIRE(daemon.rm() != nullptr);
    mcs.requests.add(ask("k4"));
    mcs.link->stop();
    CHECK(mcs.requests.is_empty());
    CHECK_FALSE(mcs.link->is_stopped());
    CHECK(mcs.link->next_due() == Instant{});
    CHECK(mcs.comes([&] { return mcs.link->is_stopped(); }));
    CHECK(comes_true([&] { return daemon.rm() == nullptr; }));
    CHECK(mcs.lines.empty());
    CHECK(mcs.link->next_due() == std::nullopt);
    mcs.begin(); // once more
}

TEST_CASE("rs R-128 each release is answered, also that of an ask and of what is not there") {
    QueuesDaemon daemon;
    LinkedMcs mcs{daemon};
    mcs.begin();
    mcs.requests.add(new_node("n1"));
    mcs.requests.add(application("app"));
    mcs.requests.add(ask("waits", 100));
    mcs.requests.add(ask("runs"));
    CHECK(mcs.line("placed") == "placed app runs on n1");
    mcs.requests.add(release("waits"));
    mcs.requests.add(release("never"));
    const std::set<std::string> gone{mcs.line("gone"), mcs.line("gone")};
    CHECK(gone == std::set<std::string>{"gone app never: no longer asked for", "gone app waits: no longer asked for"});
    mcs.requests.add(release("runs"));
    mcs.requests.add(application("next")); // its answer comes behind what was ignored
    CHECK(mcs.line("gone") == "gone app runs: released");
    CHECK(mcs.line("accepted") == "accepted next"); // once
    CHECK(mcs.lines.empty());
}

TEST_CASE("rs R-131 what the core refuses is reported, and the link goes on") {
    QueuesDaemon daemon;
    LinkedMcs mcs{daemon};
    mcs.begin();
    mcs.requests.add(application("lost", "root.unknown"));
    CHECK(mcs.line("rejected lost:").find("lost") != std::string::npos);
    mcs.requests.add(ask("k1", 1, "unknown"));
    CHECK(mcs.line("rejected unknown k1 without application:").find("unknown") != std::string::npos);
    mcs.requests.add(new_node("n1"));
    mcs.requests.add(new_node("n1"));
    CHECK(mcs.line("node n1 refused, new:").find("n1") != std::string::npos);
    mcs.requests.add(node("n2", mcs::NodeAction::Drain));
    CHECK(mcs.line("node n2 refused:").find("n2") != std::string::npos);
}

TEST_CASE("rs R-131 one element that the daemon cannot take does not take the others with it") {
    QueuesDaemon daemon;
    LinkedMcs mcs{daemon};
    mcs.begin();
    const std::string long_id(300, 'x');
    for (int i = 0; i < 10; ++i) mcs.requests.add(application(i == 6 ? long_id : fmt::format("app{}", i)));
    mcs.requests.add(new_node("n1"));
    for (const int i : {0, 1, 2, 3, 4, 5, 7, 8, 9}) CHECK(mcs.line("accepted") == fmt::format("accepted app{}", i));
    CHECK(mcs.line("node") == "node n1");
    CHECK(mcs.sent_of("UpdateApplication").size() == 7); // of 10 elements, 5, 5, 2, 1, 1 and 3
    mcs.requests.add(node(long_id, mcs::NodeAction::Drain));
    mcs.requests.add(ask(long_id));
    mcs.requests.add(release(long_id)); // there is no notice for that
    CHECK(mcs.line("node " + long_id + " refused: E_LIMIT: nodes[0].nodeID").size() > 300);
    CHECK(mcs.line("rejected app " + long_id + ": E_LIMIT: asks[0].allocationKey").size() > 300);
    mcs.requests.add(application("app"));
    CHECK(mcs.line("accepted") == "accepted app");
}

TEST_CASE("rs R-124 what ran before is recovered") {
    QueuesDaemon daemon;
    LinkedMcs mcs{daemon};
    mcs.recovers = true;
    mcs.link->begin();
    CHECK(mcs.line("registered") == "registered, recovers");
    CHECK(mcs.link->core_state() == si::CoreState::Recovering);
    mcs.requests.add(application("app"));
    mcs.requests.add(new_node("n1", {ask("k1", 2), ask("k2", 3, "other")}));
    mcs.requests.add(mcs::EndRecovery{1, {1, 0}, {1, 0}, {1, 0}});
    CHECK(mcs.line("placed") == "placed app k1 on n1");
    CHECK(mcs.line("recovery") == "recovery retry: other nodes; other applications; other allocations; 1 set aside");
    CHECK(mcs.line("aside") == "aside 'other' 'k2' 'n1'");
    mcs.requests.add(mcs::ReleaseReplica{"other", "default", "k2"});
    CHECK(mcs.line("gone") == "gone other k2: released");
    using namespace yk::recovery;
    mcs.requests.add(mcs::EndRecovery{2,
                                      {1, line_hash(node_line("default", "n1", "vcore=10", true))},
                                      {1, line_hash(application_line("default", "app"))},
                                      {1, line_hash(allocation_line("default", "app", "k1", "n1", "vcore=2", false))}});
    CHECK(mcs.line("recovery") == "recovery running: ");
    CHECK(mcs.link->core_state() == si::CoreState::Running);
    mcs.requests.add(ask("k3"));
    CHECK(mcs.line("placed") == "placed app k3 on n1");
    mcs.requests.add(mcs::EndRecovery{3, {}, {}, {}}); // at the wrong time
    CHECK(mcs.line("recovery failed: E_BAD_STATE").size() > 30);
}

TEST_CASE("rs R-123 a daemon that demands a recovery gets one") {
    QueuesDaemon daemon{[](DaemonSettings& settings) { settings.require_recovery = {"mcs"}; }};
    LinkedMcs mcs{daemon};
    mcs.link->begin();
    CHECK(mcs.line("registered") == "registered, recovers");
}

TEST_CASE("I-033 a release that the core waits for is confirmed as it came") {
    QueuesDaemon daemon;
    LinkedMcs mcs{daemon};
    bool is_polled = false;
    mcs.between = [&](const Sent& sent, wire::Request& request) {
        if (sent.kind != "Poll" || std::exchange(is_polled, true)) return false;
        using Type = si::TerminationType;
        si::AllocationResponse response;
        response.released.push_back({"[mcs]default", "app", "k1", Type::PreemptedByScheduler, "for k9"});
        response.released.push_back({"[mcs]default", "app", "k2", Type::StoppedByRm, {}});
        response.released.push_back({"[mcs]default", "app", "k3", Type::Timeout, {}});
        si::PollReply reply;
        reply.items.push_back({1, "UpdateAllocation", 0, {}, {}, {wire::encoded(response)}});
        wire::Buffer bytes;
        const std::string body = wire::encoded(reply);
        wire::encode_ok(bytes, wire::decode_request(request.bytes())->echo(), std::string_view{body});
        request.reply(bytes.view());
        return true;
    };
    mcs.begin();
    CHECK(mcs.line("gone") == "gone app k1: preempted: for k9");
    CHECK(mcs.line("gone") == "gone app k2: released");
    CHECK(mcs.line("gone") == "gone app k3: its time is over");
    REQUIRE(mcs.comes([&] { return !mcs.sent_of("UpdateAllocation").empty(); }));
    const std::string sent = mcs.sent_of("UpdateAllocation").front().body;
    const auto request = wire::decode<si::AllocationRequest>(*wire::scan_body(sent));
    REQUIRE(request.ok());
    const auto& releases = request->releases.allocations_to_release;
    REQUIRE(releases.size() == 2);
    CHECK(releases[0].allocation_key == "k1");
    CHECK(releases[0].termination_type == si::TerminationType::PreemptedByScheduler);
    CHECK(releases[1].allocation_key == "k3");
    CHECK(releases[1].termination_type == si::TerminationType::Timeout);
    CHECK(request->releases.allocation_asks_to_release.empty());
}

TEST_CASE("rs R-122 neighbours of one kind share a message of bounded size, in their order") {
    QueuesDaemon daemon;
    LinkedMcs mcs{daemon};
    mcs.begin();
    auto node = new_node("n1");
    node.content->capacity = {{"vcore", 10'000}};
    mcs.requests.add(node);
    mcs.requests.add(application("app"));
    for (int i = 0; i < 2500; ++i) mcs.requests.add(ask(fmt::format("k{}", i)));
    mcs.requests.add(release("k0"));
    mcs.requests.add(ask("last"));
    CHECK(mcs.line("placed app last") == "placed app last on n1");
    const auto sent = mcs.sent_of("UpdateAllocation");
    CHECK(sent.size() == 5); // 1,000, 1,000, 500, the release, the last one
    for (const Sent& each : sent) CHECK(each.body.size() < (std::size_t{1} << 20));
}
