// SPDX-License-Identifier: Apache-2.0
#pragma once
// Admission: tests whether an element of a request is within the budget of its RM.
//
// Owner: PartitionContext. Thread: the partition's owner. Cost: the length of the element's names.

#include "libcore/changes/parked_asks.h"
#include "libcore/changes/requests.h"
#include "libcore/state/partition_state.h"

namespace yk {

/// The bytes that the names of an ask take, as if none of them was shared with other objects.
[[nodiscard]] std::uint64_t most_bytes(const AskSpec& spec);

class Admission {
public:
    Admission(PartitionState& state, ParkedAsks& parked_asks) : state_(state), parked_asks_(parked_asks) {}
    Admission(const Admission&) = delete;
    Admission& operator=(const Admission&) = delete;

    /// Why `claim` exceeds the budget; nullopt: it does not. If the bytes of names exceed it, what is kept for people
    /// only (ended applications, reasons of the RM) is dropped first; nothing else is changed. `fact`: see budget.h.
    [[nodiscard]] std::optional<Refusal> refuse_claim(const std::string& whose, const Holdings& claim, bool fact);
    /// The same for an ask. `known`: what exists under its key; none: it is new. An update of a pending ask can only
    /// be refused for longer tags or another task group, and then all stays as it was; an update of an allocation
    /// changes its size only and is never refused (S-456). `id`: its application, none for a foreign allocation.
    [[nodiscard]] std::optional<Refusal> refuse_ask_claim(const AskSpec& spec, ApplicationId id, AllocationId known,
                                                          bool fact);

private:
    PartitionState& state_;
    ParkedAsks& parked_asks_;
};

} // namespace yk
