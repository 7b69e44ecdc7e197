#pragma once
// GroupLists: the lists of groups that applications come with, each distinct one once. Owner: PartitionState.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace yk {

using GroupList = std::vector<std::string>; // in the order of the user's resolver

class GroupLists {
public:
    /// The same object for equal lists; valid until released as often as it was acquired.
    [[nodiscard]] const GroupList* acquire(const std::vector<std::string_view>& groups) {
        const auto entry = uses_.try_emplace({groups.begin(), groups.end()}, 0).first;
        ++entry->second;
        return &entry->first;
    }
    void release(const GroupList* list) noexcept {
        const auto entry = uses_.find(*list);
        if (--entry->second == 0) uses_.erase(entry);
    }
    [[nodiscard]] std::size_t size() const noexcept { return uses_.size(); }

private:
    std::map<GroupList, std::uint32_t> uses_;
};

} // namespace yk
