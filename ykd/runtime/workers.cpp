// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/workers.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

namespace yk {

namespace {
thread_local const ItemSource* t_source = nullptr; // of the work that this thread is at
}

FairQueue<std::function<void()>>::Limits Workers::limits_of(unsigned threads) {
    return {std::max(threads, 3U) - 2, std::max(threads, 2U) - 1};
}

Workers::Workers(unsigned threads, std::function<void(const char* what)> fault)
    : fault_(std::move(fault)), queue_(limits_of(threads)) {
    for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

Workers::~Workers() {
    stop();
}

void Workers::post(const ItemSource& source, std::function<void()> work) {
    {
        const std::lock_guard lock(mutex_);
        queue_.push(source, std::move(work));
    }
    bell_.notify_one();
}

void Workers::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    bell_.notify_all();
    for (std::thread& thread : threads_)
        if (thread.joinable()) thread.join();
}

void Workers::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        std::optional<FairQueue<std::function<void()>>::Taken> next;
        bell_.wait(lock, [&] { return stopping_ || (next = queue_.take()); });
        if (stopping_) return;
        lock.unlock();
        t_source = &next->source;
        call(next->item);
        next->item = nullptr; // what it owned may post again while it is freed
        t_source = nullptr;
        lock.lock();
        queue_.done(next->source); // this thread looks again: what had to wait for it needs no bell
    }
}

ItemSource Workers::source_at_work() {
    return t_source == nullptr ? ItemSource{} : *t_source;
}

void Workers::call(std::function<void()>& work) const {
    try {
        work();
    } catch (const std::exception& thrown) {
        fault_(thrown.what());
    }
}

} // namespace yk
