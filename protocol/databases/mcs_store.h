// SPDX-License-Identifier: Apache-2.0
#pragma once
// McsStore<T>: the rows of a kind of mcs, as the framework reads them. It does not write: writes of all kinds come one
// after the other, with checks that span several tables, as WriteCommands.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libcore/mcs/writes.h"
#include "protocol/databases/known_texts.h"
#include "protocol/databases/sql_connection.h"

namespace yk::mcs {

/// What columns were read as before, and its rows have in common. Owner: the store of a kind.
struct KnownColumns {
    KnownTexts<std::string> texts, objects; // objects: JSON that nobody looks at here
    KnownTexts<std::vector<std::string>> lists;
    KnownTexts<Amounts> amounts;
    KnownTexts<Texts> maps;
};

/// How the row of a kind is made of its columns. The error of a row says which column cannot be understood (rs R-071).
template <class T>
struct RowColumns;
template <>
struct RowColumns<Deployment> {
    static constexpr const char* kSelect =
        "SELECT id, uid, version, generation, name, partition, queue, usr, grps, resource, min_replicas, max_replicas,"
        " replicas, replicas IS NOT NULL, priority, policy, tags, paused, cascade, created_ms, updated_ms FROM "
        "deployment";
    [[nodiscard]] static Result<Deployment, std::string> decode(const rs::SqlRow& row, KnownColumns& known);
};
template <>
struct RowColumns<DeploymentScale> {
    static constexpr const char* kSelect =
        "SELECT id, uid, version, owner_kind, owner_id, owner_uid, cascade_parent, desired, reason,"
        " observed_generation, status, writer_epoch, created_ms, updated_ms FROM deployment_scale";
    [[nodiscard]] static Result<DeploymentScale, std::string> decode(const rs::SqlRow& row, KnownColumns& known);
};
template <>
struct RowColumns<DeploymentSchedule> {
    static constexpr const char* kSelect =
        "SELECT id, uid, version, owner_kind, owner_id, owner_uid, cascade_parent, application_id,"
        " observed_scale_version, desired, placed, pending, state, status, writer_epoch, created_ms, updated_ms"
        " FROM deployment_schedule";
    [[nodiscard]] static Result<DeploymentSchedule, std::string> decode(const rs::SqlRow& row, KnownColumns& known);
};
template <>
struct RowColumns<Node> {
    static constexpr const char* kSelect = "SELECT id, uid, version, attributes, capacity, occupied, schedulable,"
                                           " created_ms, updated_ms FROM node";
    [[nodiscard]] static Result<Node, std::string> decode(const rs::SqlRow& row, KnownColumns& known);
};

inline constexpr const char* kPlacementColumns =
    "replica, attempt, allocation_key, node_id, state, placed_ms, placed_ms IS NOT NULL";
[[nodiscard]] Result<Placement, std::string> decode_placement(const rs::SqlRow& row);

/// The placements of a schedule, by ascending replica; text: one of them cannot be understood.
[[nodiscard]] Result<Result<std::vector<Placement>, std::string>, rs::StoreError>
read_placements(rs::SqlConnection& connection, std::string_view schedule_id);

/// What is known of the row that a statement stands on. REQUIRES: within a transaction.
template <rs::Resource T>
[[nodiscard]] Result<rs::Found<T>, rs::StoreError> read_row(rs::SqlConnection& connection, const rs::SqlRow& row,
                                                            KnownColumns& known) {
    auto decoded = RowColumns<T>::decode(row, known);
    if (!decoded.ok()) return rs::Found<T>{rs::BrokenRow{row.text(0), decoded.error()}};
    if constexpr (requires { decoded->placements; }) {
        YK_TRY(placements, read_placements(connection, decoded->meta.id));
        if (!placements.ok()) return rs::Found<T>{rs::BrokenRow{row.text(0), placements.error()}};
        decoded->placements = std::move(placements).value();
    }
    return rs::Found<T>{std::make_shared<const T>(std::move(decoded).value())};
}

/// A store that does not write.
template <rs::Resource T>
class ReadingStore : public rs::ResourceStore<T> {
    using Done = Result<void, rs::StoreError>;

    [[nodiscard]] static Done refuse() {
        return rs::StoreError{rs::StoreFault::Fatal, "rows of mcs are written by WriteCommands, not by their store"};
    }
    Done do_insert(const WriterIdentity& /*writer*/, const T& /*object*/) override { return refuse(); }
    Done do_update(const WriterIdentity& /*writer*/, const T& /*object*/, const Expect& /*expect*/) override {
        return refuse();
    }
    Done do_erase(const WriterIdentity& /*writer*/, std::string_view /*id*/, const Expect& /*expect*/) override {
        return refuse();
    }
};

/// One statement for each row, which costs least where the database is in this process: SQLite.
/// Owner: the program. Thread: one call at a time; its connection is its own.
template <rs::Resource T>
class McsStore final : public ReadingStore<T> {
public:
    explicit McsStore(rs::SqlConnection& connection) : connection_(connection) {}

    [[nodiscard]] Result<rs::Rows<T>, rs::StoreError> read_many(std::span<const std::string> ids) override {
        rs::SqlTransaction transaction{connection_, rs::SqlTransaction::Kind::Read};
        YK_CHECKED(transaction.begun());
        rs::Rows<T> rows;
        rows.found.reserve(ids.size());
        rs::SqlStatement select = connection_.statement(std::string{kSelect} + " WHERE id = ?");
        for (const std::string& id : ids) {
            select.reset();
            YK_TRY(has_row, select.bind(1, id).step());
            if (!has_row) {
                rows.found.push_back(rs::AbsentRow{});
                continue;
            }
            YK_TRY(found, read_row<T>(connection_, select, known_));
            rows.found.push_back(std::move(found));
        }
        YK_TRY(head, connection_.log_head(rs::SqlAccess::Read));
        rows.head = std::move(head);
        return rows;
    }

    [[nodiscard]] Result<rs::Page<T>, rs::StoreError> read_page(std::string_view after, std::size_t limit) override {
        rs::SqlTransaction transaction{connection_, rs::SqlTransaction::Kind::Read};
        YK_CHECKED(transaction.begun());
        rs::Page<T> page;
        rs::SqlStatement select = connection_.statement(std::string{kSelect} + " WHERE id > ? ORDER BY id LIMIT ?");
        select.bind(1, after).bind(2, static_cast<std::int64_t>(limit));
        for (;;) {
            YK_TRY(has_row, select.step());
            if (!has_row) break;
            page.last_id = select.text(0);
            YK_TRY(found, read_row<T>(connection_, select, known_));
            page.found.push_back(std::move(found));
        }
        page.is_last = page.found.size() < limit;
        // SQLite has each BLOB behind all texts, so that many of them would be the next page for ever.
        if (!page.is_last && page.last_id <= after) {
            const std::string select_text{kSelect};
            return rs::StoreError{rs::StoreFault::Fatal, "rows of the table" +
                                                             select_text.substr(select_text.rfind(' ')) +
                                                             " have an id that is no text, too many to be passed over: "
                                                             "delete those of which typeof(id) is 'blob'"};
        }
        YK_TRY(head, connection_.log_head(rs::SqlAccess::Read));
        page.head = std::move(head);
        return page;
    }

private:
    static constexpr const char* kSelect = RowColumns<T>::kSelect;

    rs::SqlConnection& connection_;
    KnownColumns known_;
};

} // namespace yk::mcs
