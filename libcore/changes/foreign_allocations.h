// SPDX-License-Identifier: Apache-2.0
#pragma once
// ForeignAllocations: allocations on nodes that the core did not place and only counts (S-500 to S-502).
//
// Owner: PartitionContext. Thread: the partition's owner. Cost of each call: O(1), apart from names.

#include <string>
#include <unordered_map>

#include "libcore/changes/admission.h"
#include "libcore/changes/pending_asks.h"
#include "libcore/state/partition_state.h"

namespace yk {

class ForeignAllocations {
public:
    ForeignAllocations(PartitionState& state, PendingAsks& pending_asks, Admission& admission)
        : state_(state), pending_asks_(pending_asks), admission_(admission) {}
    ForeignAllocations(const ForeignAllocations&) = delete;
    ForeignAllocations& operator=(const ForeignAllocations&) = delete;

    /// Why it is refused, whatever exists under its key; nullopt: it is not.
    [[nodiscard]] std::optional<Refusal> refuse(const AskSpec& spec);
    /// Adds, moves or resizes it; else why it is refused.
    [[nodiscard]] std::optional<Refusal> apply(const AskSpec& spec, Instant now);
    /// Adds it. One with the same key is replaced; if that is on another node, it moves (S-501).
    void place(const AskSpec& spec, NodeId node, Instant now) noexcept;
    /// Removes it without an event.
    void forget(AllocationId id) noexcept;
    /// Removes it; a refusal: it is unknown.
    [[nodiscard]] std::optional<Refusal> release(const ReleaseSpec& spec, Instant now);

    /// Whether there is one with this key.
    [[nodiscard]] bool has(std::string_view key) const noexcept { return by_key_.count(std::string{key}) > 0; }

private:
    void drop(AllocationId id, Instant now) noexcept;

    PartitionState& state_;
    std::unordered_map<std::string, AllocationId> by_key_;
    PendingAsks& pending_asks_;
    Admission& admission_;
};

} // namespace yk
