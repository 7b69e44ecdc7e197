// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/daemon_host.h"

#include <algorithm>
#include <filesystem>

namespace yk::sim {

bool DaemonHost::start() {
    ++incarnation_;
    world_.trace("daemon: start {}", incarnation_);
    busy_ = true;
    daemon_ = std::make_unique<service::Daemon>(settings_, "sim");
    const auto started = daemon_->start();
    busy_ = false;
    if (started.ok()) {
        handlers_ = daemon_->handlers();
        return true;
    }
    world_.trace("daemon: cannot start: {}", started.error().message);
    daemon_.reset();
    return false;
}

void DaemonHost::kill(bool power) {
    if (!daemon_ && !dying_) return;
    world_.trace("daemon: {}", power ? "loss of power" : "killed");
    disk_.die(); // nothing that the destructors do reaches it
    cut_all();
    handlers_ = {};
    daemon_.reset();
    dying_ = false;
    lost_power_ = lost_power_ || power;
    disk_.revive(power);
}

void DaemonHost::kill_in(std::uint64_t operations, bool power, std::function<void()> killed) {
    disk_.die_in(operations, [this, power, killed = std::move(killed)] {
        const std::string state = state_of({});
        world_.cover(fmt::format("{} while it writes and is {}", power ? "loss of power" : "daemon killed", state));
        world_.trace("daemon: dies in the midst of something, {}", state);
        dying_ = true;
        cut_all();
        bury(power, killed);
    });
}

/// Removes what is left of it, once nothing of it is on the stack.
void DaemonHost::bury(bool power, const std::function<void()>& killed) {
    world_.after(milliseconds{1}, [this, power, killed] {
        if (!dying_) return; // it was killed otherwise meanwhile
        if (busy_ || stopping_) return bury(power, killed);
        kill(power);
        killed();
    });
}

std::string DaemonHost::state_of(const std::string& rm_id) {
    if (dying_) return "Dying";
    if (busy_) return stopping_ ? "Stopping" : "Starting";
    if (stopping_) return "Stopping";
    if (!daemon_) return "Down";
    if (rm_id.empty()) return "Running";
    const service::RmPtr rm = daemon_->parts().rms.find(rm_id);
    return std::string{si::text(rm ? rm->owner.state() : si::CoreState::New)};
}

void DaemonHost::check_kept() {
    std::error_code none;
    for (const char* const folder : {"/books", "/kept"})
        for (const auto& each : std::filesystem::directory_iterator(disk_.folder() + folder, none))
            if (each.path().filename().string().find(".damaged-") != std::string::npos)
                world_.fail("a file was set aside as damaged: " + each.path().filename().string());
}

void DaemonHost::stop(Nanoseconds grace) {
    if (!daemon_ || is_busy()) return;
    world_.trace("daemon: stop");
    stopping_ = true;
    daemon_->stop(grace);
    busy_ = true;
    cut_all();
    handlers_ = {};
    daemon_.reset();
    stopping_ = busy_ = false;
}

void DaemonHost::know(const std::shared_ptr<Connection>& connection) {
    connections_.erase(std::remove_if(connections_.begin(), connections_.end(),
                                      [](const std::weak_ptr<Connection>& each) { return each.expired(); }),
                       connections_.end());
    connections_.push_back(connection);
}

void DaemonHost::cut_one() {
    if (connections_.empty()) return;
    if (const auto chosen = world_.one_of(connections_).lock()) chosen->cut();
}

void DaemonHost::cut_all() {
    for (const auto& each : std::exchange(connections_, {}))
        if (const auto connection = each.lock()) connection->daemon_died();
}

} // namespace yk::sim
