// SPDX-License-Identifier: Apache-2.0
// What is said of one key (rs R-156).
#include <catch2/catch.hpp>

#include "tests/support/resource_state/world.h"

namespace yk::testing {

TEST_CASE("rs R-156 a key is shown in the cache, in the queue of reads and with each handler") {
    AlbumWorld world;
    KeptCalls<Album> good("good"), bad("bad");
    bad.answer = [](const rs::EventContext&) { return rs::HandlerResult::retry("no"); };
    world.albums.add_handler(good, {}, world.now);
    world.albums.add_handler(bad, {}, world.now);
    const rs::Informer& informer = world.albums;
    const auto look = [&informer] { return informer.inspect("a"); };
    world.start();
    CHECK_FALSE(look().cached);
    CHECK_FALSE(look().is_queued);
    REQUIRE(look().handlers.size() == 2);
    CHECK((look().handlers[0].name == "good" && look().handlers[0].is_active && !look().handlers[0].is_pending));

    world.rows.create(album("a"));
    world.manager.enqueue(rs::Kind{1}, "a", world.now);
    CHECK(look().is_queued);
    world.settle();
    CHECK_FALSE(look().is_queued);
    REQUIRE(look().cached);
    CHECK(look().cached == rs::image_of(world.rows.rows().at("a")));
    CHECK_FALSE(look().handlers[0].is_pending);
    CHECK(look().handlers[1].is_pending);
    CHECK(look().handlers[1].attempts == 1);
    CHECK_FALSE(look().handlers[1].is_dead_letter);

    world.rows.change("a", [](Album& one) { one.title = "new"; }); // nobody has looked yet
    CHECK(look().cached != rs::image_of(world.rows.rows().at("a")));
    world.pass(std::chrono::hours{1});
    CHECK(look().cached == rs::image_of(world.rows.rows().at("a")));
    CHECK(look().handlers[1].is_dead_letter);
    bad.answer = nullptr;
    world.manager.retry_dead_letters(rs::Kind{1}, "a", world.now);
    world.settle();
    CHECK_FALSE(look().handlers[1].is_pending);
    CHECK_FALSE(look().handlers[1].is_dead_letter);
}

} // namespace yk::testing
