// SPDX-License-Identifier: Apache-2.0
#pragma once
// Inquirer: asks the RM about nodes and victims, and takes its answers (I-021, I-377 to I-379, P-062). It never waits
// for one: the ask is parked until then.
//
// Owner: PartitionContext. Thread: the partition's owner.

#include "libcore/changes/parked_asks.h"
#include "libcore/planning/attempt_log.h"
#include "libcore/planning/planner.h"
#include "libcore/state/partition_state.h"

namespace yk {

class Inquirer final : public AnswerTaker {
public:
    Inquirer(PartitionState& state, Planner& planner, AttemptLog& attempt_log, ParkedAsks& parked_asks)
        : state_(state), planner_(planner), attempt_log_(attempt_log), parked_asks_(parked_asks) {}
    Inquirer(const Inquirer&) = delete;
    Inquirer& operator=(const Inquirer&) = delete;

    /// Carries out a plan with Plan::is_inquiry().
    void inquire(const Plan& plan, Instant now);
    /// Asks whether the ask may run on the nodes; `allocate`: to place it there, else to reserve the one node.
    void call_predicates(AllocationId ask, const std::vector<NodeId>& nodes, bool allocate, Instant now);
    void take_answer(AllocationId ask, const CallAnswer& answer, Instant now) override;
    /// Lets the real asks of a gang rest for which the RM refused every node.
    void rest_gang(ApplicationId id, Instant now);

private:
    void offer_victims(AllocationId ask, Instant now);
    std::uint64_t call_preemption(AllocationId ask, const VictimOffer& offer);
    void take_verdicts(Inquiry& inquiry, const CallAnswer& answer, Instant now);
    void take_offer_answer(AllocationId ask, const CallAnswer& answer, Instant now);

    PartitionState& state_;
    Planner& planner_;
    AttemptLog& attempt_log_;
    ParkedAsks& parked_asks_;
};

} // namespace yk
