// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cycle: the scheduling cycle of a partition: asks the planners for the next change and commits it (S-300 to S-305).
//
// Owner: PartitionContext. Thread: the partition's owner.

#include "libcore/changes/application_states.h"
#include "libcore/changes/parked_asks.h"
#include "libcore/changes/placeholder_swaps.h"
#include "libcore/changes/placements.h"
#include "libcore/changes/reservation_delays.h"
#include "libcore/changes/reservations.h"
#include "libcore/changes/victim_marks.h"
#include "libcore/partition/inquirer.h"
#include "libcore/planning/attempt_log.h"
#include "libcore/planning/gang_planner.h"
#include "libcore/planning/planner.h"
#include "libcore/planning/preemption_checks.h"
#include "libcore/planning/scheduling_indexes.h"
#include "libcore/state/partition_state.h"

namespace yk {

class Cycle {
public:
    Cycle(PartitionState& state, SchedulingIndexes& indexes, PreemptionChecks& checks, Planner& planner,
          GangPlanner& gang_planner, VictimMarks& victim_marks, ParkedAsks& parked_asks, Reservations& reservations,
          ApplicationStates& application_states, Placements& placements, PlaceholderSwaps& placeholder_swaps,
          Inquirer& inquirer, AttemptLog& attempt_log, ReservationDelays& reservation_delays)
        : state_(state),
          indexes_(indexes),
          checks_(checks),
          planner_(planner),
          gang_planner_(gang_planner),
          victim_marks_(victim_marks),
          parked_asks_(parked_asks),
          reservations_(reservations),
          application_states_(application_states),
          placements_(placements),
          placeholder_swaps_(placeholder_swaps),
          inquirer_(inquirer),
          attempt_log_(attempt_log),
          reservation_delays_(reservation_delays) {}
    Cycle(const Cycle&) = delete;
    Cycle& operator=(const Cycle&) = delete;

    /// One cycle, in which at most one ask is placed. Cost: that of the planners, see planner.h.
    CycleOutcome run(Instant now);

private:
    /// Step 2. Whether the swap of a placeholder for a real ask was begun.
    bool replace_one(Instant now);
    /// Steps 1 and 3, including the questions to the RM that a plan needs first.
    [[nodiscard]] Plan plan_reserved(Instant now);
    [[nodiscard]] Plan plan_regular(Instant now);
    /// Preempts all victims or none; then the ask holds the node (P-072, P-098). Whether it was done.
    bool commit_victims(const Plan& plan, Instant now);
    /// Commits a plan. Whether that placed an ask.
    bool execute(const Plan& plan, Instant now);
    /// Drops reservations that are too old; at the end of the cycle, so that only the next one uses what that frees
    /// (S-413). How many.
    std::uint32_t drop_planned(Instant now);

    PartitionState& state_;
    SchedulingIndexes& indexes_;
    PreemptionChecks& checks_;
    Planner& planner_;
    GangPlanner& gang_planner_;
    VictimMarks& victim_marks_;
    ParkedAsks& parked_asks_;
    Reservations& reservations_;
    ApplicationStates& application_states_;
    Placements& placements_;
    PlaceholderSwaps& placeholder_swaps_;
    Inquirer& inquirer_;
    AttemptLog& attempt_log_;
    ReservationDelays& reservation_delays_;
};

} // namespace yk
