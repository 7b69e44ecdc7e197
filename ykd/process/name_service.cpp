// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/name_service.h"

#include <exception>
#include <optional>
#include <utility>

namespace yk::service {

NameService::NameService(std::function<void(const char* what)> fault)
    : fault_(std::move(fault)), thread_([this] { run(); }) {}

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
    if (thread_.joinable()) thread_.join();
}

void NameService::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        std::optional<FairQueue<std::function<void()>>::Taken> next;
        bell_.wait(lock, [&] { return stopping_ || (next = waiting_.take()); });
        if (stopping_) return;
        lock.unlock();
        try {
            next->item();
        } catch (const std::exception& thrown) {
            fault_(thrown.what());
        }
        next->item = nullptr; // what it owned may post again while it is freed
        lock.lock();
        waiting_.done(next->source);
    }
}

} // namespace yk::service
