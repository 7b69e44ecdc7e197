// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/transport/relay_thread.h"

#include <utility>

#include "ykd/mcs/transport/mcs_clock.h"

namespace yk::service {
namespace {

/// The newest state, and all that was ever counted.
rs::RelayStatus with_counters_of(rs::RelayStatus status, const rs::RelayStatus& before) {
    status.sent += before.sent;
    status.confirmed += before.confirmed;
    status.beginnings += before.beginnings;
    status.gaps += before.gaps;
    return status;
}

} // namespace

RelayThread::RelayThread(Ports ports, std::uint64_t seed) : ports_(std::move(ports)), seed_(seed) {
    thread_.start(
        "mcs-relay", [this] { run(); }, [this] { return step(); });
}

void RelayThread::lead(std::optional<rs::RelayLease> lease) {
    give({true, std::move(lease)});
}

void RelayThread::rest() {
    give({});
}

void RelayThread::give(Order order) {
    const std::lock_guard lock(mutex_);
    status_.leads = order.leads;
    order_ = std::move(order);
    bell_.notify_one();
}

void RelayThread::wake() {
    const std::lock_guard lock(mutex_);
    is_woken_ = true;
    bell_.notify_one();
}

void RelayThread::stop() {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
    }
    bell_.notify_one();
    thread_.end();
}

RelayThread::Status RelayThread::status() const {
    const std::lock_guard lock(mutex_);
    return status_;
}

// --- the thread ------------------------------------------------------------------------------------------------------

void RelayThread::run() {
    for (;;) {
        const auto due = step();
        std::unique_lock lock(mutex_);
        const auto is_called = [this] { return is_stopping_ || order_ || is_woken_; };
        if (due == TimePoint::max())
            bell_.wait(lock, is_called);
        else if (due)
            bell_.wait_until(lock, *due, is_called);
        if (is_stopping_) return;
    }
}

std::optional<RelayThread::TimePoint> RelayThread::step() {
    take_order();
    if (!relay_) return TimePoint::max();
    const bool has_more = relay_->turn(steady_instant());
    const auto due = relay_->next_due();
    report();
    if (has_more) return std::nullopt;
    return due ? TimePoint{SteadyClock::duration{due->ns}} : TimePoint::max();
}

void RelayThread::take_order() {
    std::unique_lock lock(mutex_);
    const auto order = std::exchange(order_, std::nullopt);
    const bool is_woken = std::exchange(is_woken_, false);
    lock.unlock();
    if (order) {
        if (relay_) before_ = with_counters_of(relay_->status(), before_);
        if (relay_) {
            relay_.reset();
            ports_.broker.end();
            ports_.log.close();
        }
        table_.reset();
        if (order->leads) {
            table_.emplace(ports_.table, order->lease);
            rs::RelaySettings settings;
            settings.seed = seed_;
            relay_.emplace(ports_.log, ports_.broker, *table_, ports_.topics, settings);
        } else {
            report();
        }
    }
    if (relay_ && is_woken) relay_->wake();
}

void RelayThread::report() {
    rs::RelayStatus status = with_counters_of(relay_ ? relay_->status() : rs::RelayStatus{}, before_);
    const std::lock_guard lock(mutex_);
    status_.relay = std::move(status);
}

} // namespace yk::service
