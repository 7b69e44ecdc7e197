// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/resource_reconciler.h"

#include <catch2/catch.hpp>

#include "tests/support/resource_state/world.h"

namespace yk::testing {

using namespace std::chrono_literals;
using rs::StoreError;
using rs::StoreFault;
using Calls = std::vector<std::string>;

namespace {

struct ReconcileWorld : AlbumWorld {
    explicit ReconcileWorld(int albums_there = 3, const rs::Settings& settings = {}) : AlbumWorld(settings) {
        albums.add_handler(calls, {}, now);
        for (int each = 0; each < albums_there; ++each) rows.create(album("id" + std::to_string(each)));
        start();
        calls.take();
    }
    void rename(std::string_view id, std::string title) {
        rows.change(id, [&](Album& one) { one.title = title; });
    }
    [[nodiscard]] const rs::ReconcileCounters& counters() const { return albums.reconciler().counters(); }

    KeptCalls<Album> calls;
};

rs::Settings without_resync() {
    rs::Settings settings;
    settings.resync.period = {};
    return settings;
}

} // namespace

TEST_CASE("rs R-037 an event that says what the cache has costs no read, unless it is a delete") {
    for (const bool skip : {true, false}) {
        rs::Settings settings;
        settings.reconcile.skip_known = skip;
        ReconcileWorld world{3, settings};
        const std::uint64_t reads = world.rows.reads;
        const rs::ResourceMeta meta = world.rows.rows().at("id0").meta;
        for (int each = 0; each < 5; ++each)
            world.database.append(rs::Kind{1}, "id0", rs::Op::Update, meta.uid, meta.version);
        world.settle();
        CHECK(world.counters().known == (skip ? 5 : 0));
        CHECK((world.rows.reads == reads) == skip);
        world.database.append(rs::Kind{1}, "id0", rs::Op::Update, meta.uid); // says nothing of the version
        world.settle();
        CHECK(world.rows.reads > reads);
        CHECK(world.calls.take() == Calls{});
        world.rows.drop("id0");
        world.settle();
        CHECK(world.calls.take() == Calls{"delete id0 v1"});
    }
}

TEST_CASE("rs R-037, F-15, F-16 nothing but kind and id of an event is believed") {
    ReconcileWorld world;
    world.database.append(rs::Kind{1}, "id0", rs::Op::Delete, "uid-1", 1); // it is still there
    world.database.append(rs::Kind{1}, "id1", rs::Op::Insert, "uid-77", 9);
    world.database.append(rs::Kind{1}, "never", rs::Op::Update, "uid-78", 3);
    world.settle();
    CHECK(world.calls.take() == Calls{});
    CHECK(world.difference().empty());
    CHECK(world.counters().nothing == 1);
}

TEST_CASE("rs R-077, rs R-079 a key that changes while its row is read is read again, and handlers see the cache") {
    ReconcileWorld world;
    world.rename("id0", "between");
    world.manager.enqueue(rs::Kind{1}, "id0", world.now);
    auto call = world.manager.next_call(world.now);
    REQUIRE(call);
    call->run(); // ...and the row was read
    world.rename("id0", "second");
    world.manager.enqueue(rs::Kind{1}, "id0", world.now);
    auto other = world.manager.next_call(world.now);
    if (other) { // the log's, or none: nobody else reads the key
        other->run();
        other->finish(world.now);
    }
    call->finish(world.now);
    CHECK(world.albums.cache().get("id0")->title == "between");
    world.calls.answer = [&](const rs::EventContext&) {
        CHECK(world.albums.cache().get("id0")->title != "Untitled");
        return rs::HandlerResult::ok();
    };
    world.settle();
    CHECK(world.albums.cache().get("id0")->title == "second");
    CHECK(world.calls.take().back().ends_with("v3"));
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-076 a batch that is refused is halved until the key that nobody can read is alone") {
    ReconcileWorld world{256, without_resync()};
    world.database.store_fault = [](std::string_view what) -> std::optional<StoreError> {
        if (what == "read id77") return StoreError{StoreFault::Fatal, "poison"};
        return std::nullopt;
    };
    for (int each = 0; each < 256; ++each) world.rename("id" + std::to_string(each), "new");
    const std::uint64_t reads = world.rows.reads;
    world.settle();
    CHECK(world.rows.reads - reads == 17); // one for the batch, two for each halving
    CHECK(world.calls.take().size() == 255);
    CHECK(world.difference() == "id77 is another one in the cache");
    CHECK(world.counters().failed == 1);
    world.pass(30s);
    CHECK(world.counters().failed > 5);
    CHECK(world.counters().failed < 20);
    world.database.store_fault = {};
    world.pass(60s);
    CHECK(world.difference().empty());
}

TEST_CASE(
    "rs R-034, rs R-078, F-03 a database that is away is asked by one call at a time, and everything waits for it") {
    ReconcileWorld world{1000, without_resync()};
    world.database.store_fault = [](std::string_view) { return StoreError{StoreFault::Down, "no route"}; };
    for (int each = 0; each < 1000; ++each) world.rename("id" + std::to_string(each), "new");
    const std::uint64_t reads = world.rows.reads;
    world.pass(1min);
    CHECK(world.rows.reads - reads < 130); // about two a second, for all keys together
    CHECK_FALSE(world.manager.is_store_up());
    CHECK(world.notices.count("store-down: no route") == 1);
    CHECK(world.manager.status().at(0).queued == 1000);
    world.database.store_fault = {};
    world.pass(1s); // F-03: no key has a back-off of its own
    CHECK(world.difference().empty());
    CHECK(world.notices.count("store-up") == 1);
    CHECK(world.calls.take().size() == 1000);
    CHECK(world.counters().failed == 0);
}

TEST_CASE("what fails for a while is read again, one key by itself") {
    ReconcileWorld world{3, without_resync()};
    int failures = 4;
    world.database.store_fault = [&](std::string_view what) -> std::optional<StoreError> {
        if (what != "read id1" || failures-- <= 0) return std::nullopt;
        return StoreError{StoreFault::Transient, "busy"};
    };
    world.rename("id1", "new");
    world.pass(2s);
    CHECK(world.difference().empty());
    CHECK(world.manager.is_store_up());
}

TEST_CASE("rs R-071, F-46 a row that cannot be understood keeps what the cache has, and is listed") {
    ReconcileWorld world;
    world.rows.broken.insert("id1");
    world.rename("id1", "unreadable");
    world.settle();
    CHECK(world.albums.cache().get("id1")->title == "Untitled");
    CHECK(world.notices.count("broken-row album/id1: not to be understood") == 1);
    CHECK(world.manager.status().at(0).broken_rows == 1);
    world.manager.request_resync(rs::Kind{1}, world.now); // it is no orphan either
    world.settle();
    CHECK(world.albums.cache().get("id1") != nullptr);
    CHECK(world.notices.count("broken-row") == 1);
    world.rows.broken.clear();
    world.calls.take();
    world.manager.request_resync(rs::Kind{1}, world.now);
    world.settle();
    CHECK(world.albums.cache().get("id1")->title == "unreadable");
    CHECK(world.notices.count("mended-row album/id1") == 1);
    CHECK(world.albums.reconciler().broken_rows().empty());
}

TEST_CASE("rs R-071, F-46 a row that cannot be understood does not stop the start") {
    AlbumWorld world;
    world.rows.create(album("a"));
    world.rows.create(album("b"));
    world.rows.broken.insert("a");
    world.start();
    CHECK(world.manager.is_running());
    CHECK(world.albums.cache().size() == 1);
    CHECK(world.albums.reconciler().broken_rows().contains("a"));
}

TEST_CASE("F-29, F-51 a row that is older than it was is read again, and believed after three times") {
    ReconcileWorld world{3, without_resync()};
    world.rename("id1", "new");
    world.settle();
    Album old = world.rows.rows().at("id1");
    old.title = "old";
    old.meta.version = 1;
    const Album current = world.rows.rows().at("id1");
    world.rows.rows().at("id1") = old;
    world.manager.enqueue(rs::Kind{1}, "id1", world.now);
    world.settle();
    CHECK(world.albums.cache().get("id1")->title == "new");
    CHECK(world.counters().stale == 1);
    SECTION("a replica that lags behind catches up") {
        world.rows.rows().at("id1") = current;
        world.pass(10s);
        CHECK(world.counters().stale == 1);
        CHECK(world.notices.count("stale-read") == 0);
    }
    SECTION("a database that was restored is right, and everything of the kind is read anew") {
        world.pass(10s);
        CHECK(world.albums.cache().get("id1")->title == "old");
        CHECK(world.counters().stale == 3);
        CHECK(world.notices.count("relist album: older-versions") == 1);
    }
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-083 a row that changed without a new version is taken over, and announced") {
    ReconcileWorld world;
    world.rows.rows().at("id1").title = "by hand";
    world.manager.enqueue(rs::Kind{1}, "id1", world.now);
    world.settle();
    CHECK(world.albums.cache().get("id1")->title == "by hand");
    CHECK(world.calls.take() == Calls{"update id1 v1 v1"});
    CHECK(world.notices.count("same-version album/id1") == 1);
}

TEST_CASE("rs R-091 what this process wrote is looked at before everything else") {
    rs::Settings settings = without_resync();
    settings.reconcile.batch = 10;
    ReconcileWorld world{200, settings};
    for (int each = 0; each < 100; ++each) world.rename("id" + std::to_string(each), "new");
    const auto run_call = [&] {
        auto call = world.manager.next_call(world.now);
        call->run();
        call->finish(world.now);
    };
    world.manager.wake();
    run_call(); // the log's
    world.rows.rows().at("id150").title = "mine";
    world.manager.enqueue(rs::Kind{1}, "id150", world.now);
    run_call(); // a batch's
    CHECK(world.albums.cache().get("id150")->title == "mine");
    CHECK(world.albums.cache().get("id50")->title == "Untitled");
    world.settle();
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-005 however many handlers there are, a row is read once") {
    ReconcileWorld world;
    KeptCalls<Album> other{"other"};
    world.albums.add_handler(other, {}, world.now);
    world.settle();
    other.take();
    const std::uint64_t reads = world.rows.reads;
    world.rename("id1", "new");
    world.settle();
    CHECK(world.rows.reads == reads + 1);
    CHECK(world.calls.take() == other.take());
}

TEST_CASE("F-43 a key whose row is deleted and created again leads to both calls") {
    ReconcileWorld world;
    world.rows.drop("id1");
    world.rows.create(album("id1", "second life"));
    world.settle();
    CHECK(world.calls.take() == Calls{"delete id1 v1", "add id1 v1"});
    CHECK(world.counters().reborn == 1);
}

} // namespace yk::testing
