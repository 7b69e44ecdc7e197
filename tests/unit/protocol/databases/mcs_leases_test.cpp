// SPDX-License-Identifier: Apache-2.0
// Leases in real databases, between two instances with a connection each.
#include <catch2/catch.hpp>

#include "protocol/databases/mcs_leases.h"
#include "tests/support/databases/state_database.h"

namespace yk::mcs {

TEST_CASE("rs R-139, rs R-143 one instance leads at a time, and each takeover is a new epoch") {
    const auto place = testing::new_place(YK_EACH_DATABASE);
    const auto one = place->open(), two = place->open();
    LeaseTable mine{*one, "me", std::chrono::seconds{15}}, other{*two, "other", std::chrono::seconds{15}};
    CHECK(*mine.acquire("autoscaler") == 1U);
    CHECK(*mine.acquire("nothing") == std::nullopt);
    CHECK(*other.acquire("autoscaler") == std::nullopt);
    CHECK(*other.acquire("scheduler") == 1U); // each lease by itself
    CHECK_FALSE(*other.renew("autoscaler", 1));
    REQUIRE(one->run("UPDATE lease SET expires_ms = 1 WHERE name = 'autoscaler'").ok());
    CHECK(*mine.renew("autoscaler", 1)); // it ran out, and nobody was faster
    CHECK(*other.acquire("autoscaler") == std::nullopt);
    REQUIRE(one->run("UPDATE lease SET expires_ms = 1 WHERE name = 'autoscaler'").ok());
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
    REQUIRE(one->run("UPDATE lease SET expires_ms = expires_ms + 1 WHERE name = 'autoscaler'").ok());
    CHECK(*other.seize("autoscaler", **seen) == std::nullopt); // it was renewed
    CHECK(*other.seize("autoscaler", **other.look("autoscaler")) == 4U);
    CHECK_FALSE(*mine.renew("autoscaler", 3));
}

TEST_CASE("rs R-139 leases of those who have ended are free at once, under another epoch") {
    const auto place = testing::new_place(YK_EACH_DATABASE);
    const auto one = place->open(), two = place->open();
    LeaseTable dead{*one, "dead", std::chrono::seconds{15}}, mine{*two, "me", std::chrono::seconds{15}};
    CHECK(*release_all(*two) == 0);
    CHECK(*dead.acquire("autoscaler") == 1U);
    CHECK(*dead.acquire("scheduler") == 1U);
    CHECK(*mine.acquire("autoscaler") == std::nullopt);
    CHECK(*release_all(*two) == 2);
    CHECK(*mine.acquire("autoscaler") == 2U);
    CHECK_FALSE(*dead.renew("autoscaler", 1));
    CHECK_FALSE(*dead.renew("scheduler", 1));
}

} // namespace yk::mcs
