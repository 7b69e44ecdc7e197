// SPDX-License-Identifier: Apache-2.0
#pragma once
// GuaranteeView: guarantees and usage of the queues around one attempt, with virtual changes: victims removed, their
// size charged to the asking queue (section 3.3 of docs/spec/preemption-gang-priority.md).
//
// Reads the partition, changes nothing there. Owner: AttemptContext, for one attempt. Thread: the partition's owner.
// Cost: the usage of a queue is copied when it is first needed; a change and taking it back cost the depth of its leaf.

#include <optional>
#include <vector>

#include "libcore/state/partition_state.h"

namespace yk {

class GuaranteeView {
public:
    /// `leaf`: the queue of the ask, Q in the specification. REQUIRES: it outlives the view.
    GuaranteeView(const PartitionState& state, const Queue& leaf);

    /// What is left of the guarantee that applies to the queue, below zero if it is exceeded; nullopt: none applies
    /// anywhere up the tree (P-030).
    [[nodiscard]] std::optional<Resource> remaining(const Queue& queue) const;
    /// What is allocated, without what is being preempted; for Q and the queues above it with what was promised to asks
    /// that wait for victims.
    [[nodiscard]] const Resource& used(const Queue& queue) const;
    /// Whether the queue is Q or an ancestor of it (P-031).
    [[nodiscard]] bool is_above(const Queue& queue) const noexcept;

    /// Whether the guarantees of `leaf` and the queues above it let a victim of this size be taken for the ask (P-052).
    [[nodiscard]] bool may_take(const Queue& leaf, const Resource& victim, const Resource& ask) const;
    /// Whether the victim is within what is left of Q's guarantee (P-053).
    [[nodiscard]] bool may_charge(const Resource& victim) const;

    /// What may_take() comes to for victims of a leaf, as long as all victims for the ask together are within `most`.
    struct Protection {
        std::uint64_t never = 0; // a victim with an amount of one of these types is refused in this attempt
        bool freely = false;     // all others may be taken
    };
    [[nodiscard]] Protection protection(const Queue& leaf, const Resource& most, const Resource& ask) const;

    // --- virtual changes; `amount` outlives them -------------------------------------------------------------------
    /// A victim in `leaf` is removed.
    void remove(const Queue& leaf, const Resource& amount);
    /// Its size, or a part of it, is charged to Q.
    void charge(const Resource& amount);
    [[nodiscard]] std::size_t changes() const noexcept { return journal_.size(); }
    /// Takes back the latest changes until `count` are left.
    void rewind(std::size_t count);

private:
    struct Change {
        const Queue* leaf;
        const Resource* amount;
        bool charged;
    };
    /// The usage of the queue, copied when first needed.
    [[nodiscard]] Resource& slot(const Queue& queue) const;
    void apply(const Change& change, bool forward);

    const Queue& leaf_;
    std::vector<const Queue*> path_; // by depth, root first
    mutable std::vector<Resource> used_;
    mutable std::vector<bool> known_;
    std::vector<Change> journal_;
};

/// Calls f(id) for the types that both have, until it returns false. Whether it never did.
template <class F>
[[nodiscard]] bool all_common(const Resource& a, const Resource& b, F&& f) {
    for (std::uint64_t left = a.types() & b.types(); left != 0; left &= left - 1)
        if (!f(static_cast<ResourceId>(std::countr_zero(left)))) return false;
    return true;
}

} // namespace yk
