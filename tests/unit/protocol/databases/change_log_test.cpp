// SPDX-License-Identifier: Apache-2.0
// The change log of real databases, by itself and below the framework.
#include <catch2/catch.hpp>

#include "tests/support/databases/followed_rows.h"

namespace yk::mcs {
namespace {

struct Logged : testing::StateDatabase {
    using StateDatabase::StateDatabase;

    void type_node(const std::string& id) const { type(testing::insert_node(id, "u" + id)); }
};

} // namespace

TEST_CASE("rs R-007, rs R-013 each database logs every change of a row, also that of a person with a shell") {
    Logged database{YK_EACH_DATABASE};
    database.type_node("a");
    database.type("UPDATE node SET version = version + 1, schedulable = 0");
    database.type("DELETE FROM node");
    CHECK(database.events() == "1 4 a,2 4 a,3 4 a");
    CHECK(database.list("SELECT uid || version FROM change_log ORDER BY seq") == "ua1,ua2,ua2");
    database.type("BEGIN; " + testing::insert_node("b", "ub") + "; ROLLBACK");
    CHECK(database.events() == "1 4 a,2 4 a,3 4 a");
}

TEST_CASE(
    "rs R-036, rs R-038, rs R-040, rs R-042 the log goes on where it was opened, also when what was read is purged") {
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
    if (database.engine == testing::Engine::Sqlite) CHECK(log->capture()->cursor() == latest->cursor());
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
    const auto log = database.place->open_log();
    testing::check_that_caches_follow(database, *log, [] {}); // what is committed is in the log
}

} // namespace yk::mcs
