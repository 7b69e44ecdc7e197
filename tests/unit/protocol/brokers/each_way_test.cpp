// SPDX-License-Identifier: Apache-2.0
// What a change log promises, of each database by each transport.
#include <catch2/catch.hpp>

#include "tests/support/brokers/event_way.h"
#include "tests/support/databases/followed_rows.h"

namespace yk::rs {
namespace {

/// The events of a key, as their operations in order.
std::string operations(const std::vector<ChangeEvent>& events, std::string_view id) {
    std::string all;
    for (const ChangeEvent& event : events)
        if (event.id == id) all += std::to_string(static_cast<int>(event.op));
    return all;
}

} // namespace

TEST_CASE("rs R-006, rs R-036 each way of events gives what comes after a capture, in order for each key") {
    const auto [engine, transport] = YK_EACH_WAY;
    testing::StateDatabase database{engine};
    testing::EventWay way{database, transport};
    ChangeLog& log = way.log();
    database.type(testing::insert_node("before", "u0"));
    way.pass_on();
    const auto captured = log.capture();
    REQUIRE(captured.ok());
    for (const char* id : {"a", "b", "c"}) database.type(testing::insert_node(id, std::string{"u"} + id));
    database.type("UPDATE node SET version = version + 1 WHERE id <> 'before'");
    database.type("DELETE FROM node WHERE id = 'b'");
    database.type(testing::insert_node("b", "again"));
    way.pass_on();
    REQUIRE(log.open(*captured).ok());
    const auto batch = log.poll(100);
    REQUIRE(batch.ok());
    CHECK(batch->events.size() == 8);
    CHECK(batch->unreadable.empty());
    CHECK(operations(batch->events, "a") == "12");
    CHECK(operations(batch->events, "b") == "1231");
    CHECK(operations(batch->events, "c") == "12");
    for (const ChangeEvent& event : batch->events) CHECK(event.kind == mcs::kNodeKind);
    CHECK(reaches(batch->position, log.capture()->cursor()));
    CHECK(log.poll(100)->events.empty());
    CHECK(Cursor::parse(batch->position.text()) == batch->position);
}

TEST_CASE(
    "rs R-036 the framework over each database by each way of events: caches follow, and a restart finds everything") {
    const auto [engine, transport] = YK_EACH_WAY;
    testing::StateDatabase database{engine};
    testing::EventWay way{database, transport};
    testing::check_that_caches_follow(database, way.log(), [&] { way.pass_on(); });
}

} // namespace yk::rs
