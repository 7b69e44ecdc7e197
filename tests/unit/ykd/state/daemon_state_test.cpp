// SPDX-License-Identifier: Apache-2.0
#include "ykd/state/daemon_state.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/support/comes_true.h"
#include "tests/support/system/few_descriptors.h"
#include "tests/support/system/temp_dir.h"

using namespace yk;
using namespace yk::service;
using namespace yk::testing;

namespace {

using Levels = DaemonState::Levels;

bool keep(DaemonState& state, const Levels& levels) {
    std::promise<bool> kept;
    state.keep_levels([&] { return levels; }, [&](bool yes) { kept.set_value(yes); });
    return kept.get_future().get();
}

Levels kept_in(const TempDir& folder) {
    Degraded degraded;
    DaemonState state(folder.path(), degraded);
    REQUIRE(state.open().ok());
    return state.levels();
}

} // namespace

TEST_CASE("I-271 levels are kept when the disk has them, and not before") {
    const TempDir folder;
    Degraded degraded;
    DaemonState state(folder.path(), degraded);
    CHECK_FALSE(keep(state, {{"log.level", "warn"}})); // it is not open
    REQUIRE(state.open().ok());
    CHECK(keep(state, {{"log.level", "warn"}}));
    {
        const FewDescriptors none(0);
        CHECK_FALSE(keep(state, {{"log.level", "error"}}));
        REQUIRE(degraded.list().size() == 1);
        CHECK(degraded.list().front().find("a restart would go on with what was kept before") != std::string::npos);
    }
    CHECK(comes_true([&] { return degraded.list().empty(); })); // it is tried again
    state.stop();
    CHECK(kept_in(folder) == Levels{{"log.level", "error"}});
}

TEST_CASE("I-271 of two who set levels at once nobody is told that his are kept when they are not") {
    constexpr int kThreads = 4, kRounds = 50;
    const TempDir folder;
    Levels all;
    {
        Degraded degraded;
        DaemonState state(folder.path(), degraded);
        REQUIRE(state.open().ok());
        std::mutex mutex;
        std::atomic<int> lost{0};
        std::vector<std::thread> threads;
        threads.reserve(kThreads);
        for (int t = 0; t < kThreads; ++t)
            threads.emplace_back([&, t] {
                for (int i = 0; i < kRounds; ++i) {
                    {
                        const std::lock_guard lock(mutex);
                        all["log." + std::to_string(t) + "." + std::to_string(i) + ".level"] = "info";
                    }
                    std::promise<bool> kept;
                    state.keep_levels(
                        [&] {
                            const std::lock_guard lock(mutex);
                            return all;
                        },
                        [&](bool yes) { kept.set_value(yes); });
                    if (!kept.get_future().get()) ++lost;
                }
            });
        for (std::thread& each : threads) each.join();
        CHECK(lost == 0);
        CHECK(state.levels() == all);
    }
    CHECK(kept_in(folder) == all);
}
