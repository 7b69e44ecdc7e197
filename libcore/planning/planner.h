// SPDX-License-Identifier: Apache-2.0
#pragma once
// Planner: decides what the next change of a partition is (S-300 to S-345, S-410 to S-435).
//
// It changes neither usage nor the state of an application. What it learns on the way it keeps: blocked shapes, stalled
// reservations, and on the asks that they were tried and why they were passed over (AttemptLog).
//
//   planner.cpp             step 3: the walk, the first free ask of a group, the nodes (S-340 to S-345)
//   planner_backoff.cpp     step 3 in a leaf with back-off, which counts failures (S-345)
//   planner_reserved.cpp    step 1: reservations (S-410 to S-413)
//   planner_preempting.cpp  when an ask looks for victims, see queue_preemption.h (P-020 to P-024, P-093)
//   planner_inquiries.cpp   the same steps with an RM that has predicates (I-377)
//   headroom.h              the tests before any node is looked at
//   attempt_log.h           what an attempt leaves behind on the asks
//
// Owner: PartitionContext. Thread: the partition's owner. Cost: one descent over queues, applications and groups and
// one over nodes, and the same again for each failure; a failure blocks its shape until something changes in its
// favour.

#include <optional>

#include "libcore/planning/attempt_log.h"
#include "libcore/planning/preemption_checks.h"
#include "libcore/planning/scheduling_indexes.h"
#include "libcore/preemption/queue_preemption.h"
#include "libcore/state/partition_state.h"

namespace yk {

/// One change, decided but not done.
struct Plan {
    enum class Kind : std::uint8_t {
        None,
        Allocate, // place `ask` on `node`; its reservation, if any, is dropped (S-330, S-414)
        Reserve,  // keep `node` for `ask` (S-404)
        Preempt,  // keep `node` for `ask` and preempt Planner::victims() (P-072)
        Evict,    // preempt Planner::victims(), which are on the node that `ask` has reserved (P-098)
        // with an RM that has predicates; none of these places anything
        Inquire,        // ask the RM whether `ask` may run on the nodes of Planner::to_ask() (I-377)
        InquireReserve, // ask the RM whether that node may be reserved for `ask` (S-403)
        InquireVictims, // ask the RM about the next nodes where `ask` may preempt (P-062)
        Refused,        // the RM has refused every node for `ask`, which waits for the next round
        Resume,         // the answer for `ask` was of no use: put it back where it was in the order
        Wait            // the limit of calls in flight is reached (I-378)
    };
    Kind kind = Kind::None;
    AllocationId ask{};
    NodeId node{};

    explicit operator bool() const noexcept { return kind != Kind::None; }
    [[nodiscard]] bool is_inquiry() const noexcept { return kind >= Kind::Inquire; }
};

class Planner {
public:
    Planner(PartitionState& state, VictimIndex& victims, SchedulingIndexes& indexes, PreemptionChecks& checks,
            AttemptLog& log)
        : state_(state), indexes_(indexes), checks_(checks), preemption_(state, victims), log_(log) {}

    /// Step 1: a reservation that can be fulfilled (S-410 to S-413).
    [[nodiscard]] Plan plan_reserved(Instant now);
    /// Step 3: the first ask in order that can be placed, or is old enough to reserve a node (S-340 to S-345).
    [[nodiscard]] Plan plan_regular(Instant now);

    /// Forgets what held for the last cycle only. Called before the first step of a cycle.
    void begin_cycle(Instant now);
    /// Reservations that step 1 found to be too old; the caller drops them at the end of the cycle (S-413).
    [[nodiscard]] const std::vector<Ref<Reservation>>& to_drop() const noexcept { return to_drop_; }
    void forget_drops() noexcept { to_drop_.clear(); }
    /// The nodes that the last plan asks the RM about.
    [[nodiscard]] const std::vector<NodeId>& to_ask() const noexcept { return to_ask_; }
    /// The victims of the last plan to preempt or evict.
    [[nodiscard]] const std::vector<AllocationId>& victims() const noexcept { return victims_; }
    [[nodiscard]] const PreemptionPlanner& preemption() const noexcept { return preemption_; }

    [[nodiscard]] AttemptLog& attempt_log() noexcept { return log_; }

private:
    struct Candidate {
        ApplicationId application{};
        GroupId group{};    // none: the application is in a leaf with back-off (S-345)
        AllocationId ask{}; // valid: its RM has answered, so it comes before all others of the application (I-377)
    };
    struct BackoffAttempt {
        Plan plan;
        bool group_failed = false;  // equal asks of the group cannot pass either
        bool unschedulable = false; // counts towards the back-off of the application
    };

    // planner.cpp
    [[nodiscard]] Candidate find_candidate(const Masks& wanted) const;
    [[nodiscard]] bool passable(const AskGroup& group) const;
    bool hold_without_slot(ApplicationId id);
    Plan try_group(GroupId id, Instant now);
    Plan try_first_free(GroupId id, Instant now);
    Plan try_without_preemption(GroupId id, Instant now);
    bool hold_for_gang(GroupId id);
    [[nodiscard]] bool is_held_by_gang(const Application& application) const;
    Plan try_nodes(AllocationId ask, Instant now);
    Plan try_pinned(AllocationId ask, Instant now);
    [[nodiscard]] bool may_reserve(const Allocation& ask, Instant now) const;
    [[nodiscard]] bool is_pinned(ReservationId id) const;
    [[nodiscard]] bool can_take(NodeId node, AllocationId ask) const;
    // planner_backoff.cpp
    Plan try_with_backoff(ApplicationId id, Instant now);
    BackoffAttempt try_for_backoff(AllocationId ask, Instant now);
    // planner_reserved.cpp
    Plan try_reservations(ApplicationId id, Instant now);
    bool stalled_by_limit(ReservationId held, Instant now);
    Plan plan_elsewhere(ReservationId held);
    void stall(ReservationId id, bool by_headroom);
    void wake_aged();
    // planner_preempting.cpp
    [[nodiscard]] std::optional<bool> nodes_tried(const Allocation& ask) const;
    Plan try_preempting(GroupId id, AllocationId before, Instant now);
    [[nodiscard]] std::optional<Plan> attempt(AllocationId ask, Instant now);
    Plan attempt_with_backoff(AllocationId ask, Instant now);
    Plan plan_with_victims(Plan::Kind kind, AllocationId ask, PreemptionPlan plan);
    void note_attempt(AllocationId ask, PreemptionAttempt attempt, Instant now);
    Plan try_evicting(ReservationId id, Instant now);
    void emit_no_victim(AllocationId ask, Instant now);
    // planner_inquiries.cpp
    Plan try_answered(ApplicationId id, Instant now);
    Plan begin_offering(AllocationId ask, bool nodes_tried, Instant now);
    Plan go_on_offering(AllocationId ask, Instant now);
    Plan conclude_offering(AllocationId ask, const Offering& attempt, Instant now);
    [[nodiscard]] bool may_still_preempt(AllocationId ask, bool tried, Instant now) const;
    Plan try_checked(AllocationId ask, Instant now);
    Plan try_reserving(AllocationId ask, Instant now);
    [[nodiscard]] Plan checked(const Plan& plan);
    [[nodiscard]] Plan try_elsewhere(AllocationId ask);
    [[nodiscard]] NodeId take_fitting(AllocationId ask);
    [[nodiscard]] Plan ask_for(AllocationId ask, std::vector<NodeId> nodes, Plan::Kind kind);
    [[nodiscard]] std::vector<NodeId> next_nodes(AllocationId ask) const;
    [[nodiscard]] bool is_refused(AllocationId ask) const;
    Plan unless_waiting(ReservationId held, Plan plan);

    PartitionState& state_;
    SchedulingIndexes& indexes_;
    PreemptionChecks& checks_;
    PreemptionPlanner preemption_;
    AttemptLog& log_;
    struct Failure { // an attempt to preempt that failed in this cycle: equal asks of the leaf fail alike
        const Queue* leaf;
        ShapeId shape;
        std::int32_t priority;
        PreemptionAttempt attempt;
    };
    std::vector<Failure> failures_;
    std::vector<Ref<Reservation>> to_drop_;
    std::vector<ApplicationId> tried_with_backoff_; // in this cycle
    std::vector<GroupId> gang_held_;                // in this cycle
    std::vector<NodeId> to_ask_;
    std::vector<AllocationId> victims_;
};

} // namespace yk
