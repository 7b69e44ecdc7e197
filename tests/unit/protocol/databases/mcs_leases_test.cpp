// SPDX-License-Identifier: Apache-2.0
// Leases in a real file of SQLite, between two instances with a connection each.
#include <cstdlib>
#include <filesystem>

#include <catch2/catch.hpp>

#include "protocol/databases/mcs_leases.h"
#include "protocol/databases/mcs_schema.h"

namespace yk::mcs {

TEST_CASE("rs R-139, rs R-143 one instance leads at a time, and each takeover is a new epoch") {
    std::string folder = "/tmp/yk.lease.XXXXXX";
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    {
        auto one = rs::SqliteConnection::open(folder + "/state.db"),
             two = rs::SqliteConnection::open(folder + "/state.db");
        REQUIRE(one.ok());
        REQUIRE(two.ok());
        REQUIRE(migrate(**one, "first").ok());
        LeaseTable mine{**one, "me", std::chrono::seconds{15}}, other{**two, "other", std::chrono::seconds{15}};
        CHECK(*mine.acquire("autoscaler") == 1U);
        CHECK(*mine.acquire("nothing") == std::nullopt);
        CHECK(*other.acquire("autoscaler") == std::nullopt);
        CHECK(*other.acquire("scheduler") == 1U); // each lease by itself
        CHECK_FALSE(*other.renew("autoscaler", 1));
        REQUIRE((*one)->run("UPDATE lease SET expires_ms = 1 WHERE name = 'autoscaler'").ok());
        CHECK(*mine.renew("autoscaler", 1)); // it ran out, and nobody was faster
        CHECK(*other.acquire("autoscaler") == std::nullopt);
        REQUIRE((*one)->run("UPDATE lease SET expires_ms = 1 WHERE name = 'autoscaler'").ok());
        CHECK(*other.acquire("autoscaler") == 2U);
        CHECK_FALSE(*mine.renew("autoscaler", 1));
        REQUIRE(mine.release("autoscaler", 1).ok()); // too late: it is the other one's
        CHECK(*mine.acquire("autoscaler") == std::nullopt);
        REQUIRE(other.release("autoscaler", 2).ok());
        CHECK(*mine.acquire("autoscaler") == 3U);
        const auto seen = other.look("autoscaler");
        REQUIRE(seen.ok());
        REQUIRE(seen->has_value());
        CHECK((*seen)->holder == "me");
        CHECK((*seen)->epoch == 3);
        CHECK((*seen)->left > std::chrono::seconds{10});
        CHECK((*seen)->left <= std::chrono::seconds{15});
        CHECK(*other.look("nothing") == std::nullopt);
        REQUIRE((*one)->run("UPDATE lease SET expires_ms = expires_ms + 1 WHERE name = 'autoscaler'").ok());
        CHECK(*other.seize("autoscaler", **seen) == std::nullopt); // it was renewed
        CHECK(*other.seize("autoscaler", **other.look("autoscaler")) == 4U);
        CHECK_FALSE(*mine.renew("autoscaler", 3));
    }
    std::filesystem::remove_all(folder);
}

} // namespace yk::mcs
