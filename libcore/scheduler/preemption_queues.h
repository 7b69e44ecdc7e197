#pragma once
// The queue phase of queue preemption: what the limits of the ask's queues are short of once the node has room, and the
// further victims that make up for it (3.8).
//
// Reads the partition, changes nothing there. Thread: the partition's owner.

#include <optional>
#include <vector>

#include "libcore/scheduler/preemption_nodes.h"

namespace yk {

/// P-070: by how much the ask would overrun each limit from its leaf up to root.
class Deficits {
public:
    Deficits(const Queue& leaf, const Resource& ask);

    [[nodiscard]] bool none() const noexcept;
    /// Whether it lowers a deficit of a queue that it is in.
    [[nodiscard]] bool lowered_by(const Candidate& victim) const noexcept;
    void take(const Candidate& victim) { change(victim, true); }
    void give_back(const Candidate& victim) { change(victim, false); }
    /// The lowest queue that is short; REQUIRES: !none().
    [[nodiscard]] const Queue& short_queue() const noexcept;

private:
    struct Level {
        const Queue* queue;
        Resource over; // of the types in its max and the ask; not above 0: enough
    };
    [[nodiscard]] bool holds(const Queue& queue, const Queue& leaf) const noexcept;
    void change(const Candidate& victim, bool taken);

    std::vector<Level> levels_; // leaf first
};

/// P-071: the victims beyond those of the node, fewest that the order gives; nullopt: it falls short. `view`: with the
/// node's victims removed and charged. `candidates`: without the node's victims.
[[nodiscard]] std::optional<std::vector<Candidate>>
extra_victims(GuaranteeView& view, Deficits& deficits, const Resource& ask, std::vector<Candidate> candidates);

/// The node's victims plan[0..last] as a whole (P-063) and those that the queues need on top; they are removed and
/// charged in the ground's view.
[[nodiscard]] PreemptionResult add_victims(PreemptionGround& ground, const NodeVictims& chosen, int last,
                                           std::vector<AllocationId>& victims);

} // namespace yk
