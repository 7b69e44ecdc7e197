// SPDX-License-Identifier: Apache-2.0
#include "ykd/owner/rm_thread.h"

#include <catch2/catch.hpp>

#include "libcore/config_yaml/load.h"
#include "tests/support/comes_true.h"
#include "ykd/runtime/event_ring.h"

using namespace yk;
using namespace yk::testing;

namespace {

Installation installation() {
    Installation made;
    const auto loaded = config_yaml::load(std::string(config_yaml::default_text()), "built-in");
    made.configuration = *loaded.configuration;
    made.epoch = 1;
    const Duration soon = std::chrono::milliseconds{20};
    made.settings.inspection_interval = made.settings.quota_interval = made.settings.queue_clean_interval = soon;
    return made;
}

} // namespace

TEST_CASE("A stopping daemon does not spin: timers that are due and do not fire any more wake nobody") {
    EventRing ring;
    TallyBoard tally;
    RmThread owner("rm", OwnerOptions{}, real_now(), ring, tally, {});
    std::atomic<bool> installed{false};
    owner.control([&](RmOwner& own) { installed = own.install(installation()).ok(); }, [] {});
    REQUIRE(comes_true([&] { return installed.load(); }));
    const std::uint64_t started = owner.turns();
    CHECK(comes_true([&] { return owner.turns() >= started + 3; })); // its timers fire
    owner.begin_shutdown();                                          // nobody fetches the last callbacks
    const auto until = SteadyClock::now() + std::chrono::milliseconds{300};
    const std::uint64_t before = owner.turns();
    comes_true([&] { return SteadyClock::now() >= until; }); // the time to spin in is what is tested
    CHECK(owner.turns() - before < 20);
    owner.stop();
}
