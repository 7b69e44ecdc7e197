// SPDX-License-Identifier: Apache-2.0
#pragma once
// HistoryKeeper: samples of how many applications run and how many allocations there are in each partition, by default
// one a minute (I-700 to I-703).
//
// Owner: Daemon. Thread: any.

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "protocol/wire/value.h"
#include "ykd/rm/rm_table.h"
#include "ykd/runtime/clock.h"
#include "ykd/runtime/workers.h"

namespace yk::service {

class HistoryKeeper {
public:
    struct Counts {
        std::int64_t applications = 0; // in Running
        std::int64_t containers = 0;
    };
    using Sample = std::map<std::string, Counts>; // by full name of the partition

    /// `size`: how many samples are kept; 0: none.
    explicit HistoryKeeper(std::uint64_t size) : size_(size) {}

    /// Asks the owner threads for a sample and keeps it when all have answered. While an earlier sample is not
    /// complete, nothing is asked, and this one is marked as missing (I-702).
    void take(const RmTable& rms, Workers& workers);
    /// Keeps a sample; nothing: it could not be taken. The oldest is dropped.
    void keep(Instant at, std::optional<Sample> sample);
    [[nodiscard]] bool enabled() const { return size_ != 0; }
    /// {apps [{timestamp, totalApplications}], containers [{timestamp, totalContainers}]}, oldest first, of one
    /// partition, or, with an empty name, the sum over all that there were; the values are text, -1 where no sample
    /// could be taken.
    [[nodiscard]] wire::Value dump(const std::string& partition) const;

private:
    struct Kept {
        Instant at;
        std::optional<Sample> sample;
    };

    const std::uint64_t size_;
    mutable std::mutex mutex_;
    std::deque<Kept> kept_; // the oldest first
    bool asking_ = false;   // a sample is on its way
};

} // namespace yk::service
