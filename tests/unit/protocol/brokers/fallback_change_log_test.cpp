// SPDX-License-Identifier: Apache-2.0
#include "protocol/brokers/fallback_change_log.h"

#include <catch2/catch.hpp>

#include "tests/support/resource_state/world.h"

namespace yk::rs {
namespace {

using namespace std::chrono_literals;
using testing::Album;

/// The log of a broker that says where it ends, and may not let itself be read.
class OddLog final : public ChangeLog {
public:
    explicit OddLog(testing::MemoryDatabase& broker) : log_(broker) {}

    [[nodiscard]] Result<void, LogFault> open(const CapturedCursor& from) override {
        if (!opens) return refusal();
        return log_.open(from);
    }
    [[nodiscard]] Result<EventBatch, LogFault> poll(std::size_t most) override {
        if (std::exchange(has_gap, false)) return LogFault{LogFault::What::Gap, RelistReason::Purged, "purged"};
        if (!gives) return refusal();
        return log_.poll(most);
    }

    bool opens = true, gives = true;
    bool has_gap = false; // once

private:
    [[nodiscard]] static LogFault refusal() { return {LogFault::What::Down, {}, "not authorized"}; }
    [[nodiscard]] Result<Cursor, LogFault> read_latest() override {
        YK_TRY(latest, log_.capture());
        return latest.cursor();
    }

    testing::MemoryChangeLog log_;
};

/// A framework over one database, whose events come by a broker that follows it, or directly.
struct FallbackWorld {
    explicit FallbackWorld(Duration after = 30s) : settings{after, 5s} { broker.begin_epoch("broker"); }

    void settle() {
        // The broker has what the database has, while it is there.
        for (; !broker.is_log_down && !is_relay_stuck && relayed < database.last(); ++relayed) {
            const ChangeEvent& event = database.events().at(static_cast<std::size_t>(relayed));
            broker.append(event.kind, event.id, event.op, event.uid, event.version);
        }
        manager.wake();
        while (drive(manager, now)) {
        }
    }
    /// A turn or a call, and not both, as drive() makes them: a phase between the two is seen. False: nothing to do.
    bool step() {
        if (manager.turn(now)) return true;
        const auto call = manager.next_call(now);
        if (call) call->run(), call->finish(now);
        return call != nullptr;
    }
    [[nodiscard]] std::optional<Instant> next_due() { return manager.next_due(now); }
    void pass(Duration time) { testing::let_pass(*this, time); }
    [[nodiscard]] bool is_cached(const std::string& id) { return albums.cache().get(id) != nullptr; }

    Instant now{1'000'000'000'000};
    testing::MemoryDatabase database, broker;
    [[nodiscard]] std::optional<RelayProgress> progress() const {
        if (is_progress_unknown) return std::nullopt;
        return RelayProgress{{0, relayed}, Position{0, database.last()}};
    }

    std::uint64_t relayed = 0;
    bool is_relay_stuck = false, is_progress_unknown = false;
    testing::MemoryStore<Album> rows{database};
    testing::MemoryChangeLog embedded{database};
    OddLog remote{broker};
    FallbackSettings settings;
    FallbackChangeLog log{remote, embedded, settings, [this] { return now; }, [this] { return progress(); }};
    testing::KeptNotices notices;
    StateManager manager{log, notices, {}, 1};
    ResourceInformer<Album>& albums{manager.add(rows)};
};

} // namespace

TEST_CASE("rs R-056, T-29 while the broker is away the log of the database is read, and given back with a relist") {
    FallbackWorld world;
    world.rows.create(testing::album("a"));
    world.manager.start(world.now);
    world.settle();
    REQUIRE(world.manager.is_running());
    CHECK(world.manager.position().epoch == "broker");
    world.broker.is_log_down = true;
    world.rows.create(testing::album("b"));
    world.pass(29s);
    CHECK_FALSE(world.manager.is_log_up());
    CHECK(world.log.is_on_broker());
    CHECK(world.is_cached("a")); // readable, and stale
    CHECK_FALSE(world.is_cached("b"));
    CHECK(world.manager.staleness(world.now) > 0s);
    world.pass(3s);
    CHECK_FALSE(world.log.is_on_broker());
    CHECK(world.manager.is_log_up());
    CHECK(world.is_cached("b")); // by the relist
    world.rows.create(testing::album("c"));
    world.pass(1s);
    CHECK(world.is_cached("c")); // by the database's own log
    CHECK(world.manager.staleness(world.now) == 0s);
    world.broker.is_log_down = false;
    world.rows.drop("a");
    world.pass(7s);
    CHECK(world.log.is_on_broker());
    CHECK(world.manager.position().epoch == "broker");
    CHECK_FALSE(world.is_cached("a"));
    const auto gaps = world.notices.count("gap");
    CHECK(gaps == 2);
    CHECK(world.notices.count("relist album") == 2);
    world.rows.create(testing::album("d"));
    world.pass(1s);
    CHECK(world.is_cached("d"));
    CHECK(world.notices.count("gap") == gaps);
    CHECK(world.albums.reconciler().counters().repairs == 0);
}

TEST_CASE("rs R-056 a short outage, or a broker that nothing stands in for, is waited for") {
    const bool never = GENERATE(false, true);
    FallbackWorld world{never ? 0s : 30s};
    world.manager.start(world.now);
    world.settle();
    world.broker.is_log_down = true;
    world.rows.create(testing::album("a"));
    world.pass(never ? 1h : 20s);
    CHECK(world.log.is_on_broker());
    CHECK(world.log.broker_down_since().has_value());
    world.broker.is_log_down = false;
    world.pass(3s);
    CHECK(world.is_cached("a"));
    CHECK_FALSE(world.log.broker_down_since().has_value());
    CHECK(world.notices.count("gap") == 0);
}

TEST_CASE("rs R-056 a program starts without its broker, and one whose broker goes during the start begins it again") {
    FallbackWorld world;
    world.rows.create(testing::album("a"));
    SECTION("it is not there") {
        world.broker.is_log_down = true;
        world.manager.start(world.now);
        world.pass(29s);
        CHECK_FALSE(world.manager.is_running());
    }
    SECTION("it goes after the capture") {
        world.manager.start(world.now);
        while (world.manager.phase() != StateManager::Phase::Opening) REQUIRE(world.step());
        world.broker.is_log_down = true;
        world.rows.create(testing::album("b"));
        world.pass(29s);
        CHECK_FALSE(world.manager.is_running());
    }
    world.pass(4s);
    REQUIRE(world.manager.is_running());
    CHECK(world.albums.cache().size() == world.rows.rows().size());
    CHECK_FALSE(world.log.is_on_broker());
}

TEST_CASE("rs R-056 a broker that says where it ends and does not let itself be read is away") {
    FallbackWorld world;
    world.manager.start(world.now);
    world.settle();
    REQUIRE(world.manager.is_running());
    SECTION("it cannot be opened any more") {
        world.remote.opens = false;
        world.remote.has_gap = true;
    }
    SECTION("it gives nothing") {
        world.remote.gives = false;
    }
    world.rows.create(testing::album("a"));
    world.pass(33s);
    CHECK_FALSE(world.log.is_on_broker());
    CHECK(world.log.broker_trouble() == "not authorized");
    CHECK(world.is_cached("a"));
}

TEST_CASE("rs R-056 it goes back to the broker when that lets itself be opened, and not before") {
    FallbackWorld world;
    world.manager.start(world.now);
    world.settle();
    world.broker.is_log_down = true;
    world.pass(33s);
    REQUIRE_FALSE(world.log.is_on_broker());
    world.remote.opens = false;
    world.broker.is_log_down = false;
    const auto gaps = world.notices.count("gap");
    world.pass(60s);
    CHECK_FALSE(world.log.is_on_broker());
    CHECK(world.notices.count("gap") == gaps);
    world.rows.create(testing::album("a"));
    world.pass(1s);
    CHECK(world.is_cached("a"));
    CHECK(world.log.broker_down_since().has_value());
    world.remote.opens = true;
    world.pass(6s);
    CHECK(world.log.is_on_broker());
    CHECK(world.log.broker_trouble().empty());
}

TEST_CASE("rs R-056 a broker that comes back and does not stay is looked at more and more rarely") {
    FallbackWorld world;
    world.manager.start(world.now);
    world.settle();
    world.remote.gives = false; // it can be opened all the time
    const auto gaps = world.notices.count("gap");
    for (int minute = 0; minute < 60; ++minute) world.pass(60s);
    CHECK(world.notices.count("gap") - gaps <= 50); // there and back, each after at least 30 s
    world.remote.gives = true;
    world.pass(6min);
    CHECK(world.log.is_on_broker());
}

TEST_CASE("rs R-056 an answer among failures does not make a broker well") {
    FallbackWorld world;
    world.manager.start(world.now);
    world.settle();
    for (int second = 0; second < 33; ++second) {
        world.broker.is_log_down = true;
        world.pass(700ms);
        world.broker.is_log_down = false;
        world.pass(300ms);
    }
    CHECK_FALSE(world.log.is_on_broker());
}

TEST_CASE("rs R-056 a cursor of the log that was left opens nothing") {
    FallbackWorld world;
    const auto of_broker = world.log.capture();
    REQUIRE(of_broker.ok());
    world.broker.is_log_down = true;
    CHECK(world.log.open(*of_broker).error().what == LogFault::What::Down);
    world.now = world.now + 31s;
    CHECK(world.log.open(*of_broker).error().what == LogFault::What::Gap);
    CHECK(world.log.open(*of_broker).error().what == LogFault::What::Gap); // now of the other one
    const auto of_database = world.log.capture();
    REQUIRE(of_database.ok());
    CHECK(of_database->cursor().epoch == world.database.epoch());
    CHECK(world.log.open(*of_database).ok());
    CHECK(world.log.poll(9).ok());
    world.broker.is_log_down = false;
    world.now = world.now + 6s;
    CHECK(world.log.poll(9).ok()); // the broker is found, and opened the next time
    CHECK(world.log.poll(9).error().what == LogFault::What::Gap);
    CHECK(world.log.open(*of_database).error().what == LogFault::What::Gap);
    CHECK(world.log.capture()->cursor().epoch == "broker");
}

TEST_CASE("rs R-056 a broker to which the relay does not get is left, and gone back to when it has caught up") {
    FallbackWorld world;
    world.manager.start(world.now);
    world.settle();
    REQUIRE(world.manager.is_running());
    world.pass(1h); // nothing to send is no trouble
    CHECK(world.log.is_on_broker());
    world.is_relay_stuck = true;
    world.rows.create(testing::album("a"));
    world.pass(29s);
    CHECK(world.log.is_on_broker());
    CHECK_FALSE(world.is_cached("a"));
    CHECK(world.log.relay_lag() > 20s);
    world.pass(12s);
    CHECK_FALSE(world.log.is_on_broker());
    CHECK(world.is_cached("a"));
    world.rows.create(testing::album("b"));
    world.pass(10min); // the broker answers all the time
    CHECK_FALSE(world.log.is_on_broker());
    CHECK(world.is_cached("b"));
    const auto gaps = world.notices.count("gap");
    CHECK(gaps == 1);
    world.is_relay_stuck = false;
    world.pass(12s);
    CHECK(world.log.is_on_broker());
    CHECK(world.log.relay_lag() == 0s);
    CHECK(world.notices.count("gap") == gaps + 1);
    world.rows.create(testing::album("c"));
    world.pass(1s);
    CHECK(world.is_cached("c"));
}

TEST_CASE("rs R-056 a relay that is behind and gets on is no reason to leave, nor is one of which nothing is known") {
    FallbackWorld world;
    world.manager.start(world.now);
    world.settle();
    int number = 0;
    for (int second = 0; second < 120; ++second) {
        world.is_relay_stuck = second % 20 != 0; // it sends all that is there, and so is behind for 20 s at most
        world.rows.create(testing::album("a" + std::to_string(++number)));
        world.pass(1s);
        REQUIRE(world.log.is_on_broker());
    }
    world.is_relay_stuck = world.is_progress_unknown = true;
    world.rows.create(testing::album("b"));
    world.pass(10min);
    CHECK(world.log.is_on_broker());
}

TEST_CASE("rs R-056 what is not sent yet when it is looked at, and is soon, is no reason to leave") {
    FallbackWorld world{2s}; // less than there is between two looks
    world.manager.start(world.now);
    world.settle();
    for (int second = 0; second < 60; ++second) {
        world.is_relay_stuck = true;
        world.rows.create(testing::album("a" + std::to_string(second)));
        world.pass(600ms);
        world.is_relay_stuck = false;
        world.pass(400ms);
        REQUIRE(world.log.is_on_broker());
    }
}

TEST_CASE("rs R-056 where nothing stands in for a broker it is known how far the relay is behind") {
    FallbackWorld world{0s};
    world.manager.start(world.now);
    world.settle();
    world.is_relay_stuck = true;
    world.rows.create(testing::album("a"));
    world.pass(60s);
    CHECK(world.log.is_on_broker());
    CHECK(world.log.relay_lag() > 50s);
}

} // namespace yk::rs
