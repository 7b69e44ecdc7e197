// SPDX-License-Identifier: Apache-2.0
// A database is broken in every way that is looked for, and mended where that is possible.
#include "protocol/databases/checking/database_check.h"

#include <fstream>

#include <catch2/catch.hpp>

#include "protocol/databases/mcs_schema.h"
#include "protocol/databases/sqlite_connection.h"
#include "tests/support/databases/state_database.h"

namespace yk::mcs {
namespace {

struct Checked : testing::StateDatabase {
    explicit Checked(testing::Engine of) : StateDatabase(of) {
        type("INSERT INTO deployment(id, uid, version, generation, name, queue, usr, resource, min_replicas, "
             "max_replicas,"
             " created_ms, updated_ms) VALUES('web', 'u', 1, 1, 'web', 'root.q', 'me', '{\"vcore\":1}', 1, 5, 10, 20)");
        type("INSERT INTO deployment_scale VALUES('web', 's', 1, 1, 'web', 'u', 'web', 2, 'by hand', 1, '{}', 7, 10, "
             "20)");
        type("INSERT INTO deployment_schedule VALUES('web', 'p', 1, 1, 'web', 'u', 'web', 'mcs-web', 1, 2, 1, 1,"
             " 'Scheduling', '{}', 8, 10, 20)");
        type("INSERT INTO placement VALUES('web', 1, 1, 'k1', 'n', 'Placed', 9), ('web', 2, 1, 'k2', NULL, 'Pending', "
             "NULL)");
    }
    [[nodiscard]] std::span<const CheckRule> rules() const {
        return engine == testing::Engine::Sqlite ? sqlite_rules() : postgres_rules();
    }
    [[nodiscard]] CheckReport report() const {
        REQUIRE(has_our_schema(*connection).ok());
        auto report = check_database(*connection, rules());
        INFO((report.ok() ? "" : report.error().message));
        REQUIRE(report.ok());
        return std::move(report).value();
    }
    /// `orphan deployment_scale web; ...`, with a `!` for what a person has to mend.
    [[nodiscard]] std::string wrong() const {
        std::string text;
        for (const DatabaseFault& each : report().findings)
            text += (text.empty() ? "" : "; ") + std::string{each.what} + " " + each.table + " " + each.id +
                    (each.can_be_mended ? "" : "!");
        return text;
    }
    std::int64_t mend() const {
        const auto count = mend_database(*connection, rules());
        INFO((count.ok() ? "" : count.error().message));
        REQUIRE(count.ok());
        return *count;
    }
    /// The last entry of the change log: kind, op and id.
    [[nodiscard]] std::string last_change() const {
        const auto text =
            connection->text("SELECT kind || ' ' || op || ' ' || id FROM change_log ORDER BY seq DESC LIMIT 1");
        REQUIRE(text.ok());
        return *text;
    }
};

} // namespace

TEST_CASE("rs R-157 a database without a fault is read whole, and nothing is mended") {
    const Checked database{YK_EACH_DATABASE};
    const CheckReport report = database.report();
    CHECK(report.findings.empty());
    CHECK(report.leases.size() == 5);
    const auto rows_of = [&](std::string_view table) {
        for (const TableSize& each : report.tables)
            if (each.table == table) return each.rows;
        return std::int64_t{-1};
    };
    CHECK(rows_of("deployment") == 1);
    CHECK(rows_of("placement") == 2);
    CHECK(rows_of("change_log") == 3);
    CHECK(database.mend() == 0);
    CHECK(rows_of("dead_letter") == 0);
}

TEST_CASE("rs R-157 children whose deployment is gone are found and removed") {
    const Checked database{YK_EACH_DATABASE};
    database.type("UPDATE deployment_scale SET version = 2, cascade_parent = NULL");
    database.type("UPDATE deployment_schedule SET version = 2, cascade_parent = NULL");
    CHECK(database.wrong() == "delete mode deployment_scale web; delete mode deployment_schedule web");
    database.type("DELETE FROM deployment");
    CHECK(database.wrong() == "orphan deployment_scale web; orphan deployment_schedule web");
    CHECK(database.mend() == 2);
    CHECK(database.wrong().empty());
    CHECK(database.last_change() == "3 3 web");
}

TEST_CASE("rs R-157 children that were released on purpose stay") {
    const Checked database{YK_EACH_DATABASE};
    database.type("UPDATE deployment_scale SET version = 2, cascade_parent = NULL, owner_uid = ''");
    database.type("UPDATE deployment_schedule SET version = 2, cascade_parent = NULL, owner_uid = ''");
    database.type("DELETE FROM deployment");
    CHECK(database.wrong().empty());
}

TEST_CASE("rs R-157 what a child goes with, and what a schedule counts, is set right in the change log") {
    const Checked database{YK_EACH_DATABASE};
    database.type("UPDATE deployment_scale SET version = 2, cascade_parent = NULL");
    CHECK(database.mend() == 1);
    CHECK(database.last_change() == "2 2 web");
    database.type("DELETE FROM placement WHERE replica = 1");
    CHECK(database.wrong() == "miscounted deployment_schedule web");
    CHECK(database.report().findings[0].text == "placed 1 and pending 1, but its placements are 0 and 1");
    CHECK(database.mend() == 1);
    CHECK(database.wrong().empty());
    CHECK(database.last_change() == "3 2 web");
}

TEST_CASE("rs R-157 a row that cannot be understood is named, and left to a person") {
    const Checked database{YK_EACH_DATABASE};
    database.type("UPDATE deployment SET version = 2, resource = 'much'");
    CHECK(database.wrong() == "unreadable deployment web!");
    CHECK(database.mend() == 0);
}

TEST_CASE("rs R-157 a lease that is missing is made") {
    const Checked database{YK_EACH_DATABASE};
    database.type("DELETE FROM lease WHERE name = 'purge'");
    CHECK(database.wrong() == "missing lease purge");
    CHECK(database.mend() == 1);
    CHECK(database.wrong().empty());
}

TEST_CASE("rs R-157 triggers that are gone are made before anything else is mended") {
    const Checked database{testing::Engine::Sqlite};
    database.type("DROP TRIGGER deployment_scale_cd; DROP TRIGGER node_vg");
    CHECK(database.wrong() == "missing trigger deployment_scale_cd; missing trigger node_vg");
    database.type("PRAGMA foreign_keys = OFF; DELETE FROM deployment; PRAGMA foreign_keys = ON");
    CHECK(database.mend() == 4);
    CHECK(database.wrong().empty());
    CHECK(*database.connection->number("SELECT count(*) FROM change_log WHERE kind = 2 AND op = 3") == 1);
}

TEST_CASE("rs R-157 placements of no schedule are removed") {
    const Checked database{testing::Engine::Sqlite};
    database.type("PRAGMA foreign_keys = OFF; DELETE FROM deployment_schedule; PRAGMA foreign_keys = ON");
    CHECK(database.wrong() == "orphan placement web; orphan placement web");
    CHECK(database.mend() == 2);
    CHECK(database.wrong().empty());
}

TEST_CASE("rs R-157 nothing is mended in a database with damaged pages, since rows may only seem to be gone") {
    Checked database{testing::Engine::Sqlite};
    database.type("UPDATE deployment_schedule SET version = 2, placed = 7");
    database.type("PRAGMA wal_checkpoint(TRUNCATE)");
    const std::int64_t root =
        *database.connection->number("SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_deployment_2'");
    REQUIRE(root > 1);
    const std::int64_t size = *database.connection->number("PRAGMA page_size");
    database.connection.reset();
    {
        std::fstream file{database.place->path(), std::ios::in | std::ios::out | std::ios::binary};
        file.seekp((root - 1) * size + 3); // how many entries the index of the uids has: none
        file.write("\0\0", 2);
        REQUIRE(file.good());
    }
    database.connection = database.place->open();
    CHECK(database.wrong().find("damaged") != std::string::npos);
    const auto refused = mend_database(*database.connection, database.rules());
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message.find("restore a backup") != std::string::npos);
    CHECK(database.count("deployment_scale") == 1);
}

TEST_CASE("rs R-157 pages that cannot be read are findings, and no reason to say nothing") {
    const std::string which = GENERATE(as<std::string>{}, "deployment", "mcs_meta", "sqlite_master");
    INFO(which);
    Checked database{testing::Engine::Sqlite};
    REQUIRE(database.connection->text("PRAGMA wal_checkpoint(TRUNCATE)").ok());
    const std::int64_t root =
        which == "sqlite_master"
            ? 1
            : *database.connection->number("SELECT rootpage FROM sqlite_master WHERE name = '" + which + "'");
    const std::int64_t size = *database.connection->number("PRAGMA page_size");
    database.connection.reset();
    {
        std::fstream file{database.place->path(), std::ios::in | std::ios::out | std::ios::binary};
        file.seekp((root - 1) * size + (root == 1 ? 100 : 0)); // behind the header of the file
        file << std::string(600, '\xa5');
        REQUIRE(file.good());
    }
    auto looked = rs::SqliteConnection::look_at(database.place->path());
    REQUIRE(looked.ok());
    if (const auto ours = has_our_schema(**looked); which == "deployment") {
        REQUIRE(ours.ok());
    } else {
        REQUIRE_FALSE(ours.ok());
        CHECK(ours.error().damage == rs::Damage::Pages);
        CHECK(ours.error().message.find("no database of ykd") == std::string::npos);
    }
    const auto checked = check_database(**looked, sqlite_rules());
    INFO((checked.ok() ? "" : checked.error().message));
    REQUIRE(checked.ok());
    const CheckReport& report = *checked;
    REQUIRE(report.findings.size() >= 2);
    CHECK(report.mendable() == 0);
    for (const DatabaseFault& each : report.findings) CHECK(each.what == "damaged");
    CHECK(report.findings.front().text.find("a read says: database disk image is malformed") == 0);
    std::string pages;
    for (const DatabaseFault& each : report.findings) pages += each.text + "\n";
    INFO(pages);
    CHECK(pages.find(which == "sqlite_master" ? "cannot all be looked at" : "Page " + std::to_string(root)) !=
          std::string::npos);
}

TEST_CASE("rs R-157 of many findings of a sort the first are named, and the others counted") {
    const Checked database{testing::Engine::Sqlite};
    database.type(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)"
        " INSERT INTO deployment_scale SELECT 'lost' || i, 'x' || i, 1, 1, 'lost' || i, 'gone', NULL, 2, '', 1,"
        " '{}', 7, 10, 20 FROM n");
    const CheckReport report = database.report();
    CHECK(report.findings.size() == 100);
    CHECK(report.left_out == 150);
    CHECK(report.mendable() == 100);
    CHECK(database.mend() == 250);
}

TEST_CASE("rs R-157 each table that is gone is named, and what does not need it is looked at all the same") {
    const Checked database{YK_EACH_DATABASE};
    const std::string which = GENERATE(as<std::string>{}, "deployment", "deployment_scale", "deployment_schedule",
                                       "node", "placement", "change_log", "lease", "relay_state", "dead_letter");
    INFO(which);
    const bool is_schedules = which == "deployment_schedule" || which == "placement";
    database.type(is_schedules ? "UPDATE deployment SET version = 2, resource = 'much'"
                               : "UPDATE deployment_schedule SET version = 2, placed = 7");
    const std::string other = is_schedules ? "unreadable deployment web!" : "miscounted deployment_schedule web!";
    const bool is_sqlite = database.engine == testing::Engine::Sqlite;
    database.type(is_sqlite ? "PRAGMA foreign_keys = OFF; DROP TABLE " + which : "DROP TABLE " + which + " CASCADE");
    const std::string lost = "missing table " + which + "!";
    CHECK(database.wrong() == lost + "; " + other);
    CHECK(database.report().findings[0].text.find("put a copy of the database back") != std::string::npos);
    CHECK(database.report().position.size() > 1);
    const auto refused = mend_database(*database.connection, database.rules());
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message.find("while the table " + which + " is gone") != std::string::npos);
}

TEST_CASE("rs R-157 all tables may be gone but the one that says whose they are") {
    const Checked database{YK_EACH_DATABASE};
    const bool is_sqlite = database.engine == testing::Engine::Sqlite;
    if (is_sqlite) database.type("PRAGMA foreign_keys = OFF");
    for (const char* table : {"placement", "deployment_schedule", "deployment_scale", "deployment", "node",
                              "change_log", "lease", "relay_state", "dead_letter"})
        database.type(std::string{"DROP TABLE "} + table + (is_sqlite ? "" : " CASCADE"));
    const CheckReport report = database.report();
    CHECK(report.findings.size() == 9);
    CHECK(report.tables.empty());
    CHECK(report.mendable() == 0);
}

TEST_CASE("rs R-157 the name of the database and that of its change log are made when they are missing") {
    const Checked database{YK_EACH_DATABASE};
    database.type("DELETE FROM mcs_meta WHERE key = 'log_epoch'");
    CHECK(database.wrong() == "missing mcs_meta log_epoch");
    database.type("UPDATE mcs_meta SET value = '' WHERE key = 'db_uid'");
    CHECK(database.wrong() == "missing mcs_meta db_uid; missing mcs_meta log_epoch");
    CHECK(database.mend() == 2);
    CHECK(database.wrong().empty());
    CHECK(database.text("SELECT value FROM mcs_meta WHERE key = 'log_epoch'").size() == 32);
    CHECK(database.mend() == 0);
}

TEST_CASE("rs R-157 how far the change log was purged is not guessed") {
    const Checked database{YK_EACH_DATABASE};
    database.type("DELETE FROM mcs_meta WHERE key = 'log_floor'");
    CHECK(database.wrong() == "missing mcs_meta log_floor!");
    CHECK(database.report().findings[0].text.find("ykctl mcs bump-epoch") != std::string::npos);
    CHECK(database.mend() == 0);
}

TEST_CASE("rs R-157 an epoch of a lease that cannot be raised begins anew above those that rows were written with") {
    const Checked database{YK_EACH_DATABASE};
    const bool is_sqlite = database.engine == testing::Engine::Sqlite;
    const std::string epoch = GENERATE(as<std::string>{}, "9223372036854775807", "4611686018427387905", "-1", "'abc'",
                                       "1.5", "x'ff00'", "9223372036854775807 + 1");
    INFO(epoch);
    if (!is_sqlite && epoch.find_first_of("'.+") != std::string::npos) return; // PostgreSQL keeps numbers only
    database.type("UPDATE lease SET holder = 'gone', expires_ms = 1, epoch = " + epoch + " WHERE name = 'scheduler'");
    CHECK(database.wrong() == "epoch lease scheduler");
    CHECK(database.mend() == 1);
    CHECK(database.wrong().empty());
    CHECK(database.text("SELECT epoch || ' ' || coalesce(holder, 'nobody') FROM lease WHERE name = 'scheduler'") ==
          "9 nobody"); // a schedule was written with 8
}

TEST_CASE("rs R-157 epochs of leases may be anything that they can have become") {
    const Checked database{YK_EACH_DATABASE};
    database.type("UPDATE lease SET epoch = 4611686018427387904 WHERE name = 'scheduler'");
    database.type("UPDATE lease SET epoch = 1000000000 WHERE name = 'autoscaler'");
    CHECK(database.wrong().empty());
}

TEST_CASE("rs R-157 texts that are not UTF-8 are named with their column") {
    const Checked database{testing::Engine::Sqlite};
    const auto [change, column] = GENERATE(table<std::string, std::string>(
        {{"UPDATE deployment SET version = 2, name = x'ff00'", "name"},
         {"UPDATE deployment SET version = 2, queue = CAST(x'726f6fff' AS TEXT)", "queue"},
         {"UPDATE deployment SET version = 2, usr = x'ff00'", "usr"},
         {"UPDATE deployment SET version = 2, partition = x'ff00'", "partition"},
         {"UPDATE deployment_scale SET version = 2, reason = x'ff00'", "reason"},
         {"UPDATE deployment_schedule SET version = 2, application_id = x'ff00'", "application_id"},
         {"UPDATE placement SET node_id = x'ff00' WHERE replica = 1", "node_id of a placement"},
         {"INSERT INTO node VALUES(x'ff00', 'n', 1, '{}', '{}', '{}', 1, 10, 20)", "id"}}));
    INFO(change);
    database.type(change);
    const CheckReport report = database.report();
    REQUIRE(report.findings.size() == 1);
    CHECK(report.findings[0].what == "unreadable");
    CHECK(report.findings[0].text.starts_with(column + ": it is not UTF-8; "));
    CHECK(report.mendable() == 0);
}

TEST_CASE("rs R-157 amounts below 0 are named with their column") {
    const Checked database{YK_EACH_DATABASE};
    const std::string node = "INSERT INTO node VALUES('n', 'n', 1, '{}', ";
    const auto [change, column] = GENERATE_COPY(
        table<std::string, std::string>({{"UPDATE deployment SET version = 2, resource = '{\"vcore\":-5}'", "resource"},
                                         {node + "'{\"vcore\":-5}', '{}', 1, 10, 20)", "capacity"},
                                         {node + "'{\"vcore\":5}', '{\"vcore\":-5}', 1, 10, 20)", "occupied"}}));
    INFO(change);
    database.type(change);
    const CheckReport report = database.report();
    REQUIRE(report.findings.size() == 1);
    CHECK(report.findings[0].what == "unreadable");
    CHECK(report.findings[0].text.starts_with(column + ": "));
}

TEST_CASE("rs R-020 a database of another program, or of another schema, is refused with what it is") {
    const Checked database{YK_EACH_DATABASE};
    database.type("UPDATE mcs_meta SET value = '99' WHERE key = 'schema_version'");
    const auto newer = has_our_schema(*database.connection);
    REQUIRE_FALSE(newer.ok());
    CHECK(newer.error().message.find("it has schema 99, and this program knows 1") != std::string::npos);
    for (const char* const garbage : {"x", "1x", "0", "-1", "1.5"}) {
        INFO(garbage);
        database.type(std::string{"UPDATE mcs_meta SET value = '"} + garbage + "' WHERE key = 'schema_version'");
        const auto checked = has_our_schema(*database.connection);
        REQUIRE_FALSE(checked.ok());
        CHECK(checked.error().message.find(std::string{"'"} + garbage + "', which no schema is") != std::string::npos);
        const auto migrated = migrate(*database.connection, "identity");
        REQUIRE_FALSE(migrated.ok());
        CHECK(migrated.error().fault == rs::StoreFault::Fatal);
    }
    database.type("DELETE FROM mcs_meta WHERE key = 'schema_version'");
    const auto unknown = has_our_schema(*database.connection);
    REQUIRE_FALSE(unknown.ok());
    CHECK(unknown.error().message.starts_with("the row schema_version is missing in mcs_meta"));
    const std::string row = "INSERT INTO mcs_meta";
    const std::size_t at = unknown.error().message.find(row);
    REQUIRE(at != std::string::npos);
    database.type(unknown.error().message.substr(at));
    CHECK(has_our_schema(*database.connection).ok());
    database.type("DROP TABLE mcs_meta");
    const auto other = has_our_schema(*database.connection);
    REQUIRE_FALSE(other.ok());
    CHECK(other.error().message.starts_with("it is no database of ykd"));
}

} // namespace yk::mcs
