// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/name_service.h"

#include <exception>
#include <utility>

#include "libcore/base/check.h"

namespace yk::service {

NameService::NameService(std::function<void(const char* what)> fault)
    : fault_(std::move(fault)), thread_([this] { run(); }) {}

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
    if (thread_.joinable()) thread_.join();
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
        try {
            ask();
        } catch (const std::exception& thrown) {
            fault_(thrown.what());
        }
        ask = nullptr; // what it owned may post again while it is freed
        lock.lock();
    }
}

} // namespace yk::service
