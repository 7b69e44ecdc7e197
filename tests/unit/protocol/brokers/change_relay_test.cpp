// SPDX-License-Identifier: Apache-2.0
#include "protocol/brokers/change_relay.h"

#include <catch2/catch.hpp>

#include "protocol/brokers/broker_message.h"
#include "protocol/brokers/murmur2.h"
#include "tests/support/brokers/memory_broker.h"
#include "tests/support/resource_state/memory_database.h"

namespace yk::rs {
namespace {

using namespace std::chrono_literals;
using testing::Crash;
using testing::CrashPoint;

constexpr Kind kAlbum{1}, kCover{2};

/// A database, a broker and what relays note: what outlives a relay.
struct RelayWorld {
    RelayWorld() { broker.topics = {{kAlbum, {"t.album", 3}}, {kCover, {"t.cover", 2}}}; }
    void change(std::uint64_t number) {
        database.append(number % 3 == 0 ? kCover : kAlbum, "id" + std::to_string(number * 7 % 11), Op::Update, "u",
                        static_cast<std::int64_t>(number));
    }
    void change_many(std::uint64_t count) {
        for (; count > 0; --count) change(++changes);
    }
    /// The last relist of each kind that has arrived, and whether there is one.
    [[nodiscard]] std::size_t announcements() const {
        std::size_t found = 0;
        for (const auto& [lane, messages] : broker.lanes)
            for (const auto& each : messages) found += each.event.op == Op::Relist ? 1 : 0;
        return found;
    }
    /// What is wrong with the lanes, if anything: each event is there, in order for each key the first time it comes,
    /// always after the same one, and no consumer sees a gap.
    [[nodiscard]] std::string trouble(std::uint64_t after = 0) const {
        std::set<std::uint64_t> seen;
        for (const auto& [lane, messages] : broker.lanes) {
            std::optional<Position> last;
            std::map<Position, Position> previous;
            for (const auto& each : messages) {
                const Position at = each.event.at;
                if (each.event.op != Op::Relist) {
                    if (part_of(each.event.id, broker.topics.at(each.event.kind).count) != lane.part)
                        return "in the wrong lane";
                    if (previous.emplace(at, each.previous).first->second != each.previous)
                        return "another one before " + at.text();
                    seen.insert(at.sequence);
                }
                if (last && at > *last && each.previous != *last) return "a gap before " + at.text();
                last = std::max(last.value_or(at), at);
            }
        }
        for (const ChangeEvent& event : database.events())
            if (event.at.sequence > after && !seen.contains(event.at.sequence)) return event.at.text() + " is missing";
        return {};
    }

    testing::MemoryDatabase database;
    testing::MemoryBroker broker;
    testing::MemoryNotes notes;
    std::uint64_t changes = 0;
    Instant now{1'000'000'000'000};
};

/// A relay with its ports: one life of a process.
struct Life {
    explicit Life(RelayWorld& in, std::uint64_t seed = 1, std::uint64_t crash_at = UINT64_MAX, RelaySettings with = {})
        : world(in), crash(crash_at), publisher(in.broker, crash, seed), settings(with) {}

    /// Until everything that was written is safe and noted.
    void settle() {
        for (int steps = 0; !is_settled(); ++steps) {
            YK_CHECK(steps < 100'000, "it never comes to rest");
            step();
        }
    }
    void step() {
        while (relay.turn(world.now)) {
        }
        if (const auto due = relay.next_due()) world.now = std::max(world.now + 1ms, *due);
    }
    [[nodiscard]] bool is_settled() const {
        const RelayStatus status = relay.status();
        return status.is_running && status.under_way == 0 && status.safe == world.database.head();
    }

    RelayWorld& world;
    CrashPoint crash;
    testing::MemoryChangeLog log{world.database};
    testing::MemoryPublisher publisher;
    testing::MemoryRelayStore store{world.notes, crash};
    RelaySettings settings;
    ChangeRelay relay{log, publisher, store, {{kAlbum, "album"}, {kCover, "cover"}}, settings};
};

} // namespace

TEST_CASE(
    "rs R-046, rs R-047, rs R-048, T-25 a relay sends every event once, each after the one before it in its lane") {
    RelayWorld world;
    Life life{world};
    life.settle();
    CHECK(world.announcements() == 2); // a broker that was never written to: whoever reads it reads the rows anew
    world.change_many(500);
    life.settle();
    CHECK(world.trouble().empty());
    CHECK(world.broker.size() == 502);
    CHECK(world.broker.lanes.size() == 5);
    CHECK(life.relay.status().sent == 502);
    CHECK(life.relay.status().confirmed == 502);
    for (const auto& [lane, messages] : world.broker.lanes)
        CHECK(world.notes.state->last.at(lane) == messages.back().event.at);
}

TEST_CASE("rs R-046, T-24 a relay that ends between any two steps repeats events, and loses none") {
    std::uint64_t repeated = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        bool was_hit = true;
        for (std::uint64_t at = 0; was_hit; ++at) {
            RelayWorld world;
            RelaySettings settings;
            settings.window = 8;
            settings.save_every = 2ms;
            Life{world, seed}.settle();
            world.change_many(20);
            {
                Life life{world, seed + 100, at, settings};
                try {
                    life.settle();
                    world.change_many(10);
                    life.settle();
                } catch (const Crash&) {
                    life.publisher.lose_some();
                }
                was_hit = life.crash.was_hit();
            }
            world.change_many(5);
            Life next{world, seed + 200, UINT64_MAX, settings};
            next.settle();
            INFO("seed " << seed << ", ended at step " << at);
            REQUIRE(world.trouble().empty());
            REQUIRE(world.announcements() == 2);
            REQUIRE(world.broker.size() >= world.changes + 2);
            repeated += world.broker.size() - world.changes - 2;
        }
    }
    CHECK(repeated > 0);
}

TEST_CASE("rs R-046 what is noted is the end of what is safe without a hole, and no more often than it may be") {
    RelayWorld world;
    RelaySettings settings;
    settings.save_every = 200ms;
    Life life{world, 3, UINT64_MAX, settings};
    life.settle();
    world.change_many(300);
    const auto saves = world.notes.saves;
    const Instant begun = world.now;
    while (!life.is_settled()) {
        life.step();
        std::size_t arrived = 0;
        for (const auto& [lane, messages] : world.broker.lanes)
            for (const auto& each : messages)
                if (each.event.at <= world.notes.state->cursor.lanes[0] && each.event.op != Op::Relist) ++arrived;
        REQUIRE(arrived >= world.notes.state->cursor.lanes[0].sequence);
    }
    CHECK(world.notes.saves - saves <= static_cast<std::uint64_t>((world.now - begun) / 200ms) + 1);
}

TEST_CASE("rs R-055, T-78 a log that was purged under the relay is announced to all consumers before its next event") {
    RelayWorld world;
    Life{world}.settle();
    world.change_many(10);
    Life{world}.settle();
    world.change_many(10);
    world.database.purge(15);
    world.change_many(3);
    Life late{world};
    late.settle();
    CHECK(late.relay.status().gaps == 1);
    CHECK(world.announcements() == 4);
    world.change_many(3);
    late.settle();
    CHECK(world.trouble(23).empty());
    // What came before the announcement and was not sent is in the rows that are read then.
    const auto& lane = world.broker.lanes.at({"t.album", 0});
    const auto found =
        std::find_if(lane.rbegin(), lane.rend(), [](const auto& each) { return each.event.op == Op::Relist; });
    REQUIRE(found != lane.rend());
    CHECK(found->event.at == Position{0, 23});
}

TEST_CASE("rs R-055 a relay that ends while it announces a gap announces it again") {
    bool was_hit = true;
    for (std::uint64_t at = 0; was_hit; ++at) {
        RelayWorld world;
        Life{world}.settle();
        world.change_many(20);
        world.database.purge(15);
        {
            Life life{world, at, at};
            try {
                life.settle();
            } catch (const Crash&) {
                life.publisher.lose_some();
            }
            was_hit = life.crash.was_hit();
        }
        Life next{world, at + 9};
        next.settle();
        CHECK(world.notes.state->cursor == world.database.head());
        REQUIRE(world.announcements() >= 4);
    }
}

TEST_CASE("rs R-055 another epoch of the log is another chain, and is announced under its name") {
    RelayWorld world;
    Life{world}.settle();
    world.change_many(10);
    Life{world}.settle();
    world.database.begin_epoch("second");
    world.change_many(4);
    Life life{world};
    life.settle();
    CHECK(life.relay.status().gaps == 1);
    CHECK(world.broker.lanes.at({"t.cover", 0}).back().epoch == "second");
    CHECK(world.notes.state->cursor.epoch == "second");
    CHECK(world.notes.state->last.size() == 2); // those of the announcements
}

TEST_CASE("a broker that was never written to, or is another one, gets an announcement first") {
    RelayWorld world;
    world.change_many(10);
    Life{world}.settle();
    CHECK(world.announcements() == 2);
    world.broker = {world.broker.topics, {}, "another"};
    Life life{world};
    life.settle();
    CHECK(world.announcements() == 2);
    CHECK(world.notes.broker == "another");
}

TEST_CASE("rs R-056 while the broker is away no more than the window is in memory, and everything comes afterwards") {
    RelayWorld world;
    RelaySettings settings;
    settings.window = 50;
    Life life{world, 1, UINT64_MAX, settings};
    life.settle();
    life.publisher.is_stuck = true;
    world.change_many(1000);
    for (int steps = 0; steps < 100; ++steps) {
        life.step();
        REQUIRE(life.relay.status().under_way <= 50);
    }
    life.publisher.is_stuck = false;
    life.publisher.fault = BrokerFault{BrokerFault::What::Down, "connection lost"};
    life.step();
    CHECK(life.relay.status().trouble == "connection lost");
    CHECK(life.relay.status().beginnings == 1);
    life.settle();
    CHECK(world.trouble().empty());
}

TEST_CASE("rs R-046, rs R-167 a relay that has lost its lease sends nothing any more") {
    RelayWorld world;
    Life life{world};
    life.settle();
    world.notes.fault = StoreError{StoreFault::Fenced, "another process is the relay"};
    SECTION("as it learns when it writes down how far it is") {
        world.change_many(3);
    }
    SECTION("as it learns when another relay has written") {
        world.change_many(3);
        life.publisher.fault = BrokerFault{BrokerFault::What::Overtaken, "wrong last sequence"};
    }
    for (int steps = 0; steps < 1000 && life.relay.next_due(); ++steps) life.step();
    CHECK(life.relay.status().is_fenced);
    const std::size_t before = world.broker.size();
    world.change_many(10);
    CHECK_FALSE(life.relay.turn(world.now + 1h));
    CHECK_FALSE(life.relay.next_due().has_value());
    CHECK(world.broker.size() == before);
}

TEST_CASE("a relay waits for a database that is busy or away, and goes on where it was") {
    RelayWorld world;
    Life life{world};
    life.settle();
    world.change_many(20);
    world.notes.fault = StoreError{StoreFault::Transient, "busy"};
    for (int steps = 0; steps < 500; ++steps) life.step();
    CHECK(life.relay.status().trouble == "busy");
    CHECK(life.relay.status().under_way == 0);
    CHECK(life.relay.status().safe != world.database.head());
    world.notes.fault.reset();
    life.settle();
    world.database.is_log_down = true;
    for (int steps = 0; steps < 50; ++steps) life.step();
    world.change_many(20);
    world.database.is_log_down = false;
    life.settle();
    CHECK(life.relay.status().beginnings == 0);
    CHECK(world.broker.size() == 42);
}

TEST_CASE("rs R-046 a relay whose broker is away asks for acknowledgements more and more rarely") {
    RelayWorld world;
    Life life{world};
    life.settle();
    life.publisher.is_stuck = true;
    world.change_many(10);
    while (life.relay.status().under_way < 10) life.step();
    const Instant begun = world.now;
    int steps = 0;
    for (; world.now < begun + 10s; ++steps) life.step();
    CHECK(steps < 400); // it was 10,000
    CHECK(life.relay.status().waiting_since <= begun);
    life.publisher.is_stuck = false;
    life.settle();
    CHECK(world.now < begun + 11s);
    CHECK_FALSE(life.relay.status().waiting_since.has_value());
    CHECK(world.trouble().empty());
}

TEST_CASE(
    "rs R-046 what was acknowledged before a fault is noted, so that a broker that fails again and again gets on") {
    RelayWorld world;
    RelaySettings settings;
    settings.save_every = 1h;
    Life life{world, 1, UINT64_MAX, settings};
    while (!life.relay.status().is_running || life.relay.status().under_way > 0) life.step();
    world.change_many(20);
    while (life.relay.status().confirmed < 22) life.step();
    CHECK(world.notes.saves <= 1);
    life.publisher.fault = BrokerFault{BrokerFault::What::Overtaken, "wrong last sequence"};
    while (life.relay.status().beginnings == 0 || !life.relay.status().is_running) life.step();
    CHECK(world.notes.state->cursor == world.database.head());
    SECTION("unless the lease is lost") {
        world.notes.fault = StoreError{StoreFault::Fenced, "another process is the relay"};
        world.change_many(5);
        while (life.relay.status().confirmed < 27) life.step();
        life.publisher.fault = BrokerFault{BrokerFault::What::Overtaken, "wrong last sequence"};
        for (int steps = 0; steps < 1000 && life.relay.next_due(); ++steps) life.step();
        CHECK(life.relay.status().is_fenced);
    }
}

TEST_CASE("rs R-055 a row whose id no message can carry becomes a relist of its kind, and stops nothing") {
    const std::string id = GENERATE(std::string{}, std::string(5000, 'x'), std::string{"\xff"});
    RelayWorld world;
    Life life{world};
    life.settle();
    world.change_many(3);
    world.database.append(kCover, id, Op::Insert, "u", 1);
    world.change_many(3);
    world.database.append(kAlbum, "a", Op::Insert, std::string(5000, 'u'), 1); // as long a uid
    life.settle();
    CHECK(world.announcements() == 4);
    CHECK(world.notes.state->cursor == world.database.head());
    bool is_announced = false;
    for (const auto& [lane, messages] : world.broker.lanes)
        for (const auto& each : messages) {
            CHECK(can_be_carried(each.event));
            is_announced = is_announced || (each.event.kind == kCover && each.event.op == Op::Relist &&
                                            each.event.at == Position{0, 4});
        }
    CHECK(is_announced);
}

TEST_CASE("rs R-055, rs R-167 a broker that has lost what it had acknowledged is told to all consumers") {
    RelayWorld world;
    world.change_many(3);
    Life{world}.settle();
    world.change_many(30);
    Life{world}.settle();
    REQUIRE(world.announcements() == 2);
    auto& lane = world.broker.lanes.at({"t.album", 1});
    REQUIRE(lane.size() > 2);
    lane.resize(lane.size() - 2); // the power went before they were on its disk
    Life life{world};
    life.settle();
    CHECK(life.relay.status().gaps == 1);
    CHECK(world.announcements() == 4);
    world.change_many(9);
    life.settle();
    CHECK(world.notes.state->cursor == world.database.head());
}

TEST_CASE("rs R-046 what a broker says is safe is heard before the fault that came with it, and each once") {
    Acknowledgements answers;
    CHECK(*answers.answer({1, 2}, std::nullopt) == std::vector<std::uint64_t>{1, 2});
    CHECK_FALSE(answers.take_fault().has_value());
    CHECK(*answers.answer({3}, BrokerFault{BrokerFault::What::Overtaken, "refused"}) == std::vector<std::uint64_t>{3});
    const auto fault = answers.take_fault();
    REQUIRE(fault.has_value());
    CHECK(fault->what == BrokerFault::What::Overtaken);
    CHECK_FALSE(answers.take_fault().has_value());
    CHECK(answers.answer({}, BrokerFault{BrokerFault::What::Down, "gone"}).error().message == "gone");
    CHECK_FALSE(answers.take_fault().has_value());
    static_cast<void>(answers.answer({4}, BrokerFault{BrokerFault::What::Down, "gone"}));
    answers.forget();
    CHECK_FALSE(answers.take_fault().has_value());
}

TEST_CASE("a relay's trouble is over when what failed works again") {
    RelayWorld world;
    Life life{world};
    life.settle();
    world.change_many(2);
    world.notes.fault = StoreError{StoreFault::Transient, "busy"};
    for (int steps = 0; steps < 100; ++steps) life.step();
    CHECK(life.relay.status().trouble == "busy");
    world.notes.fault.reset();
    life.settle();
    CHECK(life.relay.status().trouble.empty());
    world.database.is_log_down = true;
    for (int steps = 0; steps < 100; ++steps) life.step();
    CHECK_FALSE(life.relay.status().trouble.empty());
    world.database.is_log_down = false;
    for (int steps = 0; steps < 100; ++steps) life.step();
    CHECK(life.relay.status().trouble.empty());
}

TEST_CASE("rs R-044 a relay that does not poll its log takes what the database sends by itself") {
    struct HearingLog final : ChangeLog {
        explicit HearingLog(testing::MemoryDatabase& database) : log(database) {}
        [[nodiscard]] Result<void, LogFault> open(const CapturedCursor& from) override { return log.open(from); }
        [[nodiscard]] Result<EventBatch, LogFault> poll(std::size_t most) override {
            ++heard;
            return log.poll(most);
        }
        void hear() override { ++heard; }
        [[nodiscard]] Result<Cursor, LogFault> read_latest() override {
            YK_TRY(latest, log.capture());
            return latest.cursor();
        }
        testing::MemoryChangeLog log;
        int heard = 0;
    };
    RelayWorld world;
    RelaySettings settings;
    settings.window = 5;
    Life life{world, 1, UINT64_MAX, settings};
    HearingLog log{world.database};
    ChangeRelay relay{log, life.publisher, life.store, {{kAlbum, "album"}, {kCover, "cover"}}, settings};
    const auto run_for = [&](Duration time) {
        for (const Instant end = world.now + time; world.now < end;) {
            while (relay.turn(world.now)) {
            }
            world.now = std::max(world.now + 1ms, relay.next_due().value_or(end));
        }
    };
    run_for(10s);
    REQUIRE(relay.status().is_running);
    SECTION("since its window is full") {
        life.publisher.is_stuck = true;
        world.change_many(20);
    }
    SECTION("since its broker is away") {
        life.publisher.is_down = true;
        life.publisher.fault = BrokerFault{BrokerFault::What::Down, "gone"};
    }
    run_for(5s);
    const int before = log.heard;
    run_for(60s);
    CHECK(log.heard - before >= 30);
}

TEST_CASE("events of kinds without a topic are passed over, and do not hold the others up") {
    RelayWorld world;
    Life life{world};
    life.settle();
    world.change_many(2);
    world.database.append(Kind{9}, "x", Op::Insert);
    world.change_many(2);
    world.database.append(Kind{9}, "y", Op::Insert);
    life.settle();
    CHECK(world.broker.size() == 6);
    CHECK(world.notes.state->cursor == world.database.head());
}

} // namespace yk::rs
