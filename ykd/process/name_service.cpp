// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/name_service.h"

#include <exception>
#include <utility>

#include "libcore/base/check.h"

namespace yk::service {

NameService::NameService(std::function<void(const char* what)> fault) : fault_(std::move(fault)) {
    thread_.start(
        "name service", [this] { run(); }, [this] { return step(); });
}

NameService::~NameService() {
    stop();
}

void NameService::post(const std::string& who, std::function<void()> ask) {
    {
        const std::lock_guard lock(mutex_);
        waiting_[who].push_back(std::move(ask));
    }
    bell_.notify_one();
}

void NameService::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    bell_.notify_one();
    thread_.end();
}

std::function<void()> NameService::take_next() {
    YK_ASSUME(!waiting_.empty(), "a question waits");
    auto next = waiting_.upper_bound(last_);
    if (next == waiting_.end()) next = waiting_.begin();
    last_ = next->first;
    std::function<void()> ask = std::move(next->second.front());
    next->second.pop_front();
    if (next->second.empty()) waiting_.erase(next);
    return ask;
}

void NameService::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        bell_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
        if (stopping_) return;
        std::function<void()> ask = take_next();
        lock.unlock();
        call(ask);
        ask = nullptr; // what it owned may post again while it is freed
        lock.lock();
    }
}

void NameService::call(std::function<void()>& ask) const {
    try {
        ask();
    } catch (const std::exception& thrown) {
        fault_(thrown.what());
    }
}

/// In a simulation: the next question.
std::optional<Simulator::Clock::time_point> NameService::step() {
    std::function<void()> ask;
    {
        const std::lock_guard lock(mutex_);
        if (stopping_ || waiting_.empty()) return Simulator::Clock::time_point::max();
        ask = take_next();
    }
    call(ask);
    return std::nullopt;
}

} // namespace yk::service
