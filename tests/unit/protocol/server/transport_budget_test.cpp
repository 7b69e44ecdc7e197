// SPDX-License-Identifier: Apache-2.0
#include "protocol/server/transport_budget.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace yk::wire;

namespace {

constexpr std::uint64_t kMiB = 1U << 20;

struct Limited {
    Limited() { budget.most_requests = 64 * kMiB; }
    /// Begins messages of 4 MiB of one identity until none may be begun.
    std::size_t begin_all(TransportBudget::Share& own, bool is_trusted) {
        std::size_t begun = 0;
        for (; auto charge = budget.admit_large(4 * kMiB, own, is_trusted); ++begun) held.push_back(std::move(*charge));
        return begun;
    }
    TransportBudget budget;
    std::shared_ptr<TransportBudget::Share> alice = budget.share_of("uid 1"), bob = budget.share_of("uid 2"),
                                            carol = budget.share_of("uid 3");
    std::vector<TransportBudget::Charge> held;
};

} // namespace

TEST_CASE("A3 an identity leaves as many bytes for requests to the others as it has") {
    Limited all;
    CHECK(all.begin_all(*all.alice, true) == 8); // of 16
    CHECK(all.begin_all(*all.bob, true) == 4);
    CHECK(all.begin_all(*all.carol, true) == 2);
    CHECK(all.begin_all(*all.alice, true) == 0);
    all.held.clear();
    CHECK(all.begin_all(*all.bob, true) == 8);
    all.held.clear();
    CHECK(all.budget.requests() == 0);
    CHECK(all.alice->large == 0);
}

TEST_CASE("A3 small requests of an identity wait when it has many, and those of others do not") {
    Limited all;
    all.held.push_back(all.budget.count_small(32 * kMiB - 1, *all.alice));
    CHECK(all.begin_all(*all.alice, true) == 8); // large ones are counted apart
    CHECK(all.budget.has_available(*all.alice));
    all.held.push_back(all.budget.count_small(1, *all.alice));
    CHECK_FALSE(all.budget.has_available(*all.alice));
    CHECK(all.budget.has_available(*all.bob));
    all.held.clear();
    CHECK(all.budget.has_available(*all.alice));
}

TEST_CASE("A3 whoever has not said who it is shares a quarter of them") {
    Limited all;
    CHECK(all.begin_all(*all.alice, false) == 2); // of 4
    CHECK(all.begin_all(*all.bob, false) == 1);
    CHECK(all.begin_all(*all.carol, false) == 1);
    CHECK(all.begin_all(*all.budget.share_of("uid 4"), false) == 0);
    CHECK(all.begin_all(*all.carol, true) == 6);
}

TEST_CASE("A3 a message above the limit may be begun when there is no other") {
    Limited all;
    all.budget.most_requests = kMiB;
    CHECK(all.begin_all(*all.alice, false) == 1);
    CHECK(all.begin_all(*all.bob, true) == 0);
    CHECK(all.budget.has_available(*all.bob));
    all.held.clear();
    CHECK(all.begin_all(*all.bob, true) == 1);
}

TEST_CASE("A3 a charge is given back once, wherever it went") {
    Limited all;
    {
        auto first = all.budget.count_small(100, *all.alice);
        auto second = std::move(first);
        CHECK_FALSE(first); // NOLINT(bugprone-use-after-move): that is the question
        CHECK(second.bytes() == 100);
        first = all.budget.count_small(10, *all.alice);
        second = std::move(first);
        CHECK(all.budget.requests() == 10);
    }
    CHECK(all.budget.requests() == 0);
}

TEST_CASE("A3 the shares of those that are gone are forgotten") {
    TransportBudget budget;
    const auto kept = budget.share_of("uid 1");
    const auto charge = budget.count_small(5, *kept);
    for (int n = 0; n < 1000; ++n) static_cast<void>(budget.share_of(std::to_string(n)));
    CHECK(budget.share_of("uid 1") == kept);
    CHECK(budget.shares() < 200);
}
