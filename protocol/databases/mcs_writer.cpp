// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/mcs_writer.h"

#include <iterator>
#include <utility>

#include "libcore/base/fault_point.h"
#include "protocol/simulation/steady_clock.h"

namespace yk::mcs {
namespace {

Instant instant_of(SteadyClock::time_point at) {
    return Instant{at.time_since_epoch().count()};
}

SteadyClock::time_point time_of(Instant at) {
    return SteadyClock::time_point{SteadyClock::duration{at.ns}};
}

} // namespace

McsWriter::McsWriter(WritePort& port, const GroupCommitSettings& settings, std::uint64_t seed,
                     std::function<void()> on_answered)
    : port_(port), on_answered_(std::move(on_answered)), commit_(settings, seed) {
    thread_.start(
        "mcs-writer", [this] { run(); }, [this] { return step(); });
}

McsWriter::~McsWriter() {
    stop(Stop::Now);
}

void McsWriter::take(WriteQueue& queue) {
    const std::lock_guard lock(mutex_);
    while (!is_stopping_ && !commit_.is_full()) {
        auto call = queue.next();
        if (!call) break;
        commit_.add(std::move(call), instant_of(SteadyClock::now()));
    }
    bell_.notify_one();
}

McsWriter::Calls McsWriter::answered() {
    const std::lock_guard lock(mutex_);
    return std::exchange(answered_, {});
}

McsWriter::Status McsWriter::status() {
    const std::lock_guard lock(mutex_);
    return {commit_.size(), commit_.fault(), groups_, grouped_};
}

/// When the thread has ended this one is alone with the port, and does what is left; the same in a simulation.
void McsWriter::stop(Stop how) {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
    }
    bell_.notify_one();
    thread_.end();
    std::unique_lock lock(mutex_);
    for (bool is_away = false; how == Stop::Flush && !is_away && commit_.size() != 0;) {
        carry_out(lock);
        is_away = !commit_.fault().empty();
    }
    auto rest = commit_.give_up("not written, since the program stops");
    std::move(rest.begin(), rest.end(), std::back_inserter(answered_));
}

void McsWriter::run() {
    std::unique_lock lock(mutex_);
    while (!is_stopping_) {
        const auto due = commit_.next_due();
        if (!due)
            bell_.wait(lock);
        else if (time_of(*due) > SteadyClock::now())
            bell_.wait_until(lock, time_of(*due));
        else
            carry_out(lock);
    }
}

std::optional<Simulator::Clock::time_point> McsWriter::step() {
    std::unique_lock lock(mutex_);
    const auto due = commit_.next_due();
    if (!due) return Simulator::Clock::time_point::max();
    if (time_of(*due) > SteadyClock::now()) return time_of(*due);
    carry_out(lock);
    return std::nullopt;
}

void McsWriter::carry_out(std::unique_lock<std::mutex>& lock) {
    Calls group = commit_.take();
    ++groups_;
    grouped_ += group.size();
    lock.unlock();
    std::vector<const WriteRequest*> requests;
    requests.reserve(group.size());
    for (const auto& each : group) requests.push_back(&each->request());
    YK_FAULT(GroupTaken);
    GroupOutcome outcome = port_.write(requests);
    lock.lock();
    Calls done = commit_.finish(std::move(group), std::move(outcome), instant_of(SteadyClock::now()));
    if (done.empty()) return;
    std::move(done.begin(), done.end(), std::back_inserter(answered_));
    YK_FAULT(GroupAnswered);
    if (is_stopping_) return;
    lock.unlock();
    on_answered_();
    lock.lock();
}

} // namespace yk::mcs
