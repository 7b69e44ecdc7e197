// SPDX-License-Identifier: Apache-2.0
#pragma once
// AuditLog: the records of who changed what: the last of them in memory, all that fit into a few files on the disk.

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <spdlog/async.h>

#include "libcore/base/time.h"
#include "protocol/wire/value.h"
#include "ykd/process/daemon_settings.h"
#include "ykd/process/degraded.h"
#include "ykd/process/minute_counter.h"

namespace yk::service {

/// Owner: Daemon. Thread: any. A thread of its own writes the file, so that nobody waits for the disk; while that is
/// slow the oldest records that wait are not written, and one that cannot be written makes the daemon degraded until
/// one can be written again. In memory all of them are.
class AuditLog {
public:
    /// So many records are kept in memory, and read back from the files at the start.
    static constexpr std::size_t kKept = 10'000;

    /// `file`: JSON-lines; empty: none. Nothing is opened before the first record or page is wanted.
    AuditLog(const AuditSettings& settings, std::string file, Degraded& degraded);

    /// Adds a record, with its number `n` and its time `at` in Unix nanoseconds. Of those of one `who` that were
    /// refused only the first hundred of a minute are kept, so that nobody can push out the others.
    void add(wire::Value record, Instant at);

    struct Page {
        std::vector<wire::Value> records; // in order
        std::uint64_t next = 0;           // the number of the first one behind them
        std::uint64_t lost = 0;           // wanted, and no longer kept in memory
    };
    /// At most `count` records from number `from` on.
    [[nodiscard]] Page read(std::uint64_t from, std::size_t count);
    /// The number of the first of the last `count` records.
    [[nodiscard]] std::uint64_t first_of_last(std::size_t count);
    /// The file that is written; empty: none.
    [[nodiscard]] const std::string& file() const { return file_; }

private:
    // REQUIRES: mutex_ held.
    void open();
    void read_back(const std::string& file);

    const AuditSettings settings_;
    const std::string file_;
    Degraded& degraded_;
    std::mutex mutex_;
    bool is_open_ = false;
    std::deque<std::string> lines_;                // the last records, as JSON
    std::uint64_t next_ = 1;                       // the number of the next record; those of lines_ end below it
    MinuteCounter refusals_;                       // by who
    std::shared_ptr<spdlog::async_logger> writer_; // nullptr: there is no file, or it cannot be opened
    std::shared_ptr<spdlog::details::thread_pool> thread_; // below the writer, so that it ends before that goes
};

} // namespace yk::service
