// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/resource_resync.h"

#include <catch2/catch.hpp>

#include "tests/support/resource_state/world.h"

namespace yk::testing {

using namespace std::chrono_literals;
using rs::StoreError;
using rs::StoreFault;
using Calls = std::vector<std::string>;

namespace {

rs::Settings with_pages_of(std::size_t rows) {
    rs::Settings settings;
    settings.resync.page = rows;
    settings.resync.rows_per_second = 0;
    return settings;
}

struct ResyncWorld : AlbumWorld {
    explicit ResyncWorld(const rs::Settings& settings = with_pages_of(2)) : AlbumWorld(settings) {
        albums.add_handler(calls, {}, now);
        for (const char* id : {"b", "d", "f", "h", "j"}) rows.create(album(id));
        start();
        calls.take();
    }
    /// A change that no event says.
    void change_secretly(std::string_view id) {
        Album& row = rows.rows().find(id)->second;
        row.title += "?";
        ++row.meta.version;
    }
    void resync() {
        manager.request_resync(rs::Kind{1}, now);
        pass(100ms);
    }
    [[nodiscard]] Calls sorted_calls() {
        Calls sorted = calls.take();
        std::sort(sorted.begin(), sorted.end());
        return sorted;
    }
    [[nodiscard]] const rs::ReconcileCounters& counters() const { return albums.reconciler().counters(); }
    [[nodiscard]] const rs::ScanReport& report() const { return albums.resync().reports().back(); }

    KeptCalls<Album> calls;
};

} // namespace

TEST_CASE("rs R-093 a resync has every handler look at everything once, also at what did not change") {
    ResyncWorld world;
    world.resync();
    CHECK(world.sorted_calls() ==
          Calls{"update b v1 v1", "update d v1 v1", "update f v1 v1", "update h v1 v1", "update j v1 v1"});
    CHECK(world.calls.contexts.back().forced);
    CHECK(world.calls.contexts.back().cause == rs::Cause::Resync);
    CHECK(world.report().rows == 5);
    CHECK(world.report().same == 5);
    CHECK(world.counters().repairs == 0);
}

TEST_CASE(
    "rs R-093 rs R-100 resyncs come by themselves, the first after a part of the period, one kind after the other") {
    std::vector<Duration> firsts;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        MemoryDatabase database;
        MemoryStore<Album> albums{database};
        MemoryStore<Cover> covers{database};
        MemoryChangeLog log{database};
        KeptNotices notices;
        rs::StateManager manager{log, notices, {}, seed};
        manager.add(albums);
        manager.add(covers);
        Instant now{0};
        std::vector<Instant> runs;
        manager.start(now);
        for (; now < Instant{} + 1h; now = std::max(now + 1ms, manager.next_due(now).value())) {
            while (drive(manager, now)) {
            }
            for (; notices.count("resync-done") > 2 * runs.size(); runs.push_back(now)) {
            }
        }
        CHECK(notices.count("resync-done album") == notices.count("resync-done cover"));
        REQUIRE(runs.size() >= 5);
        CHECK(runs.size() <= 7);
        firsts.push_back(runs[0] - Instant{});
        for (std::size_t each = 1; each < runs.size(); ++each) {
            CHECK(runs[each] - runs[each - 1] >= 9min - 1s);
            CHECK(runs[each] - runs[each - 1] <= 11min + 1s);
        }
    }
    std::sort(firsts.begin(), firsts.end());
    CHECK(firsts.back() - firsts.front() > 2min); // instances do not resync in step
}

TEST_CASE("F-05 rs R-099 a change whose event never came is found, and counted as a repair") {
    ResyncWorld world;
    world.change_secretly("d");
    world.rows.rows().emplace("k", [] {
        Album made = album("k");
        made.meta.uid = "uid-k";
        return made;
    }());
    world.resync();
    CHECK(world.difference().empty());
    const Calls seen = world.sorted_calls();
    CHECK(std::count(seen.begin(), seen.end(), "update d v1 v2") == 1);
    CHECK(std::count(seen.begin(), seen.end(), "add k v1") == 1);
    CHECK(world.counters().repairs == 2);
    CHECK(world.notices.count("repair album/d") == 1);
}

TEST_CASE("F-06 rs R-096 a delete whose event never came is found, after its row was looked for once more") {
    ResyncWorld world;
    world.rows.rows().erase("d");
    const std::uint64_t reads = world.rows.reads;
    world.resync();
    CHECK(world.rows.reads == reads + 1);
    CHECK(world.report().orphans == 1);
    const Calls seen = world.sorted_calls();
    CHECK(std::count(seen.begin(), seen.end(), "delete d v1") == 1);
    CHECK(world.difference().empty());
    CHECK(world.counters().repairs == 1);
}

TEST_CASE("rs R-099 a difference whose event is on the way is no repair, and the report keeps at most ten names") {
    ResyncWorld world;
    SECTION("on the way") {
        world.rows.change("d", [](Album& one) { one.title = "new"; });
        world.manager.request_resync(rs::Kind{1}, world.now);
        while (drive(world.manager, world.now)) {
        } // the log is not asked: its time has not come
        CHECK(world.difference().empty());
        CHECK(world.report().changed == 1);
        world.pass(10s);
        CHECK(world.counters().repairs == 0);
    }
    SECTION("many") {
        for (int each = 0; each < 50; ++each) {
            Album made = album("n" + std::to_string(each));
            made.meta.uid = made.meta.id;
            world.rows.rows().emplace(made.meta.id, made);
        }
        world.resync();
        CHECK(world.counters().repairs == 50);
        CHECK(world.notices.count("repair") == 10);
    }
}

TEST_CASE(
    "rs R-099 an event that is consumed between the read of an orphan's row and its use explains the difference") {
    ResyncWorld world{with_pages_of(100)};
    world.manager.request_resync(rs::Kind{1}, world.now);
    auto page = world.manager.next_call(world.now);
    REQUIRE(page);
    world.rows.drop("d");
    page->run(); // without the row, whose event is still on the way
    page->finish(world.now);
    while (world.manager.turn(world.now)) {
    }
    auto read = world.manager.next_call(world.now); // of the orphan's key
    REQUIRE(read);
    read->run();
    world.settle(); // the event
    read->finish(world.now);
    world.pass(1min);
    CHECK(world.difference().empty());
    CHECK(world.report().orphans == 1);
    CHECK(world.counters().repairs == 0);
}

TEST_CASE("rs R-096, F-50 a resync that fails in the middle looks for no orphans, and begins again") {
    ResyncWorld world;
    const std::size_t page = world.albums.resync().page();
    for (const StoreFault fault : {StoreFault::Transient, StoreFault::Down}) {
        world.calls.take();
        world.rows.rows().erase(world.rows.rows().begin());
        int pages = 0;
        world.database.store_fault = [&](std::string_view what) -> std::optional<StoreError> {
            if (what == "read_page" && ++pages == 2) return StoreError{fault, "gone"};
            return std::nullopt;
        };
        world.manager.request_resync(rs::Kind{1}, world.now);
        while (drive(world.manager, world.now)) {
        }
        CHECK(world.report().was_aborted);
        CHECK(world.report().fault == "gone");
        const bool was_too_much = fault == StoreFault::Transient; // the database answers
        CHECK(world.albums.resync().page() == page / (was_too_much ? 2 : 1));
        CHECK(world.calls.take().size() <= 2);
        CHECK_FALSE(world.difference().empty());
        world.pass(2s);
        CHECK_FALSE(world.report().was_aborted);
        CHECK(world.albums.resync().page() == page);
        CHECK(world.difference().empty());
    }
}

TEST_CASE("rs R-096 what comes in behind the page cursor is no orphan") {
    ResyncWorld world;
    world.manager.request_resync(rs::Kind{1}, world.now);
    world.manager.turn(world.now);
    int added = 0;
    for (int step = 0; step < 200; ++step) {
        drive(world.manager, world.now);
        if (added < 10) world.rows.create(album("a" + std::to_string(added++)));
        world.manager.wake();
    }
    world.pass(1s);
    CHECK(world.difference().empty());
    CHECK(world.report().orphans == 0);
    const Calls seen = world.calls.take();
    CHECK(std::none_of(seen.begin(), seen.end(), [](const std::string& each) { return each.starts_with("delete"); }));
}

TEST_CASE("rs R-095 a page is as good as reading each key by itself, whatever happens between its read and its use") {
    using Change = std::function<void(ResyncWorld&)>;
    const std::vector<Change> changes = {
        [](ResyncWorld& world) { world.rows.change("d", [](Album& one) { one.title = "new"; }); },
        [](ResyncWorld& world) { world.rows.drop("d"); },
        [](ResyncWorld& world) { world.rows.drop("d"), world.rows.create(album("d", "second life")); },
        [](ResyncWorld& world) { world.rows.create(album("e")); },
        [](ResyncWorld& world) { world.change_secretly("d"); },
    };
    for (std::size_t each = 0; each < changes.size(); ++each)
        for (const bool is_consumed : {false, true}) {
            INFO("change " << each << (is_consumed ? ", consumed before the page is used" : ""));
            ResyncWorld world{with_pages_of(100)};
            world.manager.request_resync(rs::Kind{1}, world.now);
            auto page = world.manager.next_call(world.now);
            REQUIRE(page);
            page->run();
            changes[each](world);
            if (is_consumed) world.settle();
            page->finish(world.now);
            world.pass(1s);
            if (each < 4) CHECK(world.difference().empty());
            world.resync();
            CHECK(world.difference().empty());
            CHECK(world.counters().repairs == (each == 4 ? 1 : 0));
            CHECK(world.albums.deliveries().handlers().front()->backlog() == 0);
        }
}

TEST_CASE("rs R-098 requests during a resync become one that follows") {
    ResyncWorld world;
    for (int each = 0; each < 10; ++each) world.manager.request_resync(rs::Kind{1}, world.now);
    world.pass(1s);
    CHECK(world.albums.resync().reports().size() == 2);
}

TEST_CASE("rs R-099 the reports of the last twenty resyncs are kept") {
    ResyncWorld world;
    for (int each = 0; each < 30; ++each) world.resync();
    CHECK(world.albums.resync().reports().size() == 20);
    CHECK(world.manager.status().at(0).last_scan->rows == 5);
}

} // namespace yk::testing
