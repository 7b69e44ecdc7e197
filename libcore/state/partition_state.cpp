// SPDX-License-Identifier: Apache-2.0
#include "libcore/state/partition_state.h"

#include <algorithm>

#include "libcore/base/number.h"
#include "libcore/config/names.h"

namespace yk {

std::uint32_t TextTable::acquire(std::string_view text) noexcept {
    if (text.empty()) return 0;
    if (const auto known = ids_.find(text); known != ids_.end()) {
        acquire(known->second);
        return known->second;
    }
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(entries_.size()));
        entries_.emplace_back();
    }
    const std::uint32_t id = free_.back();
    free_.pop_back();
    entries_[id] = {std::string{text}, 1};
    ids_.emplace(entries_[id].text, id);
    meter_.add(Held::Names, bytes_of(text));
    return id;
}

void TextTable::release(std::uint32_t id) noexcept {
    Entry& entry = entries_[id];
    if (id == 0 || --entry.uses > 0) return;
    meter_.take(Held::Names, bytes_of(entry.text));
    ids_.erase(entry.text);
    entry = {};
    free_.push_back(id);
}

std::map<std::uint32_t, std::uint32_t> TextTable::uses() const {
    std::map<std::uint32_t, std::uint32_t> uses;
    for (const auto& [text, id] : ids_) uses.emplace(id, entries_[id].uses);
    return uses;
}

std::uint64_t TextTable::bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [text, id] : ids_) bytes += bytes_of(text);
    return bytes;
}

ApplicationId PartitionState::find_application(std::string_view id) const noexcept {
    return application_index.find(id);
}

void PartitionState::sort_by_name(std::vector<ApplicationId>& list) const noexcept {
    std::sort(list.begin(), list.end(),
              [this](ApplicationId a, ApplicationId b) { return applications[a].id < applications[b].id; });
}

ResourceMapView PartitionState::map_of(const Resource& amounts) const {
    ResourceMapView map;
    amounts.for_each([&](ResourceId id, std::int64_t value) { map.emplace(resources.name(id), value); });
    return map;
}

AllocationId PartitionState::find_ask(std::string_view application, std::string_view key) const {
    const ApplicationId id = find_application(application);
    return id.valid() ? find_allocation(id, key) : AllocationId{};
}

std::vector<AllocationId> PartitionState::pending_of(ApplicationId id) const {
    std::vector<AllocationId> pending;
    applications[id].groups.for_each([&](std::uint32_t group) {
        for (AllocationId ask = groups[GroupId{group}].head; ask.valid(); ask = {allocations[ask].links.pending.next})
            pending.push_back(ask);
    });
    std::sort(pending.begin(), pending.end(),
              [this](AllocationId a, AllocationId b) { return order_of(allocations[a]) < order_of(allocations[b]); });
    return pending;
}

[[gnu::hot]] UsageNodeId PartitionState::refusing_user_limit(const Application& application,
                                                             const Resource& ask) const {
    const UsageNodeId at = users.refusing(application.user_usage, ask);
    return at.valid() ? at : users.refusing(application.group_usage, ask);
}

UsageNodeId PartitionState::refusing_user_slot(const Application& application) const {
    if (!application.needs_user_slot()) return {};
    const UsageNodeId at = users.without_slot(application.user_usage);
    return at.valid() ? at : users.without_slot(application.group_usage);
}

std::optional<Resource> PartitionState::to_resource(const Quantities& quantities) {
    Resource amounts;
    std::size_t unknown = 0;
    for (const Quantity& quantity : quantities) {
        const ResourceId id = resources.find(quantity.name);
        if (id == ResourceNames::npos)
            ++unknown;
        else
            amounts.set(id, quantity.value);
    }
    if (unknown == 0) return amounts;
    if (resources.size() + unknown > most_types()) return std::nullopt;
    for (const Quantity& quantity : quantities) amounts.set(resources.intern(quantity.name), quantity.value);
    return amounts;
}

std::uint64_t PartitionState::most_types() const {
    const std::uint64_t limit = settings.budget.resource_types;
    return std::min<std::uint64_t>(restoring ? 2 * limit : limit, kMaxResourceTypes); // what runs is a fact
}

Resource PartitionState::to_resource(const config::ResourceMap& map) {
    Resource amounts;
    for (const auto& [type, value] : map)
        if (const ResourceId id = resources.intern(type); id != ResourceNames::npos) amounts.set(id, value);
    return amounts;
}

std::optional<Instant> creation_time(std::string_view text) {
    const auto seconds = to_number<std::int64_t>(text);
    if (!seconds) return std::nullopt;
    return Instant{sat_mul(*seconds, 1'000'000'000)};
}

} // namespace yk
