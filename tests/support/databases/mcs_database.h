// SPDX-License-Identifier: Apache-2.0
#pragma once
// McsDatabase: a database of mcs on SQLite in a folder of its own, for the time of a test, in which the process "me"
// has the leases.

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "protocol/databases/mcs_group.h"
#include "protocol/databases/mcs_schema.h"
#include "tests/support/databases/mcs_rows.h"

namespace yk::testing {

struct McsDatabase : McsRows {
    McsDatabase() {
        REQUIRE(::mkdtemp(folder.data()) != nullptr);
        connection = open();
        REQUIRE(mcs::migrate(*connection, "first").ok());
        type("UPDATE lease SET holder = 'me', epoch = 3 WHERE name = 'autoscaler'");
        type("UPDATE lease SET holder = 'me', epoch = 4 WHERE name = 'scheduler'");
        group = std::make_unique<mcs::WriteGroup>(*connection, mcs::LeaseHolder{"me", true});
    }
    ~McsDatabase() {
        connection.reset();
        std::filesystem::remove_all(folder);
    }
    McsDatabase(const McsDatabase&) = delete;
    McsDatabase& operator=(const McsDatabase&) = delete;

    [[nodiscard]] std::string path() const { return folder + "/state.db"; }
    [[nodiscard]] std::unique_ptr<rs::SqliteConnection> open() const {
        auto opened = rs::SqliteConnection::open(path());
        REQUIRE(opened.ok());
        return std::move(opened).value();
    }
    void type(const std::string& sql) const {
        const auto done = connection->run(sql);
        INFO(sql << ": " << (done.ok() ? "" : done.error().message));
        REQUIRE(done.ok());
    }
    [[nodiscard]] std::string text(const std::string& sql) const { return *connection->text(sql); }
    [[nodiscard]] std::int64_t count(const std::string& from) const {
        return *connection->number("SELECT count(*) FROM " + from);
    }

    std::string folder = "/tmp/yk.mcs.XXXXXX";
    std::unique_ptr<rs::SqliteConnection> connection;
    std::unique_ptr<mcs::WriteGroup> group; // by `connection`
};

} // namespace yk::testing
