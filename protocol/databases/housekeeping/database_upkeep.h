// SPDX-License-Identifier: Apache-2.0
#pragma once
// DatabaseUpkeep: what a kind of database needs beside the writes of services; SqliteUpkeep is what SQLite does, and
// postgres/postgres_upkeep.h has PostgreSQL's.
//
// Owner: McsHousekeeping. Thread: its own, but for checkpoint_after().

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "protocol/databases/housekeeping/log_retention.h"
#include "protocol/databases/housekeeping/wal_checkpoints.h"

namespace yk::mcs {

class DatabaseUpkeep {
public:
    virtual ~DatabaseUpkeep() = default;
    /// For what else is written now and then.
    [[nodiscard]] virtual rs::SqlConnection& connection() = 0;
    /// Removes a chunk of the change log, as rs::purge_old().
    [[nodiscard]] virtual Result<rs::PurgeReport, rs::StoreError> purge(const rs::LogRetention& retention,
                                                                        std::optional<rs::Position> relayed) = 0;

    // A write-ahead log that is copied into the database here; other databases do that by themselves.
    /// How many pages it has before that is worth it. Any thread.
    [[nodiscard]] virtual std::int64_t checkpoint_after() const { return std::numeric_limits<std::int64_t>::max(); }
    [[nodiscard]] virtual bool is_checkpoint_due(std::int64_t /*pages*/) const { return false; }
    /// How many pages the log still needs.
    [[nodiscard]] virtual Result<std::int64_t, rs::StoreError> checkpoint() { return std::int64_t{0}; }
};

class SqliteUpkeep final : public DatabaseUpkeep {
public:
    explicit SqliteUpkeep(std::unique_ptr<rs::SqliteConnection> connection, const rs::WalSettings& settings = {})
        : connection_(std::move(connection)), checkpoints_(*connection_, settings), after_(settings.pages) {}

    [[nodiscard]] rs::SqlConnection& connection() override { return *connection_; }
    [[nodiscard]] Result<rs::PurgeReport, rs::StoreError> purge(const rs::LogRetention& retention,
                                                                std::optional<rs::Position> relayed) override {
        const auto up_to = relayed ? std::optional{relayed->sequence} : std::nullopt;
        return rs::purge_old(*connection_, retention, up_to);
    }
    [[nodiscard]] std::int64_t checkpoint_after() const override { return after_; }
    [[nodiscard]] bool is_checkpoint_due(std::int64_t pages) const override { return checkpoints_.is_due(pages); }
    [[nodiscard]] Result<std::int64_t, rs::StoreError> checkpoint() override { return checkpoints_.run(); }

private:
    const std::unique_ptr<rs::SqliteConnection> connection_;
    rs::WalCheckpoints checkpoints_;
    const std::int64_t after_;
};

} // namespace yk::mcs
