// SPDX-License-Identifier: Apache-2.0
// MCS on a file of SQLite, driven by the test; the threads that write and look after the database are its own.
#include "ykd/mcs/mcs_application.h"

#include <catch2/catch.hpp>

#include <algorithm>

#include "protocol/databases/sqlite_connection.h"
#include "protocol/databases/sqlite_schema.h"
#include "tests/unit/ykd/mcs/mcs_instance.h"

using namespace yk;
using namespace yk::service;
using yk::testing::comes_true;
using yk::testing::Folder;
using yk::testing::Instance;

TEST_CASE("rs R-158 a write is answered when it is seen, and the Autoscaler follows it") {
    const Folder folder;
    Instance one{folder, "one"};
    REQUIRE(one.starts());
    const auto outcome = one.create("web", 3);
    REQUIRE(std::holds_alternative<mcs::Written>(outcome));
    REQUIRE(one.made->find("web") != nullptr); // by name
    CHECK(one.made->find("id-web") == one.made->find("web"));
    CHECK(one.made->count_with_new() == 1);
    CHECK(one.works_until([&] { return one.desired("web") == 3; }));
    const auto again = one.create("web", 4);
    REQUIRE(std::holds_alternative<mcs::Conflict>(again));
    CHECK(one.made->count_with_new() == 1);
    mcs::Deployment changed = *one.made->find("web");
    changed.replicas = 5;
    const mcs::Expect expect{changed.meta.uid, changed.meta.version};
    REQUIRE(std::holds_alternative<mcs::Written>(one.write(mcs::UpdateDeployment{changed, expect})));
    CHECK(one.made->find("web")->replicas == 5);
    CHECK(one.works_until([&] { return one.desired("web") == 5; }));
    REQUIRE(std::holds_alternative<mcs::Written>(
        one.write(mcs::DeleteDeployment{"id-web", {changed.meta.uid, 0}, std::nullopt})));
    CHECK(one.made->find("web") == nullptr);
    CHECK(one.made->count_with_new() == 0);
    CHECK(one.works_until([&] { return one.made->scales().size() == 0; }));
    CHECK(one.degraded.list().empty());
}

TEST_CASE("rs R-032 another name of the change log has every instance read all rows anew, and loses none") {
    const Folder folder;
    Instance one{folder, "one"};
    REQUIRE(one.starts());
    Instance two{folder, "two"};
    REQUIRE(two.starts());
    REQUIRE(std::holds_alternative<mcs::Written>(one.create("web", 3)));
    REQUIRE(two.works_until([&] { return two.made->find("web") != nullptr; }));
    const auto relists = [](const Instance& of) {
        const auto counts = of.made->manager().events().relists;
        const auto found = counts.find(rs::RelistReason::Epoch);
        return found == counts.end() ? 0 : found->second;
    };
    CHECK(relists(one) + relists(two) == 0);
    REQUIRE(two.made->operations().bump_epoch("another").ok());
    CHECK(one.works_until([&] { return relists(one) > 0; }));
    CHECK(two.works_until([&] { return relists(two) > 0; }));
    const auto written = one.create("late", 1);
    REQUIRE(std::holds_alternative<mcs::Written>(written));
    CHECK(std::get<mcs::Written>(written).position.epoch == "another");
    CHECK(two.works_until([&] { return two.made->find("late") != nullptr; }));
    CHECK(two.made->find("web") != nullptr);
    CHECK(one.works_until([&] { return one.desired("late") == 1; }));
}

TEST_CASE("rs R-158 who names a position is called once the caches show it, or when its patience ends") {
    using Seen = SeenWrites::Seen;
    const Folder folder;
    Instance one{folder, "one"};
    REQUIRE(one.starts());
    Instance two{folder, "two"};
    REQUIRE(two.starts());
    const auto written = std::get<mcs::Written>(one.create("web", 3));
    REQUIRE(one.works_until([&] { return one.desired("web") == 3; }));
    std::vector<Seen> seen;
    bool is_gone = false;
    std::string identity = "uid 1";
    const auto ask = [&](const rs::Cursor& position, Duration patience) {
        const Instant now = steady_instant();
        return two.made->seen().wait_for_position(position, now + patience,
                                                  {[&](Seen what) {
                                                       seen.push_back(what);
                                                       CHECK((what != Seen::Yes || two.made->find("web") != nullptr));
                                                   },
                                                   [&] { return is_gone; }, identity},
                                                  now);
    };
    REQUIRE(ask(written.position, std::chrono::seconds{60}));
    CHECK(two.works_until([&] { return seen == std::vector{Seen::Yes} && two.desired("web") == 3; }));
    REQUIRE(ask(written.position, {}));
    CHECK(seen == std::vector{Seen::Yes, Seen::Yes}); // at once
    seen.clear();
    rs::Cursor later = written.position, other = written.position;
    later.lanes.at(0).sequence += 1000;
    other.epoch = "other";
    REQUIRE(ask(later, {}));
    REQUIRE(ask(other, {}));
    CHECK(seen == std::vector{Seen::Late, Seen::Never});
    REQUIRE(ask(later, std::chrono::milliseconds{10}));
    CHECK(two.works_until([&] { return seen.size() == 3; }));
    seen.clear();
    for (int reader = 0; reader < 500; ++reader) REQUIRE(ask(later, std::chrono::seconds{60}));
    CHECK_FALSE(ask(later, std::chrono::seconds{60})); // others may
    identity = "uid 2";
    for (int reader = 0; reader < 500; ++reader) REQUIRE(ask(later, std::chrono::seconds{60}));
    identity = "uid 3";
    CHECK_FALSE(ask(later, std::chrono::seconds{60}));
    CHECK(ask(written.position, std::chrono::seconds{60}));
    is_gone = true;
    CHECK(ask(later, std::chrono::seconds{60})); // in the place of those that nobody waits for
    two.made->stop();
    CHECK(seen == std::vector{Seen::Yes, Seen::Late});
}

TEST_CASE("rs R-158 a position is not seen before what a full read found was read, where events were lost") {
    const Folder folder;
    Instance one{folder, "one"};
    REQUIRE(one.starts());
    Instance two{folder, "two"};
    REQUIRE(two.starts());
    REQUIRE(std::holds_alternative<mcs::Written>(one.create("web", 3)));
    REQUIRE(two.works_until([&] { return two.made->find("web") != nullptr; }));
    const std::string uid = two.made->find("web")->meta.uid;
    const auto deleted = std::get<mcs::Written>(one.write(mcs::DeleteDeployment{"id-web", {uid, 0}, std::nullopt}));
    auto connection = rs::SqliteConnection::open(folder.database(), {});
    REQUIRE(connection.ok());
    REQUIRE(rs::purge_log(**connection, deleted.position.lanes.at(0).sequence).ok()); // before `two` has seen it
    std::optional<SeenWrites::Seen> seen;
    const Instant now = steady_instant();
    REQUIRE(two.made->seen().wait_for_position(deleted.position, now + std::chrono::seconds{60},
                                               {[&](SeenWrites::Seen what) {
                                                    seen = what;
                                                    CHECK(two.made->find("web") == nullptr);
                                                },
                                                [] { return false; }, "uid 1"},
                                               now));
    CHECK(two.works_until([&] { return seen.has_value(); }));
    CHECK(seen == SeenWrites::Seen::Yes);
}

TEST_CASE("rs R-155 what becomes of MCS itself is an event, once") {
    const Folder folder;
    Instance one{folder, "one"};
    REQUIRE(one.starts());
    REQUIRE(one.works_until([&] { return one.leads(); }));
    const auto count = [&](std::string_view text) {
        return std::count_if(one.events.begin(), one.events.end(),
                             [&](const std::string& each) { return each.starts_with(text); });
    };
    CHECK(count("synced") == 1);
    CHECK(count("lease autoscaler: held") == 1);
    CHECK(count("resync") == 0); // what goes its normal way is none
}

TEST_CASE("F-32 leases that cannot be written are said with the reason") {
    const Folder folder;
    McsSettings settings;
    settings.lease_ttl = std::chrono::milliseconds{1500};
    Instance one{folder, "one", settings};
    REQUIRE(one.starts());
    REQUIRE(one.works_until([&] { return one.leads(); }));
    auto connection = rs::SqliteConnection::open(folder.database(), {});
    REQUIRE(connection.ok());
    REQUIRE((*connection)
                ->run("CREATE TRIGGER full BEFORE UPDATE ON lease BEGIN SELECT RAISE(ABORT, 'the disk is full'); END")
                .ok());
    const auto has = [&](const std::string& text) {
        return std::find(one.events.begin(), one.events.end(), text) != one.events.end();
    };
    CHECK(one.works_until([&] {
        return has("lease autoscaler: in doubt, nothing is written: it cannot be renewed: the disk is full") &&
               has("leases: none can be written, and nobody leads here once they have run out: the disk is full");
    }));
    CHECK(one.degraded.list_of("mcs") == std::vector<std::string>{"MCS, leases: the disk is full"});
    REQUIRE((*connection)->run("DROP TRIGGER full").ok());
    CHECK(one.works_until([&] { return one.degraded.list().empty(); }));
}

TEST_CASE("rs R-158 Deployments that are being made count before they are seen") {
    const Folder folder;
    Instance one{folder, "one"};
    REQUIRE(one.starts());
    mcs::Deployment row;
    row.meta.id = "d";
    row.name = "web";
    row.max_replicas = 1;
    one.made->write(mcs::InsertDeployment{row, false}, [](const mcs::WriteOutcome&) {});
    row.meta.id = "e"; // the name is in use: it is none in the end
    one.made->write(mcs::InsertDeployment{row, false}, [](const mcs::WriteOutcome&) {});
    CHECK(one.made->count_with_new() == 2);
    CHECK(one.works_until([&] { return one.made->count_with_new() == 1 && one.made->find("web") != nullptr; }));
}

TEST_CASE("rs R-144 rs R-140 an instance that stops writes what it was given, and the other one leads at once") {
    const Folder folder;
    Instance one{folder, "one"};
    REQUIRE(one.starts());
    REQUIRE(one.works_until([&] { return one.leads(); }));
    Instance two{folder, "two"};
    REQUIRE(two.starts());
    CHECK_FALSE(two.leads());
    REQUIRE(std::holds_alternative<mcs::Written>(two.create("api", 2))); // users may write at each
    REQUIRE(one.works_until([&] { return one.desired("api") == 2; }));
    REQUIRE(two.works_until([&] { return two.desired("api") == 2; }));
    bool is_written = false;
    mcs::Deployment row;
    row.meta.id = "id-web";
    row.name = "web";
    row.max_replicas = 9;
    row.replicas = 4;
    one.made->write(mcs::InsertDeployment{row, false},
                    [&](const mcs::WriteOutcome& came) { is_written = std::holds_alternative<mcs::Written>(came); });
    one.made->stop();
    CHECK(is_written);
    one.made.reset();
    CHECK(two.works_until([&] { return two.leads() && two.desired("web") == 4; }));
    CHECK(two.made->lease(mcs::kAutoscalerService, steady_instant())->epoch == 2);
}

TEST_CASE("rs R-145 without leases the instance leads from the start") {
    const Folder folder;
    McsSettings settings;
    settings.lease_enabled = false;
    Instance one{folder, "one", settings};
    REQUIRE(one.starts());
    CHECK(one.leads());
    REQUIRE(std::holds_alternative<mcs::Written>(one.create("web", 3)));
    CHECK(one.works_until([&] { return one.desired("web") == 3; }));
    CHECK(one.made->scales().get("id-web")->writer_epoch == 0);
}

TEST_CASE("rs R-120 with nothing to do it waits") {
    const Folder folder;
    Instance one{folder, "one"};
    REQUIRE(one.starts());
    REQUIRE(std::holds_alternative<mcs::Written>(one.create("web", 3)));
    REQUIRE(one.works_until([&] { return one.desired("web") == 3; }));
    REQUIRE(comes_true([&] { return !one.made->work(steady_instant()); }));
    const Instant now = steady_instant();
    CHECK(one.made->next_due(now) > now);
    CHECK(one.made->next_due(now) - now <= std::chrono::seconds{1});
}
