// SPDX-License-Identifier: Apache-2.0
#pragma once
// Candidates: allocations that queue preemption may take for an ask: below the fence root, leaf by leaf (section 3.5 of
// docs/spec/preemption-gang-priority.md).
//
// Reads the partition, changes nothing there. Owner: AttemptContext, for one attempt. Thread: the partition's owner.

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "libcore/preemption/guarantee.h"
#include "libcore/state/preemption_attempt.h"
#include "libcore/state/victim_index.h"

namespace yk {

struct Candidate {
    AllocationId id{};
    const Allocation* allocation = nullptr;
    const Queue* leaf = nullptr;
    const Resource* size = nullptr;
    const Resource* charge = nullptr; // what it uses up of the asking queue's guarantee (P-053)
    std::int64_t priority = 0;        // effective, at the lowest queue above both its leaf and the ask's
    bool freely = false;              // its guarantee protects it neither now nor later in this attempt (P-052)
};

/// Whether `a` is taken before `b` (P-051).
[[nodiscard]] bool goes_before(const Candidate& a, const Candidate& b) noexcept;

/// The queue below which victims are looked for: the lowest one with a fence, or whose max the ask would exceed, or the
/// root (P-041).
[[nodiscard]] const Queue& fence_root(const Queue& leaf, const Resource& ask);

class Candidates {
public:
    Candidates(const PartitionState& state, const GuaranteeView& view, const Allocation& ask, const Queue& leaf);

    [[nodiscard]] const Queue& root() const noexcept { return root_; }
    /// Why nothing of the leaf may be taken; No: allocations are tested one by one. Decided once, when first needed
    /// (P-043).
    [[nodiscard]] Excluded leaf_excluded(const Queue& leaf) { return facts(leaf).verdict; }
    /// Why the allocation, of a leaf that is not excluded, may not be taken (P-044).
    [[nodiscard]] Excluded excluded(const Allocation& allocation, const Queue& leaf);
    /// What a victim of the shape uses up of the asking queue's guarantee (P-053).
    [[nodiscard]] const Resource& charge_of(ShapeId shape);
    /// The candidates on the node, in the order of its list of allocations.
    [[nodiscard]] std::vector<Candidate> on_node(const Node& node);
    /// Which leaves and priorities victims may come from, for the search in the VictimIndex. From then on
    /// Candidate::freely is set, which holds as long as all victims together are within `most`, and allocations that a
    /// guarantee protects in any case are not candidates.
    [[nodiscard]] VictimIndex::Terms terms(const Resource& most);
    /// The leaves that may have candidates.
    [[nodiscard]] const std::vector<const Queue*>& leaves();
    /// All candidates, in no order. Cost: the allocations in leaves().
    [[nodiscard]] const std::vector<Candidate>& all();
    /// How many allocations all() would look at; counting stops above `enough`.
    [[nodiscard]] std::size_t count(std::size_t enough);
    /// Writes the counts of what was looked at so far into `attempt`.
    void describe(PreemptionAttempt& attempt) const;

private:
    /// What holds for all allocations of one leaf.
    struct LeafFacts {
        Excluded verdict = Excluded::No;
        GuaranteeView::Protection protection{}; // set by terms()
        bool fenced = false;                    // a priority fence: all allocations have the priority `shift`
        std::int64_t shift = 0;                 // else added to the priority of an allocation
        std::int64_t own = 0;                   // the ask's priority, at the same queue
        [[nodiscard]] std::int64_t priority(std::int32_t plain) const noexcept {
            return fenced ? shift : shift + plain;
        }
    };
    [[nodiscard]] const LeafFacts& facts(const Queue& leaf);
    /// The allocation as a candidate; nullopt when it is none.
    [[nodiscard]] std::optional<Candidate> candidate(AllocationId id);
    void collect_leaves(const Queue& queue);
    [[nodiscard]] Excluded judge(const Queue& leaf) const;

    const PartitionState& state_;
    const GuaranteeView& view_;
    const Allocation& ask_;
    const Resource& size_;
    const Queue& leaf_;
    const Queue& root_;
    std::vector<std::optional<LeafFacts>> facts_; // by queue index
    std::map<std::uint32_t, Resource> charges_;   // by shape; unused if the whole victim is charged
    std::optional<std::vector<const Queue*>> leaves_;
    std::optional<std::vector<Candidate>> all_;
    std::array<std::uint64_t, kExcludedReasons> counts_{}; // of allocations, by verdict
};

} // namespace yk
