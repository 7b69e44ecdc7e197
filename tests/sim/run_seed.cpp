// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/run_seed.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "tests/sim/checker.h"
#include "tests/sim/daemon_host.h"
#include "tests/sim/detached_rm.h"
#include "tests/sim/operator.h"
#include "tests/sim/served_rm.h"

namespace yk::sim {
namespace {

constexpr Nanoseconds kPatience = seconds{2000}; // until everything is calm, once nothing befalls anybody
constexpr Nanoseconds kQuiet = seconds{120};     // then timers of gangs and applications may end

class Run {
public:
    Run(std::uint64_t seed, Disk& disk, bool trace, std::string_view sabotage)
        : seed_(seed), world_(seed, trace), disk_(disk) {
        world_.sabotage(sabotage);
        disk.begin(world_);
        host_ = std::make_unique<DaemonHost>(world_, disk, settings());
        const std::int64_t count = world_.between(1, 3);
        for (std::int64_t i = 0; i < count; ++i)
            rms_.push_back(std::make_unique<ServedRm>(world_, *host_, fmt::format("rm{}", i), manners()));
        if (world_.chance(0.5)) detached_ = std::make_unique<DetachedRm>(world_, *host_, "detached");
        if (world_.chance(0.5)) operator_ = std::make_unique<Operator>(world_, *host_);
        choose_faults();
    }

    RunOutcome outcome() {
        host_->start();
        for (const auto& rm : rms_) rm->start();
        if (detached_) detached_->start();
        if (operator_) operator_->start();
        plan_fault();
        if (merciless_) plan_more();
        constexpr std::array<std::uint64_t, 3> kLooks{20, 100, 500};
        world_.watch(kLooks.at(world_.choose(kLooks.size())), [this] { check_all(); });
        world_.run_for(seconds{world_.between(20, 90)});
        come_to_rest();
        RunOutcome outcome;
        if (world_.has_failed()) outcome.failure = world_.failure();
        outcome.steps = world_.steps();
        outcome.digest = world_.digest();
        outcome.coverage = world_.coverage();
        return outcome;
    }

private:
    service::DaemonSettings settings() {
        service::DaemonSettings settings;
        settings.log_level = "fatal";
        settings.state_directory = disk_.folder();
        settings.max_memory = std::uint64_t{1} << 40U; // as if there was enough
        const bool is_hasty = world_.chance(0.5);
        settings.liveness_timeout = seconds{is_hasty ? 5 : 20};
        settings.session_ttl = seconds{is_hasty ? 15 : 100};
        settings.max_poll_wait = seconds{10};
        if (world_.chance(0.2)) settings.outbound.items = 60;
        return settings;
    }
    Manners manners() {
        Manners manners;
        manners.gangs = world_.chance(0.5);
        manners.preemption = world_.chance(0.5);
        manners.removes_nodes = world_.chance(0.6);
        manners.slow_reader = world_.chance(0.2);
        manners.forgetful = world_.chance(0.4) ? 0.5 : 0;
        manners.hopeless = world_.chance(0.5);
        if (world_.chance(0.2)) manners.gathering = seconds{20};
        if (world_.chance(0.3)) manners.thinking = seconds{120};
        if (world_.chance(0.3)) manners.recovery = seconds{world_.between(4, 30)};
        manners.pace = milliseconds{world_.between(50, 1000)};
        manners.devices = seed_ % 4 == 1; // not by chance: the other runs stay what they were
        return manners;
    }

    void choose_faults() {
        NetworkFaults& network = host_->network();
        const double often = world_.chance(0.1) ? 10 : 1;
        if (world_.chance(0.5)) network.duplicate = 0.02 * often;
        if (world_.chance(0.5)) network.cut = 0.01 * often;
        if (world_.chance(0.5)) network.slow = 0.02 * often;
        if (world_.chance(0.3)) network.usual = milliseconds{300};
        if (world_.chance(0.3)) disk_faults_.full = 0.02;
        if (world_.chance(0.3)) disk_faults_.short_write = 0.02;
        if (world_.chance(0.3)) disk_faults_.failed_sync = 0.5;
        if (world_.chance(0.2)) disk_faults_.failed_read = 0.02;
        fault_pace_ = seconds{world_.between(2, 60)};
        kills_ = world_.chance(0.6);
        crashes_ = world_.chance(0.6);
        stalls_ = world_.chance(0.6);
        stops_within_ = kills_ && world_.chance(0.3);
        merciless_ = world_.chance(0.5);
    }

    void plan_fault() {
        const bool at_once = world_.chance(0.2); // while the last one is not over
        world_.after(world_.between(Nanoseconds{0}, at_once ? Nanoseconds{milliseconds{100}} : fault_pace_), [this] {
            if (resting_) return;
            fault(*rms_[world_.choose(rms_.size())]);
            plan_fault();
        });
    }
    /// Lets more befall RMs that are in a state in which they seldom are.
    void plan_more() {
        world_.after(world_.between(milliseconds{100}, seconds{2}), [this] {
            if (resting_) return;
            std::vector<ServedRm*> in_trouble;
            for (const auto& rm : rms_) {
                const std::string state = host_->state_of(rm->id());
                if (state == "Failed" || state == "Lost" || state == "Suspended") in_trouble.push_back(rm.get());
            }
            if (!in_trouble.empty()) fault(*world_.one_of(in_trouble));
            plan_more();
        });
    }

    /// Counts a fault that meets an RM.
    void note(const char* what, ServedRm& rm) {
        world_.cover(fmt::format("{} while {}", what, host_->state_of(rm.id())));
        world_.cover(fmt::format("{}, the RM was {}", what, rm.state()));
    }
    void fault(ServedRm& rm) {
        using Fault = void (Run::*)(ServedRm&);
        constexpr std::array<Fault, 14> kFaults{
            &Run::kill_daemon, &Run::kill_daemon, &Run::end_daemon,     &Run::end_daemon,  &Run::crash_another,
            &Run::fail_disk,   &Run::crash_rm,    &Run::crash_rm,       &Run::stop_rm,     &Run::stop_rm,
            &Run::stop_daemon, &Run::stop_loop,   &Run::cut_connection, &Run::stop_reading};
        check_all();
        if (stops_within_ && host_->is_busy() && world_.chance(0.3)) kill_within();
        (this->*kFaults.at(world_.choose(kFaults.size())))(rm);
    }

    // --- faults of the daemon ---
    void kill_daemon(ServedRm& rm) {
        if (!kills_ || !host_->is_up() || host_->is_busy()) return;
        if ((detached_ || operator_) && world_.chance(0.5)) return kill_within();
        note("daemon killed", rm);
        kill(false);
    }
    void end_daemon(ServedRm& rm) {
        if (!kills_ || !host_->is_up() || host_->is_busy()) return;
        if (world_.chance(0.5)) {
            note("loss of power", rm);
            return kill(true);
        }
        note("daemon restarted", rm);
        if (stops_within_) kill_within();
        for (int i = 0; i < 3; ++i) // while it stops
            world_.after(world_.between(Nanoseconds{0}, milliseconds{300}), [this] {
                if (!resting_ && host_->is_busy()) fault(*rms_[world_.choose(rms_.size())]);
            });
        host_->stop(seconds{5});
        restart();
    }
    void stop_daemon(ServedRm& rm) {
        if (!stalls_ || !host_->is_up()) return;
        note("daemon stopped", rm);
        world_.stall_all(stall_time());
    }
    void stop_loop(ServedRm& rm) {
        if (!stalls_ || !host_->is_up()) return;
        note("loop stopped", rm);
        world_.trace("stalled: {}", world_.stall_a_loop(world_.between(milliseconds{10}, seconds{10})));
    }
    void fail_disk(ServedRm& /*rm*/) {
        if (!crashes_ || (!detached_ && !operator_) || host_->is_busy()) return;
        disk_.faults() = disk_.faults().any() ? DiskFaults{} : disk_faults_;
        world_.trace("disk: {}", disk_.faults().any() ? "fails from now on" : "is well");
    }

    // --- faults of others ---
    void crash_rm(ServedRm& rm) {
        if (!crashes_) return;
        note("RM crashed", rm);
        rm.crash(world_.chance(0.7) ? world_.between(milliseconds{1}, seconds{2}) : stall_time());
    }
    void stop_rm(ServedRm& rm) {
        if (!stalls_) return;
        note("RM stopped", rm);
        rm.stall(stall_time());
    }
    void stop_reading(ServedRm& rm) {
        if (!stalls_) return;
        note("RM fetches nothing", rm);
        rm.stop_reading(world_.between(milliseconds{10}, seconds{60}));
    }
    void crash_another(ServedRm& /*rm*/) {
        if (!crashes_) return;
        if (detached_ && world_.chance(0.5)) return detached_->crash();
        if (operator_) operator_->crash();
    }
    void cut_connection(ServedRm& rm) {
        if (!rm.session().is_connected()) return host_->cut_one();
        note("connection cut", rm);
        rm.session().cut();
    }
    Nanoseconds stall_time() {
        const std::array<Nanoseconds, 3> longest{seconds{2}, seconds{40}, seconds{300}};
        return world_.between(milliseconds{10}, longest[world_.choose(longest.size())]);
    }
    void check_all() {
        for (const auto& rm : rms_) check_soon(world_, *host_, rm->id());
        if (detached_) check_soon(world_, *host_, detached_->id());
    }

    void kill(bool power) {
        host_->kill(power);
        restart();
    }
    /// Kills it at one of the next operations of the disk.
    void kill_within() {
        const bool power = world_.chance(0.3);
        host_->kill_in(static_cast<std::uint64_t>(world_.between(1, 60)), power, [this] { restart(); });
    }
    void restart() {
        disk_.faults() = {};
        world_.after(world_.between(milliseconds{10}, seconds{5}), [this] { start(); });
    }
    void start() {
        if (host_->is_up() || host_->is_busy()) return;
        // With a disk that fails the daemon leaves the RM away, and its books alone, until it is started again.
        const std::uint64_t strikes = disk_.strikes();
        disk_.faults() = !resting_ && world_.chance(0.3) ? disk_faults_ : DiskFaults{};
        if (!resting_ && kills_ && world_.chance(0.2)) kill_within();
        const bool is_up = host_->start();
        disk_.faults() = {};
        if (host_->is_dying()) return; // who buries it starts it again
        if (disk_.strikes() != strikes) {
            host_->kill(false);
            return restart();
        }
        if (!is_up) return world_.fail("the daemon cannot start");
        host_->check_kept();
        const bool power = host_->take_lost_power();
        if (operator_ && !world_.has_failed()) operator_->daemon_started();
        if (detached_ && !world_.has_failed()) detached_->daemon_started(power);
    }

    /// Nothing befalls anybody any more: in the end all must be as the RMs know it.
    void come_to_rest() {
        if (world_.has_failed()) return;
        world_.trace("rest");
        resting_ = true;
        disk_.die_in(0, {});
        host_->network() = {};
        disk_.faults() = {};
        if (detached_) detached_->rest();
        if (operator_) operator_->rest();
        for (const auto& rm : rms_) rm->rest();
        const auto calm = [this] {
            return !world_.is_stalled() && (!detached_ || detached_->is_calm()) &&
                   (!operator_ || operator_->is_calm()) &&
                   std::all_of(rms_.begin(), rms_.end(), [](const auto& rm) { return rm->is_calm(); });
        };
        for (int quiet = 0; quiet < 2 && !world_.has_failed();) { // calm, and still calm after a while
            if (!world_.run_until(calm, world_.now() + kPatience)) return not_calm();
            world_.run_for(kQuiet);
            quiet = calm() ? quiet + 1 : 0;
        }
        for (const auto& rm : rms_) {
            if (world_.has_failed()) return;
            const auto state = look(world_, *host_, rm->id()).state;
            if (!state) return world_.fail(rm->id() + ": at rest, the daemon does not know it");
            compare(world_, *state, *rm);
            rm->books().judge_rest();
        }
        judge_after_restart();
    }
    void judge_after_restart() {
        if (operator_ && !world_.has_failed()) operator_->judge_rest();
        if (detached_ && !world_.has_failed()) detached_->judge_rest();
        if (world_.has_failed() || (!detached_ && !operator_)) return;
        host_->kill(false);
        if (!host_->start()) return world_.fail("the daemon cannot start");
        host_->check_kept();
        if (operator_) operator_->daemon_started();
        if (!detached_ || world_.has_failed()) return;
        detached_->daemon_started(false);
        if (!world_.has_failed()) detached_->judge_rest();
    }
    void not_calm() {
        for (const auto& rm : rms_)
            if (!rm->is_calm()) world_.fail(fmt::format("{} does not come to rest: it is {}", rm->id(), rm->state()));
        world_.fail("the detached RM, or the operator, does not come to rest");
    }

    const std::uint64_t seed_;
    World world_;
    Disk& disk_;
    std::unique_ptr<DaemonHost> host_;
    std::vector<std::unique_ptr<ServedRm>> rms_;
    std::unique_ptr<DetachedRm> detached_;
    std::unique_ptr<Operator> operator_;
    DiskFaults disk_faults_;
    Nanoseconds fault_pace_{};
    bool kills_ = false, crashes_ = false, stalls_ = false, stops_within_ = false, merciless_ = false, resting_ = false;
};

} // namespace

RunOutcome run_seed(std::uint64_t seed, Disk& disk, bool trace, std::string_view sabotage) {
    Run run(seed, disk, trace, sabotage);
    return run.outcome();
}

} // namespace yk::sim
