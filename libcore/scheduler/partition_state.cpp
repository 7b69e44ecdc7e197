#include "libcore/scheduler/partition_state.h"

#include <algorithm>

#include <charconv>

namespace yk {

std::uint32_t TextTable::intern(std::string_view text) {
    if (text.empty()) return 0;
    const auto known = ids_.find(text);
    if (known != ids_.end()) return known->second;
    const auto id = static_cast<std::uint32_t>(texts_.size());
    texts_.emplace_back(text);
    ids_.emplace(texts_.back(), id);
    return id;
}

ApplicationId PartitionState::find_application(std::string_view id) const {
    const auto found = application_ids.find(std::string{id});
    return found == application_ids.end() ? ApplicationId{} : found->second;
}

std::vector<ApplicationId> PartitionState::applications_by_name() const {
    std::vector<ApplicationId> ids;
    ids.reserve(applications.size());
    applications.for_each([&ids](ApplicationId id) { ids.push_back(id); });
    std::sort(ids.begin(), ids.end(),
              [this](ApplicationId a, ApplicationId b) { return applications[a].id < applications[b].id; });
    return ids;
}

AllocationId PartitionState::find_allocation(ApplicationId application, std::string_view key) const {
    return keys.find(mix_hash(application.index, key), [&](AllocationId id) {
        const Allocation& allocation = allocations[id];
        return allocation.application == application && allocation.key.view() == key;
    });
}

Queue* PartitionState::find_queue(std::string_view path) const {
    const std::string lower = lower_case(path);
    std::string_view rest = lower;
    Queue* queue = nullptr;
    while (!rest.empty()) {
        const std::size_t dot = rest.find('.');
        const std::string_view part = rest.substr(0, dot);
        if (queue == nullptr) {
            if (part != "root") return nullptr;
            queue = root.get();
        } else {
            const auto child = queue->children.find(part);
            if (child == queue->children.end()) return nullptr;
            queue = child->second.get();
        }
        if (dot == std::string_view::npos) return queue;
        rest = rest.substr(dot + 1);
    }
    return nullptr;
}

std::optional<Instant> creation_time(std::string_view text) {
    std::int64_t seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return Instant{sat_mul(seconds, 1'000'000'000)};
}

std::string lower_case(std::string_view text) {
    std::string lower{text};
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

} // namespace yk
