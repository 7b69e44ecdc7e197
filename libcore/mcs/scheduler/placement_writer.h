// SPDX-License-Identifier: Apache-2.0
#pragma once
// PlacementWriter: gathers what the core has said of replicas, and hands it out as few writes, since many placements
// come at once and each commit waits for the disk (rs R-129). While the database is away they wait here, the newest of
// each replica, so that there are never more than replicas; and it says when no more is to be asked for (rs R-130).
//
// One write of a schedule is under way at a time, and what comes meanwhile waits for its end, so that the last word of
// a replica is the last that is written. Whoever writes the row of a schedule himself waits for that, too, and takes
// along what waits here; else an older placement would be written after his.
//
// Owner: Scheduler. Thread: its owner's. Cost: O(log n) for a change; turn() O(schedules that wait).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/mcs/refused_lease.h"
#include "libcore/mcs/write_call.h"
#include "libcore/resource_state/backoff.h"
#include "libcore/resource_state/event_handler.h"

namespace yk::mcs {

struct PlacementWriterSettings {
    std::size_t most_changes = 512;                        // of one write
    Duration gather = std::chrono::milliseconds{5};        // that a change waits for others
    std::size_t most_unwritten = 10'000;                   // above that nothing more is to be asked for
    rs::BackoffRange retry{std::chrono::milliseconds{100}, // pauses after a write that was answered with Transient
                           std::chrono::seconds{1}};
};

/// One life of a schedule.
struct ScheduleKey {
    std::string id;
    std::string uid;
    friend auto operator<=>(const ScheduleKey&, const ScheduleKey&) = default;
};

class PlacementWriter {
public:
    using Changes = std::vector<PlacementChange>; // by ascending replica
    /// What became of changes, once; never Transient, since these are tried again. A Conflict: the schedule has gone,
    /// and what was placed for it is to be released. It may add further changes.
    using OnEnd =
        std::function<void(const ScheduleKey& key, const Changes& changes, const WriteOutcome& outcome, Instant now)>;

    /// It must outlive the writes that are under way, and `queue` this.
    PlacementWriter(WriteQueue& queue, const PlacementWriterSettings& settings, std::uint64_t seed, OnEnd on_end)
        : queue_(queue), settings_(settings), chance_(seed), on_end_(std::move(on_end)) {}
    PlacementWriter(const PlacementWriter&) = delete;
    PlacementWriter& operator=(const PlacementWriter&) = delete;

    /// To be written, in place of what waits for the same replicas. `state`: of the schedule then; nullopt: as it is.
    void add(const ScheduleKey& key, const Changes& changes, std::optional<ScheduleState> state, Instant now);
    /// What waits for this schedule, for a write of its row that takes it along. REQUIRES: !is_writing(key).
    [[nodiscard]] Changes take(const ScheduleKey& key);
    [[nodiscard]] bool is_writing(const ScheduleKey& key) const;
    /// Whether something of it waits, or is being written.
    [[nodiscard]] bool is_busy(const ScheduleKey& key) const { return batches_.contains(key); }
    /// Forgets what waits; the outcome of what is being written is not reported.
    void clear();

    /// Hands out what is due. Without a lease that is valid for sure it waits; once the database has refused the lease,
    /// another instance writes, and all that waits ends as Fenced (rs R-090).
    void turn(const rs::Lease& lease, Instant now);
    /// When turn() has something to do; nullopt: nothing waits, but for the end of writes.
    [[nodiscard]] std::optional<Instant> next_due() const;

    /// Changes of replicas that are not in the database yet, those of writes under way included.
    [[nodiscard]] std::size_t unwritten() const { return waiting_ + under_way_; }
    [[nodiscard]] bool takes_asks() const { return unwritten() <= settings_.most_unwritten; }

private:
    struct Batch {
        std::map<std::int64_t, PlacementChange> waiting;
        std::optional<ScheduleState> state;
        Instant since;    // the oldest of `waiting` came
        Instant retry_at; // nothing is tried before
        unsigned failures = 0;
        bool is_writing = false;
    };
    using Batches = std::map<ScheduleKey, Batch>;

    [[nodiscard]] Instant due(const Batch& batch) const;
    void write(const ScheduleKey& key, Batch& batch, const rs::Lease& lease, Instant now);
    void finish(const ScheduleKey& key, const Changes& changes, std::optional<ScheduleState> state,
                const WriteOutcome& outcome, Instant now);
    void put_back(Batch& batch, const Changes& changes, std::optional<ScheduleState> state, Instant now);
    void end_all(const Fenced& outcome, Instant now);

    WriteQueue& queue_;
    const PlacementWriterSettings settings_;
    rs::Chance chance_;
    OnEnd on_end_;
    Batches batches_; // each has changes that wait, or a write under way
    std::size_t waiting_ = 0;
    std::size_t under_way_ = 0;
    std::uint64_t term_ = 0; // how often everything was forgotten
    RefusedLease refused_;
};

} // namespace yk::mcs
