// SPDX-License-Identifier: Apache-2.0
// The tables of mcs in real databases: their making, what of them is read, and what is refused.
#include <array>
#include <atomic>
#include <thread>

#include <catch2/catch.hpp>

#include "protocol/databases/canonical_json.h"
#include "protocol/databases/mcs_schema.h"
#ifdef YK_WITH_PG
#include "protocol/databases/postgres/postgres_connection.h"
#endif
#include "tests/support/databases/state_database.h"

namespace yk::mcs {
namespace {

using rs::StoreFault;

struct Tables : testing::StateDatabase {
    using StateDatabase::StateDatabase;

    void type_deployment(const std::string& id) const {
        type("INSERT INTO deployment(id, uid, version, generation, name, queue, usr, grps, resource, min_replicas,"
             " max_replicas, created_ms, updated_ms) VALUES('" +
             id + "', 'u" + id + "', 1, 1, 'name of " + id +
             "', 'root.q', 'me', '[\"staff\"]', '{\"vcore\": 500, \"memory\": 1073741824}', 1, 5, 10, 20)");
    }
    void type_children(const std::string& id, bool cascades) const {
        const std::string parent = cascades ? "'" + id + "'" : "NULL";
        type("INSERT INTO deployment_scale VALUES('" + id + "', 's" + id + "', 1, 1, '" + id + "', 'u" + id + "', " +
             parent + ", 3, 'manual', 1, '{\"b\": [1.5, 2], \"a\": {}}', 7, 10, 20)");
        type("INSERT INTO deployment_schedule VALUES('" + id + "', 'p" + id + "', 1, 1, '" + id + "', 'u" + id + "', " +
             parent + ", 'mcs-" + id + "', 1, 3, 1, 1, 'Scheduling', '{}', 8, 10, 20)");
        type("INSERT INTO placement VALUES('" + id +
             "', 2, 1, 'k2', NULL, 'Pending', NULL),"
             "('" +
             id + "', 1, 4, 'k1', 'n-1', 'Placed', 99)");
    }
    template <class T>
    [[nodiscard]] rs::Found<T> read(const std::string& id) const {
        const std::array<std::string, 1> ids{id};
        auto rows = store<T>(*connection)->read_many(ids);
        REQUIRE(rows.ok());
        return rows->found.at(0);
    }
    template <class T>
    [[nodiscard]] rs::Ptr<T> get(const std::string& id) const {
        const auto found = read<T>(id);
        REQUIRE(std::holds_alternative<rs::Ptr<T>>(found));
        return std::get<rs::Ptr<T>>(found);
    }
    template <class T>
    [[nodiscard]] std::string broken(const std::string& id) const {
        const auto found = read<T>(id);
        REQUIRE(std::holds_alternative<rs::BrokenRow>(found));
        return std::get<rs::BrokenRow>(found).message;
    }
};

/// What is wrong with another connection to the database, which was seen before; empty: nothing.
std::string reopen(const Tables& tables, const DatabaseIdentity& first) {
    const auto text_of = [](const auto& connection) {
        if (connection.ok()) return std::string{};
        CHECK(connection.error().fault == StoreFault::Fatal);
        return connection.error().message;
    };
#ifdef YK_WITH_PG
    if (tables.engine == testing::Engine::Postgres)
        return text_of(rs::PostgresConnection::open({tables.place->path()}, first.uid));
#endif
    return text_of(reconnect(tables.place->path(), first));
}

} // namespace

TEST_CASE("rs R-057 what rows have in common is kept once") {
    Tables tables{YK_EACH_DATABASE};
    for (const char* id : {"a", "b"}) tables.type_deployment(id);
    const auto store = tables.store<Deployment>(*tables.connection);
    const auto page = store->read_page("", 9);
    REQUIRE(page.ok());
    const auto a = std::get<rs::Ptr<Deployment>>(page->found.at(0)),
               b = std::get<rs::Ptr<Deployment>>(page->found.at(1));
    CHECK((&*a->partition == &*b->partition && &*a->queue == &*b->queue && &*a->user == &*b->user));
    CHECK((&*a->groups == &*b->groups && &*a->resource == &*b->resource && &*a->tags == &*b->tags));
    CHECK(&*a->policy == &*b->policy);
    tables.type("UPDATE deployment SET version = 2, resource = '{\"vcore\":1}' WHERE id = 'b'");
    const std::array<std::string, 2> ids{"a", "b"};
    const auto rows = store->read_many(ids);
    REQUIRE(rows.ok());
    CHECK(&*std::get<rs::Ptr<Deployment>>(rows->found.at(0))->resource == &*a->resource);
    CHECK(std::get<rs::Ptr<Deployment>>(rows->found.at(1))->resource == Amounts{{"vcore", 1}});
    CHECK(b->resource == a->resource); // what was read before is as it was
}

TEST_CASE("rs R-071 rows of every kind are read with all their columns") {
    Tables tables{YK_EACH_DATABASE};
    tables.type_deployment("d");
    tables.type_children("d", true);
    tables.type("INSERT INTO node VALUES('n-1', 'un', 1, '{\"zone\":\"a\"}', '{\"vcore\":8000}', '{}', 1, 10, 20)");
    const auto deployment = tables.get<Deployment>("d");
    CHECK(deployment->name == "name of d");
    CHECK(deployment->groups == std::vector<std::string>{"staff"});
    CHECK(deployment->resource == Amounts{{"memory", 1073741824}, {"vcore", 500}});
    CHECK(deployment->max_replicas == 5);
    CHECK_FALSE(deployment->replicas.has_value());
    CHECK(deployment->delete_mode == DeleteMode::Cascade);
    CHECK(deployment->times.updated_ms == 20);
    const auto scale = tables.get<DeploymentScale>("d");
    CHECK(scale->owner == Owner{kDeploymentKind, "d", "ud"});
    CHECK(scale->cascade_parent == "d");
    CHECK(scale->desired == 3);
    CHECK(scale->status == R"({"a":{},"b":[1.5,2]})");
    CHECK(scale->writer_epoch == 7);
    const auto schedule = tables.get<DeploymentSchedule>("d");
    CHECK(schedule->state == ScheduleState::Scheduling);
    const std::vector<Placement> placements{{1, 4, "k1", "n-1", PlacementState::Placed, 99},
                                            {2, 1, "k2", "", PlacementState::Pending, std::nullopt}};
    CHECK(schedule->placements == placements);
    const auto node = tables.get<Node>("n-1");
    CHECK(node->attributes == Texts{{"zone", "a"}});
    CHECK(node->capacity == Amounts{{"vcore", 8000}});
    CHECK(node->is_schedulable);
}

TEST_CASE("rs R-071, F-46 a row that cannot be understood says which column, and its neighbours are read") {
    Tables tables{YK_EACH_DATABASE};
    tables.type_deployment("a");
    tables.type_deployment("b");
    tables.type_children("a", false);
    for (const auto& [change, message] : std::array<std::array<const char*, 2>, 5>{
             {{"resource = '{\"vcore\":1.5}'", "resource: the amount of vcore is no whole number of 64 bits"},
              {"resource = '{\"vcore\":9223372036854775808}'",
               "resource: the amount of vcore is no whole number of 64 bits"},
              {"resource = '{}', policy = '['", "policy: it is no JSON object"},
              {"policy = '{}', cascade = 7", "cascade: 7 is none of 0, 1 and 2"},
              {"cascade = 1, grps = '{}'", "grps: it is no JSON list"}}}) {
        tables.type("UPDATE deployment SET version = version + 1, " + std::string{change} + " WHERE id = 'a'");
        CHECK(tables.broken<Deployment>("a") == message);
    }
    const auto page = tables.store<Deployment>(*tables.connection)->read_page("", 10);
    REQUIRE(page.ok());
    CHECK(page->found.size() == 2);
    CHECK(std::holds_alternative<rs::Ptr<Deployment>>(page->found.at(1)));
    tables.type("UPDATE placement SET state = 'Dreaming' WHERE replica = 2");
    CHECK(tables.broken<DeploymentSchedule>("a") == "placement 2: state Dreaming is none of this program's");
    tables.type("UPDATE deployment_schedule SET version = 2, state = 'Dreaming'");
    CHECK(tables.broken<DeploymentSchedule>("a") == "state: Dreaming is none of this program's");
}

TEST_CASE("rs R-071 ids that are no texts are not read for ever") {
    const Tables tables{testing::Engine::Sqlite};
    tables.type("INSERT INTO node SELECT CAST(value AS BLOB), 'u' || value, 1, '{}', '{}', '{}', 1, 10, 20"
                " FROM (SELECT 1 AS value UNION SELECT 2 UNION SELECT 3)");
    const auto nodes = tables.store<Node>(*tables.connection);
    const auto first = nodes->read_page("", 2);
    REQUIRE(first.ok());
    const auto next = nodes->read_page(first->last_id, 2);
    REQUIRE_FALSE(next.ok());
    CHECK(next.error().fault == StoreFault::Fatal);
    CHECK(next.error().message.starts_with("rows of the table node have an id that is no text"));
}

TEST_CASE("rs R-008 what goes with its Deployment is logged, what has no cascade_parent stays") {
    Tables tables{YK_EACH_DATABASE};
    tables.type_deployment("a");
    tables.type_deployment("b");
    tables.type_children("a", true);
    tables.type_children("b", false);
    tables.type("DELETE FROM change_log; DELETE FROM deployment");
    CHECK(tables.list("SELECT op || ' ' || kind || ' ' || id FROM change_log ORDER BY kind, id") ==
          "3 1 a,3 1 b,3 2 a,3 3 a");
    CHECK(*tables.connection->number("SELECT count(*) FROM placement WHERE schedule_id = 'a'") == 0);
    CHECK(*tables.connection->number("SELECT count(*) FROM placement WHERE schedule_id = 'b'") == 2);
}

/// Else each delete of a parent would look through all children.
TEST_CASE("rs R-136 every column that names a parent is the first of an index") {
    Tables tables{YK_EACH_DATABASE};
    const bool is_sqlite = tables.engine == testing::Engine::Sqlite;
    const std::string columns = tables.list(
        is_sqlite ? R"(SELECT m.name || '.' || f."from" FROM sqlite_master m, pragma_foreign_key_list(m.name) f
                       WHERE m.type = 'table' ORDER BY 1)"
                  : R"(SELECT c.conrelid::regclass || '.' || a.attname FROM pg_constraint c JOIN pg_attribute a
                       ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] WHERE c.contype = 'f' ORDER BY 1)");
    CHECK(columns == "deployment_scale.cascade_parent,deployment_schedule.cascade_parent,placement.schedule_id");
    const std::string without = tables.list(
        is_sqlite ? R"(SELECT m.name || '.' || f."from" FROM sqlite_master m, pragma_foreign_key_list(m.name) f
                       WHERE m.type = 'table' AND NOT EXISTS (SELECT 1 FROM pragma_index_list(m.name) l,
                       pragma_index_info(l.name) i WHERE i.seqno = 0 AND i.name = f."from"))"
                  : R"(SELECT c.conrelid::regclass || '' FROM pg_constraint c WHERE c.contype = 'f' AND NOT EXISTS
                       (SELECT 1 FROM pg_index i WHERE i.indrelid = c.conrelid AND i.indkey[0] = c.conkey[1]))");
    CHECK(without.empty());
}

TEST_CASE("rs R-011, rs R-017 the tables guard versions and bounds, and placements are not logged") {
    Tables tables{YK_EACH_DATABASE};
    tables.type_deployment("a");
    tables.type_children("a", true);
    for (const char* table : {"deployment", "deployment_scale", "deployment_schedule"})
        if (tables.engine == testing::Engine::Sqlite)
            CHECK(tables.is_refused("UPDATE " + std::string{table} + " SET updated_ms = 1"));
    for (const char* column : {"id", "uid"})
        CHECK(tables.is_refused("UPDATE deployment_scale SET version = 2, " + std::string{column} + " = 'x'"));
    CHECK(tables.is_refused("UPDATE deployment SET version = 2, max_replicas = 0"));
    CHECK(tables.is_refused("UPDATE deployment_scale SET version = 2, desired = -1"));
    const std::string before = tables.events();
    tables.type("UPDATE placement SET attempt = 9");
    CHECK(tables.events() == before);
    CHECK(tables.is_refused("INSERT INTO placement VALUES('nobody', 1, 1, 'k', NULL, 'Pending', NULL)"));
}

TEST_CASE("rs R-011 in PostgreSQL a person with a shell need not think of the version") {
    Tables tables{YK_EACH_DATABASE};
    if (tables.engine == testing::Engine::Sqlite) return;
    tables.type_deployment("a");
    tables.type("UPDATE deployment SET priority = 7");
    tables.type("UPDATE deployment SET version = 99");
    CHECK(tables.text("SELECT version || '/' || priority FROM deployment") == "3/7");
}

TEST_CASE("rs R-020, F-52 an older schema is brought up to date as a whole or not at all, a newer one is refused") {
    Tables tables{YK_EACH_DATABASE};
    tables.type_deployment("a");
    std::vector<std::string> steps(1);
    steps.emplace_back("ALTER TABLE node ADD COLUMN rack TEXT");
    steps.emplace_back("ALTER TABLE nothing ADD COLUMN rack TEXT");
    CHECK_FALSE(migrate(*tables.connection, "other", steps).ok());
    CHECK(tables.is_refused("SELECT rack FROM node")); // the step before the one that failed is undone
    steps.pop_back();
    REQUIRE(migrate(*tables.connection, "other", steps).ok());
    CHECK_FALSE(tables.is_refused("SELECT rack FROM node"));
    CHECK(tables.get<Deployment>("a")->meta.uid == "ua");
    REQUIRE(migrate(*tables.connection, "other", steps).ok());
    const auto refused = tables.place->make_tables(*tables.connection);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().fault == StoreFault::Fatal);
    CHECK(refused.error().message.find("schema 2, and this program knows 1") != std::string::npos);
    CHECK(read_identity(*tables.connection)->uid == "first");
}

TEST_CASE("rs R-020 tables are made once, also by programs that begin at the same time") {
    const auto place = testing::new_place(YK_EACH_DATABASE, /*has_tables=*/false);
    std::vector<std::unique_ptr<rs::SqlConnection>> connections;
    constexpr int kPrograms = 4;
    connections.reserve(kPrograms);
    for (int each = 0; each < kPrograms; ++each) connections.push_back(place->open());
    std::vector<std::thread> programs;
    programs.reserve(kPrograms);
    std::atomic<int> successes = 0;
    for (const auto& each : connections)
        programs.emplace_back([&place, &each, &successes] { successes += place->make_tables(*each).ok() ? 1 : 0; });
    for (std::thread& each : programs) each.join();
    CHECK(successes == kPrograms);
    CHECK(*connections[0]->number("SELECT count(*) FROM lease") == 5);
}

TEST_CASE("rs R-031, F-31 another database in the place of the first one is refused") {
    const auto engine = YK_EACH_DATABASE;
    Tables tables{engine}, other{engine};
    const auto first = read_identity(*tables.connection);
    REQUIRE(first.ok());
    CHECK(reopen(tables, *first).empty());
    other.type("UPDATE mcs_meta SET value = 'second' WHERE key = 'db_uid'");
    CHECK(reopen(other, *first).find("wrong database: it is second, and first was here before") != std::string::npos);
    tables.type("UPDATE mcs_meta SET value = 'restored' WHERE key = 'log_epoch'");
    CHECK(reopen(tables, *first).empty());
}

TEST_CASE("rs R-031 another epoch is a gap") {
    Tables tables{YK_EACH_DATABASE};
    const auto log = tables.place->open_log();
    const auto captured = log->capture();
    REQUIRE(log->open(*captured).ok());
    tables.type("UPDATE mcs_meta SET value = 'restored' WHERE key = 'log_epoch'");
    CHECK(log->poll(9).error().reason == rs::RelistReason::Epoch);
}

TEST_CASE("rs R-018 equal content has equal bytes") {
    CHECK(json_of(Amounts{{"vcore", 500}, {"memory", 1}}) == R"({"memory":1,"vcore":500})");
    CHECK(json_of(amounts_of(R"( { "vcore":500, "memory" : 1 } )").value()) == R"({"memory":1,"vcore":500})");
    CHECK(json_of(std::vector<std::string>{"b", "a"}) == R"(["b","a"])");
    CHECK(json_of(Texts{{"k", "a\"b"}}) == R"({"k":"a\"b"})");
    CHECK(json_of(Texts{}) == "{}");
    CHECK(*canonical_object(R"({"b": {"d":1,"c":2}, "a":[]})") == R"({"a":[],"b":{"c":2,"d":1}})");
    CHECK_FALSE(canonical_object("[]").has_value());
    CHECK_FALSE(canonical_object("{").has_value());
    CHECK_FALSE(texts_of(R"({"a":1})").ok());
    CHECK(amounts_of(R"({"vcore":-3})").error() == "the amount of vcore is less than 0");
}

} // namespace yk::mcs
