// SPDX-License-Identifier: Apache-2.0
// SQLite as the database and the change log of resource state: each by itself, and below the framework.
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include <catch2/catch.hpp>

#include "protocol/databases/sqlite_change_log.h"
#include "protocol/databases/sqlite_store.h"
#include "tests/support/resource_state/albums.h"
#include "tests/support/resource_state/world.h"
#include "tests/support/system/temp_dir.h"

template <>
struct yk::rs::SqliteTraits<yk::testing::Album> {
    static constexpr const char* kTable = "album";
    static constexpr const char* kDefinitions = "title TEXT NOT NULL, year INTEGER NOT NULL";
    static constexpr std::array<const char*, 2> kColumns{"title", "year"};
    static void bind(SqliteStatement& statement, int first, const testing::Album& album) {
        statement.bind(first, album.title).bind(first + 1, album.year);
    }
    static Result<testing::Album, std::string> decode(const SqliteStatement& row, int first, ResourceMeta meta) {
        testing::Album album{std::move(meta), row.text(first), static_cast<int>(row.number(first + 1))};
        if (album.year < 1877) return std::string{"nobody could record it"};
        return album;
    }
};

namespace yk::testing {

using namespace std::chrono_literals;
using rs::SqliteConnection;
using rs::StoreFault;

namespace {

struct Database {
    Database() {
        REQUIRE(rs::make_state_tables(*connection, "first").ok());
        REQUIRE(rs::SqliteStore<Album>::make_table(*connection).ok());
    }
    [[nodiscard]] std::unique_ptr<SqliteConnection> open() const {
        auto opened = SqliteConnection::open(folder.path("state.db"));
        REQUIRE(opened.ok());
        return std::move(opened).value();
    }
    /// Somebody with a shell, by a connection of their own.
    void type(const std::string& sql) const {
        const auto done = shell->run(sql);
        INFO(sql << ": " << (done.ok() ? "" : done.error().message));
        REQUIRE(done.ok());
    }
    void type_album(const std::string& id, const std::string& uid, int year = 2000) const {
        type("INSERT INTO album(id, uid, version, generation, created_ms, updated_ms, title, year) VALUES('" + id +
             "', '" + uid + "', 1, 1, 0, 0, 'typed', " + std::to_string(year) + ")");
    }
    /// The events as `op id uid version`, from the beginning.
    [[nodiscard]] std::string events() {
        rs::SqliteStatement all =
            shell->statement("SELECT op || id || ' ' || uid || ' ' || version FROM change_log ORDER BY seq");
        std::string text;
        for (auto has_row = all.step(); has_row.ok() && *has_row; has_row = all.step()) text += all.text(0) + "; ";
        return text;
    }

    TempDir folder;
    std::unique_ptr<SqliteConnection> connection = open(), shell = open();
};

Album new_album(const std::string& id, const std::string& uid) {
    Album made = album(id);
    made.meta.uid = uid;
    return made;
}

const rs::WriterIdentity kShop{"shop", 7};

} // namespace

TEST_CASE("rs R-007 every change of a row is in the change log, also that of a person with a shell") {
    Database database;
    rs::SqliteStore<Album> store{*database.connection};
    REQUIRE(store.insert(kShop, new_album("a", "u1")).ok());
    database.type_album("b", "u2");
    database.type("UPDATE album SET version = version + 1");
    database.type("DELETE FROM album WHERE id = 'a'");
    CHECK(database.events() == "1a u1 1; 1b u2 1; 2a u1 2; 2b u2 2; 3a u1 2; ");
    database.type("BEGIN; DELETE FROM album; ROLLBACK");
    CHECK(database.events() == "1a u1 1; 1b u2 1; 2a u1 2; 2b u2 2; 3a u1 2; ");
}

TEST_CASE("rs R-008 rows that go with their parent are in the change log, too") {
    Database database;
    REQUIRE(rs::make_kind_table(*database.connection, rs::Kind{2}, "cover",
                                "cascade_parent TEXT REFERENCES album(id) ON DELETE CASCADE")
                .ok());
    database.type_album("a", "u1");
    for (const char* parent : {"'a'", "NULL"})
        database.type("INSERT INTO cover SELECT 'of ' || coalesce(" + std::string{parent} + ", 'nobody'), 'v' || " +
                      "coalesce(" + parent + ", ''), 1, 1, 0, 0, 0, " + parent);
    database.type("DELETE FROM album");
    CHECK(database.events() == "1a u1 1; 1of a va 1; 1of nobody v 1; 3of a va 1; 3a u1 1; ");
}

TEST_CASE("rs R-010 a row that is replaced is logged as one that went and one that came") {
    Database database;
    database.type_album("a", "u1");
    database.type("REPLACE INTO album(id, uid, version, generation, created_ms, updated_ms, title, year) "
                  "VALUES('a', 'u2', 1, 1, 0, 0, 'other', 2001)");
    CHECK(database.events() == "1a u1 1; 3a u1 1; 1a u2 1; ");
}

TEST_CASE("rs R-011 nobody changes a row without a new version, or its id or uid") {
    Database database;
    database.type_album("a", "u1");
    for (const char* sql : {"UPDATE album SET title = 'x'", "UPDATE album SET version = version + 2",
                            "UPDATE album SET version = 2, uid = 'u9'", "UPDATE album SET version = 2, id = 'b'"}) {
        const auto done = database.shell->run(sql);
        REQUIRE_FALSE(done.ok());
        CHECK(done.error().fault == StoreFault::Fatal);
        CHECK(done.error().message == "album: version must be old+1; id and uid are fixed");
    }
    CHECK(database.events() == "1a u1 1; ");
}

TEST_CASE("rs R-012 a write that expects another row is a conflict and changes nothing") {
    Database database;
    rs::SqliteStore<Album> store{*database.connection};
    REQUIRE(store.insert(kShop, new_album("a", "u1")).ok());
    CHECK(store.insert(kShop, new_album("a", "u2")).error().fault == StoreFault::Conflict);
    Album next = new_album("a", "u1");
    next.title = "Blue";
    next.meta.version = 2;
    CHECK(store.update(kShop, next, {"u9", 1}).error().fault == StoreFault::Conflict);
    CHECK(store.update(kShop, next, {"u1", 1}).ok());
    CHECK(store.update(kShop, next, {"u1", 1}).error().fault == StoreFault::Conflict);
    CHECK(store.erase(kShop, "a", {"u1", 1}).error().fault == StoreFault::Conflict);
    const std::string ids[] = {"a", "nobody"};
    const auto rows = store.read_many(ids);
    REQUIRE(rows.ok());
    CHECK(std::get<rs::Ptr<Album>>(rows->found[0])->title == "Blue");
    CHECK(std::get<rs::Ptr<Album>>(rows->found[0])->meta.version == 2);
    CHECK(std::holds_alternative<rs::AbsentRow>(rows->found[1]));
    CHECK(rows->head->text() == "0.2@first");
    CHECK(store.erase(kShop, "a", {"u1", 2}).ok());
    CHECK(store.erase(kShop, "a", {"u1", 2}).ok());
    CHECK(database.events() == "1a u1 1; 2a u1 2; 3a u1 2; ");
}

TEST_CASE("rs R-039 a look at the log reads tables only if somebody committed since the last one") {
    Database database;
    rs::SqliteChangeLog log{*database.connection};
    const auto captured = log.capture();
    REQUIRE(log.open(*captured).ok());
    database.type_album("a", "u1");
    database.type_album("b", "u2");
    CHECK(log.poll(1)->events.at(0).id == "a");
    CHECK(log.poll(1)->events.at(0).id == "b"); // nobody committed, but it had not read everything
    CHECK(log.poll(1)->events.empty());
    REQUIRE(database.connection->run("UPDATE mcs_meta SET value = 'second' WHERE key = 'log_epoch'").ok());
    const auto unread = log.poll(1); // its own connection does not count: it looked at no table
    REQUIRE(unread.ok());
    CHECK(unread->position.text() == "0.2@first");
    database.type_album("c", "u3");
    CHECK_FALSE(log.poll(1).ok());
}

TEST_CASE("rs R-023 a statement is prepared once for a connection, and another connection has its own") {
    Database database;
    rs::SqliteStore<Album> store{*database.connection};
    const std::string ids[] = {"a", "b"};
    for (int each = 0; each < 20; ++each) {
        REQUIRE(store.read_many(ids).ok());
        REQUIRE(store.read_page("", 10).ok());
    }
    constexpr const char* kPrepared = "SELECT count(*) FROM sqlite_stmt WHERE sql LIKE '%FROM album%'";
    CHECK(*database.connection->number(kPrepared) == 3); // two, and the one that counts
    CHECK(*database.connection->number("SELECT max(run) FROM sqlite_stmt WHERE sql LIKE '%FROM album WHERE id = %'") ==
          40);
    CHECK(*database.shell->number(kPrepared) == 1);
}

/// One that only read until then would be refused at once, since what it read is old.
TEST_CASE("rs R-024 a transaction that writes has the right to from its beginning, whatever it reads first") {
    Database database;
    database.connection->wait_for_locks(1ms);
    database.shell->wait_for_locks(1ms);
    const auto count = [&] { return database.connection->number("SELECT count(*) FROM album"); };
    {
        rs::SqlTransaction writing{*database.connection, rs::SqlAccess::Write};
        REQUIRE(writing.begun().ok());
        REQUIRE(count().ok());
        rs::SqlTransaction other{*database.shell, rs::SqlAccess::Write};
        REQUIRE_FALSE(other.begun().ok()); // it waits, and then says so before it did anything
        CHECK(other.begun().error().fault == StoreFault::Transient);
        CHECK(database.connection->run("UPDATE album SET version = version + 1").ok());
        CHECK(writing.commit().ok());
    }
    rs::SqlTransaction reading{*database.connection, rs::SqlAccess::Read};
    REQUIRE(count().ok());
    database.type_album("b", "ub");
    const auto late = database.connection->run("UPDATE album SET version = version + 1");
    REQUIRE_FALSE(late.ok()); // which is why
    CHECK(late.error().fault == StoreFault::Transient);
}

/// A checkpoint that truncates the write-ahead log needs a moment without readers.
TEST_CASE("rs R-026, rs R-094 no read lasts longer than its call: full reads go by pages, each by itself") {
    Database database;
    for (int each = 0; each < 10; ++each) database.type_album("id" + std::to_string(each), "u" + std::to_string(each));
    rs::SqliteStore<Album> store{*database.connection};
    const auto reading = database.open();
    rs::SqliteChangeLog log{*reading};
    REQUIRE(log.open(*log.capture()).ok());
    const auto is_free = [&] { return database.shell->checkpoint(SqliteConnection::Checkpoint::Truncate).ok(); };
    const auto first = store.read_page("", 3);
    REQUIRE(first.ok());
    CHECK(is_free());
    CHECK_FALSE(database.connection->is_in_transaction());
    database.type_album("id31", "new"); // behind the first page, and so in the next one
    const auto second = store.read_page(first->last_id, 3);
    REQUIRE(second.ok());
    CHECK(rs::meta_of(*std::get<rs::Ptr<Album>>(second->found.at(1))).id == "id31");
    CHECK(is_free());
    const std::string ids[] = {"id1", "id2"};
    REQUIRE(store.read_many(ids).ok());
    REQUIRE(log.poll(100).ok());
    CHECK(is_free());
    REQUIRE(database.connection->begin(rs::SqlAccess::Read).ok());
    REQUIRE(database.connection->number("SELECT count(*) FROM album").ok());
    database.type_album("z", "uz");
    CHECK_FALSE(is_free()); // one that lasts would be seen
}

TEST_CASE("rs R-015 what was purged before it was read is a gap, and the floor moves with the purge") {
    Database database;
    rs::SqliteChangeLog log{*database.connection};
    const auto captured = log.capture();
    for (const char* id : {"a", "b", "c", "d"}) database.type_album(id, id);
    REQUIRE(log.open(*captured).ok());
    CHECK(*rs::purge_log(*database.shell, 3, 2) == 2); // a chunk
    const auto gap = log.poll(9);
    REQUIRE_FALSE(gap.ok());
    CHECK(gap.error().what == rs::LogFault::What::Gap);
    CHECK(gap.error().reason == rs::RelistReason::Purged);
    CHECK(*rs::purge_log(*database.shell, 3, 2) == 1);
    CHECK(*rs::purge_log(*database.shell, 3, 2) == 0);
    CHECK(*rs::log_floor(*database.shell) == 3);
    CHECK(database.events() == "1d d 1; ");
    CHECK(log.open(*captured).error().reason == rs::RelistReason::Purged);
}

TEST_CASE("a log that is another one, or shorter than it was, is a new epoch") {
    Database database;
    rs::SqliteChangeLog log{*database.connection};
    database.type_album("a", "u1");
    const auto captured = log.capture();
    REQUIRE(log.open(*captured).ok());
    SECTION("another name") {
        database.type("UPDATE mcs_meta SET value = 'second' WHERE key = 'log_epoch'");
    }
    SECTION("shorter") {
        database.type("DELETE FROM change_log; UPDATE sqlite_sequence SET seq = 0");
    }
    CHECK(log.poll(9).error().reason == rs::RelistReason::Epoch);
}

TEST_CASE("a database of a newer program is refused, with both numbers") {
    Database database;
    CHECK(rs::make_state_tables(*database.connection, "other").ok()); // it stays as it is
    CHECK(rs::log_head(*database.connection)->epoch == "first");
    database.type("UPDATE mcs_meta SET value = 2 WHERE key = 'schema_version'");
    const auto made = rs::make_state_tables(*database.connection, "other");
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().fault == StoreFault::Fatal);
    CHECK(made.error().message.find("schema 2, and this program knows 1") != std::string::npos);
}

TEST_CASE("errors have their classes: no file, no database, no table") {
    Database database;
    CHECK(SqliteConnection::open(database.folder.path("nowhere/state.db")).error().fault == StoreFault::Down);
    CHECK(database.connection->run("SELECT * FROM nothing").error().fault == StoreFault::Fatal);
    CHECK(database.connection->number("SELECT x FROM nothing").error().fault == StoreFault::Fatal);
    CHECK(database.connection->number("SELECT x FROM nowhere").error().message == "no such table: nowhere");
    std::ofstream{database.folder.path("letter")} << std::string(5000, 'x');
    const auto letter = SqliteConnection::open(database.folder.path("letter"));
    CHECK(letter.error().fault == StoreFault::Fatal);
    CHECK(letter.error().message.find("letter: file is not a database") != std::string::npos);
    database.type("DROP TABLE album");
    rs::SqliteStore<Album> store{*database.connection};
    CHECK(store.read_page("", 1).error().fault == StoreFault::Fatal);
}

TEST_CASE("a file that is taken away from under a database is noticed, and nothing is written into it") {
    Database database;
    rs::SqliteChangeLog log{*database.connection};
    REQUIRE(log.open(*log.capture()).ok());
    const std::string taken = GENERATE(as<std::string>{}, "state.db", "state.db-wal");
    const std::string path = database.folder.path(taken), elsewhere = database.folder.path("elsewhere");
    const auto is_refused = [&](const rs::StoreError& error) {
        return error.fault == StoreFault::Down && error.message.find(taken + " was removed") != std::string::npos;
    };
    REQUIRE(database.connection->begin(rs::SqlAccess::Write).ok());
    REQUIRE(database.connection->commit().ok());
    std::filesystem::rename(path, elsewhere);
    CHECK(is_refused(database.connection->begin(rs::SqlAccess::Write).error()));
    CHECK(is_refused(database.connection->begin(rs::SqlAccess::Read).error()));
    CHECK(log.poll(9).error().what == rs::LogFault::What::Down);
    std::ofstream{path} << "another one";
    CHECK(is_refused(database.connection->begin(rs::SqlAccess::Write).error()));
    std::filesystem::rename(elsewhere, path);
    CHECK(database.connection->begin(rs::SqlAccess::Write).ok());
    database.connection->roll_back();
    CHECK(log.poll(9).ok());
}

TEST_CASE("a row of SQLite that cannot be understood is a broken row") {
    Database database;
    database.type_album("a", "u1", 1600);
    rs::SqliteStore<Album> store{*database.connection};
    const auto page = store.read_page("", 10);
    REQUIRE(page.ok());
    CHECK(page->is_last);
    CHECK(std::get<rs::BrokenRow>(page->found.at(0)).message == "nobody could record it");
}

} // namespace yk::testing
