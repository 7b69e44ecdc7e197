// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gang: what an application knows of its placeholders and of the real asks that wait to replace them
// (gang scheduling, G-001 to G-077).
//
// Owner: Application. Thread: the partition's owner. Changed by TaskGroups and PlaceholderSwaps only.
// Invariants, checked by check_partition():
//  A  count - replaced - timed_out of a group is the number of its placeholders pending or allocated (G-026)
//  B  `free` holds its placed placeholders that are neither released nor preempted, `asks` its pending real asks
//  C  a group is in `ready` iff both are not empty

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "libcore/base/time.h"
#include "libcore/model/allocation.h"
#include "libcore/resources/resource.h"

namespace yk {

/// By creation time, then by key (section 1.4 of preemption-gang-priority.md).
struct PlaceholderOrder {
    const Slab<Allocation>* allocations;

    bool operator()(AllocationId a, AllocationId b) const {
        const Allocation& left = (*allocations)[a];
        const Allocation& right = (*allocations)[b];
        if (left.created != right.created) return left.created < right.created;
        return left.key.view() < right.key.view();
    }
};

struct TaskGroup {
    explicit TaskGroup(const Slab<Allocation>& allocations) : free(PlaceholderOrder{&allocations}) {}

    Resource min_resource; // size of the first placeholder seen
    std::uint64_t count = 0;
    std::uint64_t replaced = 0;
    std::uint64_t timed_out = 0;
    std::set<AllocationId, PlaceholderOrder> free;
    std::map<AskOrder, AllocationId> asks;
    std::vector<GroupId> ask_groups; // of the pending real asks
    bool open = false;               // is_open() as the ask groups know it

    /// Whether its real asks wait for a placeholder (G-030).
    [[nodiscard]] bool is_open() const noexcept { return count > replaced + timed_out; }
    [[nodiscard]] bool is_ready() const noexcept { return !free.empty() && !asks.empty(); }
};

struct Gang {
    bool hard = false;                         // its style is Hard, not Soft (G-003)
    Duration timeout{};                        // of its placeholders (G-007)
    std::uint64_t timer = 0;                   // the placeholder timer that counts; 0: none
    std::uint32_t in_flight = 0;               // real asks that wait for the RM's confirmation (G-040)
    std::uint32_t free = 0;                    // in all groups
    std::map<std::uint32_t, TaskGroup> groups; // by the text id of the name
    std::vector<TaskGroup*> ready;             // in no order
    bool stalled = false;                      // nothing can be replaced until something changes
    bool sum_emitted = false;                  // that its placeholders do not add up to what it announced

    [[nodiscard]] bool may_replace() const noexcept { return !stalled && !ready.empty(); }
};

} // namespace yk
