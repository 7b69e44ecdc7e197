// SPDX-License-Identifier: Apache-2.0
#pragma once
// LeaseTable: the rows by which instances agree on who writes as a service. It answers what the database says at this
// moment; when to ask, and when to stop by oneself, is the business of whoever holds the lease.
//
// Owner: the program. Thread: one call at a time; its connection is its own.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "protocol/databases/sqlite_connection.h"

namespace yk::mcs {

class LeaseTable {
public:
    /// `holder`: a name that no other process has, nor this one in an earlier life.
    LeaseTable(rs::SqliteConnection& connection, std::string holder, std::chrono::milliseconds ttl)
        : connection_(connection), holder_(std::move(holder)), ttl_(ttl) {}

    /// The epoch under which this process leads now; nullopt: somebody else does, or there is no such lease (rs R-139).
    [[nodiscard]] Result<std::optional<std::uint64_t>, rs::StoreError> acquire(const std::string& name);
    /// False: the lease of that epoch is lost. One that ran out and that nobody took is renewed.
    [[nodiscard]] Result<bool, rs::StoreError> renew(const std::string& name, std::uint64_t epoch);
    /// Whoever waits may take it at once. Nothing happens if it is lost (rs R-144).
    [[nodiscard]] Result<void, rs::StoreError> release(const std::string& name, std::uint64_t epoch);

private:
    rs::SqliteConnection& connection_;
    const std::string holder_;
    const std::chrono::milliseconds ttl_;
};

} // namespace yk::mcs
