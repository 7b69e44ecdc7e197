// SPDX-License-Identifier: Apache-2.0
// The thread of MCS on a file of SQLite, and what it says of itself.
#include "ykd/mcs/mcs_thread.h"

#include <fstream>
#include <future>

#include <catch2/catch.hpp>

#include "protocol/databases/sqlite_connection.h"
#include "tests/unit/ykd/mcs/mcs_instance.h"
#include "ykd/mcs/requests/mcs_status.h"

namespace yk::service {
namespace {

using testing::comes_true;
using testing::Folder;
using Phase = McsThread::State::Phase;

/// The thread with its database in a folder.
struct Hosted {
    explicit Hosted(const Folder& folder) : directory(folder.path) {
        settings.enabled = true;
        thread.connect([](const wire::Request&) {});
    }
    [[nodiscard]] wire::Value status() {
        std::promise<wire::Value> made;
        auto given = made.get_future();
        thread.post(
            [&](McsApplication* application, Instant now) { made.set_value(status_value(thread, application, now)); });
        return given.get();
    }

    const std::string directory;
    McsSettings settings;
    Degraded degraded;
    McsThread thread{{settings, directory, degraded, "one", [](std::string_view) {},
                      [](const std::function<void()>& call) { call(); }}};
};

/// A database with so many Deployments that they fill pages of their own.
void fill(const Folder& folder) {
    {
        testing::Instance one{folder, "one"};
        REQUIRE(one.starts());
        one.made->stop();
    }
    auto connection = rs::SqliteConnection::open(folder.database(), {});
    REQUIRE(connection.ok());
    const auto done = (*connection)
                          ->run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
                                " INSERT INTO deployment(id, uid, version, generation, name, queue, usr, resource, "
                                "min_replicas, max_replicas, created_ms, updated_ms) SELECT 'id' || i, 'u' || i, 1, 1, "
                                "'web' || i, 'root.q', 'me', '{\"vcore\":1}', 0, 5, 10, 20 FROM n");
    INFO((done.ok() ? "" : done.error().message));
    REQUIRE(done.ok());
    REQUIRE((*connection)->checkpoint(rs::SqliteConnection::Checkpoint::Truncate).ok());
}

} // namespace

TEST_CASE("F-33 damaged pages that the first read of all rows meets are a failure at once") {
    const Folder folder;
    fill(folder);
    {
        auto connection = rs::SqliteConnection::open(folder.database(), {});
        REQUIRE(connection.ok());
        const std::int64_t root =
            *(*connection)->number("SELECT rootpage FROM sqlite_master WHERE name = 'deployment'");
        const std::int64_t size = *(*connection)->number("PRAGMA page_size");
        connection->reset();
        std::fstream file{folder.database(), std::ios::in | std::ios::out | std::ios::binary};
        file.seekp((root - 1) * size);
        file << std::string(600, '\xa5');
        REQUIRE(file.good());
    }
    Hosted one{folder};
    REQUIRE(one.thread.start().ok());
    REQUIRE(comes_true([&] { return one.thread.state().phase == Phase::Failed; }));
    const std::string reason = one.thread.state().reason;
    INFO(reason);
    CHECK(reason.find("MCS has failed: " + folder.database()) == 0);
    CHECK(reason.find("malformed; stop ykd and put a copy back") != std::string::npos);
    CHECK(one.degraded.list() == std::vector<std::string>{reason});
    CHECK(one.status().at("state") == "failed");
    CHECK(one.status().at("reason") == reason);
    one.thread.stop();
}

TEST_CASE("rs R-154 the status of MCS has what the daemon's status says is wrong with it") {
    const Folder folder;
    Hosted one{folder};
    one.degraded.set("clock", "the clock jumps"); // none of MCS
    REQUIRE(one.thread.start().ok());
    REQUIRE(comes_true([&] { return one.status().at("state") == "running"; }));
    CHECK_FALSE(one.status().contains("degraded"));
    one.degraded.set("mcs leases", "MCS, leases: database or disk is full");
    CHECK(one.status().at("degraded") == wire::Value::array({"MCS, leases: database or disk is full"}));
    one.thread.stop();
}

} // namespace yk::service
