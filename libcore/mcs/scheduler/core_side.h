// SPDX-License-Identifier: Apache-2.0
#pragma once
// CoreSide: the Scheduler as a resource manager (RM) of the core: its state (rs R-123), what the core announces, and
// the recovery, by which a core that is new takes over what runs (rs R-124).
//
// In a recovery all that is placed is reported: applications, then nodes with what runs on them, then the sums of all
// that, which the core compares with what it has. What it could not restore is given up, and the replicas begin anew.
//
// Owner: Scheduler. Thread: its owner's.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/mcs/scheduler/application_comparison.h"
#include "libcore/mcs/scheduler/application_keeper.h"
#include "libcore/mcs/scheduler/node_keeper.h"
#include "libcore/mcs/scheduler/recovery_sums.h"
#include "libcore/mcs/scheduler/schedule_rows.h"

namespace yk::mcs {

enum class RmState : std::uint8_t {
    New, // the core does not know it
    Recovering,
    Running,
    Failed // the core has not taken over what runs: nothing is asked for until somebody has looked at it
};
[[nodiscard]] std::string_view name_of(RmState state);

class CoreSide {
public:
    /// All must outlive it.
    struct Parts {
        ScheduleTable& table;
        ScheduleRows& rows;
        ApplicationKeeper& applications;
        NodeKeeper& nodes;
        CoreRequests& requests;
        MakeRecoverySums make_sums;
    };
    explicit CoreSide(Parts parts) : parts_(std::move(parts)), applications_(parts_.table) {}

    /// The core knows the RM, and nothing of what it has. `recovers`: it waits for that.
    void registered(bool recovers, Instant now);
    /// The core knows nothing of the RM any more.
    void lost(const std::string& why);
    void handle(const CoreNotice& notice, Instant now);

    /// Nothing of it is in the core any more: its replicas begin anew.
    void lose_all(ScheduleMemory& memory, Instant now);

    /// Has the core list its applications, unless it is not running.
    void list_applications() const;
    enum class Mended : std::uint8_t {
        Removed, // an application that the core has lost, or that somebody has removed there, is asked for anew
        Unknown  // an application that no schedule has is removed there
    };
    /// Mends one difference that the last lists have shown; nullopt: none is left.
    std::optional<Mended> mend_application(Instant now);

    /// How far the calendar is ahead of the clock.
    void set_calendar(Duration ahead) { calendar_ahead_ = ahead; }
    [[nodiscard]] RmState state() const { return state_; }
    /// Why it is in that state, for people; empty: no reason is needed.
    [[nodiscard]] const std::string& reason() const { return reason_; }

private:
    void on(const ApplicationAccepted& notice, Instant now);
    void on(const ApplicationRejected& notice, Instant now);
    void on(const ApplicationEnded& notice, Instant now);
    void on(const ReplicaPlaced& notice, Instant now);
    void on(const ReplicaGone& notice, Instant now);
    void on(const ReplicaRejected& notice, Instant now);
    void on(const ApplicationsListed& notice, Instant now);
    void on(const NodeAccepted& notice, Instant now);
    void on(const NodeRefused& notice, Instant now);
    void on(const RecoveryAnswered& notice, Instant now);

    void recover(Instant now);
    void report(ScheduleMemory& memory, NodeKeeper::Placed& placed, Instant now);
    void end_recovery();
    void give_up(const RecoveryAnswered::SetAside& object, Instant now);
    void run(Instant now);
    void lose(ScheduleMemory& memory, const std::string& key, Instant now);
    void lose_node(std::string_view node_id, Instant now);

    const Parts parts_;
    RmState state_ = RmState::New;
    std::string reason_;
    std::uint32_t attempt_ = 0; // of the recovery
    Duration calendar_ahead_{};
    ApplicationComparison applications_;
};

} // namespace yk::mcs
