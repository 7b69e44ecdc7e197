// SPDX-License-Identifier: Apache-2.0
// The daemon without its listeners.

#include "ykd/daemon/daemon.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <future>
#include <utility>

#include "libcore/config_yaml/load.h"
#include "tests/support/comes_true.h"
#include "ykd/configuration/config_change.h"
#include "ykd/request/gather.h"

using namespace yk;
using namespace yk::service;
using namespace yk::testing;

TEST_CASE("C-466 once enableConfigHotRefresh was false it stays false") {
    const std::string key = "service.enableConfigHotRefresh";
    Daemon daemon{DaemonSettings{}, "test"};
    const auto refreshes_with = [&](const TextMap& map) {
        daemon.parts().effective.extra_config().set("rm", map);
        daemon.parts().effective.apply();
        return daemon.parts().effective.hot_refresh();
    };
    CHECK(daemon.parts().effective.hot_refresh());
    CHECK(refreshes_with({{key, "true"}}));
    CHECK(refreshes_with({{key, "odd"}})); // C-461: the default
    CHECK_FALSE(refreshes_with({{key, "false"}}));
    CHECK_FALSE(refreshes_with({{key, "true"}}));
    CHECK_FALSE(refreshes_with({}));
    CHECK(Daemon(DaemonSettings{}, "test").parts().effective.hot_refresh()); // the next start
}

namespace {

/// As UnregisterResourceManager does it.
void let_leave(Daemon& daemon, const RmPtr& rm) {
    rm->owner.in_order(
        [&daemon, rm](RmOwner& owner) {
            owner.uninstall("it unregistered");
            daemon.parts().registry.retire(rm, owner);
        },
        [] {});
}

} // namespace

TEST_CASE("A4 a question to an RM that has left is answered without it") {
    Daemon daemon{DaemonSettings{}, "test"};
    const RmPtr stays = *daemon.parts().registry.make("stays", {"uid 1", false});
    const RmPtr leaves = *daemon.parts().registry.make("leaves", {"uid 1", false});
    let_leave(daemon, leaves);
    REQUIRE(comes_true([&] { return daemon.parts().rms.find("leaves") == nullptr; }));
    const auto ask = [](RmOwner& owner) { return owner.rm_id(); };
    const auto add = [](RmOwner& owner, std::string& answer) {
        answer += owner.rm_id();
        return answer.size() > owner.rm_id().size(); // two pieces
    };
    for (const bool in_chunks : {false, true}) {
        std::promise<std::vector<std::string>> promise;
        const auto done = [&](const std::vector<Gathered<std::string>>& all) {
            std::vector<std::string> texts;
            texts.reserve(all.size());
            for (const auto& one : all) texts.push_back(one.answer);
            promise.set_value(texts);
        };
        if (in_chunks)
            gather_in_chunks<std::string>(daemon.parts().workers, {leaves, stays}, add, done);
        else
            gather<std::string>(daemon.parts().workers, {leaves, stays}, Lane::Control, ask, done);
        auto answer = promise.get_future();
        REQUIRE(answer.wait_for(kPatience) == std::future_status::ready);
        CHECK(answer.get() == std::vector<std::string>{in_chunks ? "staysstays" : "stays"});
    }
}

TEST_CASE("A4 nothing keeps an RM that has left, whatever was asked meanwhile") {
    constexpr int kRounds = 2000;
    const std::int64_t before = Rm::living();
    Daemon daemon{DaemonSettings{}, "test"};
    std::atomic<int> asked{0}, answered{0}, ended{0};
    for (int i = 0; i < kRounds; ++i) {
        const RmPtr rm = *daemon.parts().registry.make("rm:" + std::to_string(i % 3), {"uid 1", false});
        const auto ask = [&](const std::vector<RmPtr>& rms) {
            ++asked;
            gather_in_chunks<int>(
                daemon.parts().workers, rms, [](RmOwner&, int& turns) { return ++turns == 3; },
                [&](const std::vector<Gathered<int>>&) { ++answered; });
        };
        ask(daemon.parts().rms.all());
        let_leave(daemon, rm);
        ask(daemon.parts().rms.all());
        rm->owner.in_order([&](RmOwner&) { ++ended; }, [&] { ++ended; });
        ask({rm}); // by now it has left, more often than not
    }
    CHECK(comes_true([&] { return answered == asked.load() && ended == kRounds; }));
    for (const RmPtr& rm : daemon.parts().rms.all()) let_leave(daemon, rm);
    CHECK(comes_true([&] { return Rm::living() == before; }));
    CHECK(Rm::living() == before);
}

TEST_CASE("A4 the settings and configurations of an RM go with it") {
    Daemon daemon{DaemonSettings{}, "test"};
    const RmPtr rm = *daemon.parts().registry.make("rm", {"uid 1", false});
    daemon.parts().effective.extra_config().set("rm", {{"event.trackingEnabled", "false"}});
    daemon.parts().effective.apply();
    daemon.parts().config_history.keep("rm",
                                       {real_now(), "checksum", "registration", std::make_shared<std::string>("text")});
    REQUIRE_FALSE(daemon.parts().effective.current().service.events_enabled);
    let_leave(daemon, rm);
    CHECK(comes_true([&] { return daemon.parts().effective.current().service.events_enabled; }));
    CHECK_FALSE(daemon.parts().config_history.find("rm", "checksum"));
}

TEST_CASE("A4 a daemon that stops makes no new RM") {
    Daemon daemon{DaemonSettings{}, "test"};
    REQUIRE(daemon.parts().registry.make("early", {"uid 1", false}).ok());
    daemon.stop(std::chrono::milliseconds{0});
    CHECK(daemon.parts().registry.make("early", {"uid 1", false}).ok());
    const auto late = daemon.parts().registry.make("late", {"uid 1", false});
    REQUIRE_FALSE(late.ok());
    CHECK(late.error().message == "the daemon is stopping");
}

namespace {

/// Keeps the owner thread of an RM from coming round until it goes on.
class StuckRm {
public:
    explicit StuckRm(Daemon& daemon) : rm_(*daemon.parts().registry.make("rm", {"uid 1", false})) {
        rm_->owner.control(
            [this](RmOwner&) {
                stuck_.set_value();
                go_on_.get_future().wait();
            },
            [] {});
        stuck_.get_future().wait();
    }
    ~StuckRm() { go_on(); }
    StuckRm(const StuckRm&) = delete;
    StuckRm& operator=(const StuckRm&) = delete;
    void go_on() {
        if (!std::exchange(goes_on_, true)) go_on_.set_value();
    }
    [[nodiscard]] const RmPtr& rm() const { return rm_; }

private:
    const RmPtr rm_;
    std::promise<void> stuck_, go_on_;
    bool goes_on_ = false;
};

/// Registers it on its owner thread, as soon as that has time, or registers it anew.
void install(const RmPtr& rm, std::uint64_t epoch) {
    rm->owner.in_order(
        [rm, epoch](RmOwner& owner) {
            Installation installation;
            installation.configuration =
                *config_yaml::load(std::string(config_yaml::default_text()), "built-in").configuration;
            installation.epoch = epoch;
            static_cast<void>(owner.install(installation));
            rm->change_facts([epoch](RmFacts& facts) { facts.epoch = epoch; });
        },
        [] {});
}

} // namespace

TEST_CASE("I-267 I-263 nothing is said to be kept that happens after the books were closed") {
    std::string folder = "/tmp/yk.XXXXXX";
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    DaemonSettings settings;
    settings.state_directory = folder;
    std::promise<bool> kept;
    {
        Daemon daemon{settings, "test"};
        REQUIRE(daemon.open_state().ok());
        StuckRm stuck{daemon};
        stuck.rm()->owner.control(
            [&](RmOwner& owner) { owner.books().set_keeper(daemon.parts().books.begin("rm").value()); }, [] {});
        stuck.go_on();
        std::promise<void> busy, go_on;
        stuck.rm()->owner.in_order(
            [&](RmOwner&) {
                busy.set_value();
                go_on.get_future().wait();
            },
            [] {});
        busy.get_future().wait();
        stuck.rm()->owner.in_order( // as an update and a Sync that were taken before the stop
            [&](RmOwner& owner) {
                owner.books().note_sent(std::make_shared<const si::ApplicationRequest>(), owner.now());
                owner.flush();
                owner.books().when_kept([&](bool yes) { kept.set_value(yes); });
            },
            [&] { kept.set_value(false); });
        daemon.stop(std::chrono::milliseconds{0}); // its patience is at its end
        go_on.set_value();
        auto answer = kept.get_future();
        REQUIRE(answer.wait_for(kPatience) == std::future_status::ready);
        CHECK_FALSE(answer.get());
    }
    std::filesystem::remove_all(folder);
}

TEST_CASE("A1 the health check does not wait for an owner thread that is stuck, and names its RM") {
    std::optional<HealthKeeper> health; // outlives the workers of the daemon, as within it
    Daemon daemon{DaemonSettings{}, "test"};
    const bool is_registered = GENERATE(false, true);
    if (is_registered) {
        const RmPtr rm = *daemon.parts().registry.make("rm", {"uid 1", false});
        install(rm, 1);
        REQUIRE(comes_true([&] { return rm->epoch() == 1; }));
    }
    std::promise<wire::Value> promise;
    Parts& of = daemon.parts();
    health.emplace(HealthKeeper::Parts{of.rms, of.degraded, of.deadlines, of.workers, std::chrono::milliseconds{50}});
    const StuckRm stuck(daemon);
    health->run(HealthKeeper::Thorough::Small, [&](const wire::Value& result) { promise.set_value(result); });
    auto answer = promise.get_future();
    REQUIRE(answer.wait_for(kPatience) == std::future_status::ready);
    const wire::Value result = answer.get();
    CHECK_FALSE(result["Healthy"].get<bool>());
    CHECK(result["HealthChecks"][0]["DiagnosisMessage"].get<std::string>().rfind("no turn of RM rm for ", 0) == 0);
}

TEST_CASE("A4 a configuration is for the registration that it was sent to") {
    Daemon daemon{DaemonSettings{}, "test"};
    const bool registers_anew = GENERATE(false, true);
    const RmPtr rm = *daemon.parts().registry.make("rm", {"uid 1", false});
    install(rm, 1);
    REQUIRE(comes_true([&] { return rm->epoch() == 1; }));
    StuckRm stuck(daemon);
    if (registers_anew) install(rm, 2);
    std::promise<ChangeOutcome> promise;
    ConfigChange change{.rm = rm,
                        .epoch = 1,
                        .candidate = sent_candidate(std::string(config_yaml::default_text()), "config", "request"),
                        .policy_group = {},
                        .done = [&](const ChangeOutcome& outcome) { promise.set_value(outcome); }};
    daemon.parts().changer.begin(std::move(change));
    stuck.go_on();
    auto answer = promise.get_future();
    REQUIRE(answer.wait_for(kPatience) == std::future_status::ready);
    CHECK(answer.get().rm_left == registers_anew);
}

TEST_CASE("A8 nobody has more than half of the RMs, and some are kept for admins") {
    Daemon daemon{DaemonSettings{}, "test"};
    const auto crowd = [&](const Claimant& who, int count) {
        int in = 0;
        for (int i = 0; i < count; ++i)
            in += daemon.parts().registry.make(who.identity + ":" + std::to_string(i), who).ok() ? 1 : 0;
        return in;
    };
    CHECK(crowd({"uid 1", false}, 40) == 32);
    CHECK(crowd({"uid 2", false}, 40) == 28);
    CHECK(daemon.parts().registry.make("rm", {"uid 3", false}).error().message ==
          "60 RMs are in use, 4 more are kept for admins: uid 1 has 32, uid 2 has 28");
    CHECK(crowd({"uid 0", true}, 5) == 4);
    CHECK(daemon.parts().registry.make("uid 1:0", {"uid 3", false}).ok()); // it is there
}

TEST_CASE("A10 what is wrong with the daemon itself is listed until it is well again") {
    Degraded degraded;
    CHECK(degraded.set("recording rm:1", "one"));
    CHECK_FALSE(degraded.set("recording rm:1", "two"));
    CHECK(degraded.set("recording rm:2", "three"));
    CHECK(degraded.set("clock", "four"));
    CHECK(degraded.list() == std::vector<std::string>{"four", "two", "three"});
    CHECK(degraded.counts() == std::map<std::string, std::size_t>{{"clock", 1}, {"recording", 2}});
    CHECK(degraded.list_of("recording") == std::vector<std::string>{"two", "three"});
    CHECK(degraded.list_of("record").empty());
    CHECK(degraded.clear("recording rm:1"));
    CHECK_FALSE(degraded.clear("recording rm:1"));
    CHECK(degraded.list() == std::vector<std::string>{"four", "three"});
}
