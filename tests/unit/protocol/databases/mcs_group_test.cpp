// SPDX-License-Identifier: Apache-2.0
// Writes of the services, carried out in groups in real databases.
#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/support/comes_true.h"
#include "tests/support/databases/file_limit.h"
#include "tests/support/databases/state_database.h"

namespace yk::mcs {

using testing::kApi, testing::kPlacer, testing::kScaler;

namespace {

struct Writes : testing::StateDatabase {
    using StateDatabase::StateDatabase;

    static GroupOutcome write_to(WriteGroup& group, const std::vector<WriteRequest>& requests) {
        std::vector<const WriteRequest*> all;
        all.reserve(requests.size());
        for (const WriteRequest& each : requests) all.push_back(&each);
        return group.write(all);
    }
    [[nodiscard]] std::vector<WriteOutcome> write(const std::vector<WriteRequest>& requests) const {
        return write_to(*group, requests).outcomes;
    }
    WriteOutcome write(const WriterIdentity& writer, WriteCommand command) const {
        return write({{writer, std::move(command)}}).at(0);
    }
    Written must(const WriterIdentity& writer, WriteCommand command) const {
        const WriteOutcome outcome = write(writer, std::move(command));
        INFO(message_of(outcome));
        REQUIRE(std::holds_alternative<Written>(outcome));
        return std::get<Written>(outcome);
    }
    [[nodiscard]] Conflict::What conflict(const WriterIdentity& writer, WriteCommand command) const {
        const WriteOutcome outcome = write(writer, std::move(command));
        INFO(message_of(outcome));
        REQUIRE(std::holds_alternative<Conflict>(outcome));
        return std::get<Conflict>(outcome).what;
    }
    /// A Deployment with its scale and its schedule of two replicas.
    void tree(const std::string& id, DeleteMode mode = DeleteMode::Cascade) const {
        must(kApi, InsertDeployment{deployment(id, mode), false});
        must(kScaler, InsertScale{scale(id)});
        must(kPlacer, InsertSchedule{schedule(id)});
    }
};

} // namespace

TEST_CASE("rs R-002, rs R-141 nobody writes rows of another service, or without the lease that the database has") {
    Writes writes{YK_EACH_DATABASE};
    writes.must(kApi, InsertDeployment{Writes::deployment("d"), false});
    CHECK(std::holds_alternative<NotOwner>(writes.write(kScaler, DeleteDeployment{"d", {"ud", 1}, {}})));
    CHECK(std::holds_alternative<NotOwner>(writes.write(kApi, InsertScale{Writes::scale("d")})));
    CHECK(std::holds_alternative<Fenced>(writes.write({"autoscaler", 2}, InsertScale{Writes::scale("d")})));
    writes.type("UPDATE lease SET holder = 'other' WHERE name = 'autoscaler'");
    CHECK(std::holds_alternative<Fenced>(writes.write(kScaler, InsertScale{Writes::scale("d")})));
    CHECK(writes.count("deployment_scale") == 0);
    WriteGroup alone{*writes.connection, LeaseHolder{"me", false}};
    const auto outcome = Writes::write_to(alone, {{{"autoscaler", 0}, InsertScale{Writes::scale("d")}}});
    CHECK(std::holds_alternative<Written>(outcome.outcomes.at(0)));
}

TEST_CASE(
    "rs R-012, F-42 a row that is not the expected one is a conflict that says what is there, and nothing changes") {
    Writes writes{YK_EACH_DATABASE};
    Deployment row = Writes::deployment("d");
    const Written made = writes.must(kApi, InsertDeployment{row, false});
    CHECK(made.uid == "ud");
    CHECK(made.version == 1);
    if (writes.engine == testing::Engine::Sqlite) CHECK(made.position.text() == "0.1@first");
    row.replicas = 3;
    CHECK(writes.must(kApi, UpdateDeployment{row, {"ud", 1}}).version == 2);
    CHECK(writes.conflict(kApi, UpdateDeployment{row, {"ud", 1}}) == Conflict::What::RowChanged);
    CHECK(writes.conflict(kApi, UpdateDeployment{row, {"u9", 0}}) == Conflict::What::RowGone);
    CHECK(writes.conflict(kApi, InsertDeployment{row, false}) == Conflict::What::Exists);
    CHECK(writes.text("SELECT version || '/' || generation || '/' || replicas FROM deployment") == "2/2/3");
    CHECK(writes.must(kApi, UpdateDeployment{row, {"ud", 0}}).version == 3);
    row.max_replicas = -1;
    CHECK(std::holds_alternative<Fatal>(writes.write(kApi, UpdateDeployment{row, {"ud", 0}})));
}

TEST_CASE("rs R-019 a name that could mean two Deployments is refused") {
    Writes writes{YK_EACH_DATABASE};
    writes.must(kApi, InsertDeployment{Writes::deployment("a"), false});
    Deployment row = Writes::deployment("b");
    for (const char* name : {"name-a", "a"}) {
        row.name = name;
        CHECK(writes.conflict(kApi, InsertDeployment{row, false}) == Conflict::What::NameTaken);
    }
    CHECK(writes.conflict(kApi, InsertDeployment{Writes::deployment("name-a"), false}) == Conflict::What::NameTaken);
    const auto why = [&writes](const Deployment& refused) {
        return message_of(writes.write(kApi, InsertDeployment{refused, false}));
    };
    row.name = "name-a";
    CHECK(why(row) == "another deployment is known by the name name-a"); // nothing of an id that nobody gave
    CHECK(why(Writes::deployment("name-a")) == "another deployment has the name name-a, which cannot be an id");
    row.name = row.meta.id;
    writes.must(kApi, InsertDeployment{row, false});
}

TEST_CASE("rs R-025 one write of a group that fails is undone alone, and all are committed together") {
    Writes writes{YK_EACH_DATABASE};
    std::vector<WriteRequest> requests{{kApi, InsertDeployment{Writes::deployment("a"), false}},
                                       {kApi, InsertDeployment{Writes::deployment("a"), false}},
                                       {kScaler, InsertScale{Writes::scale("a")}},
                                       {kPlacer, DeleteNode{"n", {}}}};
    DeploymentSchedule twice = Writes::schedule("a");
    twice.placements[1].state = static_cast<PlacementState>(0);
    requests.push_back({kPlacer, UpdateSchedule{twice, {"pa", 0}, {}}});
    const auto outcomes = writes.write(requests);
    CHECK(std::holds_alternative<Written>(outcomes[0]));
    CHECK(std::holds_alternative<Conflict>(outcomes[1]));
    CHECK(std::to_string(std::get<Written>(outcomes[2]).position.lanes.at(0).sequence) ==
          writes.text("SELECT max(seq) FROM change_log")); // of the last event of all
    CHECK(std::get<Written>(outcomes[2]).position == std::get<Written>(outcomes[0]).position);
    CHECK(std::holds_alternative<NotOwner>(outcomes[3]));
    CHECK(std::holds_alternative<Conflict>(outcomes[4]));
    CHECK(writes.count("deployment_scale") == 1);
}

TEST_CASE("F-34 a group on a file of SQLite that somebody else writes is Transient, and can be repeated") {
    Writes writes{testing::Engine::Sqlite};
    const auto other = writes.open();
    REQUIRE(other->run("BEGIN IMMEDIATE").ok());
    writes.type("PRAGMA busy_timeout = 1");
    const auto outcome = Writes::write_to(*writes.group, {{kApi, InsertDeployment{Writes::deployment("a"), false}}});
    CHECK(outcome.what == GroupOutcome::What::Away);
    CHECK(std::holds_alternative<Transient>(outcome.outcomes.at(0)));
    REQUIRE(other->run("ROLLBACK").ok());
    writes.must(kApi, InsertDeployment{Writes::deployment("a"), false});
}

TEST_CASE("rs R-033, F-32 a write for which the disk is too full is Transient, and fails nobody else") {
    Writes writes{testing::Engine::Sqlite};
    writes.type("PRAGMA max_page_count = 1"); // as many as there are
    Deployment large = Writes::deployment("b");
    large.tags = {{"t", std::string(5'000'000, 'x')}};
    const auto outcomes = writes.write({{kApi, InsertDeployment{Writes::deployment("a"), false}},
                                        {kApi, InsertDeployment{large, false}},
                                        {kApi, InsertDeployment{Writes::deployment("c"), false}}});
    CHECK(std::holds_alternative<Written>(outcomes[0]));
    REQUIRE(std::holds_alternative<Transient>(outcomes[1]));
    CHECK(message_of(outcomes[1]) == "database or disk is full");
    CHECK(std::holds_alternative<Written>(outcomes[2]));
    CHECK(writes.list("SELECT id FROM deployment ORDER BY id") == "a,c");
    writes.type("PRAGMA max_page_count = 1000000");
    writes.must(kApi, InsertDeployment{large, false});
}

TEST_CASE("rs R-033 what ends the whole transaction undoes all writes of the group, and each learns why") {
    Writes writes{testing::Engine::Sqlite};
    std::vector<WriteRequest> requests{{kApi, InsertDeployment{Writes::deployment("a"), false}},
                                       {kApi, InsertDeployment{Writes::deployment("b"), false}},
                                       {kPlacer, DeleteNode{"n", {}}},
                                       {kApi, InsertDeployment{Writes::deployment("c"), false}}};
    SECTION("in the middle, as an error of the disk may") {
        writes.type("CREATE TRIGGER t BEFORE INSERT ON deployment WHEN NEW.id = 'b'"
                    " BEGIN SELECT RAISE(ROLLBACK, 'the disk'); END");
        const auto group = Writes::write_to(*writes.group, requests);
        CHECK(group.what == GroupOutcome::What::Undone);
        CHECK(std::holds_alternative<Fatal>(group.outcomes[1]));
        for (const std::size_t at : {0U, 3U}) {
            REQUIRE(std::holds_alternative<Transient>(group.outcomes[at]));
            CHECK(message_of(group.outcomes[at]) == "the disk");
        }
        CHECK(std::holds_alternative<NotOwner>(group.outcomes[2]));
        CHECK(writes.count("deployment") == 0); // also c, which comes after it
        writes.type("DROP TRIGGER t");
    }
    SECTION("at the commit, since a file may not grow") {
        const testing::FileLimit limit{writes.place->path() + "-wal"};
        const auto group = Writes::write_to(*writes.group, requests);
        CHECK(group.what == GroupOutcome::What::Undone);
        for (const std::size_t at : {0U, 1U, 3U}) CHECK(std::holds_alternative<Transient>(group.outcomes[at]));
        CHECK(writes.count("deployment") == 0);
    }
    CHECK(Writes::write_to(*writes.group, requests).what == GroupOutcome::What::Answered);
    CHECK(writes.list("SELECT id FROM deployment ORDER BY id") == "a,b,c");
}

TEST_CASE("a scale is made only under its Deployment, and takes the place of one of another owner") {
    Writes writes{YK_EACH_DATABASE};
    CHECK(writes.conflict(kScaler, InsertScale{Writes::scale("a")}) == Conflict::What::OwnerGone);
    writes.tree("a", DeleteMode::Owners);
    CHECK(writes.conflict(kScaler, InsertScale{Writes::scale("a")}) == Conflict::What::Exists);
    writes.must(kApi, DeleteDeployment{"a", {"ua", 1}, {}});
    Deployment again = Writes::deployment("a");
    again.meta.uid = "second";
    writes.must(kApi, InsertDeployment{again, false});
    CHECK(writes.conflict(kScaler, InsertScale{Writes::scale("a")}) == Conflict::What::OwnerGone);
    writes.must(kScaler, InsertScale{Writes::scale("a", "second")});
    CHECK(writes.text("SELECT owner_uid || '/' || version FROM deployment_scale") == "second/1");
}

TEST_CASE("P-04 rows of PostgreSQL are found by their index, also by a session that began with empty tables") {
    const auto engines = testing::engines();
    if (std::find(engines.begin(), engines.end(), testing::Engine::Postgres) == engines.end()) return;
    constexpr std::int64_t kRows = 200;
    Writes writes{testing::Engine::Postgres};
    for (std::int64_t each = 0; each < kRows; ++each) writes.tree("d" + std::to_string(each));
    const auto number = [&writes](const std::string& column) {
        return *writes.connection->number(
            "SELECT " + column + " FROM pg_stat_user_tables WHERE relname = 'deployment_scale'", -1);
    };
    REQUIRE(testing::comes_true([&] { return number("n_tup_ins") == kRows; })); // the server counts once a second
    CHECK(number("seq_tup_read") < 2 * kRows); // a plan of the empty table reads all of it for each row: 20,000
}

TEST_CASE("rs R-103 an orphan is deleted only if its Deployment is not there in that moment") {
    Writes writes{YK_EACH_DATABASE};
    writes.tree("a", DeleteMode::Owners);
    const std::string uid = writes.text("SELECT uid FROM deployment_scale");
    CHECK(writes.conflict(kScaler, DeleteScale{"a", {uid, 1}, true}) == Conflict::What::NotOrphaned);
    CHECK(writes.conflict(kPlacer, DeleteSchedule{"a", {"pa", 0}, true}) == Conflict::What::NotOrphaned);
    writes.must(kApi, DeleteDeployment{"a", {"ua", 0}, {}});
    CHECK(writes.count("placement") == 2);
    CHECK(writes.must(kScaler, DeleteScale{"a", {uid, 0}, true}).version == 0);
    CHECK(writes.must(kScaler, DeleteScale{"a", {uid, 0}, true}).version == 0);
    writes.must(kPlacer, DeleteSchedule{"a", {"pa", 0}, true});
    CHECK(writes.count("placement") == 0);
}

TEST_CASE("rs R-003, rs R-134, F-09 children go with their Deployment, stay for their services, or are released") {
    Writes writes{YK_EACH_DATABASE};
    writes.tree("a", DeleteMode::Owners);
    SECTION("cascade, also when it is chosen only now") {
        writes.must(kApi, DeleteDeployment{"a", {"ua", 0}, DeleteMode::Cascade});
        CHECK(writes.count("deployment_scale") + writes.count("deployment_schedule") + writes.count("placement") == 0);
        CHECK(writes.count("change_log WHERE op = 3") == 3);
    }
    SECTION("owners, also when it was cascade") {
        writes.must(kApi, UpdateDeployment{Writes::deployment("a"), {"ua", 0}});
        CHECK(writes.count("deployment_scale WHERE cascade_parent = 'a' AND version = 2") == 1);
        writes.must(kApi, DeleteDeployment{"a", {"ua", 0}, DeleteMode::Owners});
        CHECK(writes.count("deployment_schedule WHERE cascade_parent IS NULL AND owner_uid = 'ua'") == 1);
    }
    SECTION("orphan, until a Deployment adopts them") {
        writes.must(kApi, DeleteDeployment{"a", {"ua", 0}, DeleteMode::Orphan});
        CHECK(writes.count("deployment_scale WHERE owner_uid = ''") == 1);
        CHECK(writes.count("placement") == 2);
        Deployment heir = Writes::deployment("a");
        heir.meta.uid = "heir";
        writes.must(kApi, InsertDeployment{heir, true});
        CHECK(writes.count("deployment_schedule WHERE owner_uid = 'heir' AND cascade_parent = 'a'") == 1);
    }
}

TEST_CASE("rs R-017 changes of placements of one schedule raise its version once in a transaction") {
    Writes writes{YK_EACH_DATABASE};
    writes.tree("a");
    std::vector<WriteRequest> requests{
        {kPlacer, ChangePlacements{"a", "pa", {Writes::placed(2)}, {}}},
        {kPlacer, ChangePlacements{"a", "gone", {Writes::placed(8)}, {}}},
        {kPlacer, ChangePlacements{"a", "pa", {Writes::placed(3), {1, {}}}, ScheduleState::Scheduled}}};
    const auto outcomes = writes.write(requests);
    CHECK(std::get<Written>(outcomes[0]).version == 2);
    CHECK(std::get<Conflict>(outcomes[1]).what == Conflict::What::RowGone);
    CHECK(std::get<Written>(outcomes[2]).version == 2);
    const char* row =
        "SELECT version || state || placed || '/' || pending || '/' || writer_epoch FROM deployment_schedule";
    CHECK(writes.text(row) == "2Scheduled2/0/4");
    CHECK(writes.count("change_log WHERE kind = 3 AND op = 2") == 1);
    requests = {{kPlacer, ChangePlacements{"a", "pa", {{3, {}}}, {}}},
                {kPlacer, UpdateSchedule{Writes::schedule("a"), {"pa", 3}, {Writes::placed(7)}}}};
    CHECK(std::get<Written>(writes.write(requests)[1]).version == 4);
    CHECK(writes.text(row) == "4New2/0/4");
}

} // namespace yk::mcs
