// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/workers.h"

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <thread>
#include <utility>

namespace yk {

namespace {

thread_local const ItemSource* t_source = nullptr; // of the work that this thread is at
thread_local bool t_lacked_memory = false;         // the work that this thread frees ended for want of it

/// How many threads that receive may be at work here. nng has two for each processor, and at most 16 on the largest
/// machines; the others go on receiving and sending.
std::size_t most_here() {
    return std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
}

} // namespace

FairQueue<std::function<void()>>::Limits Workers::limits_of(unsigned threads) {
    return {std::max(threads, 3U) - 2, std::max(threads, 2U) - 1, std::max(threads, 3U) - 2};
}

Workers::Workers(unsigned threads, std::function<void(const char* what)> fault, LoopThread::Priority priority)
    : fault_(std::move(fault)), most_here_(most_here()), queue_(limits_of(threads)) {
    const char* const name = priority == LoopThread::Priority::Low ? "long worker" : "worker";
    for (unsigned i = 0; i < threads; ++i)
        threads_.emplace_back().start(
            name, [this] { run(); }, [this] { return step(); }, priority);
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
    for (LoopThread& thread : threads_) thread.end();
    std::unique_lock lock(mutex_);
    bell_.wait(lock, [&] { return here_ == 0; });
}

bool Workers::run_here(const ItemSource& source, std::function<void()> work) {
    {
        const std::lock_guard lock(mutex_);
        if (stopping_ || here_ == most_here_ || !queue_.begin(source)) return false;
        ++here_;
    }
    carry_out(source, std::move(work));
    const std::lock_guard lock(mutex_);
    --here_;
    queue_.done(source);
    // What came meanwhile may have had to wait for this source, and stop() for this thread.
    if (stopping_ || queue_.has_waiting()) bell_.notify_all();
    return true;
}

/// In a simulation: one of those that workers have taken, since each worker may be faster than the others.
std::optional<Simulator::Clock::time_point> Workers::step() {
    std::unique_lock lock(mutex_);
    while (begun_.size() < threads_.size()) {
        auto next = queue_.take();
        if (!next) break;
        begun_.push_back(*std::move(next));
    }
    if (stopping_ || begun_.empty()) return Simulator::Clock::time_point::max();
    const auto chosen = begun_.begin() + static_cast<std::ptrdiff_t>(simulator()->choose(begun_.size()));
    Work work = std::move(*chosen);
    begun_.erase(chosen);
    lock.unlock();
    carry_out(work.source, std::move(work.item));
    lock.lock();
    queue_.done(work.source);
    return std::nullopt;
}

void Workers::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        std::optional<Work> next;
        bell_.wait(lock, [&] { return stopping_ || (next = queue_.take()); });
        if (stopping_) return;
        lock.unlock();
        carry_out(next->source, std::move(next->item));
        lock.lock();
        queue_.done(next->source); // this thread looks again: what had to wait for it needs no bell
    }
}

void Workers::carry_out(const ItemSource& source, std::function<void()> work) const {
    t_source = &source;
    try {
        work();
    } catch (const std::exception& thrown) {
        t_lacked_memory = dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr;
        fault_(thrown.what());
    }
    work = nullptr; // what it owned may post again while it is freed
    t_lacked_memory = false;
    t_source = nullptr;
}

bool Workers::lacked_memory() {
    return t_lacked_memory;
}

ItemSource Workers::source_at_work() {
    return t_source == nullptr ? ItemSource{} : *t_source;
}

} // namespace yk
