// SPDX-License-Identifier: Apache-2.0
// interface.md I-239: an RM with books and a core that does not have what they say.

#include "protocol/rm/correction.h"

#include <string>

#include <catch2/catch.hpp>

#include "tests/support/books_folder.h"
#include "tests/unit/protocol/rm/client_rig.h"

namespace yk::testing {

using rm::State;
using wire::Value;

namespace {

/// A client with books: node n, on it `placed`, and `waits`; all of it reported to a daemon that was restarted.
struct Differing : Begun {
    explicit Differing(const std::string& file) : Begun(file) {
        put_node(daemon, "n");
        put_application(daemon, "app");
        put_ask(daemon, "placed", "n");
        put_ask(daemon, "waits");
        steps(2);
        daemon.restart();
        steps(2);
        daemon.has = {{"nodes", {node("n")}}, {"applications", {application("app")}}, {"allocations", {placed()}}};
        daemon.asks = 1;
    }
    /// The first claim is refused with `result`; what is sent after it is in `daemon.updates`.
    void report(const std::string& result = "retry") {
        daemon.results = {result};
        steps();
        REQUIRE(daemon.claims.back() == "1/1/1/1");
        daemon.updates.clear();
        program.text();
    }
    /// The kinds of what was sent, in order.
    [[nodiscard]] std::string sent() const {
        std::string kinds;
        for (const auto& [kind, body] : daemon.updates) kinds += (kinds.empty() ? "" : " ") + kind;
        return kinds;
    }

    static std::uint64_t hash(const std::string& line) { return recovery::line_hash(line); }
    static si::RecoveryListItem node(const std::string& id, const std::string& resources = "vcore=10") {
        return {"default", id, {}, {}, hash(recovery::node_line("default", id, resources, true))};
    }
    static si::RecoveryListItem application(const std::string& id) {
        return {"default", {}, id, {}, hash(recovery::application_line("default", id))};
    }
    static si::RecoveryListItem placed(const std::string& key = "placed", const std::string& on = "n") {
        return {"default", on, "app", key,
                hash(recovery::allocation_line("default", "app", key, on, "vcore=1", false))};
    }
};

} // namespace

TEST_CASE("I-239 what the core lacks is sent again, and nothing else") {
    const BooksFolder folder;
    Differing rig{folder.file()};
    rig.daemon.has["allocations"].clear();
    SECTION("an allocation") {
        rig.report();
        rig.steps();
        CHECK(rig.sent() == "UpdateAllocation");
        CHECK(rig.daemon.updates[0].second["asks"][0]["allocationKey"] == "placed");
        CHECK(rig.daemon.updates[0].second["asks"][0]["nodeID"] == "n");
        CHECK(rig.daemon.updates[0].second["asks"].size() == 1);
        CHECK(rig.daemon.listed.size() == 1); // of one bucket
        CHECK(rig.daemon.listed[0] != "allocations/all");
    }
    SECTION("a pending ask") {
        rig.daemon.has["allocations"] = {Differing::placed()};
        rig.daemon.asks = 0;
        rig.report();
        rig.steps();
        CHECK(rig.sent() == "UpdateAllocation");
        CHECK(rig.daemon.updates[0].second["asks"][0]["allocationKey"] == "waits");
        CHECK(rig.daemon.listed.empty());
    }
    SECTION("everything") {
        rig.daemon.has.clear();
        rig.report();
        rig.steps();
        CHECK(rig.sent() == "UpdateApplication UpdateNode UpdateAllocation");
    }
    CHECK(rig.daemon.attempts.back() == 2);
    CHECK(rig.client->state() == State::Running);
}

TEST_CASE("I-239 what the core has and the books do not have is released") {
    const BooksFolder folder;
    Differing rig{folder.file()};
    rig.daemon.has["nodes"].push_back(Differing::node("more"));
    rig.daemon.has["applications"].push_back(Differing::application("other"));
    for (const char* key : {"k1", "k2", "k3", "k4", "k5"})
        rig.daemon.has["allocations"].push_back(Differing::placed(key));
    rig.report();
    rig.steps();
    CHECK(rig.program.text() == "corrects 0/7/0/0, Recovering->Running, recovered: running");
    REQUIRE(rig.sent() == "UpdateAllocation UpdateApplication UpdateNode UpdateAllocation");
    const Value& releases = rig.daemon.updates[0].second["releases"]["allocationsToRelease"];
    CHECK(releases.size() == 5);
    CHECK(releases[0]["applicationID"] == "app");
    CHECK(releases[0]["terminationType"] == 1);
    CHECK(rig.daemon.updates[1].second["remove"] == Value{{{"applicationID", "other"}, {"partitionName", "default"}}});
    CHECK(rig.daemon.updates[2].second["nodes"][0]["nodeID"] == "more");
    CHECK(rig.daemon.updates[2].second["nodes"][0]["action"] == 4);
    CHECK(rig.daemon.updates[3].second["asks"][0]["allocationKey"] == "waits"); // k1 may be an ask that the books have
}

TEST_CASE("I-239 what the core has otherwise is made what the books say") {
    const BooksFolder folder;
    Differing rig{folder.file()};
    rig.daemon.has["nodes"] = {Differing::node("n", "vcore=9")};
    rig.daemon.has["allocations"] = {Differing::placed("placed", "m")};
    rig.report();
    rig.steps();
    CHECK(rig.program.text() == "corrects 0/0/2/0, Recovering->Running, recovered: running");
    REQUIRE(rig.sent() == "UpdateAllocation UpdateNode UpdateNode UpdateAllocation UpdateAllocation");
    CHECK(rig.daemon.updates[0].second["releases"]["allocationsToRelease"][0]["allocationKey"] == "placed");
    const Value& changes = rig.daemon.updates[1].second["nodes"];
    REQUIRE(changes.size() == 2);
    CHECK(changes[0]["action"] == 2);
    CHECK(changes[0]["schedulableResource"]["vcore"] == 10);
    CHECK(changes[1]["action"] == 5);
    CHECK(rig.daemon.updates[2].second["nodes"][0]["action"] == 1);
    CHECK(rig.daemon.updates[3].second["asks"][0]["nodeID"] == "n");
}

TEST_CASE("I-239 I-242 what waits in quarantine is sent again if the books have it, else released") {
    const BooksFolder folder;
    Differing rig{folder.file()};
    const auto aside = [](const char* kind, const char* node, const char* application, const char* key) {
        return Value{{"kind", kind},
                     {"partitionName", "default"},
                     {"nodeID", node},
                     {"applicationID", application},
                     {"allocationKey", key}};
    };
    rig.daemon.quarantine = {aside("allocations", "m", "app", "placed"), aside("allocations", "m", "app", "strange"),
                             aside("nodes", "n", "", "")};
    rig.report();
    rig.steps();
    CHECK(rig.program.text() == "corrects 0/1/0/2, Recovering->Running, recovered: running");
    REQUIRE(rig.sent() == "UpdateAllocation UpdateNode UpdateNode UpdateAllocation UpdateAllocation");
    CHECK(rig.daemon.updates[0].second["releases"]["allocationsToRelease"].size() == 2);
    CHECK(rig.daemon.updates[1].second["nodes"].size() == 2);
    CHECK(rig.daemon.updates[3].second["asks"][0]["allocationKey"] == "placed");
}

TEST_CASE("I-239 asks that the core has beyond those of the books go, since no list names them") {
    const BooksFolder folder;
    Differing rig{folder.file()};
    rig.daemon.asks = 3;
    rig.report();
    rig.steps();
    REQUIRE(rig.sent() == "UpdateAllocation UpdateAllocation");
    CHECK(rig.daemon.updates[0].second["releases"]["allocationAsksToRelease"] ==
          Value{{{"partitionName", "default"},
                 {"applicationID", "app"},
                 {"terminationType", 1},
                 {"message", "the resource manager does not have it"}}});
    CHECK(rig.daemon.updates[1].second["asks"].size() == 1);
}

TEST_CASE("I-254 somebody has a recovery tried again: everything is compared before the first claim") {
    const BooksFolder folder;
    Differing rig{folder.file()};
    rig.report("failed");
    rig.steps();
    rig.daemon.has["allocations"].push_back(Differing::placed("more"));
    rig.daemon.put_state(si::CoreState::Failed, si::CoreState::Recovering);
    rig.steps(2);
    CHECK(rig.program.text() == "Failed->Recovering, corrects 0/1/0/0, Recovering->Running, recovered: running");
    CHECK(rig.daemon.listed == std::vector<std::string>{"nodes/all", "applications/all", "allocations/all"});
    CHECK(rig.daemon.updates[0].second["releases"]["allocationsToRelease"][0]["allocationKey"] == "more");
    CHECK(rig.daemon.attempts.back() == 1);
}

TEST_CASE("I-239 a comparison that the daemon is too busy for is made again") {
    const BooksFolder folder;
    Differing rig{folder.file()};
    rig.daemon.has["allocations"].clear();
    rig.report();
    rig.daemon.refuses = {"RecoveryList", si::ErrorCode::Busy};
    rig.steps(2);
    CHECK(rig.sent() == "UpdateAllocation");
    CHECK(rig.client->state() == State::Running);
}

} // namespace yk::testing
