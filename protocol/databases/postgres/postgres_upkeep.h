// SPDX-License-Identifier: Apache-2.0
#pragma once
// PostgresUpkeep: what a database of PostgreSQL needs beside the writes of services: the change log is purged.

#include "protocol/databases/housekeeping/database_upkeep.h"
#include "protocol/databases/postgres/postgres_retention.h"

namespace yk::mcs {

class PostgresUpkeep final : public DatabaseUpkeep {
public:
    explicit PostgresUpkeep(std::unique_ptr<rs::PostgresConnection> connection) : connection_(std::move(connection)) {}

    [[nodiscard]] rs::SqlConnection& connection() override { return *connection_; }
    [[nodiscard]] Result<rs::PurgeReport, rs::StoreError> purge(const rs::LogRetention& retention,
                                                                std::optional<rs::Position> relayed) override {
        return purge_old(*connection_, retention, relayed);
    }

private:
    const std::unique_ptr<rs::PostgresConnection> connection_;
};

} // namespace yk::mcs
