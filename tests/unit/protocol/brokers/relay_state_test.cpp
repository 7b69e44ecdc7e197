// SPDX-License-Identifier: Apache-2.0
// What a relay notes, in real databases.
#include "protocol/brokers/relay_state.h"

#include <catch2/catch.hpp>

#include "tests/support/databases/state_database.h"

namespace yk::rs {
namespace {

const RelayState kState{{"first", {{3, 17}}}, {{{"t.a", 0}, {3, 12}}, {{"t.a", 1}, {3, 17}}, {{"t.b", 0}, {2, 5}}}};

} // namespace

TEST_CASE("rs R-048 a relay finds what it has noted in each database, all of it or nothing") {
    testing::StateDatabase database{YK_EACH_DATABASE};
    RelayTable table{*database.connection, std::nullopt};
    CHECK(*table.load("kafka") == std::nullopt);
    REQUIRE(table.save("kafka", kState).ok());
    CHECK(RelayTable{*database.connection, std::nullopt}.load("kafka").value() == kState);
    RelayState later = kState;
    later.cursor.lanes[0] = {3, 19};
    later.last[{"t.b", 0}] = {3, 19};
    REQUIRE(table.save("kafka", later).ok());
    CHECK(*table.load("kafka") == later);
    CHECK(database.count("relay_state") == 4);
    CHECK(*table.load("another broker") == std::nullopt); // which has nothing of what was sent
    const RelayState fresh{{"second", {{1, 1}}}, {{{"u.a", 0}, {1, 1}}}};
    REQUIRE(table.save("another broker", fresh).ok());
    CHECK(*table.load("another broker") == fresh);
    CHECK(*table.load("kafka") == std::nullopt);
    CHECK(database.count("relay_state") == 2);
}

TEST_CASE("rs R-046, rs R-141 whoever has lost the lease of the relay neither reads nor notes a state") {
    testing::StateDatabase database{YK_EACH_DATABASE};
    database.type("UPDATE lease SET holder = 'me', epoch = 7 WHERE name = 'relay'");
    RelayTable mine{*database.connection, RelayLease{"me", 7}};
    REQUIRE(mine.load("kafka").ok());
    REQUIRE(mine.save("kafka", kState).ok());
    database.type("UPDATE lease SET holder = 'other', epoch = 8 WHERE name = 'relay'");
    RelayState later = kState;
    later.cursor.lanes[0] = {4, 1};
    CHECK(mine.save("kafka", later).error().fault == StoreFault::Fenced);
    CHECK(mine.load("kafka").error().fault == StoreFault::Fenced);
    const auto connection = database.open();
    RelayTable other{*connection, RelayLease{"other", 8}};
    CHECK(*other.load("kafka") == kState);
    REQUIRE(other.save("kafka", later).ok());
    CHECK(*other.load("kafka") == later);
}

TEST_CASE("rs R-016 what a relay has sent of this log may be purged, whichever process it is") {
    testing::StateDatabase database{YK_EACH_DATABASE};
    const auto other = database.open();
    CHECK(*relayed_up_to(*other) == Position{});
    const auto log = database.place->open_log();
    const auto latest = log->capture();
    REQUIRE(latest.ok());
    RelayState state = kState;
    state.cursor.epoch = latest->cursor().epoch;
    RelayTable table{*database.connection, std::nullopt};
    REQUIRE(table.save("kafka", state).ok());
    CHECK(*relayed_up_to(*other) == Position{3, 17});
    state.cursor.epoch = "before a restore";
    REQUIRE(table.save("kafka", state).ok());
    CHECK(*relayed_up_to(*other) == Position{});
}

TEST_CASE("rs R-056 what a relay has sent is compared with the last event that it could have read") {
    testing::StateDatabase database{YK_EACH_DATABASE};
    const auto progress = [&] {
        const auto asked = relay_progress(*database.connection);
        REQUIRE(asked.ok());
        return *asked;
    };
    CHECK_FALSE(progress().last.has_value()); // nothing was written
    database.type("INSERT INTO change_log(kind, op, id, at_ms) VALUES(1, 1, 'a', 0)");
    database.type("INSERT INTO change_log(kind, op, id, at_ms) VALUES(1, 1, 'b', 0)");
    const auto log = database.place->open_log();
    const auto latest = log->capture();
    REQUIRE(latest.ok());
    REQUIRE(progress().last.has_value());
    CHECK(progress().sent == Position{});
    RelayState state{{latest->cursor().epoch, {*progress().last}}, {}};
    RelayTable table{*database.connection, std::nullopt};
    REQUIRE(table.save("kafka", state).ok());
    CHECK(progress().sent == *progress().last);
    database.type("INSERT INTO change_log(kind, op, id, at_ms) VALUES(1, 1, 'c', 0)");
    CHECK(progress().sent < *progress().last);
}

TEST_CASE("a state that cannot be read is no reason to begin anew") {
    testing::StateDatabase database{YK_EACH_DATABASE};
    database.type("INSERT INTO relay_state(topic, part, cursor, log_epoch) VALUES('kafka', -1, 'x', 'first')");
    RelayTable table{*database.connection, std::nullopt};
    CHECK(table.load("kafka").error().fault == StoreFault::Fatal);
}

} // namespace yk::rs
