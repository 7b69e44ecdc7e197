#pragma once
// GuaranteeView: guarantees and usage of the queues around one attempt, with virtual changes (3.3, "W"): victims taken
// out, their size charged to the asking queue. Only the queues that are asked for are copied, and every change can be
// taken back, so a trial costs what it touches.
//
// Reads the partition, changes nothing there. Thread: the partition's owner; lives for one attempt.

#include <optional>
#include <vector>

#include "libcore/scheduler/partition_state.h"

namespace yk {

class GuaranteeView {
public:
    /// `leaf`: the queue of the ask, Q.
    GuaranteeView(const PartitionState& state, const Queue& leaf);

    /// P-030: what is left of the guarantee that applies to the queue; nullopt: none applies anywhere up the tree.
    [[nodiscard]] std::optional<Resource> remaining(const Queue& queue) const;
    /// 3.3: allocated without what is preempted already; with what was promised, for Q and above.
    [[nodiscard]] const Resource& used(const Queue& queue) const;
    /// Whether the queue is Q or an ancestor of it, by the tree (P-031).
    [[nodiscard]] bool is_above(const Queue& queue) const noexcept;

    /// P-052: whether a victim of this size may go from `leaf` for the ask.
    [[nodiscard]] bool may_take(const Queue& leaf, const Resource& victim, const Resource& ask) const;
    /// P-053: whether Q's guarantee still leaves room for the victim.
    [[nodiscard]] bool may_charge(const Resource& victim) const;

    /// What P-052 comes to for victims of a leaf, as long as all that are taken for the ask are within `most` together.
    struct Protection {
        std::uint64_t never = 0; // who has something of these types may not go, now or in this attempt
        bool freely = false;     // nobody else is refused
    };
    [[nodiscard]] Protection protection(const Queue& leaf, const Resource& most, const Resource& ask) const;

    // --- virtual changes; `amount` outlives the view ---------------------------------------------------------------
    void remove(const Queue& leaf, const Resource& amount);
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
    [[nodiscard]] Resource& slot(const Queue& queue) const;
    void apply(const Change& change, bool forward);

    const Queue& leaf_;
    std::vector<const Queue*> path_; // by depth, root first
    mutable std::vector<Resource> used_;
    mutable std::vector<bool> known_;
    std::vector<Change> journal_;
};

/// f(id) until it returns false; whether it never did. Over the types of both.
template <class F>
[[nodiscard]] bool all_common(const Resource& a, const Resource& b, F&& f) {
    for (std::uint64_t left = a.types() & b.types(); left != 0; left &= left - 1)
        if (!f(static_cast<ResourceId>(std::countr_zero(left)))) return false;
    return true;
}

} // namespace yk
