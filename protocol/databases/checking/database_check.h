// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is wrong in a database of mcs that no daemon uses: rows that cannot be understood, children without a parent,
// counters that say something else than the rows that they count. Each thing that is looked for is a statement that
// finds it, and, where there is a safe way, one that mends it (check_rules.h).

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/databases/checking/check_rules.h"
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

/// Whether the database is one of mcs, with the tables that this program knows; the error says what it is, or
/// (Damage::Pages) that damage keeps it from being known.
[[nodiscard]] Result<void, rs::StoreError> has_our_schema(rs::SqlConnection& connection);
/// Looks at everything. Nothing is changed. The error says why it is no database of mcs, or cannot be read.
/// Damage that a read meets is a finding, and so is a table that is gone; what could not be read for them is missing in
/// the report. Cost: all rows are read.
[[nodiscard]] Result<CheckReport, rs::StoreError> check_database(rs::SqlConnection& connection,
                                                                 std::span<const CheckRule> more);
/// Mends what can be, in one transaction, so that the change log says what was changed. Returns how many rows were.
/// Refuses a database with damaged pages, since an index that is damaged makes orphans of good rows, and one without a
/// table, since a copy that is put back takes the place of all that would be mended.
[[nodiscard]] Result<std::int64_t, rs::StoreError> mend_database(rs::SqlConnection& connection,
                                                                 std::span<const CheckRule> more);

} // namespace yk::mcs
