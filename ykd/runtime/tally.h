// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tally: counts since the start of the process, over all RMs, in numbers that only grow (docs/spec/interface.md section
// 6). Each owner thread counts for itself and adds what is new to the TallyBoard once per turn.

#include <array>
#include <cstdint>
#include <mutex>

#include "libcore/cluster/cluster_context.h"

namespace yk {

/// Counts durations in buckets: up to 0.0001 s x 10^k for k = 0 to 7, and above (I-505).
struct Histogram {
    static constexpr std::size_t kBounds = 8;
    static constexpr std::int64_t kFirstBoundNs = 100'000;

    std::array<std::uint64_t, kBounds + 1> counts{}; // per bucket, not cumulative
    std::int64_t sum_ns = 0;

    void observe(Duration took) {
        std::size_t bucket = 0;
        for (std::int64_t bound = kFirstBoundNs; bucket < kBounds && took.count() > bound; bound *= 10) ++bucket;
        ++counts[bucket];
        sum_ns += took.count();
    }
    void add(const Histogram& other) {
        for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
        sum_ns += other.sum_ns;
    }
};

/// What happened to event records (docs/spec/interface.md section 6).
struct EventTally {
    std::uint64_t created = 0;
    std::uint64_t channeled = 0;  // taken by the ring; the others came while tracking was off
    std::uint64_t stored = 0;     // collected for an RM
    std::uint64_t not_stored = 0; // wanted by an RM, beyond its request capacity
    std::uint64_t collected = 0;  // sent to an RM

    void add(const EventTally& other) {
        created += other.created;
        channeled += other.channeled;
        stored += other.stored;
        not_stored += other.not_stored;
        collected += other.collected;
    }
};

/// All counts of a time span.
struct Tally {
    CoreCounters core;
    EventTally events;
    Histogram cycles;                      // whole ones
    Histogram partitions;                  // one partition's part of a cycle
    std::array<Histogram, kStages> stages; // by Stage; measured in one of CycleWatch::kSampled cycles

    void add(const Tally& other) {
        core.add(other.core);
        events.add(other.events);
        cycles.add(other.cycles);
        partitions.add(other.partitions);
        for (std::size_t i = 0; i < stages.size(); ++i) stages[i].add(other.stages[i]);
    }
};

/// The sum over all RMs. Thread: any.
class TallyBoard {
public:
    void add(const Tally& since) {
        const std::lock_guard lock(mutex_);
        total_.add(since);
    }
    [[nodiscard]] Tally read() const {
        const std::lock_guard lock(mutex_);
        return total_;
    }

private:
    mutable std::mutex mutex_;
    Tally total_;
};

} // namespace yk
