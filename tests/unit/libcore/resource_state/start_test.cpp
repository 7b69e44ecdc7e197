// SPDX-License-Identifier: Apache-2.0
// The start: every change at every moment of it, and everything that can go wrong between its steps.
#include <functional>
#include <memory>

#include <catch2/catch.hpp>

#include "tests/support/resource_state/world.h"

namespace yk::testing {

using namespace std::chrono_literals;
using rs::StoreError;
using rs::StoreFault;
using Calls = std::vector<std::string>;

namespace {

rs::Settings in_small_pages() {
    rs::Settings settings;
    settings.resync.period = {}; // nothing may be left for a resync to find
    settings.resync.page = 2;
    return settings;
}

/// A start that is carried out step by step; running a call and taking its answer over are two.
struct SteppedWorld : AlbumWorld {
    explicit SteppedWorld(const rs::Settings& settings = in_small_pages()) : AlbumWorld(settings) {
        for (const char* id : {"b", "d", "f", "h"}) rows.create(album(id));
        albums.add_handler(calls, {}, now);
        manager.start(now);
    }
    /// False: nothing is to be done now.
    bool step() { return stepped.step(manager, now); }
    /// To the end, however long it takes; false: it does not come.
    bool finish(Duration within = 1min) {
        const Instant end = now + within;
        while (now < end) {
            while (step()) {
            }
            if (manager.is_running() && difference().empty()) return true;
            now = now + 10ms;
        }
        return false;
    }
    /// What the handler was told must be what is there.
    [[nodiscard]] std::string known() const {
        std::map<std::string, std::string> known;
        for (const std::string& call_text : calls.calls) {
            const std::string id = call_text.substr(call_text.find(' ') + 1, 1);
            if (call_text.starts_with("delete"))
                known.erase(id);
            else
                known[id] = call_text.substr(call_text.rfind('v'));
        }
        std::string text;
        for (const auto& [id, version] : known) text += id + version + ' ';
        return text;
    }
    [[nodiscard]] std::string there() {
        std::string text;
        for (const auto& [id, row] : rows.rows()) text += id + "v" + std::to_string(row.meta.version) + ' ';
        return text;
    }

    KeptCalls<Album> calls;
    SteppedCalls stepped;
};

/// Starts once for each boundary between two steps, and does `what` there.
void at_every_boundary(const std::function<void(SteppedWorld&)>& what,
                       const std::function<void(SteppedWorld&)>& afterwards = {}) {
    bool more = true;
    int boundaries = 0;
    for (int boundary = 0; more; ++boundary) {
        SteppedWorld world;
        int steps = 0;
        while (steps < boundary && world.step()) ++steps;
        more = steps == boundary && !world.manager.is_running();
        what(world);
        INFO("after step " << boundary);
        if (afterwards) {
            for (int each = 0; each < 300; ++each) {
                while (world.step()) {
                }
                world.now = world.now + 10ms;
            }
            afterwards(world);
        }
        REQUIRE(world.finish());
        while (world.step()) {
        }
        CHECK(world.known() == world.there());
        CHECK(world.albums.cache().check().empty());
        boundaries = boundary;
    }
    CHECK(boundaries >= 15); // three steps for each call
}

void rename(SteppedWorld& world, std::string_view id) {
    world.rows.change(id, [](Album& one) { one.title += "!"; });
}

} // namespace

TEST_CASE("rs R-066 no handler runs before every kind is synced, and a log is captured before anything is read") {
    MemoryDatabase database;
    MemoryStore<Album> albums{database};
    MemoryStore<Cover> covers{database};
    MemoryChangeLog log{database};
    KeptNotices notices;
    rs::StateManager manager{log, notices, in_small_pages(), 1};
    auto& all_albums = manager.add(albums);
    auto& all_covers = manager.add(covers);
    KeptCalls<Album> calls;
    calls.answer = [&](const rs::EventContext& context) {
        CHECK(all_covers.cache().is_synced());
        CHECK(all_covers.cache().size() == 5);
        CHECK(context.cause == rs::Cause::Initial);
        return rs::HandlerResult::ok();
    };
    const Instant now{0};
    all_albums.add_handler(calls, {}, now);
    for (int each = 0; each < 5; ++each) {
        albums.create(album("id" + std::to_string(each)));
        Cover cover;
        cover.meta.id = "id" + std::to_string(each);
        covers.create(cover);
    }
    CHECK_FALSE(manager.turn(now)); // nothing before start()
    CHECK(manager.next_call(now) == nullptr);
    CHECK_FALSE(manager.next_due(now).has_value());
    manager.start(now);
    CHECK(manager.phase() == rs::StateManager::Phase::Capturing);
    CHECK(albums.pages == 0);
    while (drive(manager, now)) {
        if (manager.position().epoch.empty()) CHECK(calls.calls.empty());
    }
    CHECK(albums.pages == 3);
    CHECK(calls.calls.size() == 5);
    CHECK(notices.lines == std::vector<std::string>{"synced: 0.10@first"});
}

TEST_CASE("rs R-067 a change at any moment of the start is in the cache after it (section 8, rows 1 to 10)") {
    SECTION("an insert before, between and behind the pages") {
        at_every_boundary([](SteppedWorld& world) {
            for (const char* id : {"a", "e", "i"}) world.rows.create(album(id));
        });
    }
    SECTION("an update") {
        at_every_boundary([](SteppedWorld& world) { rename(world, "b"), rename(world, "h"); });
    }
    SECTION("a delete") {
        at_every_boundary([](SteppedWorld& world) { world.rows.drop("b"), world.rows.drop("h"); });
    }
    SECTION("a delete and a new life") {
        at_every_boundary([](SteppedWorld& world) {
            world.rows.drop("d");
            world.rows.create(album("d", "second life"));
        });
    }
    SECTION("all of them again and again") {
        SteppedWorld world;
        int each = 0;
        while (!world.manager.is_running()) {
            const std::string id = std::string{"n"} + static_cast<char>('a' + each % 26);
            if (world.rows.rows().contains(id))
                world.rows.drop(id);
            else
                world.rows.create(album(id));
            rename(world, "b");
            ++each;
            if (!world.step()) world.now = world.now + 10ms;
            REQUIRE(each < 10'000);
        }
        REQUIRE(world.finish());
    }
}

TEST_CASE("rs R-066 caches count as synced only when what came during the read is in them (section 8, S6)") {
    for (int boundary = 0; boundary < 12; ++boundary) {
        SteppedWorld world;
        for (int steps = 0; steps < boundary; ++steps) REQUIRE(world.step());
        REQUIRE(world.manager.phase() < rs::StateManager::Phase::CatchingUp);
        for (int each = 0; each < 3; ++each) rename(world, "b"), rename(world, "h");
        world.rows.create(album("i"));
        while (!world.manager.is_running()) {
            CHECK_FALSE(world.albums.cache().is_synced());
            if (!world.step()) world.now = world.now + 1ms;
        }
        INFO("after step " << boundary);
        CHECK(world.albums.cache().is_synced());
        CHECK(world.difference() == "");
    }
}

TEST_CASE("a log that is purged at any moment of the start begins it anew (section 8, row 11)") {
    at_every_boundary([](SteppedWorld& world) {
        rename(world, "b");
        world.database.purge(world.database.last());
        rename(world, "h");
    });
}

TEST_CASE("a database that is restored at any moment of the start is read again (section 8, row 16)") {
    at_every_boundary([](SteppedWorld& world) {
        world.rows.rows().erase("b");
        world.rows.rows().at("d").title = "as it was";
        world.database.begin_epoch("second");
        rename(world, "h");
    });
}

TEST_CASE("a database or a log that goes away at any moment of the start is waited for (section 8, row 12)") {
    SECTION("the log") {
        at_every_boundary([](SteppedWorld& world) { world.database.is_log_down = true; },
                          [](SteppedWorld& world) {
                              rename(world, "b");
                              world.database.is_log_down = false;
                          });
    }
    for (const StoreFault fault : {StoreFault::Down, StoreFault::Transient, StoreFault::Fatal})
        SECTION("the database: " + std::string{name_of(fault)}) {
            at_every_boundary(
                [fault](SteppedWorld& world) {
                    rename(world, "d");
                    world.database.store_fault = [fault](std::string_view) { return StoreError{fault, "gone"}; };
                },
                [](SteppedWorld& world) {
                    rename(world, "b");
                    world.database.store_fault = {};
                });
        }
}

TEST_CASE("F-24 a start whose log is purged during every read says so, and reads larger pages") {
    SteppedWorld world;
    bool purges = true;
    world.database.store_fault = [&](std::string_view) -> std::optional<StoreError> {
        if (!purges) return std::nullopt;
        world.database.append(rs::Kind{1}, "nobody", rs::Op::Update);
        world.database.purge(world.database.last());
        return std::nullopt;
    };
    CHECK_FALSE(world.finish(10s));
    CHECK(world.notices.count("gap: purged") > 6);
    CHECK(world.manager.start_trouble().restarts > 6);
    const std::uint64_t pages = world.rows.pages;
    purges = false;
    REQUIRE(world.finish());
    CHECK(world.rows.pages - pages == 1); // of 64 rows, where 2 were in one
}

TEST_CASE("F-33 damage that a read of the start meets is known at once, and is no news once the caches are full") {
    SteppedWorld world;
    world.database.store_fault = [](std::string_view) {
        return StoreError{StoreFault::Fatal, "no such table", rs::Damage::None};
    };
    CHECK_FALSE(world.finish(1s));
    CHECK(world.manager.start_trouble().damage.empty());
    CHECK(world.manager.start_trouble().reason == "a read of album failed: no such table");
    world.database.store_fault = [](std::string_view) {
        return StoreError{StoreFault::Fatal, "malformed", rs::Damage::Pages};
    };
    CHECK_FALSE(world.finish(10s));
    CHECK(world.manager.start_trouble().damage == "malformed");
    world.database.store_fault = {};
    REQUIRE(world.finish());
    CHECK(world.manager.start_trouble().damage.empty());

    SteppedWorld logged;
    logged.database.is_log_down = true;
    CHECK_FALSE(logged.finish(1s));
    CHECK(logged.manager.start_trouble().damage.empty()); // it may come back
    logged.database.is_log_damaged = true;
    CHECK_FALSE(logged.finish(10s));
    CHECK(logged.manager.start_trouble().damage == "no answer");
}

TEST_CASE("a start that takes too long says so, and goes on") {
    SteppedWorld world;
    world.database.is_log_down = true;
    CHECK_FALSE(world.finish(119s));
    CHECK(world.notices.count("start-slow") == 0);
    CHECK_FALSE(world.finish(10s));
    CHECK(world.notices.count("start-slow") == 1);
    CHECK(world.notices.count("log-down: no answer") == 1);
    CHECK(world.manager.staleness(world.now) > 120s);
    world.database.is_log_down = false;
    CHECK(world.finish(2s));
    CHECK(world.notices.count("log-up") == 1);
    CHECK(world.manager.staleness(world.now) == Duration{});
}

TEST_CASE("rs R-068 what is there at the start can be left to the resync") {
    rs::Settings settings = in_small_pages();
    settings.start.initial_add = false;
    SteppedWorld world{settings};
    REQUIRE(world.finish());
    while (world.step()) {
    }
    CHECK(world.calls.take() == Calls{});
    rename(world, "b");
    world.settle();
    CHECK(world.calls.take() == Calls{"update b v1 v2"});
    world.manager.request_resync(rs::Kind{1}, world.now);
    world.pass(1s);
    CHECK(world.calls.take().size() == 4);
}

TEST_CASE("rs R-070 a gap while it runs is a relist: handlers see what differs, and reading goes on meanwhile") {
    AlbumWorld world{in_small_pages()};
    KeptCalls<Album> calls;
    world.albums.add_handler(calls, {}, world.now);
    for (const char* id : {"a", "b", "c", "d", "e"}) world.rows.create(album(id));
    world.start();
    calls.take();
    world.database.is_log_down = true;
    world.pass(1s);
    CHECK(world.albums.cache().get("a") != nullptr);
    CHECK_FALSE(world.manager.is_log_up());
    world.rows.drop("b");
    world.rows.create(album("f"));
    world.rows.change("c", [](Album& one) { one.title = "Blue"; });
    world.database.purge(world.database.last());
    world.database.is_log_down = false;
    world.pass(2s);
    CHECK(world.difference().empty());
    auto seen = calls.take();
    std::sort(seen.begin(), seen.end());
    CHECK(seen == Calls{"add f v1", "delete b v1", "update c v1 v2"});
    CHECK(world.notices.count("gap: purged") == 1);
    CHECK(world.notices.count("relist album: purged") == 1);
    CHECK(world.albums.reconciler().counters().repairs == 0);
    CHECK(world.manager.is_log_up());
}

TEST_CASE("F-30 a database that is restored under a running program is read anew, older rows and all") {
    AlbumWorld world{in_small_pages()};
    KeptCalls<Album> calls;
    world.albums.add_handler(calls, {}, world.now);
    for (const char* id : {"a", "b", "c"}) world.rows.create(album(id));
    world.start();
    const auto backup = world.rows.rows();
    world.rows.drop("a");
    for (int each = 0; each < 5; ++each) world.rows.change("b", [](Album& one) { one.title += "!"; });
    world.rows.create(album("d"));
    world.settle();
    calls.take();
    world.rows.rows() = backup;
    SECTION("with another epoch, it is believed at once") {
        world.database.begin_epoch("second");
        world.pass(1s);
        CHECK(world.difference().empty());
        CHECK(world.albums.reconciler().counters().stale == 0);
    }
    SECTION("with the same epoch and a shorter log") {
        world.database.begin_epoch("first");
    }
    world.pass(30s); // where the epoch is the same, three reads have to say so
    CHECK(world.difference().empty());
    auto seen = calls.take();
    std::sort(seen.begin(), seen.end());
    CHECK(seen == Calls{"add a v1", "delete d v1", "update b v6 v1"});
}

} // namespace yk::testing
