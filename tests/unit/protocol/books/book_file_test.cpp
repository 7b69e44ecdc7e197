// SPDX-License-Identifier: Apache-2.0
#include "protocol/books/book_file.h"

#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>
#include <sqlite3.h>

#include "libcore/digest/recovery_digest.h"
#include "tests/support/books_folder.h"

namespace yk::testing {

using books::BookFile;
using books::Row;
using books::RowKind;

namespace {

/// All rows of the file as text: `seq kind body@node`.
std::string rows_of(BookFile& file) {
    std::string text;
    for (const RowKind kind : {RowKind::Node, RowKind::Application, RowKind::Ask})
        CHECK(file.each(kind, std::nullopt,
                        [&](const Row& row) {
                            text += std::to_string(row.seq) + " " + std::to_string(static_cast<int>(row.kind)) + " " +
                                    row.body + (row.node ? "@" + *row.node : "") + "; ";
                        })
                  .ok());
    return text;
}

void put(BookFile& file, const std::vector<Row>& rows) {
    REQUIRE(file.begin().ok());
    for (const Row& row : rows) REQUIRE(file.put(row).ok());
    REQUIRE(file.commit().ok());
}

/// Lets SQLite itself do something to the file, while nobody has it open.
void run_sql(const std::string& path, const char* sql) {
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(db);
}

/// While it lives SQLite's files are those of the system, but that one read of a database fails as on a bad disk.
class FailingRead {
public:
    FailingRead() {
        real_ = sqlite3_vfs_find(nullptr);
        layer_ = *real_;
        layer_.pNext = nullptr;
        layer_.zName = "failing";
        layer_.xOpen = [](sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
            const int code = real_->xOpen(real_, name, file, flags, out);
            if (file->pMethods == nullptr || (flags & SQLITE_OPEN_MAIN_DB) == 0) return code;
            below_ = file->pMethods;
            methods_ = *below_;
            methods_.iVersion = 1; // without mapped pages, which would not be read
            methods_.xRead = [](sqlite3_file* from, void* into, int size, sqlite3_int64 at) {
                return left_-- == 0 ? SQLITE_IOERR_READ : below_->xRead(from, into, size, at);
            };
            file->pMethods = &methods_;
            return code;
        };
        sqlite3_vfs_register(&layer_, 1);
    }
    ~FailingRead() {
        sqlite3_vfs_unregister(&layer_);
        sqlite3_vfs_register(real_, 1);
    }
    FailingRead(const FailingRead&) = delete;
    FailingRead& operator=(const FailingRead&) = delete;

    /// The one after `reads` more.
    static void set(int reads) { left_ = reads; }
    [[nodiscard]] static bool has_come() { return left_ < 0; }

private:
    static inline sqlite3_vfs* real_ = nullptr;
    static inline sqlite3_vfs layer_{};
    static inline const sqlite3_io_methods* below_ = nullptr;
    static inline sqlite3_io_methods methods_{};
    static inline int left_ = -1;
};

BookFile::Refusal refusal_of(const std::string& path) {
    auto file = BookFile::open(path);
    REQUIRE_FALSE(file.ok());
    return file.error();
}

} // namespace

TEST_CASE("I-265 rows of the books come back as they were written, in order, whoever opens the file") {
    const BooksFolder folder;
    {
        const auto file = folder.open();
        put(*file, {{3, RowKind::Ask, std::string{"a\0b", 3}, "n"},
                    {1, RowKind::Node, "node", {}},
                    {2, RowKind::Ask, "pending", {}},
                    {4, RowKind::Application, "", {}}});
        REQUIRE(file->set("name", "value").ok());
    }
    const auto file = folder.open();
    CHECK(rows_of(*file) == "1 0 node; 4 1 ; 2 2 pending; 3 2 " + std::string{"a\0b", 3} + "@n; ");
    CHECK(file->get("name").value() == "value");
    CHECK(file->get("other").value() == std::nullopt);
    std::string placed, pending;
    CHECK(file->each(RowKind::Ask, true, [&](const Row& row) { placed += std::to_string(row.seq); }).ok());
    CHECK(file->each(RowKind::Ask, false, [&](const Row& row) { pending += std::to_string(row.seq); }).ok());
    CHECK(placed + "," + pending == "3,2");
}

TEST_CASE("I-267 a change of the books is there as a whole or not at all") {
    const BooksFolder folder;
    const auto file = folder.open();
    put(*file, {{1, RowKind::Ask, "one", {}}, {2, RowKind::Ask, "two", {}}});
    REQUIRE(file->begin().ok());
    CHECK(file->erase(1).ok());
    CHECK(file->set_body(2, RowKind::Ask, "other").ok());
    file->rollback();
    CHECK(rows_of(*file) == "1 2 one; 2 2 two; ");
    REQUIRE(file->begin().ok());
    CHECK(file->erase(1).ok());
    CHECK(file->set_body(2, RowKind::Ask, "other").ok());
    CHECK(file->set_node(2, "n").ok());
    REQUIRE(file->commit().ok());
    CHECK(rows_of(*file) == "2 2 other@n; ");
}

TEST_CASE("B-12 the newest configurations are kept") {
    const BooksFolder folder;
    const auto file = folder.open();
    for (int i = 1; i <= 5; ++i)
        REQUIRE(file->add_configuration({i, "sum" + std::to_string(i), "origin", "text"}, 3).ok());
    std::string kept;
    const auto configurations = file->configurations();
    for (const auto& each : *configurations) kept += std::to_string(each.at) + " " + each.checksum + "; ";
    CHECK(kept == "3 sum3; 4 sum4; 5 sum5; ");
}

namespace {

/// Changes the first byte of the text in the file, while nobody has it open.
void damage(const std::string& path, const std::string& text) {
    std::ifstream in(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    const std::size_t at = bytes.find(text);
    REQUIRE(at != std::string::npos);
    bytes[at] = '?';
    std::ofstream(path, std::ios::binary) << bytes;
}

} // namespace

TEST_CASE("I-268 a byte of the books that changed on the disk is noticed") {
    const BooksFolder folder;
    {
        const auto file = folder.open();
        put(*file, {{1, RowKind::Ask, "the-message", "the-node"}, {2, RowKind::Ask, "pending", {}}});
        REQUIRE(file->set_node(2, "the-place").ok());
        REQUIRE(file->set("the-name", "the-value").ok());
        REQUIRE(file->add_configuration({1, "the-sum", "the-origin", "the-text"}, 3).ok());
    }
    const char* text =
        GENERATE("the-message", "the-node", "the-place", "the-value", "the-sum", "the-origin", "the-text");
    INFO(text);
    damage(folder.file(), text);
    const auto file = BookFile::open(folder.file());
    REQUIRE_FALSE(file.ok());
    CHECK(file.error().fault == BookFile::Fault::Damaged);
    CHECK(file.error().message == folder.file() + ": 1 row has changed");
}

TEST_CASE("I-268 a row of the books that changed as a whole is noticed") {
    const BooksFolder folder;
    {
        const auto file = folder.open();
        put(*file, {{1, RowKind::Ask, "message", "node"}, {2, RowKind::Ask, "message", {}}});
        REQUIRE(file->set("name", "value").ok());
        REQUIRE(file->add_configuration({1, "sum", "origin", "text"}, 3).ok());
    }
    const char* change =
        GENERATE("UPDATE objects SET kind = 1 WHERE seq = 1", "UPDATE objects SET seq = 3 WHERE seq = 1",
                 "UPDATE objects SET node = NULL WHERE seq = 1", "UPDATE objects SET node = '' WHERE seq = 2",
                 "UPDATE settings SET name = 'other'", "UPDATE configurations SET at = 2");
    INFO(change);
    run_sql(folder.file(), change);
    const auto file = BookFile::open(folder.file());
    CHECK_FALSE(file.ok());
}

TEST_CASE("I-268 books of the version before are read, checked, and are of this version from then on") {
    const BooksFolder folder;
    const auto sum = [](std::string_view text) {
        return std::to_string(static_cast<std::int64_t>(recovery::line_hash(text)));
    };
    run_sql(folder.file(),
            ("CREATE TABLE objects (seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, body BLOB NOT NULL, "
             "sum INTEGER NOT NULL, node TEXT);"
             "CREATE TABLE settings (name TEXT PRIMARY KEY, value BLOB NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID;"
             "CREATE TABLE configurations (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, checksum TEXT NOT NULL, "
             "origin TEXT NOT NULL, text TEXT NOT NULL);"
             "INSERT INTO objects VALUES (1, 2, CAST('placed' AS BLOB), " +
             sum("placed") + ", 'the-node'), (2, 2, CAST('pending' AS BLOB), " + sum("pending") +
             ", NULL);"
             "INSERT INTO settings VALUES ('name', CAST('value' AS BLOB), " +
             sum("value") +
             ");"
             "INSERT INTO configurations VALUES (7, 1, 'sum', 'origin', 'text');"
             "PRAGMA application_id = 2037080625; PRAGMA user_version = 1")
                .c_str());
    SECTION("whole") {
        for (int i = 0; i < 2; ++i) {
            const auto file = folder.open();
            CHECK(rows_of(*file) == "1 2 placed@the-node; 2 2 pending; ");
            CHECK(file->get("name").value() == "value");
            CHECK(file->configurations().value().front().text == "text");
        }
        damage(folder.file(), "the-node");
        CHECK_FALSE(BookFile::open(folder.file()).ok());
    }
    SECTION("damaged") {
        damage(folder.file(), "pending");
        CHECK(refusal_of(folder.file()).fault == BookFile::Fault::Damaged);
    }
}

TEST_CASE("I-268 books of which a page cannot be read once are not taken for damaged ones") {
    const BooksFolder folder;
    {
        const auto file = folder.open();
        std::vector<Row> rows;
        for (int i = 1; i <= 200; ++i) rows.push_back({i, RowKind::Ask, std::string(500, 'a'), {}});
        put(*file, rows);
    }
    const FailingRead failing;
    int refused = 0, reads = 0;
    for (bool came = true; came; ++reads) {
        FailingRead::set(reads);
        const auto file = BookFile::open(folder.file());
        came = FailingRead::has_come();
        if (file.ok()) continue;
        ++refused;
        INFO("read " << reads << ": " << file.error().message);
        CHECK(file.error().fault == BookFile::Fault::System);
    }
    CHECK(reads > 25); // pages
    CHECK(refused > 1);
}

TEST_CASE("I-268 what is no book, or one of a later version, is not touched") {
    const BooksFolder folder;
    std::ofstream(folder.file())
        << "this is a letter, and long enough to be read as the head of a database file .......";
    CHECK(refusal_of(folder.file()).fault == BookFile::Fault::Damaged);
    const std::string other = folder.file() + "2";
    run_sql(other, "CREATE TABLE letters (text)");
    CHECK(refusal_of(other).fault == BookFile::Fault::Foreign);
    const std::string later = folder.file() + "3";
    static_cast<void>(BookFile::open(later).value());
    run_sql(later, "PRAGMA user_version = 99");
    const auto refusal = refusal_of(later);
    CHECK(refusal.fault == BookFile::Fault::Version);
    CHECK(refusal.message == later + ": version 99 of the books is unknown, 2 is known");
}

TEST_CASE("I-268 books that are open cannot be opened again") {
    const BooksFolder folder;
    const auto file = folder.open();
    CHECK(refusal_of(folder.file()).fault == BookFile::Fault::System);
    CHECK(refusal_of(folder.file() + "/none").fault == BookFile::Fault::System);
}

} // namespace yk::testing
