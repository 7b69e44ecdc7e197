// SPDX-License-Identifier: Apache-2.0
#pragma once
// ScheduleRows: keeps the rows of schedules as their Deployments and scales want them, and as the core has announced.
// What is decided counts at once in ScheduleTable; once it is written, the core is asked for it.
//
// The row of a schedule and its placements are written one after the other, never both at once. Rows that somebody else
// has written are taken back: they are this service's (rs R-002).
//
// Owner: Scheduler. Thread: its owner's.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/mcs/row_writer.h"
#include "libcore/mcs/scheduler/application_keeper.h"
#include "libcore/mcs/scheduler/placement_writer.h"
#include "libcore/mcs/scheduler/schedule_memory.h"
#include "libcore/mcs/scheduler/schedule_plan.h"
#include "libcore/resource_state/resource_cache.h"

namespace yk::mcs {

/// Who asks, with which right to write, and when.
struct SchedulerTurn {
    rs::Lease lease;
    Instant now; // of a clock that never goes back
};

class ScheduleRows {
public:
    /// How a write went that was under way when the answer was later().
    using Done = std::function<void(const rs::HandlerResult& result, Instant now)>;
    using Turn = SchedulerTurn;
    static constexpr Duration kTryAgain = std::chrono::milliseconds{200}; // what could not be written

    /// All must outlive it.
    struct Ports {
        const rs::ResourceCache<Deployment>& deployments;
        const rs::ResourceCache<DeploymentScale>& scales;
        const rs::ResourceCache<DeploymentSchedule>& schedules;
        const ScheduleTexts& texts;
        WriteQueue& writes;
        ScheduleTable& table;
        ApplicationKeeper& applications;
    };
    ScheduleRows(const Ports& ports, IsUsable is_usable, const PlacementWriterSettings& settings, std::uint64_t seed);
    ScheduleRows(const ScheduleRows&) = delete;
    ScheduleRows& operator=(const ScheduleRows&) = delete;

    // --- rows of the database. later(): `done` gets the result --------------------------------------
    /// A Deployment or its scale came or changed: what is to be written of its schedule is written.
    [[nodiscard]] rs::HandlerResult update(std::string_view id, const Turn& turn, Done done);
    /// The Deployment of this uid has gone: so do its schedule and application, unless they were released.
    [[nodiscard]] rs::HandlerResult remove(std::string_view id, std::string_view deployment_uid, const Turn& turn,
                                           Done done);
    /// The row of a schedule came or changed. What somebody else wrote there is taken back (rs R-002).
    [[nodiscard]] rs::HandlerResult row_changed(const DeploymentSchedule& row, const Turn& turn, Done done);
    /// It has gone. While the Deployment lives it is made again: a person has deleted it.
    [[nodiscard]] rs::HandlerResult row_deleted(const rs::ResourceMeta& last, const Turn& turn, Done done);
    /// Deletes the row, if the database finds no Deployment or no scale of its owner's uid (rs R-104).
    [[nodiscard]] rs::HandlerResult remove_orphan(const DeploymentSchedule& row, const Turn& turn, Done done);
    /// The row is written, so that the database counts its placements.
    [[nodiscard]] rs::HandlerResult recount(std::string_view id, const Turn& turn, Done done);

    // --- news of the core -------------------------------------------------------------------------
    /// All rows that the cache has are known from now on.
    void load_all(Instant now);
    /// What a notice of the core means for the replicas of a schedule.
    void carry_out(ScheduleMemory& memory, const ReplicaPlan& plan, Instant now);

    // --- time -------------------------------------------------------------------------------------
    void turn(const Turn& turn) { placements_.turn(turn.lease, turn.now); }
    [[nodiscard]] std::optional<Instant> next_due() const { return placements_.next_due(); }
    /// Another instance leads: nothing of what was known counts any more.
    void stand_down();

    [[nodiscard]] bool takes_asks() const { return placements_.takes_asks(); }
    [[nodiscard]] std::size_t unwritten() const { return placements_.unwritten(); }
    [[nodiscard]] bool is_writing(std::string_view id) const;

private:
    struct RowWrite;
    using RowWritePtr = std::shared_ptr<RowWrite>;

    [[nodiscard]] ScheduleMemory* known(std::string_view id, Instant now);
    [[nodiscard]] bool take_up(ScheduleMemory& memory, const DeploymentSchedule& row);
    ScheduleMemory& load(const DeploymentSchedule& row, Instant now);
    [[nodiscard]] static Duration pause_after(const WriteOutcome& outcome);
    void hand_out(ScheduleMemory& memory, const RowWritePtr& write, const Turn& turn);
    [[nodiscard]] WriteCommand command_for(const ScheduleMemory& memory, const RowWrite& write) const;
    void finish(RowWrite& write, const WriteOutcome& outcome, Instant now);
    void written(ScheduleMemory& memory, const RowWrite& write, const Written& outcome, Instant now);
    void not_written(ScheduleMemory& memory, const RowWrite& write, const WriteOutcome& outcome, Instant now);
    [[nodiscard]] rs::HandlerResult erase(const ScheduleKey& key, std::int64_t version, const Turn& turn, Done done);
    void give_up(ScheduleMemory& memory);
    void take_back(ScheduleMemory& memory, const DeploymentSchedule& row, Instant now);
    void placements_ended(const ScheduleKey& key, const PlacementWriter::Changes& changes, const WriteOutcome& outcome,
                          Instant now);

    const Ports ports_;
    const IsUsable is_usable_;
    RowWriter writer_;
    PlacementWriter placements_;
    std::set<std::string, std::less<>> deleted_; // uids of rows that were deleted, and that the cache may still show
    std::uint64_t term_ = 0;                     // how often it has stood down
};

} // namespace yk::mcs
