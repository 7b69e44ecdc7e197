// SPDX-License-Identifier: Apache-2.0
#pragma once
// AskRequests: carries out requests with asks, and with allocations that the RM reports as placed (S-450 to S-457).
//
// Owner: PartitionContext. Thread: the partition's owner.

#include "libcore/changes/admission.h"
#include "libcore/changes/application_states.h"
#include "libcore/changes/foreign_allocations.h"
#include "libcore/changes/pending_asks.h"
#include "libcore/changes/placements.h"
#include "libcore/changes/quota_preemption.h"
#include "libcore/changes/reservations.h"
#include "libcore/state/partition_state.h"

namespace yk {

class AskRequests {
public:
    AskRequests(PartitionState& state, Reservations& reservations, PendingAsks& pending_asks,
                QuotaPreemption& quota_preemption, Placements& placements, Admission& admission,
                ForeignAllocations& foreign_allocations, ApplicationStates& application_states)
        : state_(state),
          reservations_(reservations),
          pending_asks_(pending_asks),
          quota_preemption_(quota_preemption),
          placements_(placements),
          admission_(admission),
          foreign_allocations_(foreign_allocations),
          application_states_(application_states) {}
    AskRequests(const AskRequests&) = delete;
    AskRequests& operator=(const AskRequests&) = delete;

    /// Why an ask is refused, whatever exists under its key; nullopt: it is not (S-450, I-141).
    [[nodiscard]] std::optional<Refusal> refuse_ask(const AskSpec& spec, ApplicationId application, bool node_unknown);
    /// Why a message for a key that exists is refused (I-143, I-147). `reported_on`: the name of the node that it is
    /// reported on; empty: on none. `node`: that node; none while it is being created.
    [[nodiscard]] std::optional<Refusal> refuse_known(const AskSpec& spec, ApplicationId application, NodeId node,
                                                      std::string_view reported_on) const;
    /// Carries out what is reported as placed: an unknown key is added, a pending ask is placed, an allocation is
    /// resized (S-451). `notify`: notify the RM of a new allocation.
    void place_reported(const AskSpec& spec, ApplicationId application, NodeId node, bool notify, Instant now);
    /// Adds or changes the ask; else why it is refused.
    [[nodiscard]] std::optional<Refusal> apply(const AskSpec& spec, Instant now);

private:
    void add_ask(const AskSpec& spec, ApplicationId application, Instant now);
    void add_existing(const AskSpec& spec, ApplicationId application, NodeId node, bool notify, Instant now);

    PartitionState& state_;
    Reservations& reservations_;
    PendingAsks& pending_asks_;
    QuotaPreemption& quota_preemption_;
    Placements& placements_;
    Admission& admission_;
    ForeignAllocations& foreign_allocations_;
    ApplicationStates& application_states_;
};

} // namespace yk
