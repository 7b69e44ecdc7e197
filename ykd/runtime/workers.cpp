// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/workers.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace yk {

Workers::Workers(unsigned threads, std::function<void(const char* what)> fault) : fault_(std::move(fault)) {
    for (unsigned i = 0; i < threads; ++i)
        threads_.emplace_back().start(
            "worker", [this] { run(); }, [this] { return step(); });
}

Workers::~Workers() {
    stop();
}

void Workers::post(std::function<void()> work) {
    {
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(work));
    }
    bell_.notify_one();
}

void Workers::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    bell_.notify_all();
    for (LoopThread& thread : threads_) thread.end();
}

/// In a simulation: one of those that begin next, since each worker may be faster than the others.
std::optional<Simulator::Clock::time_point> Workers::step() {
    std::function<void()> work;
    {
        const std::lock_guard lock(mutex_);
        if (stopping_ || queue_.empty()) return Simulator::Clock::time_point::max();
        const std::size_t next = simulator()->choose(std::min(queue_.size(), threads_.size()));
        work = std::move(queue_[next]);
        queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(next));
    }
    call(work);
    return std::nullopt;
}

void Workers::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        bell_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
        if (stopping_) return;
        std::function<void()> work = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        call(work);
        work = nullptr; // what it owned may post again while it is freed
        lock.lock();
    }
}

void Workers::call(std::function<void()>& work) const {
    try {
        work();
    } catch (const std::exception& thrown) {
        fault_(thrown.what());
    }
}

} // namespace yk
