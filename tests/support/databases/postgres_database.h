// SPDX-License-Identifier: Apache-2.0
#pragma once
// PostgresDatabase: a StateDatabase for tests of what only PostgreSQL has.

#include <memory>
#include <string>

#include "protocol/databases/postgres/postgres_connection.h"
#include "tests/support/databases/private_postgres.h"
#include "tests/support/databases/state_database.h"

namespace yk::testing {

/// Whether there is a server; engines() says why not.
inline bool has_postgres() {
    return engines().size() == 2;
}

struct PostgresDatabase : StateDatabase {
    PostgresDatabase() : StateDatabase(Engine::Postgres) {}

    [[nodiscard]] rs::PostgresSettings settings() const { return {place->path()}; }
    [[nodiscard]] std::unique_ptr<rs::PostgresConnection> connect() const { return connect(settings()); }
    [[nodiscard]] static std::unique_ptr<rs::PostgresConnection> connect(const rs::PostgresSettings& by) {
        auto opened = rs::PostgresConnection::open(by);
        INFO((opened.ok() ? "" : opened.error().message));
        REQUIRE(opened.ok());
        return std::move(opened).value();
    }
    static std::string insert(const std::string& id) {
        return "INSERT INTO node VALUES('" + id + "', 'u" + id + "', 1, '{}', '{}', '{}', 1, 10, 20)";
    }
    static mcs::WriteOutcome write(mcs::WriteGroup& group, const mcs::WriterIdentity& writer,
                                   mcs::WriteCommand command) {
        const mcs::WriteRequest request{writer, std::move(command)};
        const mcs::WriteRequest* const requests[] = {&request};
        return group.write(requests).outcomes.at(0);
    }
    static mcs::Node node(const std::string& id) {
        mcs::Node row;
        row.meta.id = id;
        row.meta.uid = "u" + id;
        return row;
    }
};

inline std::string ids_of(const rs::EventBatch& batch) {
    std::string ids;
    for (const auto& each : batch.events) ids += each.id;
    return ids;
}

} // namespace yk::testing
