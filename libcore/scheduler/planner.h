#pragma once
// Planner: what is the next change of a partition? (S-300 to S-345, S-410 to S-435)
//
// It changes no usage and no state. What it learns on the way is kept as knowledge: blocked shapes, stalled
// reservations, and on the asks it tried that they were tried and why they were passed over (AttemptNotes).
//
//   planner.cpp             step 3: the walk, the first free ask of a group, the nodes (S-340 to S-345)
//   planner_backoff.cpp     step 3 in a leaf with back-off, where failures are counted (S-345)
//   planner_reserved.cpp    step 1: reservations (S-410 to S-413)
//   planner_preempting.cpp  when an ask looks for victims (P-020 to P-024, P-093); who they are: preemption.h
//   planner_inquiries.cpp   all of it with an RM that has predicates (I-377)
//   headroom.h              what is asked before any node is looked at
//   attempt_notes.h         what an attempt leaves behind on the asks
//
// Thread: the partition's owner. Cost: one descent over queues, applications and groups and one over nodes, plus the
// same again for each failure, and a failure blocks its shape until something changes in its favour.

#include <optional>

#include "libcore/scheduler/attempt_notes.h"
#include "libcore/scheduler/orders.h"
#include "libcore/scheduler/partition_state.h"
#include "libcore/scheduler/preemption.h"
#include "libcore/scheduler/preemption_checks.h"

namespace yk {

/// One change, decided but not done.
struct Plan {
    enum class Kind : std::uint8_t {
        None,
        Allocate, // place `ask` on `node`; a reservation that it holds goes (S-330, S-414)
        Reserve,  // keep `node` for `ask` (S-404)
        Preempt,  // the same, and Planner::victims() leave (P-072)
        Evict,    // they leave the node that `ask` has reserved (P-098)
        // what the RM's predicates are needed for; nothing is placed by these
        Ask,        // the RM is asked for `ask` and Planner::to_ask() (I-377)
        AskReserve, // the same, to reserve the node (S-403)
        AskVictims, // the RM is asked about the next nodes where `ask` may preempt (P-062)
        Refused,    // no node is left that the RM has not refused: `ask` waits for the next round
        Resume,     // the answer for `ask` was of no use: it waits in its order again
        Wait        // as many calls are in flight as may be (I-378)
    };
    Kind kind = Kind::None;
    AllocationId ask{};
    NodeId node{};

    explicit operator bool() const noexcept { return kind != Kind::None; }
    [[nodiscard]] bool is_inquiry() const noexcept { return kind >= Kind::Ask; }
};

class Planner {
public:
    Planner(PartitionState& state, Orders& orders, PreemptionChecks& checks)
        : s_(state), orders_(orders), checks_(checks), preemption_(state), notes_(state) {}

    /// Step 1 (S-410 to S-413): a reservation that can be fulfilled.
    [[nodiscard]] Plan plan_reserved(Instant now);
    /// Step 3 (S-340 to S-345): the first ask in order that can be placed, or is old enough to reserve a node.
    [[nodiscard]] Plan plan_regular(Instant now);

    /// Before the first step of a cycle.
    void begin_cycle(Instant now);
    /// Reservations that step 1 found to be over age (S-413); the caller drops them at the end of the cycle.
    [[nodiscard]] const std::vector<PartitionState::Aged>& to_drop() const noexcept { return to_drop_; }
    void forget_drops() noexcept { to_drop_.clear(); }
    /// The nodes of the last plan to ask the RM.
    [[nodiscard]] const std::vector<NodeId>& to_ask() const noexcept { return to_ask_; }
    /// Who goes by the last plan to preempt or evict.
    [[nodiscard]] const std::vector<AllocationId>& victims() const noexcept { return victims_; }
    [[nodiscard]] const PreemptionPlanner& preemption() const noexcept { return preemption_; }

    [[nodiscard]] AttemptNotes& notes() noexcept { return notes_; }

private:
    struct Candidate {
        ApplicationId application{};
        GroupId group{};    // none: an application that counts its failures (S-345)
        AllocationId ask{}; // its RM has answered: in front of all others (I-377)
    };
    struct Counted {
        Plan plan;
        bool group_failed = false; // no other of the group can pass either
        bool unschedulable = false;
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
    Plan try_counting(ApplicationId id, Instant now);
    Counted try_counted(AllocationId ask, Instant now);
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
    Plan attempt_counted(AllocationId ask, Instant now);
    Plan taking(Plan::Kind kind, AllocationId ask, PreemptionPlan plan);
    void note_attempt(AllocationId ask, PreemptionAttempt attempt, Instant now);
    Plan try_evicting(ReservationId id, Instant now);
    void tell_no_victim(AllocationId ask, Instant now);
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

    PartitionState& s_;
    Orders& orders_;
    PreemptionChecks& checks_;
    PreemptionPlanner preemption_;
    AttemptNotes notes_;
    struct Failure { // of an attempt in this walk: equal asks of the leaf fail alike
        const Queue* leaf;
        ShapeId shape;
        std::int32_t priority;
        PreemptionAttempt attempt;
    };
    std::vector<Failure> failures_;
    std::vector<PartitionState::Aged> to_drop_;
    std::vector<ApplicationId> counted_; // by try_counting in this cycle
    std::vector<GroupId> gang_held_;     // in this cycle
    std::vector<NodeId> to_ask_;
    std::vector<AllocationId> victims_;
};

} // namespace yk
