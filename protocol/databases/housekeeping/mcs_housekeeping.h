// SPDX-License-Identifier: Apache-2.0
#pragma once
// McsHousekeeping: the thread that does what a database of mcs needs beside the writes of services: checkpoints of the
// write-ahead log, purges of the change log, dead letters. None of it is urgent, and none may keep a service waiting.
// What fails is tried again.
//
// Owner: the program. Thread: any.

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "libcore/base/time.h"
#include "protocol/databases/housekeeping/database_upkeep.h"
#include "protocol/databases/housekeeping/mcs_dead_letters.h"
#include "protocol/simulation/loop_thread.h"
#include "protocol/simulation/steady_clock.h"

namespace yk::mcs {

/// Up to where a relay has sent the change log, as the database says when it is about to be purged.
using AskRelayed = std::function<Result<rs::Position, rs::StoreError>(rs::SqlConnection& connection)>;

struct HousekeepingSettings {
    rs::LogRetention retention;
    AskRelayed relayed; // empty: there is no relay, and nothing waits for one
    Duration purge_every = std::chrono::minutes{1};
    Duration retry = std::chrono::seconds{1};
};

class McsHousekeeping {
public:
    McsHousekeeping(std::unique_ptr<DatabaseUpkeep> upkeep, const HousekeepingSettings& settings);
    ~McsHousekeeping() { stop(); }
    McsHousekeeping(const McsHousekeeping&) = delete;
    McsHousekeeping& operator=(const McsHousekeeping&) = delete;

    /// Somebody has committed; the write-ahead log has so many pages (SqliteConnection::on_commit).
    void committed(std::int64_t pages);
    /// Whether this process purges the change log, which one of several does.
    void set_purging(bool purges);
    /// A handler has failed too often with a key, or succeeded. What was said last of a key counts; what is not written
    /// is bounded by the number of keys.
    void put_dead_letter(DeadLetterKey key, std::uint64_t attempts, std::string error);
    void remove_dead_letter(DeadLetterKey key);
    /// Ends the thread after what it is at. Dead letters that are not written are lost: the next process finds them
    /// again.
    void stop();

    struct Status {
        std::int64_t wal_pages = 0;             // of the write-ahead log, that are not in the database yet
        bool is_relay_stuck = false;            // events were purged that it has not sent
        std::optional<std::int64_t> log_rows{}; // of the change log, at the last purge; nullopt: another process purges
        std::string fault;                      // of something that went wrong last time; empty: all went well
    };
    [[nodiscard]] Status status();

private:
    using TimePoint = SteadyClock::time_point;
    using Done = Result<void, rs::StoreError>;
    struct Letter {
        std::uint64_t attempts = 0; // 0: it is to be removed
        std::string error;
    };

    void put(DeadLetterKey key, Letter letter);
    void run();
    std::optional<Simulator::Clock::time_point> step();
    enum class Job : std::uint8_t { Checkpoint, Letter, Purge };
    static constexpr std::size_t kJobs = 3;
    struct JobState {
        TimePoint retry{}; // not before
        std::string fault; // of the last time; empty: it went well
    };
    static constexpr std::size_t index_of(Job job) { return static_cast<std::size_t>(job); }

    /// When there is something to do; max: not before somebody calls.
    [[nodiscard]] TimePoint next_due() const;
    [[nodiscard]] TimePoint due(Job job) const;
    void note(Job job, std::string fault);
    /// One bit of what is due.
    void work(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] Done checkpoint(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] Done write_letter(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] Done purge(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] Result<rs::PurgeReport, rs::StoreError> purge_what_is_relayed();

    const HousekeepingSettings settings_;
    const std::unique_ptr<DatabaseUpkeep> upkeep_;
    DeadLetterTable dead_letters_;

    std::mutex mutex_; // guards what follows, up to the next comment
    std::condition_variable bell_;
    std::int64_t pages_ = 0;
    std::map<DeadLetterKey, Letter> letters_; // that are not written
    DeadLetterKey last_letter_;               // that was tried
    std::array<JobState, kJobs> jobs_;
    Job last_ = Job::Purge; // that was done
    bool purges_ = false;
    TimePoint next_purge_{};
    Status status_;
    bool is_stopping_ = false;

    LoopThread thread_; // the last one: it begins when everything else is there
};

} // namespace yk::mcs
