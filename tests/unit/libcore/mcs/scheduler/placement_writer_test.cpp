// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scheduler/placement_writer.h"

#include <catch2/catch.hpp>

#include "libcore/mcs/replicas/application_requests.h"

namespace yk::testing {

using namespace mcs;
using namespace std::chrono_literals;

namespace {

const ScheduleKey kWeb{"web", "u1"}, kDb{"db", "u2"};

PlacementChange placed(std::int64_t replica, std::int64_t attempt = 0) {
    Placement made = pending_placement("app", replica, attempt);
    made.state = PlacementState::Placed;
    return {replica, made};
}

struct Writing {
    Instant now{1'000'000'000'000};
    rs::Lease lease{3, true};
    WriteQueue queue;
    std::vector<std::string> ended; // `web 2 written`
    PlacementWriter writer{
        queue, settings(), 7,
        [this](const ScheduleKey& key, const PlacementWriter::Changes& changes, const WriteOutcome& outcome, Instant) {
            const std::string message = message_of(outcome);
            ended.push_back(key.id + " " + std::to_string(changes.size()) + " " +
                            (message.empty() ? "written" : message));
        }};

    static PlacementWriterSettings settings() {
        PlacementWriterSettings made;
        made.most_changes = 4;
        made.most_unwritten = 10;
        return made;
    }
    void add(const ScheduleKey& key, const PlacementWriter::Changes& changes, std::optional<ScheduleState> state = {}) {
        writer.add(key, changes, state, now);
    }
    void add_many(const ScheduleKey& key, std::int64_t count) {
        for (std::int64_t each = 0; each < count; ++each) add(key, {placed(each)});
    }
    void turn(Duration later = {}) {
        now = now + later;
        writer.turn(lease, now);
    }
    std::unique_ptr<WriteCall> next() {
        auto call = queue.next();
        REQUIRE(call);
        CHECK(call->request().writer.service == "scheduler");
        CHECK(call->request().writer.lease_epoch == lease.epoch);
        return call;
    }
    static const ChangePlacements& command(const std::unique_ptr<WriteCall>& call) {
        return std::get<ChangePlacements>(call->request().command);
    }
    void answer(const std::unique_ptr<WriteCall>& call, WriteOutcome outcome = Written{}) const {
        call->answer(std::move(outcome));
        call->finish(now);
    }
    std::vector<std::string> take_ended() { return std::exchange(ended, {}); }
};

using Lines = std::vector<std::string>;

} // namespace

TEST_CASE("rs R-129 placements are gathered for 5 ms and written together, by schedule") {
    Writing world;
    CHECK_FALSE(world.writer.next_due());
    world.add(kWeb, {placed(1)}, ScheduleState::Scheduling);
    world.turn(4ms);
    CHECK(world.queue.size() == 0);
    world.add(kWeb, {placed(0)}, ScheduleState::Scheduled);
    world.add(kDb, {{5, std::nullopt}});
    CHECK(world.writer.next_due() == world.now + 1ms);
    world.turn(1ms);
    REQUIRE(world.queue.size() == 1); // the other one came later
    const auto web = world.next();
    CHECK(Writing::command(web).schedule_id == "web");
    CHECK(Writing::command(web).schedule_uid == "u1");
    CHECK(Writing::command(web).state == ScheduleState::Scheduled);
    CHECK(Writing::command(web).changes.size() == 2);
    CHECK(Writing::command(web).changes[0].replica == 0);
    world.turn(4ms);
    const auto db = world.next();
    CHECK_FALSE(Writing::command(db).changes[0].placement);
    CHECK_FALSE(Writing::command(db).state);
    CHECK(world.writer.unwritten() == 3);
    world.answer(web);
    world.answer(db);
    CHECK(world.take_ended() == Lines{"web 2 written", "db 1 written"});
    CHECK(world.writer.unwritten() == 0);
    CHECK_FALSE(world.writer.next_due());
}

TEST_CASE("rs R-129 a full write does not wait, and is no larger than it may be") {
    Writing world;
    world.add_many(kWeb, 9);
    world.turn();
    const auto first = world.next();
    CHECK(Writing::command(first).changes.size() == 4);
    CHECK(world.writer.is_writing(kWeb));
    world.turn(1s);
    CHECK(world.queue.size() == 0); // one of a schedule is under way at a time
    CHECK(world.writer.unwritten() == 9);
    world.answer(first);
    world.turn();
    world.answer(world.next());
    CHECK(world.writer.unwritten() == 1);
    world.turn(5ms); // what is left is no full write
    CHECK(world.take_ended() == Lines{"web 4 written", "web 4 written"});
    world.answer(world.next());
    CHECK(world.writer.unwritten() == 0);
}

TEST_CASE("rs R-129 the last word of a replica is the last that is written") {
    Writing world;
    world.add(kWeb, {placed(0)}, ScheduleState::Scheduling);
    world.add(kWeb, {placed(1)});
    world.turn(5ms);
    const auto first = world.next();
    world.add(kWeb, {placed(0, 1)});
    world.add(kWeb, {placed(0, 2)});
    CHECK(world.writer.unwritten() == 3);
    world.answer(first, Transient{"away"});
    CHECK(world.take_ended().empty());
    CHECK(world.writer.unwritten() == 2);
    world.turn(1s);
    const auto second = world.next();
    REQUIRE(Writing::command(second).changes.size() == 2);
    CHECK(Writing::command(second).changes[0].placement->attempt == 2);
    CHECK(Writing::command(second).state == ScheduleState::Scheduling);
}

TEST_CASE("rs R-129 another write of the row takes along what waits") {
    Writing world;
    CHECK(world.writer.take(kWeb).empty());
    world.add(kWeb, {placed(0), placed(2)});
    CHECK(world.writer.take({"web", "another life"}).empty());
    CHECK(world.writer.take(kWeb).size() == 2);
    CHECK(world.writer.unwritten() == 0);
    world.turn(1s);
    CHECK(world.queue.size() == 0);
}

TEST_CASE("rs R-130 while the database is away placements wait, tried with growing pauses, and asks stop") {
    Writing world;
    world.add_many(kWeb, 10);
    CHECK(world.writer.takes_asks());
    world.add(kDb, {placed(0)});
    CHECK_FALSE(world.writer.takes_asks());
    int tries = 0;
    for (const Instant end = world.now + 10s; world.now < end; world.turn(1ms)) {
        while (auto call = world.queue.next()) {
            ++tries;
            world.answer(call, Transient{"away"});
        }
    }
    CHECK(tries >= 20); // two schedules, a try in half a second to a second
    CHECK(tries <= 60);
    CHECK(world.writer.unwritten() == 11);
    world.add_many(kWeb, 10); // bounded by the number of replicas
    CHECK(world.writer.unwritten() == 11);
    for (int turns = 0; turns < 5; ++turns, world.turn(1s))
        while (auto call = world.queue.next()) world.answer(call);
    CHECK(world.writer.unwritten() == 0);
    CHECK(world.writer.takes_asks());
}

TEST_CASE("rs R-130 of a schedule that has gone it is reported what was placed") {
    Writing world;
    world.add(kWeb, {placed(0), placed(1)});
    world.turn(5ms);
    world.answer(world.next(), Conflict{Conflict::What::RowGone, "gone", 0});
    CHECK(world.take_ended() == Lines{"web 2 gone"});
    CHECK(world.writer.unwritten() == 0);
}

TEST_CASE("rs R-130 a change that cannot be written is reported once, and holds up nothing") {
    Writing world;
    world.add(kWeb, {placed(0)});
    world.turn(5ms);
    const auto call = world.next();
    world.add(kWeb, {placed(1)});
    world.answer(call, Fatal{"damaged"});
    CHECK(world.take_ended() == Lines{"web 1 damaged"});
    world.turn(5ms);
    world.answer(world.next());
    CHECK(world.take_ended() == Lines{"web 1 written"});
}

TEST_CASE("rs R-129 without a lease that is valid for sure nothing is written, after a refused one nothing any more") {
    Writing world;
    world.add(kWeb, {placed(0)});
    world.lease.is_valid = false;
    world.turn(1s);
    CHECK(world.queue.size() == 0);
    world.lease.is_valid = true;
    world.turn();
    const auto call = world.next();
    world.add(kWeb, {placed(1)});
    world.add(kDb, {placed(1)});
    world.answer(call, Fenced{"refused"});
    world.turn(1s);
    CHECK(world.queue.size() == 0);
    CHECK(world.take_ended() == Lines{"web 1 refused", "db 1 another instance leads", "web 1 another instance leads"});
    CHECK(world.writer.unwritten() == 0);
    world.lease.epoch = 4; // it leads again
    world.add(kWeb, {placed(2)});
    world.turn(5ms);
    world.answer(world.next());
    CHECK(world.take_ended() == Lines{"web 1 written"});
}

} // namespace yk::testing
