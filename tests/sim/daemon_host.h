// SPDX-License-Identifier: Apache-2.0
#pragma once
// DaemonHost: the machine that the daemon runs on: starts it, stops it, kills it as SIGKILL or a loss of power would,
// and has its disk and its network.
//
// Owner: run_seed(). Thread: one.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/disk.h"
#include "tests/sim/network.h"
#include "tests/sim/world.h"
#include "ykd/daemon/daemon.h"

namespace yk::sim {

class DaemonHost {
public:
    DaemonHost(World& world, Disk& disk, service::DaemonSettings settings)
        : world_(world), disk_(disk), settings_(std::move(settings)) {
        disk_.set_state([this] { return state_of({}); });
    }
    ~DaemonHost() {
        kill(false);
        disk_.set_state({});
    }
    DaemonHost(const DaemonHost&) = delete;
    DaemonHost& operator=(const DaemonHost&) = delete;

    /// False: it ended at once, and said why.
    bool start();
    /// The process is gone between two steps. `power`: what was not synced is gone, too.
    void kill(bool power);
    /// As kill(), at an operation of its disk: in the midst of a step, a start or a stop. What it does in the rest of
    /// that reaches nobody. Calls `killed` when it is gone.
    void kill_in(std::uint64_t operations, bool power, std::function<void()> killed);
    /// As systemctl stop.
    void stop(Nanoseconds grace);

    [[nodiscard]] bool is_up() const { return daemon_ != nullptr && !busy_ && !dying_; }
    /// It was killed in the midst of something.
    [[nodiscard]] bool is_dying() const { return dying_; }
    /// Starts, stops or dies just now: nothing else may be done to it.
    [[nodiscard]] bool is_busy() const { return busy_ || stopping_ || dying_; }
    /// Whether power was lost since this was asked last.
    [[nodiscard]] bool take_lost_power() { return std::exchange(lost_power_, false); }
    /// What it does, or in which state it has the RM. An empty id: of the daemon alone.
    [[nodiscard]] std::string state_of(const std::string& rm_id);
    /// Fails when books or what the daemon keeps of itself were set aside as damaged: no end of a process or of power
    /// does that to them.
    void check_kept();
    /// How often it was started.
    [[nodiscard]] std::uint64_t incarnation() const { return incarnation_; }
    [[nodiscard]] service::Daemon& daemon() { return *daemon_; }
    [[nodiscard]] const wire::ServerHandlers& handlers() const { return handlers_; }
    [[nodiscard]] Disk& disk() { return disk_; }
    [[nodiscard]] NetworkFaults& network() { return network_; }

    void know(const std::shared_ptr<Connection>& connection);
    [[nodiscard]] std::uint32_t next_connection() { return ++last_connection_; }
    /// Cuts one of the connections.
    void cut_one();

private:
    void cut_all();
    void bury(bool power, const std::function<void()>& killed);

    World& world_;
    Disk& disk_;
    const service::DaemonSettings settings_;
    NetworkFaults network_;
    std::unique_ptr<service::Daemon> daemon_;
    wire::ServerHandlers handlers_;
    std::vector<std::weak_ptr<Connection>> connections_;
    std::uint64_t incarnation_ = 0;
    std::uint32_t last_connection_ = 0;
    bool busy_ = false, stopping_ = false, dying_ = false, lost_power_ = false;
};

} // namespace yk::sim
