// SPDX-License-Identifier: Apache-2.0
#pragma once
// PartitionContext: the facade of a partition. It owns the state and the parts that change it, hands each part what it
// needs, and passes on what comes from above.
//
//   state     what there is (libcore/state); everybody here reads it
//   indexes   the order in which things are tried (libcore/planning), kept in step with the state
//   parts     each owns one kind of change (libcore/changes and this folder, in the order of the members below: a
//             part may use those above it), see README.md
//
// Owner: ClusterContext. Thread: the owner thread of its RM. Time is a parameter and never goes back.
// A change is planned on const state and then committed by code that cannot fail.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/changes/admission.h"
#include "libcore/changes/application_states.h"
#include "libcore/changes/foreign_allocations.h"
#include "libcore/changes/parked_asks.h"
#include "libcore/changes/pending_asks.h"
#include "libcore/changes/placeholder_swaps.h"
#include "libcore/changes/placements.h"
#include "libcore/changes/quota_preemption.h"
#include "libcore/changes/reservation_delays.h"
#include "libcore/changes/reservations.h"
#include "libcore/changes/task_groups.h"
#include "libcore/changes/unconfirmed_releases.h"
#include "libcore/changes/user_limits.h"
#include "libcore/changes/victim_marks.h"
#include "libcore/config/config.h"
#include "libcore/partition/applications.h"
#include "libcore/partition/ask_requests.h"
#include "libcore/partition/cycle.h"
#include "libcore/partition/dynamic_queues.h"
#include "libcore/partition/inquirer.h"
#include "libcore/partition/nodes.h"
#include "libcore/partition/queues.h"
#include "libcore/partition/releases.h"
#include "libcore/partition/restoration.h"
#include "libcore/planning/gang_planner.h"
#include "libcore/planning/planner.h"
#include "libcore/planning/scheduling_indexes.h"
#include "libcore/ports/cycle.h"
#include "libcore/state/partition_state.h"

namespace yk {

class PartitionContext {
public:
    PartitionContext(std::string name, std::string full_name, const Settings& settings, Callbacks& callbacks,
                     EventSink& events, RmCalls& calls, Holdings& held, Instant now);
    PartitionContext(const PartitionContext&) = delete;
    PartitionContext& operator=(const PartitionContext&) = delete;

    // --- configuration ----------------------------------------------------------------------------------------------
    /// An error if the queues cannot become those of `config` (C-435, S-562).
    [[nodiscard]] Result<void> check_queues(const config::Partition& config) const {
        return queues_.check(config.root, state_.queues.root());
    }
    /// The existing dynamic queues to which `config` would apply a template again, before and after (B-10). Not in
    /// pages, since configure() costs more. Cost: all queues.
    [[nodiscard]] std::vector<ReappliedView> template_changes(const config::Partition& config) const {
        return dynamic_queues_.template_changes(config);
    }
    /// Applies the configuration. REQUIRES: check_queues(config) is ok. Cost: all queues, groups and nodes; and all
    /// applications, if limits for groups changed.
    void configure(const config::Partition& config, Instant now);
    /// Removes everything, with notifications and events (S-563, I-124).
    void drop_everything(Instant now);
    /// Called after a change of the settings. Cost: all groups.
    void settings_changed(Instant now);

    // --- requests (S-440 to S-502) ----------------------------------------------------------------------------------
    [[nodiscard]] std::optional<Refusal> apply_ask(const AskSpec& spec, Instant now) {
        return restoration_.is_active() ? restoration_.apply_ask(spec, now) : ask_requests_.apply(spec, now);
    }
    /// `asks_only`: an entry of allocationAsksToRelease. A refusal means that the release is ignored.
    [[nodiscard]] std::optional<Refusal> release(const ReleaseSpec& spec, bool asks_only, Instant now) {
        return restoration_.is_active() ? restoration_.release(spec, asks_only, now)
                                        : releases_.release(spec, asks_only, now);
    }
    /// The path of its queue, or why it is refused.
    [[nodiscard]] Result<std::string, Refusal> add_application(const ApplicationSpec& spec, Instant now) {
        return restoration_.is_active() ? restoration_.add_application(spec, now) : applications_.add(spec, now);
    }
    /// A refusal means that the removal is ignored.
    [[nodiscard]] std::optional<Refusal> remove_application(std::string_view id, Instant now) {
        if (restoration_.is_active()) return restoration_.remove_application(id, now);
        applications_.remove(id, now);
        return std::nullopt;
    }
    [[nodiscard]] std::optional<Refusal> create_node(const NodeSpec& spec, Instant now) {
        return restoration_.is_active() ? restoration_.create_node(spec, now) : nodes_.create(spec, spec.existing, now);
    }
    /// After the request for the node was answered: notifies the RM of the allocations that it brought (S-481). While
    /// it recovers they are restored only now.
    /// `first`: which of what the nodes of the request bring is the first of this one.
    void announce_existing(const NodeSpec& spec, std::uint32_t first, Instant now) {
        restoration_.is_active() ? restoration_.restore_existing(spec, first, now) : nodes_.announce_existing(spec);
    }
    /// The actions UPDATE, DRAIN, SCHEDULABLE and DECOMISSION.
    [[nodiscard]] std::optional<Refusal> change_node(const NodeSpec& spec, Instant now) {
        return restoration_.is_active() ? restoration_.change_node(spec, now) : nodes_.change(spec, now);
    }

    // --- recovery (interface.md, section 3) -------------------------------------------------------------------------
    [[nodiscard]] Restoration& restoration() { return restoration_; }

    // --- cycles and time (timers.cpp) -------------------------------------------------------------------------------
    /// One scheduling cycle. `observer`, unless nullptr, is notified of its stages.
    CycleOutcome cycle(Instant now, CycleObserver* observer = nullptr) {
        state_.observer = observer;
        const CycleOutcome outcome = cycle_.run(now);
        state_.observer = nullptr;
        return outcome;
    }
    /// When fire_timer() has something to do next; nullopt: never.
    [[nodiscard]] std::optional<Instant> next_timer() const;
    /// Fires the next timer that is due at `now`; false: there is none.
    bool fire_timer(Instant now);
    /// After each request: drops timers that have become void and returns memory of removed objects, when there is much
    /// of either.
    void sweep();

    // --- reports (libcore/reports): free functions over the state ---------------------------------------------------
    /// The state with its indexes up to date.
    [[nodiscard]] const PartitionState& refreshed() {
        indexes_.refresh();
        return state_;
    }
    [[nodiscard]] const PartitionState& state() const { return state_; }
    /// Not const, since a report may bring this index up to date.
    [[nodiscard]] VictimIndex& victims() { return victims_; }
    [[nodiscard]] const CoreCounters& counters() const { return state_.counters; }
    /// The broken invariants, in words, see reports/check.h.
    [[nodiscard]] std::vector<std::string> check();

private:
    friend struct PartitionAccess; // tests/support/partition_access.h: places asks without search

    // timers.cpp
    void fire(const Timer& timer, Instant now);
    [[nodiscard]] bool counts(const Timer& timer);
    void report_outstanding();

    void configure_workload(const config::FragmentationSettings& settings, Instant now);

    PartitionState state_;
    std::uint64_t halving_ = 0; // the token of the timer that halves what was learnt of the workload
    VictimIndex victims_;       // speeds up the search for victims
    AttemptLog attempt_log_{state_};
    SchedulingIndexes indexes_{state_, victims_};
    PreemptionChecks checks_{state_, indexes_};
    Planner planner_{state_, victims_, indexes_, checks_, attempt_log_};
    GangPlanner gang_planner_{state_, indexes_};

    ReservationDelays reservation_delays_{state_, indexes_};
    TaskGroups task_groups_{state_, indexes_, victims_, attempt_log_};
    UserLimits user_limits_{state_, indexes_};
    UnconfirmedReleases unconfirmed_releases_{state_};
    VictimMarks victim_marks_{state_, indexes_, checks_, task_groups_, unconfirmed_releases_};
    ParkedAsks parked_asks_{state_, indexes_, checks_, reservation_delays_};
    Reservations reservations_{state_, indexes_, reservation_delays_, victim_marks_};
    PendingAsks pending_asks_{state_,       indexes_,      checks_,      attempt_log_, reservation_delays_,
                              task_groups_, victim_marks_, parked_asks_, reservations_};
    ApplicationStates application_states_{state_, indexes_, task_groups_, user_limits_};
    QuotaPreemption quota_preemption_{state_, victim_marks_};
    Placements placements_{state_,        indexes_,      task_groups_,      user_limits_,       victim_marks_,
                           reservations_, pending_asks_, quota_preemption_, application_states_};
    PlaceholderSwaps placeholder_swaps_{state_,        victims_,      task_groups_, unconfirmed_releases_,
                                        reservations_, pending_asks_, placements_};
    Admission admission_{state_, parked_asks_};
    ForeignAllocations foreign_allocations_{state_, pending_asks_, admission_};
    Queues queues_{state_, indexes_, quota_preemption_};
    DynamicQueues dynamic_queues_{state_, indexes_, checks_, queues_};
    Applications applications_{
        state_,      indexes_,           task_groups_, user_limits_,   pending_asks_, application_states_,
        placements_, placeholder_swaps_, admission_,   dynamic_queues_};
    Releases releases_{state_, pending_asks_, placements_, placeholder_swaps_, foreign_allocations_, applications_};
    AskRequests ask_requests_{state_,      reservations_, pending_asks_,        quota_preemption_,
                              placements_, admission_,    foreign_allocations_, application_states_};
    Nodes nodes_{
        state_,  indexes_,      reservations_, placements_, placeholder_swaps_, admission_, foreign_allocations_,
        queues_, applications_, ask_requests_};
    Restoration restoration_{state_, admission_, applications_, releases_, ask_requests_, nodes_};
    Inquirer inquirer_{state_, planner_, attempt_log_, parked_asks_};
    Cycle cycle_{state_,       indexes_,           checks_,
                 planner_,     gang_planner_,      victim_marks_,
                 parked_asks_, reservations_,      application_states_,
                 placements_,  placeholder_swaps_, inquirer_,
                 attempt_log_, reservation_delays_};
};

} // namespace yk
