// SPDX-License-Identifier: Apache-2.0
#pragma once
// UseHistory: how much of the cluster each queue had, over an hour, a day and thirty days. Values with the time as a
// parameter; what it can grow to is bounded by the numbers of partitions, queues and samples below.
//
// Owner: UseSampler. Thread: one at a time.

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/base/time.h"
#include "protocol/wire/value.h"

namespace yk::service {

/// What a queue has of the cluster, in thousandths of the resource of which it has most.
using QueueShares = std::map<std::string, std::int16_t>;

class UseHistory {
public:
    static constexpr std::size_t kMostPartitions = 32, kMostQueues = 500;
    static constexpr int kEvery = 10; // seconds between samples

    /// Takes a sample of a partition, which is named with its RM. Of more than kMostQueues the others are left out.
    void add(const std::string& partition, const QueueShares& shares, Instant now);
    /// {every, end: seconds, queues {name: [thousandths, or null where there was no sample]}}, oldest first; nullopt:
    /// there is no such span (they are called hour, day and month).
    [[nodiscard]] std::optional<wire::Value> value(const std::string& partition, std::string_view span) const;

private:
    static constexpr std::int16_t kNone = -1;
    struct Span {
        const char* name;
        int samples; // of the shortest span, whose mean is one of this
        std::size_t size;
    };
    static constexpr std::array<Span, 3> kSpans{{{"hour", 1, 360}, {"day", 30, 288}, {"month", 360, 720}}};

    struct Series {
        std::deque<std::int16_t> values; // the newest last; as long as the ring, or shorter where the queue is younger
        std::int64_t sum = 0;            // of the samples that the next value is made of
        int count = 0;
    };
    struct Ring {
        std::map<std::string, Series> queues;
        int taken = 0; // samples since the last value
        std::size_t length = 0;
        Instant end;
    };
    struct Partition {
        std::array<Ring, kSpans.size()> rings;
        Instant last;
    };
    static void add(Ring& ring, const Span& span, const QueueShares& shares, Instant now);

    std::map<std::string, Partition> partitions_;
};

} // namespace yk::service
