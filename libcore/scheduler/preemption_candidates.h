#pragma once
// Who may be taken for an ask by queue preemption: the fence root, the leaves below it, the allocations in them (3.5).
//
// Reads the partition, changes nothing there. Thread: the partition's owner; lives for one attempt.

#include <array>
#include <optional>
#include <vector>

#include "libcore/scheduler/preemption_guarantee.h"

namespace yk {

struct Candidate {
    AllocationId id{};
    const Allocation* allocation = nullptr;
    const Queue* leaf = nullptr;
    const Resource* size = nullptr;
    std::int64_t priority = 0; // as seen where its queue and the ask's meet
};

/// P-051: the order in which victims are taken.
[[nodiscard]] bool goes_before(const Candidate& a, const Candidate& b) noexcept;

/// P-041: victims are looked for below this queue.
[[nodiscard]] const Queue& fence_root(const Queue& leaf, const Resource& ask);

/// Why an allocation below the fence root is no candidate; for people, counted.
enum class Excluded : std::uint8_t {
    No,
    OwnQueue,
    Outside,
    Disabled,
    Protected,
    Type,
    RequiredNode,
    Leaving,
    Priority
};

class Candidates {
public:
    Candidates(const PartitionState& state, const GuaranteeView& view, const Allocation& ask, const Queue& leaf);

    [[nodiscard]] const Queue& root() const noexcept { return root_; }
    /// P-043 for a leaf anywhere, as the view was when first asked.
    [[nodiscard]] Excluded leaf_excluded(const Queue& leaf);
    /// P-044 for an allocation of a leaf that is not excluded.
    [[nodiscard]] Excluded excluded(const Allocation& allocation, const Queue& leaf) const;
    /// The allocation as a candidate; nullopt when it is none.
    [[nodiscard]] std::optional<Candidate> candidate(AllocationId id);

    /// The leaves with candidates, perhaps.
    [[nodiscard]] const std::vector<const Queue*>& leaves();
    /// All candidates, in no order. Cost: the allocations in leaves().
    [[nodiscard]] const std::vector<Candidate>& all();
    /// How many allocations all() would look at, or some number above `enough`.
    [[nodiscard]] std::size_t count(std::size_t enough);

private:
    void collect_leaves(const Queue& queue);
    [[nodiscard]] Excluded judge(const Queue& leaf) const;

    const PartitionState& s_;
    const GuaranteeView& view_;
    const Allocation& ask_;
    const Resource& size_;
    const Queue& leaf_;
    const Queue& root_;
    std::vector<std::optional<Excluded>> verdicts_; // by queue index
    std::optional<std::vector<const Queue*>> leaves_;
    std::optional<std::vector<Candidate>> all_;
};

} // namespace yk
