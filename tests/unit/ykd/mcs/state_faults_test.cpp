// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/state_faults.h"

#include <catch2/catch.hpp>

#include "tests/support/resource_state/world.h"

namespace yk::service {

using namespace std::chrono_literals;
using testing::album;
using testing::AlbumWorld;

namespace {

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("rs R-154 rs R-071 a row that cannot be understood is named until it can") {
    AlbumWorld world;
    for (const char* id : {"a", "b", "c"}) world.rows.create(album(id));
    world.rows.broken = {"b", "c"};
    const Instant begun = world.now;
    world.start();
    const auto faults = faults_of(world.manager, {}, begun, world.now);
    CHECK(has(faults.rows, "2 rows cannot be understood"));
    CHECK(has(faults.rows, "album b: not to be understood"));
    CHECK(faults.resync.empty());
    CHECK(faults.start.empty());
    world.rows.broken.clear();
    for (const char* id : {"b", "c"}) world.rows.change(id, [](auto& row) { row.title += "!"; });
    world.pass(1s);
    CHECK(faults_of(world.manager, {}, begun, world.now).rows.empty());
}

TEST_CASE("rs R-154 a full read that does not come to its end for three periods is said") {
    rs::Settings settings;
    settings.resync.period = 1min;
    AlbumWorld world{settings};
    world.rows.create(album("a"));
    const Instant begun = world.now;
    world.start();
    world.pass(10min);
    CHECK(faults_of(world.manager, settings, begun, world.now).resync.empty());
    world.database.store_fault = [](std::string_view) -> std::optional<rs::StoreError> {
        return rs::StoreError{rs::StoreFault::Fatal, "no such table"};
    };
    world.pass(5min);
    const std::string fault = faults_of(world.manager, settings, begun, world.now).resync;
    INFO(fault);
    CHECK(has(fault, "album"));
    CHECK(has(fault, "mcs.resync.period is 60 s"));
    world.database.store_fault = nullptr;
    world.pass(2min);
    CHECK(faults_of(world.manager, settings, begun, world.now).resync.empty());
}

TEST_CASE("F-24 rs R-154 a start that begins again and again, or takes long, is said with what helps") {
    AlbumWorld world;
    world.rows.create(album("a"));
    bool purges = true;
    world.database.store_fault = [&](std::string_view) -> std::optional<rs::StoreError> {
        if (!purges) return std::nullopt;
        world.database.append(rs::Kind{1}, "nobody", rs::Op::Update);
        world.database.purge(world.database.last());
        return std::nullopt;
    };
    const Instant begun = world.now;
    const rs::Settings settings;
    world.manager.start(world.now);
    world.pass(10s);
    CHECK(has(faults_of(world.manager, settings, begun, world.now).start, "raise mcs.log.retention"));
    world.database.store_fault = [](std::string_view) -> std::optional<rs::StoreError> {
        return rs::StoreError{rs::StoreFault::Fatal, "no such table"};
    };
    world.pass(10s); // now it begins again for another reason
    const std::string other = faults_of(world.manager, settings, begun, world.now).start;
    INFO(other);
    CHECK(has(other, "for this reason: a read of album failed: no such table"));
    CHECK_FALSE(has(other, "mcs.log.retention"));
    world.database.store_fault = nullptr;
    purges = false;
    world.pass(10s);
    CHECK(faults_of(world.manager, settings, begun, world.now).start.empty());

    AlbumWorld slow;
    slow.database.is_log_down = true;
    slow.manager.start(slow.now);
    slow.pass(2min);
    CHECK(has(faults_of(slow.manager, settings, begun, slow.now).start, "takes 120 s already"));
}

} // namespace yk::service
