#pragma once
// Who may be taken for an ask by queue preemption: the fence root, the leaves below it, the allocations in them (3.5).
//
// Reads the partition, changes nothing there. Thread: the partition's owner; lives for one attempt.

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "libcore/scheduler/preemption_attempt.h"
#include "libcore/scheduler/preemption_guarantee.h"

namespace yk {

struct Candidate {
    AllocationId id{};
    const Allocation* allocation = nullptr;
    const Queue* leaf = nullptr;
    const Resource* size = nullptr;
    const Resource* charge = nullptr; // what of the asking queue's guarantee it takes (P-053)
    std::int64_t priority = 0;        // as seen where its queue and the ask's meet
    bool freely = false;              // P-052 does not stand against it, nor will it in this attempt
};

/// P-051: the order in which victims are taken.
[[nodiscard]] bool goes_before(const Candidate& a, const Candidate& b) noexcept;

/// P-041: victims are looked for below this queue.
[[nodiscard]] const Queue& fence_root(const Queue& leaf, const Resource& ask);

class Candidates {
public:
    Candidates(const PartitionState& state, const GuaranteeView& view, const Allocation& ask, const Queue& leaf);

    [[nodiscard]] const Queue& root() const noexcept { return root_; }
    /// P-043 for a leaf anywhere, as the view was when first asked.
    [[nodiscard]] Excluded leaf_excluded(const Queue& leaf) { return facts(leaf).verdict; }
    /// P-044 for an allocation of a leaf that is not excluded.
    [[nodiscard]] Excluded excluded(const Allocation& allocation, const Queue& leaf);
    /// What a victim of the shape takes of the asking queue's guarantee (P-053).
    [[nodiscard]] const Resource& charge_of(ShapeId shape);
    /// Those on the node, in the order in which they are there.
    [[nodiscard]] std::vector<Candidate> on_node(const Node& node);
    /// Who may be taken as far as leaves and priorities tell. From then on candidates know whether their leaf gives
    /// freely, as long as all victims are within `most` together, and those that are refused anyway are none.
    [[nodiscard]] VictimIndex::Terms terms(const Resource& most);
    /// The leaves with candidates, perhaps.
    [[nodiscard]] const std::vector<const Queue*>& leaves();
    /// All candidates, in no order. Cost: the allocations in leaves().
    [[nodiscard]] const std::vector<Candidate>& all();
    /// How many allocations all() would look at, or some number above `enough`.
    [[nodiscard]] std::size_t count(std::size_t enough);
    /// Enters what was looked at so far into `attempt`.
    void describe(PreemptionAttempt& attempt) const;

private:
    /// What holds for all allocations of a leaf.
    struct LeafFacts {
        Excluded verdict = Excluded::No;
        GuaranteeView::Protection protection{}; // once terms() were asked for
        bool fenced = false;                    // a fence below the fork: `shift` is the priority, not added to it
        std::int64_t shift = 0;
        std::int64_t own = 0;                   // the ask's priority where the two queues meet
        [[nodiscard]] std::int64_t priority(std::int32_t plain) const noexcept {
            return fenced ? shift : shift + plain;
        }
    };
    [[nodiscard]] const LeafFacts& facts(const Queue& leaf);
    /// The allocation as a candidate; nullopt when it is none.
    [[nodiscard]] std::optional<Candidate> candidate(AllocationId id);
    void collect_leaves(const Queue& queue);
    [[nodiscard]] Excluded judge(const Queue& leaf) const;

    const PartitionState& s_;
    const GuaranteeView& view_;
    const Allocation& ask_;
    const Resource& size_;
    const Queue& leaf_;
    const Queue& root_;
    std::vector<std::optional<LeafFacts>> facts_; // by queue index
    std::map<std::uint32_t, Resource> charges_;   // by shape, where they are not the whole victim
    std::optional<std::vector<const Queue*>> leaves_;
    std::optional<std::vector<Candidate>> all_;
    std::array<std::uint64_t, kExcludedReasons> counts_{}; // of allocations
};

} // namespace yk
