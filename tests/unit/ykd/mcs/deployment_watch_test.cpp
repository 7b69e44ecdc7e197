// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/deployment_watch.h"

#include <catch2/catch.hpp>

#include "tests/support/mcs/autoscaler_world.h"

using namespace yk;
using namespace yk::service;
using namespace yk::testing;

namespace {

/// Deployments with an Autoscaler that keeps their scales, and somebody who watches.
struct Watched {
    explicit Watched(std::size_t most_kept = 1000) : watch("life", most_kept) {
        watch.attach(world.deployments, world.scales, world.schedules, world.now);
    }
    void start() {
        world.start();
        cursor = watch.read("", 100).cursor;
    }
    void add(const std::string& id, std::int64_t replicas = 1) {
        world.deployment_rows.create(deployment(id, 0, 10, replicas));
        world.settle();
    }
    void scale(const std::string& id, std::int64_t replicas) {
        world.change(id, [&](mcs::Deployment& row) { row.replicas = replicas; });
        world.settle();
    }
    void drop(const std::string& id) {
        world.drop(id);
        world.settle();
    }
    /// What is behind the cursor: `added a, deleted b`; the cursor goes on.
    std::string next(std::size_t most = 100) {
        const auto page = watch.read(cursor, most);
        cursor = page.cursor;
        std::string text = page.is_resync ? "resync" : "";
        for (const DeploymentChange& each : page.changes)
            text += (text.empty() ? "" : ", ") + std::string{name_of(each.what)} + " " + each.name;
        return text + (page.has_more ? " ..." : "");
    }
    /// Waits at the cursor; how often it was called is counted.
    [[nodiscard]] bool wait(int& calls, Duration patience = std::chrono::seconds{10}, bool is_gone = false) {
        return watch.wait(cursor, world.now + patience,
                          {[&calls](Instant) { ++calls; }, [is_gone] { return is_gone; }});
    }

    AutoscalerWorld world;
    DeploymentWatch watch;
    std::string cursor;
};

} // namespace

TEST_CASE("rs R-160 a cursor begins now, and each Deployment that changed behind it is there once") {
    Watched watched;
    watched.world.deployment_rows.create(deployment("there", 0, 10, 1));
    watched.start();
    CHECK(watched.next().empty());
    watched.add("web");
    CHECK(watched.next() == "added web"); // with its scale, which came after it
    CHECK(watched.next().empty());
    watched.scale("web", 3);
    watched.scale("there", 2);
    watched.scale("web", 4);
    CHECK(watched.next() == "modified there, modified web");
    watched.drop("web");
    CHECK(watched.next() == "deleted web");
}

TEST_CASE("rs R-160 what is deleted before handlers were called for all that is there at the start is not missed") {
    Watched watched;
    watched.world.deployment_rows.create(deployment("there", 0, 10, 1));
    watched.world.lead(1);
    watched.world.manager.start(watched.world.now);
    while (!watched.world.manager.is_running()) REQUIRE(drive(watched.world.manager, watched.world.now));
    watched.cursor = watched.watch.read("", 100).cursor;
    watched.drop("there");
    CHECK(watched.next() == "deleted there");
}

TEST_CASE("rs R-160 what came and went between two looks is shown as gone, and a new life by itself") {
    Watched watched;
    watched.start();
    watched.add("web");
    watched.drop("web");
    CHECK(watched.next() == "deleted web");
    watched.add("web");
    CHECK(watched.next() == "added web");
    watched.drop("web");
    watched.add("web");
    CHECK(watched.next() == "deleted web, added web");
}

TEST_CASE("rs R-160 a page ends where it is full") {
    Watched watched;
    watched.start();
    for (const char* id : {"a", "b", "c"}) {
        watched.world.deployment_rows.create(deployment(id, 0, 10, 1));
        watched.world.settle();
    }
    std::string all;
    for (int pages = 0; pages < 100; ++pages) {
        const std::string page = watched.next(1);
        if (page.empty()) break;
        all += page + "; ";
    }
    CHECK(all == "added a ...; modified a ...; added b ...; modified b ...; added c ...; modified c; ");
}

TEST_CASE("rs R-160 changes of one Deployment among many are found a few thousand at a time") {
    Watched watched{100'000};
    watched.start();
    watched.add("web");
    watched.add("other");
    for (std::int64_t times = 0; times < 1500; ++times) watched.scale("other", 1 + times % 7);
    watched.scale("web", 9);
    std::string cursor = watched.cursor, seen;
    int pages = 0;
    for (bool has_more = true; has_more; ++pages) {
        const auto page = watched.watch.read(cursor, 100, "web");
        for (const DeploymentChange& each : page.changes)
            seen += std::string{name_of(each.what)} + " " + each.name + "; ";
        has_more = page.has_more;
        cursor = page.cursor;
    }
    CHECK(pages > 1);
    CHECK(seen == "added web; modified web; ");
}

TEST_CASE("rs R-160 a cursor that fell out, of another life, or made up, means that all is to be listed") {
    Watched watched{4};
    watched.start();
    watched.add("web");
    for (std::int64_t replicas = 2; replicas < 7; ++replicas) watched.scale("web", replicas);
    CHECK(watched.next() == "resync");
    CHECK(watched.next().empty()); // it goes on from there
    watched.scale("web", 1);
    CHECK(watched.next() == "modified web");
    for (const char* wrong : {"life-", "life-99", "life--1", "other-1", "life-1x", "-", "life"}) {
        watched.cursor = wrong;
        CHECK(watched.next() == "resync");
    }
}

TEST_CASE("rs R-160 who waits is called when something has changed, when it is tired, and at the end") {
    Watched watched;
    watched.start();
    int calls = 0;
    REQUIRE(watched.wait(calls));
    CHECK_FALSE(watched.watch.turn(watched.world.now));
    CHECK(watched.watch.next_due() == watched.world.now + std::chrono::seconds{10});
    watched.add("web");
    CHECK(watched.watch.turn(watched.world.now));
    CHECK_FALSE(watched.watch.turn(watched.world.now));
    CHECK(calls == 1);
    REQUIRE(watched.wait(calls)); // its cursor is behind already
    CHECK(watched.watch.turn(watched.world.now));
    CHECK(calls == 2);
    watched.next();
    REQUIRE(watched.wait(calls));
    CHECK(watched.watch.turn(watched.world.now + std::chrono::seconds{10}));
    CHECK(calls == 3);
    REQUIRE(watched.wait(calls));
    watched.watch.stop(watched.world.now);
    CHECK(calls == 4);
    CHECK_FALSE(watched.watch.next_due());
}

TEST_CASE("rs R-160 as many wait as may, and those whose peer is gone make room") {
    Watched watched;
    watched.start();
    int calls = 0;
    for (int each = 0; each < 4095; ++each) REQUIRE(watched.wait(calls));
    REQUIRE(watched.wait(calls, std::chrono::seconds{10}, true));
    CHECK(watched.wait(calls));
    CHECK_FALSE(watched.wait(calls));
    CHECK(calls == 0);
}

TEST_CASE("rs R-160 a full read that finds no difference is no change") {
    Watched watched;
    watched.start();
    watched.add("web");
    watched.next();
    watched.world.manager.request_resync(mcs::kDeploymentKind, watched.world.now);
    watched.world.settle();
    CHECK(watched.next().empty());
}
