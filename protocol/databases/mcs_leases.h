// SPDX-License-Identifier: Apache-2.0
#pragma once
// LeaseTable: the rows by which instances agree on who writes as a service. It answers what the database says at this
// moment; when to ask, and when to stop by oneself, is the business of LeaseManager.
//
// Owner: the program. Thread: one call at a time; its connection is its own.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "libcore/mcs/lease_port.h"
#include "protocol/databases/sql_connection.h"

namespace yk::mcs {

class LeaseTable final : public LeasePort {
public:
    /// `holder`: a name that no other process has, nor this one in an earlier life.
    LeaseTable(rs::SqlConnection& connection, std::string holder, std::chrono::milliseconds ttl)
        : connection_(connection), holder_(std::move(holder)), ttl_(ttl) {}

    [[nodiscard]] Epoch acquire(const std::string& name) override;
    [[nodiscard]] Epoch seize(const std::string& name, const LeaseRow& seen) override;
    [[nodiscard]] Result<std::optional<LeaseRow>, rs::StoreError> look(const std::string& name) override;
    [[nodiscard]] Result<bool, rs::StoreError> renew(const std::string& name, std::uint64_t epoch) override;
    [[nodiscard]] Result<void, rs::StoreError> release(const std::string& name, std::uint64_t epoch) override;

private:
    /// The epoch after an acquire() or seize() that changed so many rows.
    [[nodiscard]] Epoch epoch_after(std::int64_t taken, const std::string& name);

    rs::SqlConnection& connection_;
    const std::string holder_;
    const std::chrono::milliseconds ttl_;
};

/// Takes all leases from those who have them: they have ended, and nobody needs to wait until the leases run out.
/// Answers how many there were. Epochs stay, so that whoever lives after all writes nothing any more.
[[nodiscard]] Result<std::int64_t, rs::StoreError> release_all(rs::SqlConnection& connection);

} // namespace yk::mcs
