// SPDX-License-Identifier: Apache-2.0
#pragma once
// GroupLists: the lists of groups that applications come with, each distinct one once. Owner: PartitionState.

#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/ports/budget.h"

namespace yk {

using GroupList = std::vector<std::string>; // in the order of the user's resolver

class GroupLists {
public:
    /// `meter` counts the names in distinct lists.
    explicit GroupLists(BudgetMeter& meter) : meter_(meter) {}

    /// The same object for equal lists; valid until released as often as it was acquired.
    [[nodiscard]] const GroupList* acquire(const std::vector<std::string_view>& groups) noexcept {
        const auto [entry, is_new] = uses_.try_emplace({groups.begin(), groups.end()}, 0);
        if (is_new) meter_.add(Held::Names, bytes_of(entry->first));
        ++entry->second;
        return &entry->first;
    }
    void release(const GroupList* list) noexcept {
        const auto entry = uses_.find(*list);
        if (--entry->second > 0) return;
        meter_.take(Held::Names, bytes_of(entry->first));
        uses_.erase(entry);
    }
    [[nodiscard]] std::size_t size() const noexcept { return uses_.size(); }
    /// What `meter` counts for them, added up again.
    [[nodiscard]] std::uint64_t bytes() const noexcept {
        std::uint64_t bytes = 0;
        for (const auto& [list, uses] : uses_) bytes += bytes_of(list);
        return bytes;
    }

private:
    [[nodiscard]] static std::uint64_t bytes_of(const GroupList& list) noexcept {
        return std::accumulate(list.begin(), list.end(), std::uint64_t{0},
                               [](std::uint64_t sum, const std::string& group) { return sum + yk::bytes_of(group); });
    }

    BudgetMeter& meter_;
    std::map<GroupList, std::uint32_t> uses_;
};

} // namespace yk
