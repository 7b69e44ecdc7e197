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
    Run(std::uint64_t seed, Disk& disk, bool trace, std::string_view sabotage) : world_(seed, trace), disk_(disk) {
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
        const bool is_hasty = world_.chance(0.3);
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
        manners.forgetful = world_.chance(0.3) ? 0.3 : 0;
        manners.hopeless = world_.chance(0.3);
        manners.pace = milliseconds{world_.between(50, 1000)};
        return manners;
    }

    void choose_faults() {
        NetworkFaults& network = host_->network();
        if (world_.chance(0.5)) network.duplicate = 0.02;
        if (world_.chance(0.5)) network.cut = 0.01;
        if (world_.chance(0.5)) network.slow = 0.02;
        if (world_.chance(0.3)) network.usual = milliseconds{300};
        if (world_.chance(0.3)) disk_faults_.full = 0.02;
        if (world_.chance(0.3)) disk_faults_.short_write = 0.02;
        if (world_.chance(0.3)) disk_faults_.failed_sync = 0.5;
        if (world_.chance(0.1)) disk_faults_.failed_read = 0.02;
        fault_pace_ = seconds{world_.between(2, 60)};
        kills_ = world_.chance(0.6);
        crashes_ = world_.chance(0.6);
        stalls_ = world_.chance(0.6);
        stops_within_ = kills_ && world_.chance(0.3);
    }

    void plan_fault() {
        const bool at_once = world_.chance(0.2); // while the last one is not over
        world_.after(world_.between(Nanoseconds{0}, at_once ? Nanoseconds{milliseconds{100}} : fault_pace_), [this] {
            if (resting_) return;
            fault();
            plan_fault();
        });
    }

    // NOLINTNEXTLINE(readability-function-cognitive-complexity): a list of cases, one after the other
    void fault() {
        ServedRm& rm = *rms_[world_.choose(rms_.size())];
        const auto note = [&](const char* what) {
            world_.cover(fmt::format("{} while {}", what, host_->state_of(rm.id())));
            world_.cover(fmt::format("{}, the RM was {}", what, rm.state()));
        };
        check_all();
        if (stops_within_ && host_->is_busy() && world_.chance(0.3)) kill_within();
        if (host_->is_busy()) return;
        switch (world_.between(0, 7)) {
        case 0:
            if (!kills_ || !host_->is_up()) return;
            if ((detached_ || operator_) && world_.chance(0.5)) return kill_within();
            note("daemon killed");
            return kill(false);
        case 6:
            if (!kills_ || !host_->is_up()) return;
            if (world_.chance(0.5)) {
                note("loss of power");
                return kill(true);
            }
            note("daemon restarted");
            if (stops_within_) kill_within();
            host_->stop(seconds{5});
            return restart();
        case 7:
            if (!crashes_ || (!detached_ && !operator_)) return;
            if (detached_ && world_.chance(0.3)) return detached_->crash();
            disk_.faults() = disk_.faults().any() ? DiskFaults{} : disk_faults_;
            world_.trace("disk: {}", disk_.faults().any() ? "fails from now on" : "is well");
            return;
        case 1:
            if (!crashes_) return;
            note("RM crashed");
            return rm.crash();
        case 2:
            if (!stalls_) return;
            note("RM stopped");
            return rm.stall(stall_time());
        case 3:
            if (!stalls_) return;
            note("daemon stopped");
            return world_.stall_all(stall_time());
        case 4:
            if (!stalls_) return;
            note("loop stopped");
            world_.trace("stalled: {}", world_.stall_a_loop(world_.between(milliseconds{10}, seconds{10})));
            return;
        default: note("connection cut"); return host_->cut_one();
        }
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

    World world_;
    Disk& disk_;
    std::unique_ptr<DaemonHost> host_;
    std::vector<std::unique_ptr<ServedRm>> rms_;
    std::unique_ptr<DetachedRm> detached_;
    std::unique_ptr<Operator> operator_;
    DiskFaults disk_faults_;
    Nanoseconds fault_pace_{};
    bool kills_ = false, crashes_ = false, stalls_ = false, stops_within_ = false, resting_ = false;
};

} // namespace

RunOutcome run_seed(std::uint64_t seed, Disk& disk, bool trace, std::string_view sabotage) {
    Run run(seed, disk, trace, sabotage);
    return run.outcome();
}

} // namespace yk::sim
