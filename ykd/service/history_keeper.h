#pragma once
// Samples of how many applications run and how many allocations there are, once a minute (I-700 to I-703), for every
// partition. Thread: any.

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "protocol/wire/value.h"
#include "ykd/runtime/clock.h"

namespace yk::service {

class Daemon;

class HistoryKeeper {
public:
    struct Counts {
        std::int64_t applications = 0; // in Running
        std::int64_t containers = 0;
    };
    using Sample = std::map<std::string, Counts>; // by full name of the partition

    /// `size` 0: nothing is kept.
    explicit HistoryKeeper(std::uint64_t size) : size_(size) {}

    /// Asks the partitions for a sample, unless the one before was not answered: then that one is lost (I-702).
    void take(Daemon& daemon);
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
    std::deque<Kept> kept_; // oldest first
    bool asking_ = false;
};

} // namespace yk::service
