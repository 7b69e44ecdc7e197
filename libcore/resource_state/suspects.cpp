// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/suspects.h"

namespace yk::rs {

void Suspects::add(std::string_view id, const std::optional<Cursor>& head, Instant now) {
    if (suspects_.size() < kMost) suspects_.insert_or_assign(std::string{id}, Suspect{head, now});
}

void Suspects::clear(std::string_view id, std::size_t lane, Position at) {
    const auto found = suspects_.find(id);
    if (found == suspects_.end()) return;
    const auto& head = found->second.head;
    const bool is_comparable = head && lane < head->lanes.size();
    if (!is_comparable || head->covers(lane, at)) suspects_.erase(found);
}

std::vector<std::string> Suspects::take_repairs(const Cursor& consumed, Instant now) {
    std::vector<std::string> repairs;
    for (auto at = suspects_.begin(); at != suspects_.end();) {
        const auto& [head, since] = at->second;
        const bool is_comparable = head && head->epoch == consumed.epoch && head->lanes.size() == consumed.lanes.size();
        const bool is_proven = is_comparable ? reaches(consumed, *head) : now - since >= unproven_after_;
        if (is_proven) repairs.push_back(at->first);
        at = is_proven ? suspects_.erase(at) : std::next(at);
    }
    return repairs;
}

} // namespace yk::rs
