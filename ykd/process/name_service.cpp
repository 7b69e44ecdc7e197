// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/name_service.h"

#include <exception>
#include <optional>
#include <utility>

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
        waiting_.push({who}, std::move(ask));
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

void NameService::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        std::optional<FairQueue<std::function<void()>>::Taken> next;
        bell_.wait(lock, [&] { return stopping_ || (next = waiting_.take()); });
        if (stopping_) return;
        lock.unlock();
        call(next->item);
        next->item = nullptr; // what it owned may post again while it is freed
        lock.lock();
        waiting_.done(next->source);
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
    std::optional<FairQueue<std::function<void()>>::Taken> next;
    {
        const std::lock_guard lock(mutex_);
        if (stopping_ || !(next = waiting_.take())) return Simulator::Clock::time_point::max();
    }
    call(next->item);
    next->item = nullptr;
    const std::lock_guard lock(mutex_);
    waiting_.done(next->source);
    return std::nullopt;
}

} // namespace yk::service
