// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scheduler: has the replicas of each Deployment placed by the core, as a resource manager like any other (rs R-122),
// and keeps their rows. It compares what the caches want with what it has decided so far, whoever asks: a handler
// because a row changed (scheduler_handlers.h), the core because it placed or gave up something, its own clock, or the
// reconciler because something slipped through. So it may be asked again at any time, in any order (rs R-084).
//
//   rows --ScheduleRows::update()--> plan --> database --> CoreRequests --> core --handle()--> plan --> database
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
    bool runs_commands = false; // of replicas on nodes of kind `local`
};

class Scheduler {
public:
    using Turn = SchedulerTurn;

    Scheduler(const SchedulerPorts& ports, const SchedulerSettings& settings, std::uint64_t seed);
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    /// How far the calendar is ahead of the clock: when something was placed is shown by it.
    void set_calendar(Duration ahead) { core_.set_calendar(ahead); }

    // --- rows -------------------------------------------------------------------------------------
    /// What changes in the database is reported there.
    [[nodiscard]] ScheduleRows& rows() {
        owner_thread_.claim();
        return rows_;
    }
    void node_changed(std::string_view id);
    /// Asks again for nodes that are not in the core as their rows are; returns for how many. Cost: O(nodes).
    std::size_t check_nodes();

    // --- the core ---------------------------------------------------------------------------------
    /// Whether something may run already, which a core that is new has to take over (rs R-123).
    [[nodiscard]] bool has_placements() const;
    /// See CoreSide, also for what the reconciler asks of it.
    [[nodiscard]] CoreSide& core_side() {
        owner_thread_.claim();
        return core_;
    }
    void registered(bool recovers, Instant now);
    void lost(const std::string& why);
    void handle(const CoreNotice& notice, Instant now);
    /// What the core has refused it may take now: its queues are others. Returns for how many Deployments.
    std::size_t queues_changed(Instant now);

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
