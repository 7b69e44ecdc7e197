// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/deadlines.h"

#include <utility>

namespace yk {

Deadlines::Deadlines() {
    thread_.start(
        "deadlines", [this] { run(); }, [this] { return step(); });
}

Deadlines::~Deadlines() {
    stop();
}

Deadlines::Key Deadlines::call_at(SteadyClock::time_point at, std::function<void()> call) {
    bool first = false;
    Key key;
    {
        const std::lock_guard lock(mutex_);
        key = Key{at, ++last_number_};
        const auto added = calls_.emplace(key, std::move(call)).first;
        first = added == calls_.begin(); // with begin() as it is after the insertion
    }
    if (first) bell_.notify_one();
    return key;
}

bool Deadlines::cancel(const Key& key) {
    std::function<void()> dropped; // freed outside the lock: it may own much
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(key);
    if (found == calls_.end()) return false;
    dropped = std::move(found->second);
    calls_.erase(found);
    return true;
}

void Deadlines::every(SteadyClock::duration period, std::function<void()> call) {
    call_after(period, [this, period, call = std::move(call)] {
        call();
        every(period, call);
    });
}

void Deadlines::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    bell_.notify_one();
    thread_.end();
}

/// In a simulation: the next call.
std::optional<SteadyClock::time_point> Deadlines::step() {
    std::function<void()> call;
    {
        const std::lock_guard lock(mutex_);
        if (stopping_ || calls_.empty()) return SteadyClock::time_point::max();
        const auto first = calls_.begin();
        if (first->first.at > SteadyClock::now()) return first->first.at;
        call = std::move(first->second);
        calls_.erase(first);
    }
    call();
    return std::nullopt;
}

void Deadlines::run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (calls_.empty()) {
            bell_.wait(lock);
            continue;
        }
        const auto first = calls_.begin();
        const SteadyClock::time_point at = first->first.at;
        if (at > SteadyClock::now()) {
            bell_.wait_until(lock, at);
            continue;
        }
        std::function<void()> call = std::move(first->second);
        calls_.erase(first);
        lock.unlock();
        call();
        call = nullptr; // what it owned may ask for calls while it is freed
        lock.lock();
    }
}

} // namespace yk
