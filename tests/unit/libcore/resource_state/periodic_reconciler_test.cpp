// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/periodic_reconciler.h"

#include <catch2/catch.hpp>

#include "tests/support/resource_state/world.h"

namespace yk::testing {

using namespace std::chrono_literals;

namespace {

class Sweeper final : public rs::PeriodicReconciler {
public:
    [[nodiscard]] std::string_view name() const override { return "sweeper"; }
    [[nodiscard]] Result<rs::RepairReport> run_once(const rs::PeriodicContext& context) override {
        runs.push_back(context);
        if (fails) return Error::of("no broom");
        return rs::RepairReport{2, 1, more-- > 0};
    }

    std::vector<rs::PeriodicContext> runs;
    int more = 0;
    bool fails = false;
};

struct SweeperWorld : AlbumWorld {
    explicit SweeperWorld(rs::PeriodicOptions options = {}) { manager.add(sweeper, std::move(options)); }
    Sweeper sweeper;
};

} // namespace

TEST_CASE("a periodic reconciler runs when all is synced, and then now and then") {
    SweeperWorld world;
    world.database.is_log_down = true;
    world.start();
    world.pass(5min);
    CHECK(world.sweeper.runs.empty());
    world.database.is_log_down = false;
    world.pass(2s);
    CHECK(world.sweeper.runs.size() == 1);
    CHECK(world.sweeper.runs[0].may_conclude);
    world.pass(10min);
    CHECK(world.sweeper.runs.size() >= 9);
    CHECK(world.sweeper.runs.size() <= 13);
    for (std::size_t each = 1; each < world.sweeper.runs.size(); ++each) {
        const Duration between = world.sweeper.runs[each].now - world.sweeper.runs[each - 1].now;
        CHECK(between >= 54s);
        CHECK(between <= 67s);
    }
    CHECK(world.manager.periodic()[0]->total().found == 2 * world.sweeper.runs.size());
    const std::size_t runs = world.sweeper.runs.size();
    world.manager.run_periodic("sweeper", world.now);
    world.settle();
    CHECK(world.sweeper.runs.size() == runs + 1);
}

TEST_CASE("one that stopped early runs again at once") {
    SweeperWorld world;
    world.sweeper.more = 4;
    world.start();
    CHECK(world.sweeper.runs.size() == 5);
}

TEST_CASE("while the log is away for long, nothing is concluded from what is missing in a cache") {
    SweeperWorld world;
    world.start();
    world.database.is_log_down = true;
    world.pass(10min);
    REQUIRE(world.sweeper.runs.size() > 5);
    CHECK(world.sweeper.runs[1].may_conclude); // for two periods
    CHECK_FALSE(world.sweeper.runs.back().may_conclude);
    world.database.is_log_down = false;
    world.pass(2min);
    CHECK(world.sweeper.runs.back().may_conclude);
}

TEST_CASE("rs R-140 one of a service runs with its lease only, and at once when that comes") {
    SweeperWorld world{{"shop", 60s, 100}};
    world.start();
    world.pass(10min);
    CHECK(world.sweeper.runs.empty());
    world.manager.set_lease("shop", rs::Lease{3}, world.now);
    world.settle();
    REQUIRE(world.sweeper.runs.size() == 1);
    CHECK(world.sweeper.runs[0].lease.epoch == 3);
    world.manager.set_lease("shop", std::nullopt, world.now);
    world.pass(10min);
    CHECK(world.sweeper.runs.size() == 1);
}

TEST_CASE("a periodic reconciler that fails is announced, and runs again") {
    SweeperWorld world;
    world.sweeper.fails = true;
    world.start();
    world.pass(2min);
    CHECK(world.sweeper.runs.size() >= 2);
    CHECK(world.notices.count("reconciler-failed by sweeper: no broom") == world.sweeper.runs.size());
}

} // namespace yk::testing
