// SPDX-License-Identifier: Apache-2.0
// A process that writes rows of PostgreSQL is killed in the middle, again and again.
#ifdef YK_WITH_PG
#include <unistd.h>

#include <string>

#include <catch2/catch.hpp>

#include "tests/support/comes_true.h"
#include "tests/support/databases/killed_writers.h"
#include "tests/support/databases/postgres_database.h"

namespace yk::mcs {

using testing::PostgresDatabase;

namespace {

/// Inserts and changes rows for ever, and writes a byte for each that is kept. Each statement is sent by itself, so
/// that the process may end between any two of them. Never returns.
[[noreturn]] void write_rows(const rs::PostgresSettings& by, int life, int acknowledge) {
    auto opened = rs::PostgresConnection::open(by);
    if (!opened.ok()) ::_exit(1);
    rs::PostgresConnection& connection = **opened;
    for (int each = 0;; ++each) {
        const std::string id = std::to_string(life) + '-' + std::to_string(each);
        const bool is_kept =
            connection.begin(rs::SqlAccess::Write).ok() && connection.run(PostgresDatabase::insert(id)).ok() &&
            connection.run("UPDATE node SET schedulable = 0 WHERE id = '" + id + "'").ok() && connection.commit().ok();
        if (!is_kept || ::write(acknowledge, "k", 1) != 1) ::_exit(1);
    }
}

} // namespace

TEST_CASE("rs R-027, F-10 a process that is killed at any moment leaves rows of PostgreSQL with their events, too") {
    if (!testing::has_postgres()) return;
    const PostgresDatabase database;
    const rs::PostgresSettings by = database.settings();
    constexpr int kLives = 10;
    const std::int64_t kept =
        testing::kill_writers(kLives, [&](int life, int acknowledge) { write_rows(by, life, acknowledge); });
    CHECK(kept >= kLives);
    // The server ends what they had under way when it finds that they have gone.
    REQUIRE(testing::comes_true([&] {
        return database.count("pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()") == 0;
    }));
    const std::int64_t rows = database.count("node");
    CHECK(rows >= kept);
    CHECK(rows <= kept + kLives); // committed, and killed before it could say so
    CHECK(database.count("change_log") == 2 * rows);
    CHECK(database.count("node WHERE version <> 2") == 0);
    CHECK(database.count("node n WHERE (SELECT count(*) FROM change_log l WHERE l.id = n.id) <> 2") == 0);
}

} // namespace yk::mcs
#endif
