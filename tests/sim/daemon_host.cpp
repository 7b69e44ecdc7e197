// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/daemon_host.h"

#include <algorithm>

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
    if (!daemon_) return;
    world_.trace("daemon: {}", power ? "loss of power" : "killed");
    disk_.die(); // nothing that the destructors do reaches it
    cut_all();
    handlers_ = {};
    daemon_.reset();
    disk_.revive(power);
}

void DaemonHost::stop(Nanoseconds grace) {
    if (!daemon_ || is_busy()) return;
    world_.trace("daemon: stop");
    stopping_ = true;
    daemon_->stop(grace);
    stopping_ = false;
    busy_ = true;
    cut_all();
    handlers_ = {};
    daemon_.reset();
    busy_ = false;
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
