// SPDX-License-Identifier: Apache-2.0
#pragma once
// AskIndex: asks and allocations by application and key, groups of equal asks by what makes them equal.
//
// Owner: PartitionState. Thread: the partition's owner. Cost: a hash and a few comparisons.

#include <cstdint>
#include <string_view>

#include "libcore/base/check.h"
#include "libcore/base/hash_index.h"
#include "libcore/base/slab.h"
#include "libcore/model/allocation.h"
#include "libcore/model/ask_group.h"

namespace yk {

class AskIndex {
public:
    AskIndex(const Slab<Allocation>& allocations, const Slab<AskGroup>& groups)
        : allocations_(allocations), groups_(groups) {}
    AskIndex(const AskIndex&) = delete;
    AskIndex& operator=(const AskIndex&) = delete;

    /// The ask or allocation; none: there is none.
    [[nodiscard]] AllocationId find(ApplicationId application, std::string_view key) const {
        return keys_.find(mix_hash(application.index, key), [&](AllocationId id) {
            const Allocation& allocation = allocations_[id];
            return allocation.application == application && allocation.key.view() == key;
        });
    }
    /// REQUIRES: its application and key do not change until it is removed.
    void add(AllocationId id) noexcept {
        YK_ASSUME(allocations_[id].application.valid(), "only what belongs to an application has an entry");
        keys_.insert(hash_of(allocations_[id]), id);
    }
    void remove(AllocationId id) noexcept { keys_.erase(hash_of(allocations_[id]), id); }

    /// The group of asks equal to this one, for which `task_group` counts; none when there is none.
    [[nodiscard]] GroupId find_group(const Allocation& ask, std::uint32_t task_group) const {
        return group_index_.find(hash_of(ask.application, ask.shape, ask.priority, task_group), [&](GroupId known) {
            const AskGroup& other = groups_[known];
            return other.application == ask.application && other.shape == ask.shape && other.priority == ask.priority &&
                   other.task_group == task_group;
        });
    }
    /// REQUIRES: what makes the group equal to asks does not change until it is removed.
    void add_group(GroupId id) noexcept { group_index_.insert(hash_of(groups_[id]), id); }
    void remove_group(GroupId id) noexcept { group_index_.erase(hash_of(groups_[id]), id); }

    /// The next number of an allocation in the order in which they came, never given before.
    [[nodiscard]] std::uint64_t next_arrival() noexcept { return next_arrival_++; }
    /// To be called now and then: returns the memory when most entries were removed.
    void give_back() {
        keys_.give_back();
        group_index_.give_back();
    }

private:
    [[nodiscard]] static std::uint32_t hash_of(const Allocation& allocation) {
        return mix_hash(allocation.application.index, allocation.key.view());
    }
    [[nodiscard]] static std::uint32_t hash_of(const AskGroup& group) {
        return hash_of(group.application, group.shape, group.priority, group.task_group);
    }
    [[nodiscard]] static std::uint32_t hash_of(ApplicationId application, ShapeId shape, std::int32_t priority,
                                               std::uint32_t task_group) {
        return mix_hash(std::uint64_t{application.index} << 32 | shape.index,
                        std::uint64_t{task_group} << 32 | static_cast<std::uint32_t>(priority));
    }

    const Slab<Allocation>& allocations_;
    const Slab<AskGroup>& groups_;
    HashIndex<AllocationId> keys_;
    HashIndex<GroupId> group_index_;
    std::uint64_t next_arrival_ = 1;
};

} // namespace yk
