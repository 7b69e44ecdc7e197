// SPDX-License-Identifier: Apache-2.0
#pragma once
// PostgresStore<T>: the rows of a kind of mcs in PostgreSQL, as the framework reads them. As many rows as are asked for
// come with one statement, since each is a way to the server and back (rs R-076).

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "protocol/databases/mcs_store.h"
#include "protocol/databases/postgres/postgres_words.h"

namespace yk::mcs {

/// The placements of schedules; text: one of them cannot be understood.
using PlacementsById = std::map<std::string, Result<std::vector<Placement>, std::string>, std::less<>>;
[[nodiscard]] Result<PlacementsById, rs::StoreError> read_placements_of(rs::SqlConnection& connection,
                                                                        const std::vector<std::string_view>& schedules);

/// Owner: the program. Thread: one call at a time; its connection is its own.
template <rs::Resource T>
class PostgresStore final : public ReadingStore<T> {
public:
    explicit PostgresStore(rs::SqlConnection& connection) : connection_(connection) {}

    [[nodiscard]] Result<rs::Rows<T>, rs::StoreError> read_many(std::span<const std::string> ids) override {
        rs::SqlTransaction transaction{connection_, rs::SqlAccess::Read};
        YK_CHECKED(transaction.begun());
        const std::string wanted = rs::array_of({ids.begin(), ids.end()});
        rs::SqlStatement select = connection_.statement(std::string{kSelect} + " WHERE id = ANY(?)");
        select.bind(1, std::string_view{wanted});
        YK_TRY(read, read_all(select));
        std::map<std::string_view, const rs::Found<T>*> by_id;
        for (const auto& [id, found] : read) by_id.emplace(id, &found);
        rs::Rows<T> rows;
        rows.found.reserve(ids.size());
        for (const std::string& id : ids) {
            const auto at = by_id.find(id);
            rows.found.push_back(at == by_id.end() ? rs::Found<T>{rs::AbsentRow{}} : *at->second);
        }
        YK_TRY(head, connection_.log_head(rs::SqlAccess::Read));
        rows.head = std::move(head);
        return rows;
    }

    [[nodiscard]] Result<rs::Page<T>, rs::StoreError> read_page(std::string_view after, std::size_t limit) override {
        rs::SqlTransaction transaction{connection_, rs::SqlAccess::Read};
        YK_CHECKED(transaction.begun());
        rs::SqlStatement select = connection_.statement(std::string{kSelect} + " WHERE id > ? ORDER BY id LIMIT ?");
        select.bind(1, after).bind(2, static_cast<std::int64_t>(limit));
        YK_TRY(read, read_all(select));
        rs::Page<T> page;
        if (!read.empty()) page.last_id = read.back().first;
        page.is_last = read.size() < limit;
        for (auto& [id, found] : read) page.found.push_back(std::move(found));
        YK_TRY(head, connection_.log_head(rs::SqlAccess::Read));
        page.head = std::move(head);
        return page;
    }

private:
    using Decoded = Result<T, std::string>;
    using FoundById = std::vector<std::pair<std::string, rs::Found<T>>>;
    static constexpr const char* kSelect = RowColumns<T>::kSelect;
    static constexpr bool kHasPlacements = requires(T row) { row.placements; };

    /// In the order of the statement.
    [[nodiscard]] Result<FoundById, rs::StoreError> read_all(rs::SqlStatement& select) {
        std::vector<std::pair<std::string, Decoded>> rows;
        for (;;) {
            YK_TRY(has_row, select.step());
            if (!has_row) break;
            rows.emplace_back(select.text(0), RowColumns<T>::decode(select, known_));
        }
        if constexpr (kHasPlacements) YK_CHECKED(add_placements(rows));
        FoundById found;
        found.reserve(rows.size());
        for (auto& [id, row] : rows) {
            auto each = row.ok() ? rs::Found<T>{std::make_shared<const T>(std::move(row).value())}
                                 : rs::Found<T>{rs::BrokenRow{id, row.error()}};
            found.emplace_back(std::move(id), std::move(each));
        }
        return found;
    }

    [[nodiscard]] Result<void, rs::StoreError> add_placements(std::vector<std::pair<std::string, Decoded>>& rows) {
        std::vector<std::string_view> ids;
        ids.reserve(rows.size());
        for (const auto& [id, row] : rows) ids.push_back(id);
        YK_TRY(placements, read_placements_of(connection_, ids));
        for (auto& [id, row] : rows) {
            const auto own = placements.find(id);
            if (!row.ok() || own == placements.end()) continue;
            if (own->second.ok())
                row->placements = std::move(own->second).value();
            else
                row = Decoded{own->second.error()};
        }
        return {};
    }

    rs::SqlConnection& connection_;
    KnownColumns known_;
};

} // namespace yk::mcs
