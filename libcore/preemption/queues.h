// SPDX-License-Identifier: Apache-2.0
#pragma once
// The queue phase of queue preemption: the ask fits on the node by now, but may exceed limits of its queues; further
// victims make up for that (section 3.8 of docs/spec/preemption-gang-priority.md).
//
// Reads the partition, changes nothing there. Thread: the partition's owner.

#include <optional>
#include <vector>

#include "libcore/preemption/nodes.h"

namespace yk {

/// By how much the ask would exceed the max of its leaf and of each queue above it (P-070).
class Deficits {
public:
    Deficits(const Queue& leaf, const Resource& ask);

    [[nodiscard]] bool none() const noexcept;
    /// Whether taking the victim lowers a deficit of a queue that it is in.
    [[nodiscard]] bool lowered_by(const Candidate& victim) const noexcept;
    void take(const Candidate& victim) { change(victim, true); }
    void give_back(const Candidate& victim) { change(victim, false); }

private:
    struct Level {
        const Queue* queue;
        Resource over; // by type of both its max and the ask; 0 or less: no deficit
    };
    [[nodiscard]] bool holds(const Queue& queue, const Queue& leaf) const noexcept;
    void change(const Candidate& victim, bool taken);

    std::vector<Level> levels_; // leaf first
};

/// The victims beyond those of the node, taken in order and without one that is not needed; nullopt: they are not
/// enough. `view`: with the node's victims removed and charged. `candidates`: without the node's victims (P-071).
[[nodiscard]] std::optional<std::vector<Candidate>>
extra_victims(GuaranteeView& view, Deficits& deficits, const Resource& ask, std::vector<Candidate> candidates);

/// Adds to `victims` the node's plan[0..last], as a whole (P-063), and those that the queues need beyond them. All are
/// removed and charged in the attempt's view.
[[nodiscard]] PreemptionResult add_victims(AttemptContext& attempt, const NodeVictims& chosen, int last,
                                           std::vector<AllocationId>& victims);

} // namespace yk
