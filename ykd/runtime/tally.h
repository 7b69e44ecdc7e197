#pragma once
// What happened since the start of the process, over all RMs, in numbers that only grow (interface.md section 6). An
// owner thread counts for itself and adds what is new once per turn.

#include <array>
#include <cstdint>
#include <mutex>

#include "libcore/scheduler/cluster_context.h"

namespace yk {

/// Durations in the buckets of I-505: up to 0.0001 s x 10^k for k = 0 to 7, and above.
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

/// The way of event records (interface.md section 6).
struct EventTally {
    std::uint64_t created = 0;
    std::uint64_t channeled = 0; // taken by the ring; the rest found tracking switched off
    std::uint64_t stored = 0;    // for an RM, and those it had no room for
    std::uint64_t not_stored = 0;
    std::uint64_t collected = 0; // sent to an RM

    void add(const EventTally& other) {
        created += other.created;
        channeled += other.channeled;
        stored += other.stored;
        not_stored += other.not_stored;
        collected += other.collected;
    }
};

struct Tally {
    CoreCounters core;
    EventTally events;
    Histogram cycles;                      // whole ones
    Histogram partitions;                  // one partition's part of a cycle
    std::array<Histogram, kStages> stages; // by Stage; of one cycle in CycleWatch::kSampled

    void add(const Tally& other) {
        core.add(other.core);
        events.add(other.events);
        cycles.add(other.cycles);
        partitions.add(other.partitions);
        for (std::size_t i = 0; i < stages.size(); ++i) stages[i].add(other.stages[i]);
    }
};

/// Thread: any.
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
