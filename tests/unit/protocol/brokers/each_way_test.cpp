// SPDX-License-Identifier: Apache-2.0
// What a change log promises, of each database by each transport.
#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/brokers/event_way.h"
#include "tests/support/databases/followed_rows.h"

namespace yk::rs {
namespace {

/// The events of a key, as their operations in order.
std::string operations(const std::vector<ChangeEvent>& events, std::string_view id) {
    std::string all;
    for (const ChangeEvent& event : events)
        if (event.id == id) all += std::to_string(static_cast<int>(event.op));
    return all;
}

/// A kind of rows, how they are in a cache, and what a handler was called for.
template <Resource T>
struct FollowedKind {
    FollowedKind(const testing::StateDatabase& database, SqlConnection& reading, StateManager& manager, Instant now)
        : rows(database.store<T>(reading)), informer(manager.add(*rows)) {
        informer.add_handler(calls, {}, now);
    }
    /// How many objects the handler knows of.
    [[nodiscard]] std::ptrdiff_t known() const {
        const auto count = [this](std::string_view what) {
            return std::count_if(calls.calls.begin(), calls.calls.end(),
                                 [&](const std::string& each) { return each.starts_with(what); });
        };
        return count("add") - count("delete");
    }

    const std::unique_ptr<ResourceStore<T>> rows;
    testing::KeptCalls<T> calls;
    ResourceInformer<T>& informer;
};

/// A program that follows all kinds, and starts step by step; a call that is run and its answer taken over are two.
class SteppedStart {
public:
    SteppedStart(const testing::StateDatabase& database, ChangeLog& log)
        : database_(database),
          reading_(database.open()),
          manager_(log, notices_, settings(), 1),
          deployments_(database, *reading_, manager_, now_),
          scales_(database, *reading_, manager_, now_),
          schedules_(database, *reading_, manager_, now_),
          nodes_(database, *reading_, manager_, now_) {
        manager_.start(now_);
    }
    /// False: the start has ended.
    bool step() {
        if (manager_.is_running()) return false;
        if (!stepped_.step(manager_, now_))
            now_ = std::max(now_ + std::chrono::milliseconds{1}, manager_.next_due(now_).value());
        return true;
    }
    /// What the caches or the handlers have that the database has not; empty: nothing.
    [[nodiscard]] std::string difference() {
        const Instant end = now_ + std::chrono::milliseconds{500};
        for (; now_ < end; now_ = std::max(now_ + std::chrono::milliseconds{1}, manager_.next_due(now_).value()))
            while (drive(manager_, now_)) {
            }
        return difference(deployments_, "deployment") + difference(scales_, "deployment_scale") +
               difference(schedules_, "deployment_schedule") + difference(nodes_, "node");
    }

private:
    static Settings settings() {
        Settings made;
        made.resync.page = 3;
        made.resync.period = {}; // nothing may be left for a resync to find
        return made;
    }
    template <class Followed>
    [[nodiscard]] std::string difference(const Followed& kind, const std::string& table) const {
        const std::string there = database_.list("SELECT id || uid || version FROM " + table + " ORDER BY id");
        const std::string cached = testing::cached_rows(kind.informer.cache());
        if (cached != there) return table + ": there is " + there + ", and the cache has " + cached + "; ";
        if (kind.known() != database_.count(table)) return table + ": the handler knows another number; ";
        return {};
    }

    const testing::StateDatabase& database_;
    const std::unique_ptr<SqlConnection> reading_;
    testing::KeptNotices notices_;
    Instant now_{1'000'000'000'000};
    StateManager manager_;
    FollowedKind<mcs::Deployment> deployments_;
    FollowedKind<mcs::DeploymentScale> scales_;
    FollowedKind<mcs::DeploymentSchedule> schedules_;
    FollowedKind<mcs::Node> nodes_;
    testing::SteppedCalls stepped_;
};

/// Rows of all kinds come, change, go, and go and come again.
class Changes {
public:
    explicit Changes(const testing::StateDatabase& database) : database_(database) {
        for (const char* id : {"b", "d", "f", "h"}) tree(id);
    }
    void make() {
        const std::string id = "n" + std::to_string(++number_);
        tree(id);
        if (number_ > 2) drop("n" + std::to_string(number_ - 2));
        drop("d");
        tree("d");
        for (const char* table : {"deployment", "deployment_scale", "deployment_schedule", "node"})
            database_.type(std::string{"UPDATE "} + table + " SET version = version + 1 WHERE id = 'f'");
    }

private:
    void tree(const std::string& id) {
        const std::string uid = uids_[id] = id + "-" + std::to_string(++lives_);
        mcs::Deployment deployment = testing::McsRows::deployment(id);
        deployment.meta.uid = uid;
        mcs::DeploymentScale scale = testing::McsRows::scale(id, uid);
        mcs::DeploymentSchedule schedule = testing::McsRows::schedule(id);
        schedule.meta.uid = "p" + uid;
        schedule.owner.uid = uid;
        for (mcs::Placement& each : schedule.placements) each.allocation_key += uid;
        write(testing::kApi, mcs::InsertDeployment{deployment, false});
        write(testing::kScaler, mcs::InsertScale{scale});
        write(testing::kPlacer, mcs::InsertSchedule{schedule});
        database_.type(testing::insert_node(id, uid));
    }
    void drop(const std::string& id) const {
        write(testing::kApi, mcs::DeleteDeployment{id, {uids_.at(id), 0}, mcs::DeleteMode::Cascade});
        database_.type("DELETE FROM node WHERE id = '" + id + "'");
    }
    void write(const mcs::WriterIdentity& writer, mcs::WriteCommand command) const {
        const mcs::WriteRequest request{writer, std::move(command)};
        const mcs::WriteRequest* const requests[] = {&request};
        const mcs::WriteOutcome outcome = database_.group->write(requests).outcomes.at(0);
        INFO(message_of(outcome));
        REQUIRE(std::holds_alternative<mcs::Written>(outcome));
    }

    const testing::StateDatabase& database_;
    std::map<std::string, std::string> uids_;
    int number_ = 0, lives_ = 0;
};

/// Of a log that has something before it.
CapturedCursor capture_behind_a_row(const testing::StateDatabase& database, testing::EventWay& way) {
    database.type(testing::insert_node("before", "u0"));
    way.pass_on();
    auto captured = way.log().capture();
    REQUIRE(captured.ok());
    return std::move(captured).value();
}

} // namespace

TEST_CASE("rs R-066, T-33 whatever changes at whichever step of a start, by each way of events, is found by it") {
    const auto [engine, transport] = YK_EACH_WAY;
    testing::StateDatabase database{engine};
    Changes changes{database};
    testing::EventWay way{database, transport};
    way.pass_on();
    const int stride = transport == testing::Transport::Embedded ? 1 : 3; // a start takes longer there
    bool was_reached = true;
    for (int at = 0; was_reached; at += stride) {
        CAPTURE(at);
        was_reached = false;
        SteppedStart start{database, way.log()};
        for (int step = 0; start.step(); ++step) {
            REQUIRE(step < 2000);
            if (step != at) continue;
            was_reached = true;
            changes.make();
            way.pass_on();
        }
        REQUIRE(start.difference() == "");
        if (!was_reached) CHECK(at > 20);
    }
}

TEST_CASE("rs R-006, rs R-036 each way of events gives what comes after a capture, in order for each key") {
    const auto [engine, transport] = YK_EACH_WAY;
    testing::StateDatabase database{engine};
    testing::EventWay way{database, transport};
    ChangeLog& log = way.log();
    const CapturedCursor captured = capture_behind_a_row(database, way);
    for (const char* id : {"a", "b", "c"}) database.type(testing::insert_node(id, std::string{"u"} + id));
    database.type("UPDATE node SET version = version + 1 WHERE id <> 'before'");
    database.type("DELETE FROM node WHERE id = 'b'");
    database.type(testing::insert_node("b", "again"));
    way.pass_on();
    REQUIRE(log.open(captured).ok());
    const auto batch = log.poll(100);
    REQUIRE(batch.ok());
    CHECK(batch->events.size() == 8);
    CHECK(batch->unreadable.empty());
    CHECK(operations(batch->events, "a") == "12");
    CHECK(operations(batch->events, "b") == "1231");
    CHECK(operations(batch->events, "c") == "12");
    for (const ChangeEvent& event : batch->events) CHECK(event.kind == mcs::kNodeKind);
    CHECK(reaches(batch->position, log.capture()->cursor()));
    CHECK(log.poll(100)->events.empty());
    CHECK(Cursor::parse(batch->position.text()) == batch->position);
}

TEST_CASE("rs R-047 no way of events gives a change before it is committed, nor one that is rolled back") {
    const auto [engine, transport] = YK_EACH_WAY;
    testing::StateDatabase database{engine};
    testing::EventWay way{database, transport};
    ChangeLog& log = way.log();
    const CapturedCursor captured = capture_behind_a_row(database, way);
    REQUIRE(log.open(captured).ok());
    const auto writer = database.open();
    REQUIRE(writer->begin(SqlAccess::Write).ok());
    REQUIRE(writer->run(testing::insert_node("late", "u1")).ok());
    way.pass_on(); // a relay has nothing to send yet
    const auto nothing = log.poll(100);
    REQUIRE(nothing.ok());
    CHECK(nothing->events.empty());
    REQUIRE(writer->commit().ok());
    REQUIRE(writer->begin(SqlAccess::Write).ok());
    REQUIRE(writer->run(testing::insert_node("never", "u2")).ok());
    writer->roll_back();
    database.type(testing::insert_node("last", "u3"));
    way.pass_on();
    const auto batch = log.poll(100);
    REQUIRE(batch.ok());
    CHECK(batch->events.size() == 2);
    CHECK(operations(batch->events, "late") == "1");
    CHECK(operations(batch->events, "never").empty());
    CHECK(operations(batch->events, "last") == "1");
}

TEST_CASE(
    "rs R-036 the framework over each database by each way of events: caches follow, and a restart finds everything") {
    const auto [engine, transport] = YK_EACH_WAY;
    testing::StateDatabase database{engine};
    testing::EventWay way{database, transport};
    testing::check_that_caches_follow(database, way.log(), [&] { way.pass_on(); });
}

} // namespace yk::rs
