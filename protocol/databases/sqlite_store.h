// SPDX-License-Identifier: Apache-2.0
#pragma once
// SqliteStore<T>: the rows of a kind in a database of SQLite. A kind says by SqliteTraits what columns it has beside
// those of every kind:
//
//     template <> struct yk::rs::SqliteTraits<Album> {
//         static constexpr const char* kTable = "album";
//         static constexpr const char* kDefinitions = "title TEXT NOT NULL, year INTEGER NOT NULL";
//         static constexpr std::array<const char*, 2> kColumns{"title", "year"};
//         static void bind(SqliteStatement& statement, int first, const Album& album); // in the order of kColumns
//         static Result<Album, std::string> decode(const SqliteStatement& row, int first, ResourceMeta meta);
//     };

#include <memory>
#include <string>
#include <utility>

#include "protocol/databases/sqlite_schema.h"

namespace yk::rs {

template <class T>
struct SqliteTraits;

/// Owner: the program. Thread: one call at a time; its connection is its own. Writes are one transaction each.
template <Resource T>
class SqliteStore final : public ResourceStore<T> {
public:
    explicit SqliteStore(SqliteConnection& connection) : connection_(connection) {}

    /// Makes the kind's table and its triggers, if they are not there.
    [[nodiscard]] static Result<void, StoreError> make_table(SqliteConnection& connection) {
        return make_kind_table(connection, ResourceTraits<T>::kKind, Traits::kTable, Traits::kDefinitions);
    }

    [[nodiscard]] Result<Rows<T>, StoreError> read_many(std::span<const std::string> ids) override {
        SqliteTransaction transaction{connection_, SqliteTransaction::Kind::Read};
        YK_CHECKED(transaction.begun());
        Rows<T> rows;
        rows.found.reserve(ids.size());
        SqliteStatement select = connection_.statement(kSelect + " WHERE id = ?");
        for (const std::string& id : ids) {
            select.reset();
            YK_TRY(has_row, select.bind(1, id).step());
            rows.found.push_back(has_row ? decode(select) : Found<T>{AbsentRow{}});
        }
        YK_TRY(head, log_head(connection_));
        rows.head = std::move(head);
        return rows;
    }

    [[nodiscard]] Result<Page<T>, StoreError> read_page(std::string_view after, std::size_t limit) override {
        SqliteTransaction transaction{connection_, SqliteTransaction::Kind::Read};
        YK_CHECKED(transaction.begun());
        Page<T> page;
        SqliteStatement select = connection_.statement(kSelect + " WHERE id > ? ORDER BY id LIMIT ?");
        select.bind(1, after).bind(2, static_cast<std::int64_t>(limit));
        for (;;) {
            YK_TRY(has_row, select.step());
            if (!has_row) break;
            page.last_id = select.text(0);
            page.found.push_back(decode(select));
        }
        page.is_last = page.found.size() < limit;
        YK_TRY(head, log_head(connection_));
        page.head = std::move(head);
        return page;
    }

private:
    using Traits = SqliteTraits<T>;
    using Done = Result<void, StoreError>;
    static constexpr int kOwn = 4; // the kind's own columns begin here
    static constexpr const char* kNow = YK_NOW_MS;

    [[nodiscard]] static std::string columns(std::string_view before, std::string_view after) {
        std::string text;
        for (const char* column : Traits::kColumns) text += std::string{before} + column + std::string{after};
        return text;
    }
    [[nodiscard]] static Found<T> decode(const SqliteStatement& row) {
        ResourceMeta meta{row.text(0), row.text(1), row.number(2), row.number(3)};
        const std::string id = meta.id;
        auto object = Traits::decode(row, kOwn, std::move(meta));
        if (!object.ok()) return BrokenRow{id, object.error()};
        return std::make_shared<const T>(std::move(object).value());
    }

    /// Runs one statement in a transaction of its own; true: it changed a row.
    [[nodiscard]] Result<bool, StoreError> write(SqliteStatement& statement) {
        SqliteTransaction transaction{connection_, SqliteTransaction::Kind::Write};
        YK_CHECKED(transaction.begun());
        YK_TRY(has_row, statement.step());
        static_cast<void>(has_row);
        const bool has_changed = connection_.changes() != 0;
        YK_CHECKED(transaction.commit());
        return has_changed;
    }

    Done do_insert(const WriterIdentity& writer, const T& object) override {
        const ResourceMeta& meta = meta_of(object);
        SqliteStatement insert = connection_.statement(kInsert);
        insert.bind(1, meta.id).bind(2, meta.uid).bind(3, meta.generation);
        insert.bind(4, static_cast<std::int64_t>(writer.lease_epoch));
        Traits::bind(insert, 5, object);
        YK_TRY(has_changed, write(insert));
        static_cast<void>(has_changed);
        return {};
    }
    Done do_update(const WriterIdentity& writer, const T& object, const Expect& expect) override {
        const ResourceMeta& meta = meta_of(object);
        SqliteStatement update = connection_.statement(kUpdate);
        update.bind(1, meta.id).bind(2, expect.uid).bind(3, expect.version).bind(4, meta.version);
        update.bind(5, meta.generation).bind(6, static_cast<std::int64_t>(writer.lease_epoch));
        Traits::bind(update, 7, object);
        YK_TRY(has_changed, write(update));
        if (!has_changed) return StoreError{StoreFault::Conflict, meta.id + " is not what was expected"};
        return {};
    }
    Done do_erase(const WriterIdentity& /*writer*/, std::string_view id, const Expect& expect) override {
        SqliteStatement erase = connection_.statement(kErase);
        YK_TRY(has_changed, write(erase.bind(1, id).bind(2, expect.uid).bind(3, expect.version)));
        if (has_changed) return {};
        SqliteStatement look = connection_.statement(kSelect + " WHERE id = ?");
        YK_TRY(is_there, look.bind(1, id).step());
        if (is_there) return StoreError{StoreFault::Conflict, std::string{id} + " is not what was expected"};
        return {}; // gone is what was wanted
    }

    [[nodiscard]] static std::string assignments() {
        std::string text;
        int place = 7;
        for (const char* column : Traits::kColumns)
            text += std::string{", "} + column + " = ?" + std::to_string(place++);
        return text;
    }

    inline static const std::string kSelect =
        "SELECT id, uid, version, generation" + columns(", ", "") + " FROM " + Traits::kTable;
    inline static const std::string kInsert = std::string{"INSERT INTO "} + Traits::kTable +
                                              "(id, uid, version, generation, writer_epoch, created_ms, updated_ms" +
                                              columns(", ", "") + ") VALUES(?1, ?2, 1, ?3, ?4, " + kNow + ", " + kNow +
                                              [] {
                                                  std::string places;
                                                  for (std::size_t at = 0; at < Traits::kColumns.size(); ++at)
                                                      places += ", ?" + std::to_string(at + 5);
                                                  return places + ")";
                                              }();
    inline static const std::string kUpdate =
        std::string{"UPDATE "} + Traits::kTable +
        " SET version = ?4, generation = ?5, writer_epoch = ?6, updated_ms = " + kNow + assignments() +
        " WHERE id = ?1 AND uid = ?2 AND (?3 = 0 OR version = ?3)";
    inline static const std::string kErase =
        std::string{"DELETE FROM "} + Traits::kTable + " WHERE id = ?1 AND uid = ?2 AND (?3 = 0 OR version = ?3)";

    SqliteConnection& connection_;
};

} // namespace yk::rs
