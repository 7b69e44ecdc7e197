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
        return engine == testing::Engine::Sqlite ? sqlite_rules() : std::span<const CheckRule>{};
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

TEST_CASE("rs R-020 a database of another program, or of another schema, is refused with what it is") {
    const Checked database{YK_EACH_DATABASE};
    database.type("UPDATE mcs_meta SET value = '99' WHERE key = 'schema_version'");
    const auto newer = has_our_schema(*database.connection);
    REQUIRE_FALSE(newer.ok());
    CHECK(newer.error().message.find("it has schema 99, and this program knows 1") != std::string::npos);
    database.type("DROP TABLE mcs_meta");
    const auto other = has_our_schema(*database.connection);
    REQUIRE_FALSE(other.ok());
    CHECK(other.error().message.starts_with("it is no database of ykd"));
}

} // namespace yk::mcs
