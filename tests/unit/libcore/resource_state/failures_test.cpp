// SPDX-License-Identifier: Apache-2.0
// Failures of section 16 of the specification that are of many keys or many events.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "tests/support/databases/heap_size.h"
#include "tests/support/resource_state/world.h"

namespace yk::testing {
namespace {

using namespace std::chrono_literals;

rs::Settings without_resync() {
    rs::Settings settings;
    settings.resync.period = {};
    return settings;
}

/// So many albums, in the cache and known to the handler.
struct Many : AlbumWorld {
    explicit Many(int count) : AlbumWorld(without_resync()) {
        albums.add_handler(calls, {}, now);
        for (int each = 0; each < count; ++each) rows.create(album("id" + std::to_string(each)));
        start();
        calls.take();
    }
    /// Does what there is to do now; the most keys that waited meanwhile.
    std::size_t settle_counting() {
        std::size_t most = 0;
        manager.wake();
        while (drive(manager, now)) most = std::max(most, albums.reconciler().queue().size());
        return most;
    }

    KeptCalls<Album> calls;
};

} // namespace

TEST_CASE("rs R-092, P-14 who takes over hears of changes before he has been told of everything") {
    AlbumWorld world{without_resync()};
    KeptCalls<Album> calls;
    rs::HandlerOptions options;
    options.service = "painter";
    world.albums.add_handler(calls, options, world.now);
    for (int each = 0; each < 5000; ++each) world.rows.create(album("id" + std::to_string(each)));
    world.start();
    world.manager.set_lease("painter", rs::Lease{}, world.now);
    world.rows.create(album("new"));
    const auto is_new = [](const std::string& call) { return call == "add new v1"; };
    while (std::none_of(calls.calls.begin(), calls.calls.end(), is_new)) {
        world.now = world.now + 1ms;
        REQUIRE(drive(world.manager, world.now));
    }
    CHECK(calls.calls.size() < 200); // of 5,001
}

TEST_CASE("rs F-49 a log that always has more does not keep reads waiting, nor they the log") {
    rs::Settings settings = without_resync();
    settings.poll_batch = 10; // events
    AlbumWorld world{settings};
    for (int each = 0; each < 1000; ++each) world.rows.create(album("id" + std::to_string(each)));
    world.start();
    for (int each = 0; each < 1000; ++each)
        world.rows.change("id" + std::to_string(each), [](Album& one) { one.title = "new"; });
    world.manager.wake();
    std::size_t most = 0;
    while (drive(world.manager, world.now)) most = std::max(most, world.albums.reconciler().queue().size());
    CHECK(most <= 20); // of 1,000: what a poll brought is read before the next but one
    CHECK(world.albums.reconciler().counters().repairs == 0);
    CHECK(world.albums.cache().get("id999")->title == "new");
}

TEST_CASE("rs R-037, F-14 an event that comes one to five times calls each handler once") {
    Many world{5};
    for (int each = 0; each < 5; ++each) {
        const std::string id = "id" + std::to_string(each);
        world.rows.change(id, [](Album& one) { one.title = "new"; });
        const rs::ResourceMeta meta = world.rows.rows().at(id).meta;
        for (int times = 0; times < each; ++times)
            world.database.append(rs::Kind{1}, id, rs::Op::Update, meta.uid, meta.version);
    }
    world.settle(); // all in one batch
    CHECK(world.calls.take().size() == 5);
    const std::uint64_t reads = world.rows.reads;
    for (int each = 0; each < 5; ++each) {
        const rs::ResourceMeta meta = world.rows.rows().at("id" + std::to_string(each)).meta;
        for (int times = 0; times <= each; ++times)
            world.database.append(rs::Kind{1}, meta.id, rs::Op::Update, meta.uid, meta.version);
    }
    world.settle(); // and once more, when they are known
    CHECK(world.calls.take().empty());
    CHECK(world.albums.reconciler().counters().known == 15);
    CHECK(world.rows.reads == reads);
    CHECK(world.difference().empty());
}

TEST_CASE("rs R-073, F-47 all rows that go at once are as many keys, and each handler sees each of them go once") {
    constexpr int kCount = 20'000;
    Many world{kCount};
    for (int each = 0; each < kCount; ++each) world.rows.drop("id" + std::to_string(each));
    const std::size_t most = world.settle_counting();
    CHECK(most <= kCount);
    CHECK(most >= rs::Settings{}.poll_batch); // a batch of the log, and not all of it in memory before
    const std::vector<std::string> calls = world.calls.take();
    CHECK(calls.size() == kCount);
    CHECK(std::set<std::string>(calls.begin(), calls.end()).size() == kCount);
    CHECK(world.albums.cache().size() == 0);
    CHECK(world.albums.reconciler().queue().size() == 0);
    CHECK(world.albums.deliveries().handlers().front()->backlog() == 0);
}

TEST_CASE("rs R-034, rs R-073, F-48 while the database is away no more waits than there are keys, and one call asks") {
    constexpr int kCount = 20'000;
    Many world{kCount};
    world.database.store_fault = [](std::string_view) { return rs::StoreError{rs::StoreFault::Down, "no route"}; };
    for (int times = 1; times <= 3; ++times) {
        for (int each = 0; each < kCount; ++each)
            world.rows.change("id" + std::to_string(each), [&](Album& one) { one.year += times; });
        const double before = heap_bytes();
        CHECK(world.settle_counting() <= kCount);
        const double bytes = (heap_bytes() - before) / kCount; // of a key
        CAPTURE(times, bytes);
        if (kHeapIsCounted) {
            CHECK(bytes < (times == 1 ? 200 : 20)); // one that waits already costs nothing more
            CHECK((bytes > 50) == (times == 1));    // else something else was measured
        }
        CHECK(world.albums.reconciler().queue().size() == kCount);
    }
    const std::uint64_t reads = world.rows.reads;
    world.pass(60s);
    CHECK(world.rows.reads - reads <= 60 * 2 + 10); // a probe a second, and sooner at first; not one for each key
    CHECK(world.calls.take().empty());
    CHECK(world.notices.count("store-down") == 1);
    world.database.store_fault = {};
    world.pass(2s);
    CHECK(world.calls.take().size() == kCount);
    CHECK(world.difference().empty());
}

} // namespace yk::testing
