// SPDX-License-Identifier: Apache-2.0
// A process that writes rows is killed in the middle, again and again.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

#include "protocol/databases/sqlite_schema.h"
#include "tests/support/databases/killed_writers.h"

namespace yk::rs {
namespace {

constexpr Kind kKind{5};

/// Inserts, changes and removes rows for ever, and writes a byte for each that is kept. Never returns.
[[noreturn]] void write_rows(const std::string& path, int life, int acknowledge) {
    auto opened = SqliteConnection::open(path);
    if (!opened.ok()) ::_exit(1);
    SqliteConnection& connection = **opened;
    for (int each = 0;; ++each) {
        const std::string id = std::to_string(life) + '-' + std::to_string(each);
        const std::string insert = "INSERT INTO thing VALUES('" + id + "', '" + id + "', 1, 1, 0, 0, 0, 'x'); ";
        const std::string change = "UPDATE thing SET version = version + 1 WHERE id = '" + id + "'; ";
        if (!connection.run("BEGIN IMMEDIATE; " + insert + change + "COMMIT").ok()) ::_exit(1);
        if (::write(acknowledge, "k", 1) != 1) ::_exit(1);
    }
}

} // namespace

TEST_CASE(
    "rs R-027, F-10 a process that is killed at any moment leaves rows with their events, and what was kept stays") {
    std::string folder = "/tmp/yk.state.XXXXXX";
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    const std::string path = folder + "/state.db";
    {
        auto opened = SqliteConnection::open(path);
        REQUIRE(opened.ok());
        REQUIRE(make_state_tables(**opened, "first").ok());
        REQUIRE(make_kind_table(**opened, kKind, "thing", "what TEXT").ok());
    } // no connection may be open across a fork
    const std::int64_t kept =
        testing::kill_writers(10, [&](int life, int acknowledge) { write_rows(path, life, acknowledge); });
    CHECK(kept >= 10);
    auto opened = SqliteConnection::open(path);
    REQUIRE(opened.ok());
    SqliteConnection& connection = **opened;
    CHECK(*connection.text("PRAGMA integrity_check") == "ok");
    const std::int64_t rows = *connection.number("SELECT count(*) FROM thing");
    CHECK(rows >= kept);
    CHECK(rows <= kept + 10); // committed, and killed before it could say so
    CHECK(*connection.number("SELECT count(*) FROM change_log") == 2 * rows);
    CHECK(*connection.number("SELECT count(*) FROM thing WHERE version <> 2") == 0);
    CHECK(*connection.number("SELECT count(*) FROM thing WHERE id NOT IN (SELECT id FROM change_log)") == 0);
    std::filesystem::remove_all(folder);
}

} // namespace yk::rs
