// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/housekeeping/mcs_housekeeping.h"

#include <algorithm>
#include <utility>

#include "libcore/base/check.h"

namespace yk::mcs {

McsHousekeeping::McsHousekeeping(std::unique_ptr<DatabaseUpkeep> upkeep, const HousekeepingSettings& settings)
    : settings_(settings), upkeep_(std::move(upkeep)), dead_letters_(upkeep_->connection()) {
    thread_.start(
        "mcs-house", [this] { run(); }, [this] { return step(); });
}

void McsHousekeeping::committed(std::int64_t pages) {
    const std::lock_guard lock(mutex_);
    pages_ = pages;
    if (pages >= upkeep_->checkpoint_after()) bell_.notify_one();
}

void McsHousekeeping::set_purging(bool purges) {
    const std::lock_guard lock(mutex_);
    purges_ = purges;
    if (!purges) { // another process says so
        status_.is_relay_stuck = false;
        status_.log_rows.reset();
        note(Job::Purge, {});
    }
    bell_.notify_one();
}

void McsHousekeeping::put_dead_letter(DeadLetterKey key, std::uint64_t attempts, std::string error) {
    put(std::move(key), {std::max<std::uint64_t>(attempts, 1), std::move(error)});
}

void McsHousekeeping::remove_dead_letter(DeadLetterKey key) {
    put(std::move(key), {});
}

void McsHousekeeping::put(DeadLetterKey key, Letter letter) {
    const std::lock_guard lock(mutex_);
    letters_.insert_or_assign(std::move(key), std::move(letter));
    bell_.notify_one();
}

void McsHousekeeping::stop() {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
    }
    bell_.notify_one();
    thread_.end();
}

McsHousekeeping::Status McsHousekeeping::status() {
    const std::lock_guard lock(mutex_);
    return status_;
}

// --- the thread ------------------------------------------------------------------------------------------------------

void McsHousekeeping::run() {
    std::unique_lock lock(mutex_);
    while (!is_stopping_) {
        const TimePoint due = next_due();
        if (due == TimePoint::max())
            bell_.wait(lock);
        else if (due > SteadyClock::now())
            bell_.wait_until(lock, due);
        else
            work(lock);
    }
}

std::optional<Simulator::Clock::time_point> McsHousekeeping::step() {
    std::unique_lock lock(mutex_);
    const TimePoint due = next_due();
    if (due > SteadyClock::now()) return due;
    work(lock);
    return std::nullopt;
}

McsHousekeeping::TimePoint McsHousekeeping::next_due() const {
    return std::min({due(Job::Checkpoint), due(Job::Letter), due(Job::Purge)});
}

McsHousekeeping::TimePoint McsHousekeeping::due(Job job) const {
    const TimePoint retry = jobs_[index_of(job)].retry;
    switch (job) {
    case Job::Checkpoint: return upkeep_->is_checkpoint_due(pages_) ? retry : TimePoint::max();
    case Job::Letter: return letters_.empty() ? TimePoint::max() : retry;
    case Job::Purge: return purges_ ? std::max(next_purge_, retry) : TimePoint::max();
    }
    YK_UNREACHABLE("every job has its time");
}

/// They take turns, so that one of which nothing comes keeps no other waiting.
void McsHousekeeping::work(std::unique_lock<std::mutex>& lock) {
    const TimePoint now = SteadyClock::now();
    do last_ = static_cast<Job>((index_of(last_) + 1) % kJobs);
    while (due(last_) > now);
    JobState& state = jobs_[index_of(last_)];
    const Done done = last_ == Job::Checkpoint ? checkpoint(lock)
                      : last_ == Job::Letter   ? write_letter(lock)
                                               : purge(lock);
    if (!done.ok()) state.retry = SteadyClock::now() + settings_.retry;
    note(last_, done.ok() ? "" : done.error().message);
}

/// What went wrong with something that is not to be done any more is no fault.
void McsHousekeeping::note(Job job, std::string fault) {
    jobs_[index_of(job)].fault = std::move(fault);
    status_.fault.clear();
    for (const Job each : {Job::Checkpoint, Job::Letter, Job::Purge})
        if (status_.fault.empty() && due(each) != TimePoint::max()) status_.fault = jobs_[index_of(each)].fault;
}

/// What was said of the log's length is used up: others may have made it longer since, and nobody says so.
McsHousekeeping::Done McsHousekeeping::checkpoint(std::unique_lock<std::mutex>& lock) {
    const std::int64_t pages = std::exchange(pages_, 0);
    lock.unlock();
    const auto needed = upkeep_->checkpoint();
    lock.lock();
    if (!needed.ok()) {
        pages_ = std::max(pages_, pages);
        return needed.error();
    }
    status_.wal_pages = *needed;
    return {};
}

McsHousekeeping::Done McsHousekeeping::write_letter(std::unique_lock<std::mutex>& lock) {
    const auto next = letters_.upper_bound(last_letter_);
    auto letter = letters_.extract(next == letters_.end() ? letters_.begin() : next);
    last_letter_ = letter.key();
    lock.unlock();
    Done done = letter.mapped().attempts == 0
                    ? dead_letters_.remove(letter.key())
                    : dead_letters_.put(letter.key(), letter.mapped().attempts, letter.mapped().error);
    lock.lock();
    if (!done.ok()) letters_.insert(std::move(letter)); // unless there is something newer of the key
    return done;
}

McsHousekeeping::Done McsHousekeeping::purge(std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    const auto report = purge_what_is_relayed();
    lock.lock();
    if (!report.ok()) return report.error();
    status_.is_relay_stuck = purges_ && report->is_relay_stuck;
    status_.log_rows = purges_ ? std::optional{report->rows} : std::nullopt;
    next_purge_ = SteadyClock::now() + (report->has_more ? Duration{} : settings_.purge_every);
    return {};
}

/// The relay may be another process, so that the database is asked.
Result<rs::PurgeReport, rs::StoreError> McsHousekeeping::purge_what_is_relayed() {
    if (!settings_.relayed) return upkeep_->purge(settings_.retention, std::nullopt);
    YK_TRY(relayed, settings_.relayed(upkeep_->connection()));
    return upkeep_->purge(settings_.retention, relayed);
}

} // namespace yk::mcs
