// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scheduler: has the replicas of each Deployment placed by the core, as a resource manager like any other (rs R-122),
// and keeps their rows. It compares what the caches want with what it has decided so far, whoever asks: a handler
// because a row changed (scheduler_handlers.h), the core because it placed or gave up something, its own clock, or the
// reconciler because something slipped through. So it may be asked again at any time, in any order (rs R-084).
//
//   rows --update()--> plan --> database --> CoreRequests --> core --handle()--> plan --> database
//
// A replica is asked for once its row is written, so that no allocation key is ever used twice. It only leads the parts
// below; each has its own file.
//
// Owner: the program. Thread: that of the caches, the first that calls it, which debug builds check; nothing here
// waits.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/base/owner_thread.h"
#include "libcore/mcs/scheduler/core_side.h"

namespace yk::mcs {

/// What the Scheduler works with. All must outlive it.
struct SchedulerPorts {
    const rs::ResourceCache<Deployment>& deployments;
    const rs::ResourceCache<DeploymentScale>& scales;
    const rs::ResourceCache<DeploymentSchedule>& schedules;
    const rs::ResourceCache<Node>& nodes;
    const ScheduleTexts& texts;
    WriteQueue& writes;
    CoreRequests& requests;
    MakeRecoverySums make_sums;
};

struct SchedulerSettings {
    PlacementWriterSettings placements{};
    ApplicationKeeper::Settings applications{};
};

class Scheduler {
public:
    using Turn = SchedulerTurn;
    using Done = ScheduleRows::Done;

    Scheduler(const SchedulerPorts& ports, const SchedulerSettings& settings, std::uint64_t seed);
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    /// How far the calendar is ahead of the clock: when something was placed is shown by it.
    void set_calendar(Duration ahead) { core_.set_calendar(ahead); }

    // --- rows. later(): `done` gets the result ----------------------------------------------------
    /// A Deployment or its scale came or changed: what is to be written of its schedule is written.
    [[nodiscard]] rs::HandlerResult update(std::string_view id, const Turn& turn, Done done);
    /// The Deployment of this uid has gone: so do its schedule and application, unless they were released.
    [[nodiscard]] rs::HandlerResult remove(std::string_view id, std::string_view deployment_uid, const Turn& turn,
                                           Done done);
    /// The row of a schedule came or changed. What somebody else wrote there is taken back (rs R-002).
    [[nodiscard]] rs::HandlerResult row_changed(const DeploymentSchedule& row, const Turn& turn, Done done);
    /// It has gone. While the Deployment lives it is made again: a person has deleted it.
    [[nodiscard]] rs::HandlerResult row_deleted(const DeploymentSchedule& last, const Turn& turn, Done done);
    /// Deletes the row, if the database finds no Deployment or no scale of its owner's uid (rs R-104).
    [[nodiscard]] rs::HandlerResult remove_orphan(const DeploymentSchedule& row, const Turn& turn, Done done);
    /// It is known here, and has no row: as row_deleted().
    [[nodiscard]] rs::HandlerResult row_missing(std::string_view id, const Turn& turn, Done done);
    /// The row is written, so that the database counts its placements.
    [[nodiscard]] rs::HandlerResult recount(std::string_view id, const Turn& turn, Done done);
    void node_changed(std::string_view id);
    /// Asks again for nodes that are not in the core as their rows are; returns for how many. Cost: O(nodes).
    std::size_t check_nodes();

    // --- the core ---------------------------------------------------------------------------------
    /// Whether something may run already, which a core that is new has to take over (rs R-123).
    [[nodiscard]] bool has_placements() const;
    /// See CoreSide.
    void registered(bool recovers, Instant now);
    void lost(const std::string& why);
    void handle(const CoreNotice& notice, Instant now);
    /// What the core has refused it may take now: its queues are others.
    void queues_changed(Instant now);

    // --- time -------------------------------------------------------------------------------------
    /// Does what is due. REQUIRES: this process leads.
    void turn(const Turn& turn);
    /// When turn() has something to do; nullopt: not before something happens.
    [[nodiscard]] std::optional<Instant> next_due(Instant now) const;
    /// Another instance leads: what was known counts no longer.
    void stand_down();

    // --- questions --------------------------------------------------------------------------------
    [[nodiscard]] const CoreSide& core() const { return core_; }
    [[nodiscard]] const ScheduleTable& table() const { return table_; }
    [[nodiscard]] const NodeKeeper& nodes() const { return nodes_; }
    [[nodiscard]] std::size_t unwritten() const { return rows_.unwritten(); }
    [[nodiscard]] bool is_writing(std::string_view id) const { return rows_.is_writing(id); }

private:
    void look(std::string_view id, const Turn& turn);
    void retry(ScheduleMemory& memory, Instant now);
    void plan_next_look(ScheduleMemory& memory, Instant now);

    [[no_unique_address]] OwnerThread owner_thread_;
    const rs::ResourceCache<DeploymentSchedule>& schedules_;
    ScheduleTable table_;
    NodeKeeper nodes_;
    ApplicationKeeper applications_;
    ScheduleRows rows_;
    CoreSide core_;
};

} // namespace yk::mcs
