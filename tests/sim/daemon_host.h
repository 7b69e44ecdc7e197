// SPDX-License-Identifier: Apache-2.0
#pragma once
// DaemonHost: the machine that the daemon runs on: starts it, stops it, kills it as SIGKILL or a loss of power would,
// and has its disk and its network.
//
// Owner: run_seed(). Thread: one.

#include <memory>
#include <string>
#include <vector>

#include "tests/sim/disk.h"
#include "tests/sim/network.h"
#include "tests/sim/world.h"
#include "ykd/daemon/daemon.h"

namespace yk::sim {

class DaemonHost {
public:
    DaemonHost(World& world, Disk& disk, service::DaemonSettings settings)
        : world_(world), disk_(disk), settings_(std::move(settings)) {}
    ~DaemonHost() { kill(false); }
    DaemonHost(const DaemonHost&) = delete;
    DaemonHost& operator=(const DaemonHost&) = delete;

    /// False: it ended at once, and said why.
    bool start();
    /// The process is gone between two steps. `power`: what was not synced is gone, too.
    void kill(bool power);
    /// As systemctl stop.
    void stop(Nanoseconds grace);

    [[nodiscard]] bool is_up() const { return daemon_ != nullptr && !busy_; }
    /// Starts or stops just now: nothing else may be done to it.
    [[nodiscard]] bool is_busy() const { return busy_ || stopping_; }
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

    World& world_;
    Disk& disk_;
    const service::DaemonSettings settings_;
    NetworkFaults network_;
    std::unique_ptr<service::Daemon> daemon_;
    wire::ServerHandlers handlers_;
    std::vector<std::weak_ptr<Connection>> connections_;
    std::uint64_t incarnation_ = 0;
    std::uint32_t last_connection_ = 0;
    bool busy_ = false, stopping_ = false;
};

} // namespace yk::sim
