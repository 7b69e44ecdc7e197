// SPDX-License-Identifier: Apache-2.0
#pragma once
// McsConnections: the database of MCS, opened: a connection for each that uses it at the same time as others. SQLite
// lets one connection do one thing at a time, and counts the commits of others only.

#include <memory>
#include <string>

#include "protocol/databases/mcs_schema.h"

namespace yk::service {

struct McsConnections {
    std::unique_ptr<rs::SqliteConnection> rows;   // reads for the caches
    std::unique_ptr<rs::SqliteConnection> log;    // the change log
    std::unique_ptr<rs::SqliteConnection> leases; // these three on the thread of MCS
    std::unique_ptr<rs::SqliteConnection> writes; // of McsWriter's thread
    std::unique_ptr<rs::SqliteConnection> house;  // of McsHousekeeping's
    std::string path;
    mcs::DatabaseIdentity identity;

    /// Opens the file, which only the daemon's user can read; one that is not there is made. Brings its tables up to
    /// date.
    [[nodiscard]] static Result<McsConnections, rs::StoreError> open(const std::string& path);
};

} // namespace yk::service
