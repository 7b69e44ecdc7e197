// SPDX-License-Identifier: Apache-2.0
#pragma once
// BookFile: the books of one RM as a file of SQLite: rows for nodes, applications and asks, the configurations the RM
// had, and a few named texts. It knows nothing of what they mean.
//
// What commit() wrote survives any end of the process; after a loss of power the newest commits may be missing, but
// none is there in part. Owner: whoever opened it. Thread: one at a time. At most one process has a file open.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace yk::books {

/// What a row is. The numbers are in the file.
enum class RowKind : std::uint8_t { Node = 0, Application = 1, Ask = 2, Foreign = 3 };

/// Rows are ordered by `seq`, which is that of their arrival.
struct Row {
    std::int64_t seq = 0;
    RowKind kind{};
    std::string body; // one encoded message
    std::optional<std::string>
        node; // of an ask (place_text()), and a foreign allocation: where it is; nullopt: it is pending
};

/// A configuration that the RM had.
struct KeptConfiguration {
    std::int64_t at = 0; // ns since 1970
    std::string checksum;
    std::string origin; // for people
    std::string text;
};

class BookFile {
public:
    /// What open() found wrong.
    enum class Fault {
        System, // the file cannot be opened or made; nothing is known of what is in it
        Damaged,
        Foreign, // it is of something else
        Version  // a ykd of another version wrote it; that one can read it
    };
    struct Refusal {
        Fault fault{};
        std::string message;
    };

    /// Opens the file, made with mode 0600 if there is none, and reads all of it once to see whether it is whole. One
    /// of version 1 is of this version afterwards.
    [[nodiscard]] static Result<std::unique_ptr<BookFile>, Refusal> open(const std::string& path);
    ~BookFile();
    BookFile(const BookFile&) = delete;
    BookFile& operator=(const BookFile&) = delete;

    // A change of several rows: between begin() and commit(). After an error, rollback().
    [[nodiscard]] Result<void> begin();
    [[nodiscard]] Result<void> commit();
    void rollback();

    /// Adds the row, or replaces the one of its number.
    [[nodiscard]] Result<void> put(const Row& row);
    [[nodiscard]] Result<void> set_body(std::int64_t seq, RowKind kind, std::string_view body);
    [[nodiscard]] Result<void> set_node(std::int64_t seq, std::string_view node);
    [[nodiscard]] Result<void> erase(std::int64_t seq);
    [[nodiscard]] Result<void> set(std::string_view name, std::string_view value);
    /// Adds a configuration as the newest, and drops the oldest beyond `most`.
    [[nodiscard]] Result<void> add_configuration(const KeptConfiguration& configuration, std::size_t most);

    /// Calls `use` with each row of the kind, in order. `placed`: only asks that are, or are not, placed.
    [[nodiscard]] Result<void> each(RowKind kind, std::optional<bool> placed, const std::function<void(Row)>& use);
    /// nullopt: nothing of that name was set.
    [[nodiscard]] Result<std::optional<std::string>> get(std::string_view name);
    /// The oldest first.
    [[nodiscard]] Result<std::vector<KeptConfiguration>> configurations();

private:
    class Statement;

    BookFile(std::string path, sqlite3* db) : path_(std::move(path)), db_(db) {}
    [[nodiscard]] Result<void> run(const char* sql);
    [[nodiscard]] std::string fault() const;
    [[nodiscard]] Refusal refusal() const;
    [[nodiscard]] std::optional<Refusal> check(bool is_first_version);
    [[nodiscard]] Result<std::uint64_t> changed_rows();
    [[nodiscard]] Result<std::uint64_t> changed_rows_of_first_version();
    [[nodiscard]] Result<void> make_current();
    [[nodiscard]] Result<void> write_sums();

    const std::string path_;
    sqlite3* const db_;
    sqlite3_stmt* put_ = nullptr; // prepared when first used
    sqlite3_stmt* set_body_ = nullptr;
    sqlite3_stmt* set_node_ = nullptr;
    sqlite3_stmt* erase_ = nullptr;
};

} // namespace yk::books
