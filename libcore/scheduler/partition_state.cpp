#include "libcore/scheduler/partition_state.h"

#include <algorithm>

#include <charconv>

#include "libcore/config/names.h"

namespace yk {

std::uint32_t TextTable::acquire(std::string_view text) {
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
    ledger_.add(Held::Names, bytes_of(text));
    return id;
}

void TextTable::release(std::uint32_t id) {
    Entry& entry = entries_[id];
    if (id == 0 || --entry.uses > 0) return;
    ledger_.take(Held::Names, bytes_of(entry.text));
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

ApplicationId PartitionState::find_application(std::string_view id) const {
    const auto found = application_ids.find(std::string{id});
    return found == application_ids.end() ? ApplicationId{} : found->second;
}

void PartitionState::sort_by_name(std::vector<ApplicationId>& list) const {
    std::sort(list.begin(), list.end(),
              [this](ApplicationId a, ApplicationId b) { return applications[a].id < applications[b].id; });
}

ResourceMapView PartitionState::map_of(const Resource& amounts) const {
    ResourceMapView map;
    amounts.for_each([&](ResourceId id, std::int64_t value) { map.emplace(resources.name(id), value); });
    return map;
}

AllocationId PartitionState::find_allocation(ApplicationId application, std::string_view key) const {
    return keys.find(mix_hash(application.index, key), [&](AllocationId id) {
        const Allocation& allocation = allocations[id];
        return allocation.application == application && allocation.key.view() == key;
    });
}

Queue* PartitionState::find_queue(std::string_view path) const {
    const std::string lower = config::lower(path);
    if (lower.substr(0, lower.find('.')) != "root") return nullptr;
    Queue* queue = find_deepest(lower);
    return queue->path == lower ? queue : nullptr;
}

Queue* PartitionState::find_deepest(std::string_view path) const {
    Queue* queue = root.get();
    for (std::size_t dot = path.find('.'); dot != std::string_view::npos;) {
        const std::size_t next = path.find('.', dot + 1);
        const auto child = queue->children.find(path.substr(dot + 1, next - dot - 1));
        if (child == queue->children.end()) break;
        queue = child->second.get();
        dot = next;
    }
    return queue;
}

std::optional<Instant> creation_time(std::string_view text) {
    std::int64_t seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return Instant{sat_mul(seconds, 1'000'000'000)};
}

} // namespace yk
