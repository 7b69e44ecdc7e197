// SPDX-License-Identifier: Apache-2.0
#pragma once
// McsDatabase: a database of mcs in a folder of its own, for the time of a test, in which the process "me" has the
// leases; and rows to write there.

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "protocol/databases/mcs_group.h"
#include "protocol/databases/mcs_schema.h"

namespace yk::testing {

const mcs::WriterIdentity kApi{"api", 0}, kScaler{"autoscaler", 3}, kPlacer{"scheduler", 4};

struct McsDatabase {
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

    static mcs::Deployment deployment(const std::string& id, mcs::DeleteMode mode = mcs::DeleteMode::Cascade) {
        mcs::Deployment row;
        row.meta.id = id;
        row.meta.uid = "u" + id;
        row.name = "name-" + id;
        row.queue = "root.q";
        row.max_replicas = 5;
        row.delete_mode = mode;
        return row;
    }
    static mcs::DeploymentScale scale(const std::string& id, const std::string& owner_uid = {}) {
        mcs::DeploymentScale row;
        row.meta.id = id;
        row.owner = {mcs::kDeploymentKind, id, owner_uid.empty() ? "u" + id : owner_uid};
        return row;
    }
    static mcs::DeploymentSchedule schedule(const std::string& id) {
        mcs::DeploymentSchedule row;
        row.meta.id = id;
        row.meta.uid = "p" + id;
        row.owner = {mcs::kDeploymentKind, id, "u" + id};
        row.placements = {{1, 1, "k1", "n", mcs::PlacementState::Placed, 5},
                          {2, 1, "k2", "", mcs::PlacementState::Pending, {}}};
        return row;
    }
    static mcs::PlacementChange placed(std::int64_t replica) {
        return {replica, mcs::Placement{replica, 2, "k", "n", mcs::PlacementState::Placed, 9}};
    }

    std::string folder = "/tmp/yk.mcs.XXXXXX";
    std::unique_ptr<rs::SqliteConnection> connection;
    std::unique_ptr<mcs::WriteGroup> group; // by `connection`
};

} // namespace yk::testing
