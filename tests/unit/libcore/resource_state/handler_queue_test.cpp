// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/handler_queue.h"

#include <stdexcept>

#include <catch2/catch.hpp>

#include "tests/support/resource_state/world.h"

namespace yk::testing {

using namespace std::chrono_literals;
using rs::Cause;
using rs::EventContext;
using rs::HandlerResult;
using Calls = std::vector<std::string>;

namespace {

/// An album "a" that a handler knows.
struct HandlerWorld : AlbumWorld {
    explicit HandlerWorld(rs::HandlerOptions options = {}, const rs::Settings& settings = {}) : AlbumWorld(settings) {
        albums.add_handler(calls, std::move(options), now);
        rows.create(album("a"));
        start();
        calls.take();
    }
    void change(const std::string& id = "a") {
        rows.change(id, [](Album& one) { one.title += "!"; });
        settle();
    }
    /// The object goes, and another one with its id comes.
    void replace(const std::string& id) {
        rows.drop(id);
        settle();
        rows.create(album(id));
        settle();
    }
    void fail_always() {
        calls.answer = [](const EventContext&) { return HandlerResult::retry("no paint"); };
    }
    void succeed() { calls.answer = {}; }
    [[nodiscard]] const rs::HandlerQueue<Album>& queue() const { return *albums.deliveries().handlers().front(); }

    KeptCalls<Album> calls;
};

} // namespace

TEST_CASE("rs R-080, rs R-081, F-38 what happened since the last success costs one record and one call") {
    HandlerWorld world;
    world.fail_always();
    for (int each = 0; each < 100; ++each) world.change();
    CHECK(world.queue().backlog() == 1);
    CHECK(world.calls.take().size() == 1); // the others wait for the back-off
    world.succeed();
    world.pass(1s);
    CHECK(world.calls.take() == Calls{"update a v1 v101"});
    CHECK(world.queue().backlog() == 0);
    CHECK(world.queue().check().empty());
}

TEST_CASE("rs R-081 each difference between what a handler knows and what is there has its call") {
    HandlerWorld world;
    world.fail_always();
    SECTION("added and deleted while it waited: nothing") {
        world.rows.create(album("b"));
        world.settle();
        CHECK(world.calls.take() == Calls{"add b v1"});
        world.rows.drop("b");
        world.settle();
        world.succeed();
        world.pass(1s);
        CHECK(world.calls.take() == Calls{});
        CHECK(world.queue().counters().coalesced == 1);
    }
    SECTION("deleted and created again: the old one goes, then the new one comes") {
        world.rows.drop("a");
        world.rows.create(album("a"));
        world.settle();
        world.change();
        CHECK(world.calls.take() == Calls{"delete a v1"});
        world.pass(10ms); // still waits
        CHECK(world.calls.take() == Calls{});
        world.succeed();
        world.pass(1s);
        CHECK(world.calls.take() == Calls{"delete a v1", "add a v2"});
    }
    SECTION("changed and deleted: it is deleted as it was known") {
        world.change();
        world.rows.drop("a");
        world.settle();
        world.calls.take();
        world.succeed();
        world.pass(1s);
        CHECK(world.calls.take() == Calls{"delete a v1"});
    }
    CHECK(world.queue().backlog() == 0);
    CHECK(world.queue().check().empty());
}

TEST_CASE("rs R-081 a handler that reads the cache hears of all that goes from there") {
    rs::HandlerOptions options;
    options.reads_cache = true;
    HandlerWorld world{options};
    world.fail_always();
    world.rows.create(album("b"));
    world.settle();
    CHECK(world.calls.take() == Calls{"add b v1"});
    SECTION("what it was not given, when that goes") {
        world.change("b");
        world.rows.drop("b");
        world.settle();
        world.succeed();
        world.pass(1s);
        CHECK(world.calls.take() == Calls{"delete b v2"});
    }
    SECTION("the first of two lives") {
        world.replace("b");
        world.succeed();
        world.pass(1s);
        CHECK(world.calls.take() == Calls{"delete b v1", "add b v1"});
    }
    SECTION("of several lives the first") {
        world.replace("b");
        world.replace("b");
        world.rows.drop("b");
        world.settle();
        world.succeed();
        world.pass(1s);
        CHECK(world.calls.take() == Calls{"delete b v1"});
    }
    SECTION("it is given what is there as ever") {
        world.change("b");
        world.succeed();
        world.pass(1s);
        CHECK(world.calls.take() == Calls{"add b v2"});
    }
    CHECK(world.queue().backlog() == 0);
    CHECK(world.queue().check().empty());
}

TEST_CASE("rs R-082, F-36 a handler that fails does not disturb another one") {
    HandlerWorld world;
    KeptCalls<Album> other{"other"};
    world.albums.add_handler(other, {}, world.now);
    world.settle();
    CHECK(other.take() == Calls{"add a v1"});
    world.fail_always();
    world.change();
    world.change();
    CHECK(other.take() == Calls{"update a v1 v2", "update a v2 v3"});
}

TEST_CASE("rs R-058 a handler that is added later gets what is there, and then what changes") {
    HandlerWorld world;
    world.change();
    KeptCalls<Album> late{"late"};
    world.albums.add_handler(late, {}, world.now);
    world.change();
    CHECK(late.take() == Calls{"add a v2", "update a v2 v3"});
    CHECK(late.contexts.front().cause == Cause::Initial);
    world.change();
    CHECK(late.take() == Calls{"update a v3 v4"});
    CHECK(late.contexts.back().cause == Cause::Live);
}

TEST_CASE("rs R-065, F-38 a handler that throws has failed, with what it threw") {
    HandlerWorld world;
    world.calls.answer = [](const EventContext& context) -> HandlerResult {
        if (context.attempt < 3) throw std::runtime_error("torn canvas");
        return HandlerResult::ok();
    };
    world.change();
    world.pass(2s);
    CHECK(world.calls.take() == Calls(3, "update a v1 v2"));
    CHECK(world.queue().counters().failures == 2);
    CHECK(world.calls.contexts.back().cause == Cause::Retry);
}

TEST_CASE("rs R-065, F-37 a call that takes longer than it may is announced once, and others go on") {
    HandlerWorld world;
    world.calls.answer = [&](const EventContext& context) {
        return context.call == 2 ? HandlerResult::later() : HandlerResult::ok();
    };
    world.change();
    const rs::CallId call = world.calls.contexts.back().call;
    world.pass(29s);
    CHECK(world.notices.count("handler-stalled") == 0);
    world.pass(60s);
    CHECK(world.notices.count("handler-stalled album/a by kept") == 1);
    CHECK(world.queue().counters().stalled == 1);
    world.rows.create(album("b"));
    world.settle();
    CHECK(world.calls.take() == Calls{"update a v1 v2", "add b v1"});
    CHECK(world.albums.finish("kept", call, HandlerResult::ok(), world.now));
    CHECK(world.queue().backlog() == 0);
}

TEST_CASE("rs R-013, rs R-085 a delete that fails is tried again with the object that is gone") {
    HandlerWorld world;
    world.fail_always();
    world.rows.drop("a");
    world.settle();
    world.pass(1s);
    CHECK(world.calls.take().size() > 2);
    world.succeed();
    world.pass(10s);
    CHECK(world.calls.take() == Calls{"delete a v1"});
    world.pass(10min);
    CHECK(world.calls.take() == Calls{});
}

TEST_CASE("rs R-085 an event of an object that is gone has its delete tried again at once") {
    HandlerWorld world;
    world.fail_always();
    world.rows.drop("a");
    world.settle();
    world.pass(2min);
    world.calls.take();
    world.succeed();
    world.manager.enqueue(rs::Kind{1}, "a", world.now);
    world.settle();
    CHECK(world.calls.take() == Calls{"delete a v1"});
}

TEST_CASE("rs R-086, F-36 after 14 failures a key is a dead letter, and it is tried for ever") {
    HandlerWorld world;
    world.fail_always();
    world.change();
    world.pass(8min);
    const auto letters = [&] { return world.notices.count("dead-letter album/a by kept: no paint"); };
    while (letters() == 0 && world.now < Instant{} + 1h) world.pass(10s);
    CHECK(world.calls.take().size() == 14);
    CHECK(world.now - Instant{1'000'000'000'000} < 15min);
    CHECK(world.queue().dead_letters() == 1);
    world.pass(30min);
    CHECK(world.calls.take().size() >= 5);
    CHECK(letters() == 1);
    SECTION("success takes it back") {
        world.succeed();
        world.pass(6min);
        CHECK(world.notices.count("dead-letter-gone album/a by kept") == 1);
        CHECK(world.queue().dead_letters() == 0);
    }
    SECTION("an operator has it tried at once, and counted anew") {
        world.succeed();
        CHECK(world.manager.retry_dead_letters(rs::Kind{1}, "b", world.now) == 0);
        CHECK(world.manager.retry_dead_letters(rs::Kind{1}, "a", world.now) == 1);
        world.pass(1s);
        CHECK(world.calls.contexts.back().attempt == 1);
        CHECK(world.queue().dead_letters() == 0);
        CHECK(world.manager.retry_dead_letters(rs::Kind{1}, "", world.now) == 0);
    }
    SECTION("a change begins a new count") {
        world.change();
        world.pass(1s);
        CHECK(world.calls.contexts.back().attempt <= 2);
        CHECK(world.queue().dead_letters() == 1);
    }
}

TEST_CASE("rs R-083 who wants a row looked at has its handlers called without a change") {
    HandlerWorld world;
    world.change();
    world.calls.take();
    world.manager.enqueue(rs::Kind{1}, "a", world.now);
    world.settle();
    CHECK(world.calls.take() == Calls{});
    world.manager.enqueue(rs::Kind{1}, "a", world.now, rs::StateManager::Call::Anyway);
    world.settle();
    CHECK(world.calls.take() == Calls{"update a v2 v2"});
}

TEST_CASE("rs R-087 what failed for good is tried again at a change or a resync only") {
    HandlerWorld world{{}, [] {
                           rs::Settings settings;
                           settings.resync.period = {};
                           return settings;
                       }()};
    world.calls.answer = [](const EventContext&) { return HandlerResult::permanent("never"); };
    world.rows.drop("a");
    world.settle();
    CHECK(world.notices.count("dead-letter album/a by kept: never") == 1);
    world.pass(1h);
    CHECK(world.calls.take() == Calls{"delete a v1"});
    CHECK(world.queue().check().empty());
    world.manager.request_resync(rs::Kind{1}, world.now);
    world.settle();
    CHECK(world.calls.take() == Calls{"delete a v1"});
    world.succeed();
    world.rows.create(album("a"));
    world.settle();
    CHECK(world.calls.take() == Calls{"delete a v1", "add a v1"});
    CHECK(world.queue().backlog() == 0);
}

TEST_CASE("rs R-088 a handler that wants to look again later has not failed") {
    HandlerWorld world;
    int looks = 0;
    world.calls.answer = [&](const EventContext& context) {
        CHECK(context.attempt == 1);
        return ++looks < 4 ? HandlerResult::again_after(15s) : HandlerResult::ok();
    };
    world.change();
    world.pass(14s);
    CHECK(world.calls.take() == Calls{"update a v1 v2"});
    world.pass(60s);
    CHECK(world.calls.take() == Calls(3, "update a v2 v2"));
    CHECK(world.queue().counters().failures == 0);
    CHECK(world.queue().backlog() == 0);
}

TEST_CASE("rs R-089 one key of one handler is never handled twice at once") {
    HandlerWorld world;
    world.calls.answer = [](const EventContext&) { return HandlerResult::later(); };
    world.change();
    const rs::CallId call = world.calls.contexts.back().call;
    world.change();
    world.change();
    world.rows.create(album("b"));
    world.settle();
    CHECK(world.calls.take() == Calls{"update a v1 v2", "add b v1"}); // another key is
    CHECK_FALSE(world.albums.finish("kept", call + 100, HandlerResult::ok(), world.now));
    CHECK_FALSE(world.albums.finish("nobody", call, HandlerResult::ok(), world.now));
    CHECK(world.albums.finish("kept", call, HandlerResult::ok(), world.now));
    CHECK_FALSE(world.albums.finish("kept", call, HandlerResult::ok(), world.now));
    world.settle();
    CHECK(world.calls.take() == Calls{"update a v2 v4"});
}

TEST_CASE("rs R-089 a handler may have its keys one at a time") {
    HandlerWorld world{{"", true, false}};
    world.calls.answer = [](const EventContext&) { return HandlerResult::later(); };
    world.rows.create(album("b"));
    world.rows.create(album("c"));
    world.settle();
    CHECK(world.calls.take() == Calls{"add b v1"});
    world.albums.finish("kept", world.calls.contexts.back().call, HandlerResult::ok(), world.now);
    world.settle();
    CHECK(world.calls.take() == Calls{"add c v1"});
}

TEST_CASE("rs R-090 the first five conflicts are no failures") {
    HandlerWorld world;
    world.calls.answer = [](const EventContext&) { return HandlerResult::conflict("somebody was faster"); };
    world.change();
    while (world.queue().counters().calls < 6) world.pass(100ms); // the first was the add
    CHECK(world.queue().counters().failures == 0);
    world.pass(30s);
    CHECK(world.queue().counters().failures > 0);
}

TEST_CASE("rs R-092, rs R-140 a service's handlers run only with its lease, and begin anew when it comes") {
    HandlerWorld world{{"shop", false, false}};
    CHECK(world.calls.take() == Calls{});
    CHECK(world.queue().backlog() == 0); // no records either
    world.change();
    CHECK(world.queue().backlog() == 0);
    world.manager.set_lease("painter", rs::Lease{1}, world.now);
    world.settle();
    CHECK(world.calls.take() == Calls{});
    world.manager.set_lease("shop", rs::Lease{7}, world.now);
    world.settle();
    CHECK(world.calls.take() == Calls{"add a v2"});
    CHECK(world.calls.contexts.back().cause == Cause::Takeover);
    CHECK(world.calls.contexts.back().lease.epoch == 7);
    world.manager.set_lease("shop", rs::Lease{7, false}, world.now); // a renewal that is late
    world.change();
    CHECK(world.calls.take() == Calls{"update a v2 v3"});
    CHECK_FALSE(world.calls.contexts.back().lease.is_valid);
    world.fail_always();
    world.change();
    world.manager.set_lease("shop", std::nullopt, world.now);
    world.calls.take();
    world.pass(1h);
    CHECK(world.calls.take() == Calls{});
    CHECK(world.queue().check().empty());
}

TEST_CASE("rs R-092 a lease that is lost within a call, or while one is not finished, ends it") {
    HandlerWorld world{{"shop", false, false}};
    world.manager.set_lease("shop", rs::Lease{7}, world.now);
    world.settle();
    world.calls.answer = [&](const EventContext&) {
        world.manager.set_lease("shop", std::nullopt, world.now); // a write was fenced
        return HandlerResult::ok();
    };
    world.change();
    CHECK_FALSE(world.queue().is_active());
    CHECK(world.queue().check().empty());
    world.calls.answer = [&](const EventContext&) { return HandlerResult::later(); };
    world.manager.set_lease("shop", rs::Lease{9}, world.now);
    world.settle();
    const rs::CallId call = world.calls.contexts.back().call;
    world.manager.set_lease("shop", std::nullopt, world.now);
    CHECK_FALSE(world.albums.finish("kept", call, HandlerResult::ok(), world.now));
}

TEST_CASE("changes of the version alone are for handlers that ask for them") {
    HandlerWorld world;
    KeptCalls<Album> keen{"keen"};
    world.albums.add_handler(keen, {"", false, true}, world.now);
    world.settle();
    keen.take();
    world.rows.change(
        "a", [](Album&) {}, true);
    world.settle();
    CHECK(world.calls.take() == Calls{});
    CHECK(keen.take() == Calls{"update a v1 v2"});
    CHECK(world.albums.reconciler().counters().version_only == 1);
    CHECK(world.difference().empty());
}

} // namespace yk::testing
