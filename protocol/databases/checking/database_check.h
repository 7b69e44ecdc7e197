// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is wrong in a database of mcs that no daemon uses: rows that cannot be understood, children without a parent,
// counters that say something else than the rows that they count. Each thing that is looked for is a statement that
// finds it, and, where there is a safe way, one that mends it (tables of database_check.cpp).

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/databases/sql_connection.h"

namespace yk::mcs {

struct DatabaseFault {
    std::string_view what; // orphan, unreadable, miscounted, ...
    std::string table;
    std::string id;   // of the row; empty: of the table, or the database
    std::string text; // what is wrong with it
    bool can_be_mended = false;
};

/// A lease as it is in its table.
struct LeaseNote {
    std::string name, holder; // an empty holder: nobody has it
    std::uint64_t epoch = 0;
    std::int64_t left_ms = 0; // until it runs out, by the clock of the database; below 0: it has
};

/// A table and its rows.
struct TableSize {
    std::string table;
    std::int64_t rows = 0;
};

struct CheckReport {
    std::string uid;      // which database it is
    std::string position; // of the change log
    std::vector<TableSize> tables;
    std::vector<LeaseNote> leases;
    std::vector<DatabaseFault> findings; // the first of each sort
    std::uint64_t left_out = 0;          // findings beyond these

    [[nodiscard]] std::size_t mendable() const;
};

/// A thing to look for. The statements are in the words of SqlConnection.
struct CheckRule {
    std::string_view what, table;
    std::string find; // gives id and text of each row with it
    std::string mend; // of all of them at once; empty: a person has to
};
/// What is looked for in SQLite beside what is looked for everywhere.
[[nodiscard]] std::span<const CheckRule> sqlite_rules();

/// Whether the database is one of mcs, with the tables that this program knows; the error says what it is, or
/// (Damage::Pages) that damage keeps it from being known.
[[nodiscard]] Result<void, rs::StoreError> has_our_schema(rs::SqlConnection& connection);
/// Looks at everything. Nothing is changed. The error says why it is no database of mcs, or cannot be read.
/// Damage that a read meets is a finding, and what could not be read is missing in the report. Cost: all rows are read.
[[nodiscard]] Result<CheckReport, rs::StoreError> check_database(rs::SqlConnection& connection,
                                                                 std::span<const CheckRule> more);
/// Mends what can be, in one transaction, so that the change log says what was changed. Returns how many rows were.
/// Refuses a database with damaged pages: an index that is damaged makes orphans of good rows.
[[nodiscard]] Result<std::int64_t, rs::StoreError> mend_database(rs::SqlConnection& connection,
                                                                 std::span<const CheckRule> more);

} // namespace yk::mcs
