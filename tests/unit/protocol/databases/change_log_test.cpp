// SPDX-License-Identifier: Apache-2.0
// The change log of real databases, by itself and below the framework.
#include <set>

#include <catch2/catch.hpp>

#include "tests/support/databases/state_database.h"
#include "tests/support/resource_state/world.h"

namespace yk::mcs {
namespace {

using namespace std::chrono_literals;

struct Logged : testing::StateDatabase {
    using StateDatabase::StateDatabase;

    static std::string insert(const std::string& id, const std::string& uid) {
        return "INSERT INTO node VALUES('" + id + "', '" + uid + "', 1, '{}', '{}', '{}', 1, 10, 20)";
    }
    void type_node(const std::string& id) const { type(insert(id, "u" + id)); }
};

} // namespace

TEST_CASE("rs R-007 each database logs every change of a row, also that of a person with a shell") {
    Logged database{YK_EACH_DATABASE};
    database.type_node("a");
    database.type("UPDATE node SET version = version + 1, schedulable = 0");
    database.type("DELETE FROM node");
    CHECK(database.events() == "1 4 a,2 4 a,3 4 a");
    CHECK(database.list("SELECT uid || version FROM change_log ORDER BY seq") == "ua1,ua2,ua2");
    database.type("BEGIN; " + Logged::insert("b", "ub") + "; ROLLBACK");
    CHECK(database.events() == "1 4 a,2 4 a,3 4 a");
}

TEST_CASE("rs R-036, rs R-040 the log goes on where it was opened, also when what was read is purged") {
    Logged database{YK_EACH_DATABASE};
    const auto log = database.place->open_log();
    database.type_node("a");
    const auto captured = log->capture();
    REQUIRE(captured.ok());
    database.type_node("b");
    database.type_node("c");
    REQUIRE(log->open(*captured).ok());
    auto batch = log->poll(1);
    REQUIRE(batch.ok());
    REQUIRE(batch->events.size() == 1);
    CHECK(batch->events[0].id == "b");
    CHECK(batch->events[0].op == rs::Op::Insert);
    CHECK(batch->events[0].uid == "ub");
    CHECK(batch->events[0].kind == kNodeKind);
    CHECK(batch->may_have_more);
    CHECK_FALSE(reaches(batch->position, log->capture()->cursor()));
    CHECK(log->poll(9)->events.at(0).id == "c");
    const auto latest = log->capture();
    CHECK(log->poll(9)->events.empty());
    CHECK(reaches(log->poll(9)->position, latest->cursor()));
    database.place->purge_log(*database.connection);
    CHECK(database.events().empty());
    CHECK(log->poll(9).ok()); // everything that was purged had been read
    CHECK(log->capture()->cursor() >= latest->cursor());
    database.type_node("d");
    CHECK(log->poll(9)->events.at(0).id == "d");
}

TEST_CASE("rs R-015 what was purged before it was read is a gap on each database") {
    Logged database{YK_EACH_DATABASE};
    const auto log = database.place->open_log();
    const auto captured = log->capture();
    database.type_node("a");
    REQUIRE(log->open(*captured).ok());
    database.place->purge_log(*database.connection);
    const auto gap = log->poll(9);
    REQUIRE_FALSE(gap.ok());
    CHECK(gap.error().what == rs::LogFault::What::Gap);
    CHECK(gap.error().reason == rs::RelistReason::Purged);
    CHECK(log->open(*captured).error().reason == rs::RelistReason::Purged);
}

TEST_CASE("rs R-158 whoever consumed the log up to the position of a write has its event") {
    Logged database{YK_EACH_DATABASE};
    const auto log = database.place->open_log();
    REQUIRE(log->open(*log->capture()).ok());
    const WriteRequest request{testing::kApi, InsertDeployment{Logged::deployment("a"), false}};
    const WriteRequest* const requests[] = {&request};
    const auto outcome = database.group->write(requests).outcomes.at(0);
    REQUIRE(std::holds_alternative<Written>(outcome));
    const auto batch = log->poll(9);
    CHECK(batch->events.at(0).id == "a");
    CHECK(reaches(batch->position, std::get<Written>(outcome).position));
    CHECK(std::get<Written>(outcome).position.covers(0, batch->events[0].at));
}

TEST_CASE("the framework over a database: caches follow what others write, and a restart finds everything") {
    Logged database{YK_EACH_DATABASE};
    const auto reading = database.open();
    const auto rows = database.store<Node>(*reading);
    const auto log = database.place->open_log();
    testing::KeptNotices notices;
    Instant now{1'000'000'000'000};
    rs::Settings settings;
    settings.resync.page = 3;
    rs::Chance chance{11};
    const auto run_for = [&](rs::StateManager& manager, Duration time) {
        const Instant end = now + time;
        for (; now < end; now = std::max(now + 1ms, manager.next_due(now).value()))
            while (drive(manager, now)) {
            }
    };
    const auto change = [&](int serial) {
        const std::string id{static_cast<char>('a' + chance.next() % 10)};
        switch (chance.next() % 3) {
        case 0: return database.type("DELETE FROM node WHERE id = '" + id + "'");
        case 1: return database.type("UPDATE node SET version = version + 1, schedulable = 1 WHERE id = '" + id + "'");
        default: static_cast<void>(database.connection->run(Logged::insert(id, "u" + std::to_string(serial))));
        }
    };
    int serial = 0;
    for (int life = 0; life < 3; ++life) {
        rs::StateManager manager{*log, notices, settings, 1};
        auto& nodes = manager.add(*rows);
        testing::KeptCalls<Node> calls;
        nodes.add_handler(calls, {}, now);
        manager.start(now);
        for (int round = 0; round < 30; ++round) {
            for (int each = 0; each < 5; ++each) change(++serial);
            if (round % 7 == 3) database.place->purge_log(*database.connection);
            run_for(manager, 100ms);
            std::set<std::string> cached;
            nodes.cache().for_each([&](const rs::Ptr<Node>& one) {
                cached.insert(one->meta.id + one->meta.uid + std::to_string(one->meta.version));
            });
            std::string text;
            for (const std::string& one : cached) text += (text.empty() ? "" : ",") + one;
            CHECK(text == database.list("SELECT id || uid || version FROM node ORDER BY id"));
        }
        CHECK(manager.is_running());
        CHECK(nodes.reconciler().counters().repairs == 0);
        CHECK_FALSE(calls.calls.empty());
        for (int each = 0; each < 20; ++each) change(++serial); // while nobody looks
    }
}

} // namespace yk::mcs
