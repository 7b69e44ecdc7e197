// SPDX-License-Identifier: Apache-2.0
#include "protocol/books/book_file.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "libcore/digest/recovery_digest.h"

namespace yk::books {
namespace {

constexpr int kVersion = 2;
constexpr int kApplication = 0x796b6231; // "ykb1": marks the file as books

constexpr const char* kTables = R"(
    CREATE TABLE objects (seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, body BLOB NOT NULL, sum INTEGER NOT NULL,
                          node TEXT, node_sum INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE settings (name TEXT PRIMARY KEY, value BLOB NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE configurations (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, checksum TEXT NOT NULL,
                                 origin TEXT NOT NULL, text TEXT NOT NULL, sum INTEGER NOT NULL DEFAULT 0);
)";
/// What version 1, whose sums were of the bodies and values alone, did not have.
constexpr const char* kNewColumns = R"(
    ALTER TABLE objects ADD COLUMN node_sum INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE configurations ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
)";

/// The file, made if there is none. SQLite would make it readable for others.
Result<void> make_file(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return Error::of(path + ": " + std::strerror(errno));
    ::close(file);
    return {};
}

/// What stands beside all that is kept, so that a byte that changed on the disk is noticed.
template <class... Text>
std::int64_t sum_of(const Text&... parts) {
    std::uint64_t sum = 0;
    ((sum = sum * 1'099'511'628'211U + recovery::line_hash(parts)), ...); // as many as there are, in their order
    return static_cast<std::int64_t>(sum);
}

std::int64_t sum_of_body(std::int64_t seq, std::int64_t kind, std::string_view body) {
    return sum_of(std::to_string(seq), std::to_string(kind), body);
}

std::int64_t sum_of_node(std::int64_t seq, const std::optional<std::string_view>& node) {
    return node ? sum_of(std::to_string(seq), *node) : sum_of(std::to_string(seq));
}

std::int64_t sum_of_configuration(const KeptConfiguration& configuration) {
    return sum_of(std::to_string(configuration.at), configuration.checksum, configuration.origin, configuration.text);
}

/// Valid until the next step.
std::string_view view_of(sqlite3_stmt* statement, int column) {
    const void* bytes = sqlite3_column_blob(statement, column);
    const int size = sqlite3_column_bytes(statement, column);
    return bytes == nullptr ? std::string_view{}
                            : std::string_view{static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

std::string bytes_of(sqlite3_stmt* statement, int column) {
    return std::string{view_of(statement, column)};
}

/// Nothing: it is NULL.
std::optional<std::string_view> node_of(sqlite3_stmt* statement, int column) {
    if (sqlite3_column_type(statement, column) == SQLITE_NULL) return std::nullopt;
    return view_of(statement, column);
}

constexpr const char* kAllConfigurations = "SELECT at, checksum, origin, text, sum FROM configurations ORDER BY seq";

/// A row of that.
KeptConfiguration configuration_of(sqlite3_stmt* row) {
    return {sqlite3_column_int64(row, 0), bytes_of(row, 1), bytes_of(row, 2), bytes_of(row, 3)};
}

/// What SQLite's own check finds first: "ok" when that is nothing. Empty: it cannot be made.
std::string finding_in(sqlite3* db) {
    std::string finding;
    const auto take = [](void* to, int /*columns*/, char** texts, char** /*names*/) {
        *static_cast<std::string*>(to) = texts[0];
        return 0;
    };
    if (sqlite3_exec(db, "PRAGMA quick_check(1)", take, &finding, nullptr) != SQLITE_OK) return {};
    return finding.substr(finding.rfind('\n') + 1); // the line before it names the database
}

/// The same of a copy in memory. Empty: the disk does not let all of it be read.
std::string finding_in_copy(sqlite3* db) {
    sqlite3* copy = nullptr;
    std::string finding;
    constexpr int kNew = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    sqlite3_backup* backup = nullptr;
    if (sqlite3_open_v2(":memory:", &copy, kNew, nullptr) == SQLITE_OK)
        backup = sqlite3_backup_init(copy, "main", db, "main");
    if (backup != nullptr) sqlite3_backup_step(backup, -1);
    if (backup != nullptr && sqlite3_backup_finish(backup) == SQLITE_OK) { // that is what the step said, too
        finding = finding_in(copy);
        if (finding.empty()) finding = sqlite3_errmsg(copy);
    }
    sqlite3_close(copy);
    return finding;
}

} // namespace

/// A statement while it is used: bound, stepped through, reset at the end. One that is not kept is prepared for this
/// use alone.
class BookFile::Statement {
public:
    Statement(BookFile& file, const char* sql) : file_(file) { prepare(sql, 0); }
    /// `kept`: where the statement is kept for the next use.
    Statement(BookFile& file, const char* sql, sqlite3_stmt*& kept) : file_(file), is_kept_(true), statement_(kept) {
        if (statement_ == nullptr) prepare(sql, SQLITE_PREPARE_PERSISTENT);
        kept = statement_;
    }
    ~Statement() { is_kept_ ? sqlite3_reset(statement_) : sqlite3_finalize(statement_); }
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    Statement& with(int place, std::int64_t number) {
        if (statement_ != nullptr) sqlite3_bind_int64(statement_, place, number);
        return *this;
    }
    Statement& text(int place, std::string_view text) {
        if (statement_ != nullptr)
            sqlite3_bind_text64(statement_, place, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
        return *this;
    }
    Statement& bytes(int place, std::string_view bytes) {
        if (statement_ != nullptr)
            sqlite3_bind_blob64(statement_, place, bytes.empty() ? "" : bytes.data(), bytes.size(), SQLITE_STATIC);
        return *this;
    }
    Statement& nothing(int place) {
        if (statement_ != nullptr) sqlite3_bind_null(statement_, place);
        return *this;
    }
    /// Runs it and calls `use` for each row of the answer.
    template <class Use>
    Result<void> each(Use use) {
        if (statement_ == nullptr) return Error::of(file_.fault());
        int step = sqlite3_step(statement_);
        for (; step == SQLITE_ROW; step = sqlite3_step(statement_)) use(statement_);
        if (step != SQLITE_DONE) return Error::of(file_.fault());
        return {};
    }
    Result<void> run() {
        return each([](sqlite3_stmt*) {});
    }

private:
    void prepare(const char* sql, unsigned flags) {
        sqlite3_prepare_v3(file_.db_, sql, -1, flags, &statement_, nullptr);
    }

    BookFile& file_;
    const bool is_kept_ = false;
    sqlite3_stmt* statement_ = nullptr; // nullptr when it could not be prepared
};

std::string BookFile::fault() const {
    const int code = sqlite3_errcode(db_), system = sqlite3_system_errno(db_);
    std::string text = path_ + ": " + sqlite3_errmsg(db_);
    if ((code == SQLITE_CANTOPEN || code == SQLITE_IOERR) && system != 0)
        text += std::string{": "} + std::strerror(system);
    return text;
}

Result<void> BookFile::run(const char* sql) {
    if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return Error::of(fault());
    return {};
}

BookFile::Refusal BookFile::refusal() const {
    const int code = sqlite3_errcode(db_);
    // What is asked here is no error in itself: it is one of the file, such as an unknown format.
    const bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR;
    return {damaged ? Fault::Damaged : Fault::System, fault()};
}

Result<std::unique_ptr<BookFile>, BookFile::Refusal> BookFile::open(const std::string& path) {
    if (const auto made = make_file(path); !made.ok()) return Refusal{Fault::System, made.error().message};
    sqlite3* db = nullptr;
    const int opened = sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    std::unique_ptr<BookFile> file{new BookFile(path, db)};
    if (opened != SQLITE_OK) return file->refusal();
    std::int64_t application = 0, version = 0, tables = 0;
    const auto number = [&](const char* sql, std::int64_t& to) {
        return Statement{*file, sql}.each([&](sqlite3_stmt* row) { to = sqlite3_column_int64(row, 0); });
    };
    // The lock is taken with the first access and kept, so no other process can use the file.
    if (!file->run("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL").ok() ||
        !number("PRAGMA application_id", application).ok() || !number("PRAGMA user_version", version).ok() ||
        !number("SELECT count(*) FROM sqlite_master", tables).ok())
        return file->refusal();
    if (tables == 0) {
        const std::string marks = "PRAGMA application_id = " + std::to_string(kApplication) +
                                  "; PRAGMA user_version = " + std::to_string(kVersion);
        if (!file->begin().ok() || !file->run(kTables).ok() || !file->run(marks.c_str()).ok() || !file->commit().ok())
            return file->refusal();
        return file;
    }
    if (application != kApplication) return Refusal{Fault::Foreign, path + ": these are no books of an RM"};
    if (version != kVersion && version != 1)
        return Refusal{Fault::Version, path + ": version " + std::to_string(version) + " of the books is unknown, " +
                                           std::to_string(kVersion) + " is known"};
    if (auto refused = file->check(version == 1)) return *std::move(refused);
    if (version == 1 && !file->make_current().ok()) return file->refusal();
    return file;
}

/// Whether the file is whole; nothing: it is.
std::optional<BookFile::Refusal> BookFile::check(bool is_first_version) {
    std::string finding = finding_in(db_);
    if (finding.empty()) return refusal();
    // A page that the disk did not let be read, which is no damage, is reported like a damaged one.
    if (finding != "ok") finding = finding_in_copy(db_);
    if (finding.empty()) return Refusal{Fault::System, path_ + ": the disk does not let it be read"};
    if (finding != "ok") return Refusal{Fault::Damaged, path_ + ": " + finding};
    const auto wrong = is_first_version ? changed_rows_of_first_version() : changed_rows();
    if (!wrong.ok()) return refusal();
    if (*wrong != 0)
        return Refusal{Fault::Damaged,
                       path_ + ": " + std::to_string(*wrong) + (*wrong == 1 ? " row has" : " rows have") + " changed"};
    return std::nullopt;
}

/// How many rows are not what their sums say.
Result<std::uint64_t> BookFile::changed_rows() {
    std::uint64_t wrong = 0;
    YK_CHECKED(
        (Statement{*this, "SELECT seq, kind, body, sum, node, node_sum FROM objects"}.each([&](sqlite3_stmt* row) {
            const std::int64_t seq = sqlite3_column_int64(row, 0), kind = sqlite3_column_int64(row, 1);
            const bool same = sum_of_body(seq, kind, view_of(row, 2)) == sqlite3_column_int64(row, 3) &&
                              sum_of_node(seq, node_of(row, 4)) == sqlite3_column_int64(row, 5);
            wrong += same ? 0U : 1U;
        })));
    YK_CHECKED((Statement{*this, "SELECT name, value, sum FROM settings"}.each([&](sqlite3_stmt* row) {
        wrong += sum_of(view_of(row, 0), view_of(row, 1)) == sqlite3_column_int64(row, 2) ? 0U : 1U;
    })));
    YK_CHECKED((Statement{*this, kAllConfigurations}.each([&](sqlite3_stmt* row) {
        wrong += sum_of_configuration(configuration_of(row)) == sqlite3_column_int64(row, 4) ? 0U : 1U;
    })));
    return wrong;
}

Result<std::uint64_t> BookFile::changed_rows_of_first_version() {
    std::uint64_t wrong = 0;
    for (const char* sql : {"SELECT body, sum FROM objects", "SELECT value, sum FROM settings"})
        YK_CHECKED((Statement{*this, sql}.each([&](sqlite3_stmt* row) {
            const auto sum = static_cast<std::int64_t>(recovery::line_hash(view_of(row, 0)));
            wrong += sum == sqlite3_column_int64(row, 1) ? 0U : 1U;
        })));
    return wrong;
}

/// Gives a file of version 1 the sums of this one.
Result<void> BookFile::make_current() {
    auto made = begin();
    if (made.ok()) made = run(kNewColumns);
    if (made.ok()) made = write_sums();
    if (made.ok()) made = run(("PRAGMA user_version = " + std::to_string(kVersion)).c_str());
    return made.ok() ? commit() : made;
}

Result<void> BookFile::write_sums() {
    struct Sums {
        std::int64_t seq = 0, first = 0, second = 0;
    };
    std::vector<Sums> objects, configurations;
    YK_CHECKED((Statement{*this, "SELECT seq, kind, body, node FROM objects"}.each([&](sqlite3_stmt* row) {
        const std::int64_t seq = sqlite3_column_int64(row, 0);
        objects.push_back(
            {seq, sum_of_body(seq, sqlite3_column_int64(row, 1), view_of(row, 2)), sum_of_node(seq, node_of(row, 3))});
    })));
    for (const Sums& each : objects)
        YK_CHECKED((Statement{*this, "UPDATE objects SET sum = ?, node_sum = ? WHERE seq = ?"}
                        .with(1, each.first)
                        .with(2, each.second)
                        .with(3, each.seq)
                        .run()));
    YK_CHECKED(
        (Statement{*this, "SELECT at, checksum, origin, text, seq FROM configurations"}.each([&](sqlite3_stmt* row) {
            configurations.push_back({sqlite3_column_int64(row, 4), sum_of_configuration(configuration_of(row)), 0});
        })));
    for (const Sums& each : configurations)
        YK_CHECKED((Statement{*this, "UPDATE configurations SET sum = ? WHERE seq = ?"}
                        .with(1, each.first)
                        .with(2, each.seq)
                        .run()));
    std::vector<std::pair<std::string, std::string>> settings;
    YK_CHECKED((Statement{*this, "SELECT name, value FROM settings"}.each(
        [&](sqlite3_stmt* row) { settings.emplace_back(bytes_of(row, 0), bytes_of(row, 1)); })));
    for (const auto& [name, value] : settings) YK_CHECKED(set(name, value));
    return {};
}

BookFile::~BookFile() {
    for (sqlite3_stmt* each : {put_, set_body_, set_node_, erase_}) sqlite3_finalize(each);
    sqlite3_close(db_);
}

Result<void> BookFile::begin() {
    return run("BEGIN IMMEDIATE");
}
Result<void> BookFile::commit() {
    return run("COMMIT");
}
void BookFile::rollback() {
    if (sqlite3_get_autocommit(db_) == 0) static_cast<void>(run("ROLLBACK")); // some errors have ended it already
}

Result<void> BookFile::put(const Row& row) {
    Statement statement{*this,
                        "INSERT OR REPLACE INTO objects (seq, kind, body, sum, node, node_sum) "
                        "VALUES (?, ?, ?, ?, ?, ?)",
                        put_};
    const auto kind = static_cast<std::int64_t>(row.kind);
    statement.with(1, row.seq)
        .with(2, kind)
        .bytes(3, row.body)
        .with(4, sum_of_body(row.seq, kind, row.body))
        .with(6, sum_of_node(row.seq, row.node));
    return (row.node ? statement.text(5, *row.node) : statement.nothing(5)).run();
}

Result<void> BookFile::set_body(std::int64_t seq, RowKind kind, std::string_view body) {
    return Statement{*this, "UPDATE objects SET body = ?, sum = ? WHERE seq = ?", set_body_}
        .bytes(1, body)
        .with(2, sum_of_body(seq, static_cast<std::int64_t>(kind), body))
        .with(3, seq)
        .run();
}

Result<void> BookFile::set_node(std::int64_t seq, std::string_view node) {
    return Statement{*this, "UPDATE objects SET node = ?, node_sum = ? WHERE seq = ?", set_node_}
        .text(1, node)
        .with(2, sum_of_node(seq, node))
        .with(3, seq)
        .run();
}

Result<void> BookFile::erase(std::int64_t seq) {
    return Statement{*this, "DELETE FROM objects WHERE seq = ?", erase_}.with(1, seq).run();
}

Result<void> BookFile::set(std::string_view name, std::string_view value) {
    return Statement{*this, "INSERT OR REPLACE INTO settings (name, value, sum) VALUES (?, ?, ?)"}
        .text(1, name)
        .bytes(2, value)
        .with(3, sum_of(name, value))
        .run();
}

Result<void> BookFile::add_configuration(const KeptConfiguration& configuration, std::size_t most) {
    YK_CHECKED((Statement{*this, "INSERT INTO configurations (at, checksum, origin, text, sum) VALUES (?, ?, ?, ?, ?)"}
                    .with(1, configuration.at)
                    .text(2, configuration.checksum)
                    .text(3, configuration.origin)
                    .text(4, configuration.text)
                    .with(5, sum_of_configuration(configuration))
                    .run()));
    return Statement{*this, "DELETE FROM configurations WHERE seq <= (SELECT max(seq) FROM configurations) - ?"}
        .with(1, static_cast<std::int64_t>(most))
        .run();
}

Result<void> BookFile::each(RowKind kind, std::optional<bool> placed, const std::function<void(Row)>& use) {
    const char* sql = !placed   ? "SELECT seq, body, node FROM objects WHERE kind = ? ORDER BY seq"
                      : *placed ? "SELECT seq, body, node FROM objects WHERE kind = ? AND node IS NOT NULL ORDER BY seq"
                                : "SELECT seq, body, node FROM objects WHERE kind = ? AND node IS NULL ORDER BY seq";
    return Statement{*this, sql}.with(1, static_cast<std::int64_t>(kind)).each([&](sqlite3_stmt* row) {
        std::optional<std::string> node;
        if (sqlite3_column_type(row, 2) != SQLITE_NULL) node = bytes_of(row, 2);
        use({sqlite3_column_int64(row, 0), kind, bytes_of(row, 1), std::move(node)});
    });
}

Result<std::optional<std::string>> BookFile::get(std::string_view name) {
    std::optional<std::string> value;
    YK_CHECKED((Statement{*this, "SELECT value FROM settings WHERE name = ?"}.text(1, name).each(
        [&](sqlite3_stmt* row) { value = bytes_of(row, 0); })));
    return value;
}

Result<std::vector<KeptConfiguration>> BookFile::configurations() {
    std::vector<KeptConfiguration> kept;
    YK_CHECKED(
        (Statement{*this, kAllConfigurations}.each([&](sqlite3_stmt* row) { kept.push_back(configuration_of(row)); })));
    return kept;
}

} // namespace yk::books
