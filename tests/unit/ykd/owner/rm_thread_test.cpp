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

TEST_CASE("I-245 an RM whose sums are found broken in two runs in a row has failed, and is resolved") {
    EventRing ring;
    TallyBoard tally;
    RmThread owner("rm", OwnerOptions{}, real_now(), ring, tally, {});
    const auto on_owner = [&](auto&& act) {
        std::atomic<bool> done{false};
        owner.control(
            [&](RmOwner& own) {
                act(own);
                done = true;
            },
            [] {});
        REQUIRE(comes_true([&] { return done.load(); }));
    };
    on_owner([](RmOwner& own) { CHECK(own.install(installation()).ok()); });
    on_owner([](RmOwner& own) { own.recovery().note_consistency("a sum"); });
    CHECK(owner.state() == si::CoreState::Running); // once is not enough
    on_owner([](RmOwner& own) { own.recovery().note_consistency({}); });
    on_owner([](RmOwner& own) { own.recovery().note_consistency("a sum"); });
    CHECK(owner.state() == si::CoreState::Running);
    on_owner([](RmOwner& own) { own.recovery().note_consistency("a sum"); });
    CHECK(owner.state() == si::CoreState::Failed);
    on_owner([](RmOwner& own) {
        CHECK_FALSE(own.may_schedule());
        CHECK(own.recovery().reset(installation().configuration).ok());
    });
    CHECK(owner.state() == si::CoreState::Recovering);
    on_owner([](RmOwner& own) {
        si::RecoveryDoneRequest claim;
        claim.id = "any"; // it had not registered with recovery
        const auto report = own.recovery().compare(claim);
        REQUIRE(report.ok());
        CHECK(report->result == "running");
    });
    CHECK(owner.state() == si::CoreState::Running);
    owner.stop();
}
