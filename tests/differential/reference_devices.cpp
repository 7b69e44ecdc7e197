// SPDX-License-Identifier: Apache-2.0
// Resources that come in devices (devices-fragmentation.md section 1): who has what stands with the asks and the
// foreign allocations; what is in use of a device is added up from them.

#include <algorithm>
#include <iterator>
#include <utility>

#include "tests/differential/reference_partition.h"

namespace yk::reference {

namespace {

/// The lists in the attribute of the node; each ends with a bracket.
std::vector<std::set<std::int64_t>> groups_of(const Node& node) {
    std::vector<std::set<std::int64_t>> groups;
    for (const auto& [key, text] : node.attributes) {
        if (key != "ykd.io/device-groups") continue;
        std::set<std::int64_t> group;
        for (const char c : text) {
            if (c >= '0' && c <= '9') group.insert(c - '0');
            if (c == ']' && !group.empty()) groups.push_back(std::exchange(group, {}));
        }
    }
    return groups;
}

} // namespace

DevicePart part_of(const std::vector<Device>& devices, std::int64_t amount) {
    std::int64_t largest = 0;
    for (const Device& each : devices)
        if (!each.lost) largest = std::max(largest, each.size);
    if (amount <= largest) return {1, amount};
    const std::int64_t whole = whole_size(devices);
    if (whole > 0 && amount % whole == 0 && amount / whole <= 64) return {amount / whole, whole};
    return {0, amount};
}

/// The size that most of them have, the larger one on ties.
std::int64_t whole_size(const std::vector<Device>& devices) {
    std::map<std::int64_t, int> count;
    for (const Device& each : devices)
        if (each.size > 0) ++count[each.size];
    std::int64_t whole = 0;
    int most = 0;
    for (const auto& [size, number] : count)
        if (number >= most) {
            whole = size;
            most = number;
        }
    return whole;
}

std::vector<DeviceHold*> Partition::holds_on(const Node& node) {
    std::vector<DeviceHold*> found;
    for (auto& [id, app] : applications_)
        for (auto& [key, ask] : app->requests)
            if (ask.allocated && ask.node == node.id)
                for (DeviceHold& each : ask.holds) found.push_back(&each);
    for (auto& [key, foreign] : nodes_.at(node.id).foreign)
        for (DeviceHold& each : foreign.holds) found.push_back(&each);
    std::sort(found.begin(), found.end(), [](const auto* a, const auto* b) { return a->serial < b->serial; });
    return found;
}

std::vector<const DeviceHold*> Partition::holds_on(const Node& node) const {
    std::vector<const DeviceHold*> found;
    for (const auto& [id, app] : applications_)
        for (const auto& [key, ask] : app->requests)
            if (ask.allocated && ask.node == node.id)
                for (const DeviceHold& each : ask.holds) found.push_back(&each);
    for (const auto& [key, foreign] : node.foreign)
        for (const DeviceHold& each : foreign.holds) found.push_back(&each);
    return found;
}

std::int64_t Partition::used(const Node& node, const std::string& type, std::int64_t index) const {
    std::int64_t sum = 0;
    for (const DeviceHold* hold : holds_on(node))
        if (hold->type == type && hold->on.count(index) != 0) sum += hold->part.each;
    return sum;
}

bool Partition::in_conflict(const Node& node) const {
    const auto holds = holds_on(node);
    return std::any_of(holds.begin(), holds.end(), [](const DeviceHold* each) { return each->on.empty(); });
}

DevicePart Partition::wanted_part(const Node& node, const std::string& type, const Ask& ask) const {
    const auto stated = ask.stated.find(type);
    return stated != ask.stated.end() ? stated->second : part_of(node.devices.at(type), ask.resource.at(type));
}

std::set<std::int64_t> Partition::free_devices(const Node& node, const std::string& type,
                                               const DevicePart& part) const {
    std::set<std::int64_t> free;
    const std::vector<Device>& devices = node.devices.at(type);
    const bool whole = part.each == whole_size(devices);
    for (std::int64_t index = 0; index < static_cast<std::int64_t>(devices.size()); ++index) {
        const Device& device = devices[static_cast<std::size_t>(index)];
        const std::int64_t in_use = used(node, type, index);
        if (!device.lost && device.size - in_use >= part.each && (!whole || in_use == 0)) free.insert(index);
    }
    return free;
}

/// The devices of these that a part gets (F-005).
std::set<std::int64_t> Partition::chosen(const Node& node, const std::string& type, const DevicePart& part,
                                         const std::set<std::int64_t>& free) const {
    std::set<std::int64_t> got;
    if (part.count == 0 || static_cast<std::int64_t>(free.size()) < part.count) return got;
    const std::vector<Device>& devices = node.devices.at(type);
    if (part.each == whole_size(devices)) {
        std::set<std::int64_t> smallest = free;
        for (const std::set<std::int64_t>& group : groups_of(node)) {
            std::set<std::int64_t> there;
            std::set_intersection(free.begin(), free.end(), group.begin(), group.end(),
                                  std::inserter(there, there.begin()));
            if (static_cast<std::int64_t>(there.size()) >= part.count && there.size() < smallest.size())
                smallest = there;
        }
        for (const std::int64_t index : smallest)
            if (static_cast<std::int64_t>(got.size()) < part.count) got.insert(index);
        return got;
    }
    while (static_cast<std::int64_t>(got.size()) < part.count) {
        std::int64_t best = -1, least = 0;
        for (const std::int64_t index : free) {
            const std::int64_t left = devices[static_cast<std::size_t>(index)].size - used(node, type, index);
            if (got.count(index) == 0 && (best < 0 || left < least)) {
                best = index;
                least = left;
            }
        }
        got.insert(best);
    }
    return got;
}

bool Partition::has_devices(const Node& node, const Ask& ask) const {
    for (const auto& [type, devices] : node.devices) {
        const auto wanted = ask.resource.find(type);
        if (wanted == ask.resource.end() || wanted->second <= 0) continue;
        const DevicePart part = wanted_part(node, type, ask);
        if (in_conflict(node) || part.count == 0) return false;
        if (static_cast<std::int64_t>(free_devices(node, type, part).size()) < part.count) return false;
    }
    return true;
}

bool Partition::could_have_devices(const Node& node, const Ask& ask) const {
    for (const auto& [type, devices] : node.devices) {
        const auto wanted = ask.resource.find(type);
        if (wanted == ask.resource.end() || wanted->second <= 0) continue;
        const DevicePart part = wanted_part(node, type, ask);
        const auto enough = std::count_if(devices.begin(), devices.end(),
                                          [&](const Device& each) { return !each.lost && each.size >= part.each; });
        if (part.count == 0 || enough < part.count) return false;
    }
    return true;
}

void Partition::hold(Node& node, const std::string& type, std::vector<DeviceHold>& holds, DevicePart part,
                     std::int64_t only, bool ours, const std::set<std::int64_t>& better) {
    DeviceHold made{type, part, {}, only, ours, ++device_serial_};
    std::set<std::int64_t> free = free_devices(node, type, part);
    if (only >= 0) {
        const bool there = only < static_cast<std::int64_t>(node.devices.at(type).size());
        const bool is_free = ours ? free.count(only) != 0 : there;
        free = is_free ? std::set<std::int64_t>{only} : std::set<std::int64_t>{};
    }
    std::set<std::int64_t> preferred;
    std::set_intersection(free.begin(), free.end(), better.begin(), better.end(),
                          std::inserter(preferred, preferred.begin()));
    const bool enough = part.count > 0 && static_cast<std::int64_t>(preferred.size()) >= part.count;
    made.on = chosen(node, type, part, enough ? preferred : free);
    holds.push_back(made);
}

void Partition::take_devices(Node& node, const Ask& ask, std::vector<DeviceHold>& holds, bool ours,
                             const DevicesByType& better, const std::string& only_type) {
    for (const auto& [type, devices] : node.devices) {
        if (!only_type.empty() && type != only_type) continue;
        const auto wanted = ask.resource.find(type);
        if (wanted == ask.resource.end() || wanted->second <= 0) continue;
        const auto said = ask.said.find(type);
        if (said == ask.said.end() || !only_type.empty()) {
            const auto best = better.find(type);
            hold(node, type, holds, wanted_part(node, type, ask), -1, ours,
                 best != better.end() ? best->second : std::set<std::int64_t>{});
            continue;
        }
        for (const auto& [index, amount] : said->second) hold(node, type, holds, {1, amount}, index, ours, {});
    }
}

/// Those that wait for devices get them, as far as they are free.
void Partition::settle_devices(Node& node) {
    for (auto& [type, devices] : node.devices) {
        for (std::int64_t index = 0; index < static_cast<std::int64_t>(devices.size()); ++index) {
            Device& device = devices[static_cast<std::size_t>(index)];
            device.lost = device.lost && used(node, type, index) > device.size;
        }
        while (devices.size() > node.listed.at(type) &&
               used(node, type, static_cast<std::int64_t>(devices.size()) - 1) == 0)
            devices.pop_back();
    }
    for (DeviceHold* each : holds_on(node)) {
        if (!each->on.empty()) continue;
        if (each->part.count == 0) each->part = part_of(node.devices.at(each->type), each->part.each);
        std::set<std::int64_t> free = free_devices(node, each->type, each->part);
        if (each->only >= 0)
            free = free.count(each->only) != 0 ? std::set<std::int64_t>{each->only} : std::set<std::int64_t>{};
        each->on = chosen(node, each->type, each->part, free);
    }
}

void Partition::set_devices(Node& node, const std::vector<DeviceListSpec>& lists) {
    workload_changed_ = true;
    std::map<std::string, std::vector<std::int64_t>> wanted;
    for (const DeviceListSpec& each : lists) wanted[std::string{each.name}] = each.sizes;
    for (auto known = node.devices.begin(); known != node.devices.end();) {
        if (wanted.count(known->first) != 0) {
            ++known;
            continue;
        }
        for (auto& [id, app] : applications_)
            for (auto& [key, ask] : app->requests)
                if (ask.node == node.id)
                    std::erase_if(ask.holds, [&](const DeviceHold& each) { return each.type == known->first; });
        for (auto& [key, foreign] : node.foreign)
            std::erase_if(foreign.holds, [&](const DeviceHold& each) { return each.type == known->first; });
        known = node.devices.erase(known);
    }
    for (const DeviceListSpec& each : lists) {
        const std::string type{each.name};
        const bool is_new = node.devices.count(type) == 0;
        std::vector<Device>& devices = node.devices[type];
        devices.resize(std::max(devices.size(), each.sizes.size()));
        node.listed[type] = each.sizes.size();
        for (std::size_t index = 0; index < devices.size(); ++index) {
            devices[index].size = index < each.sizes.size() ? each.sizes[index] : 0;
            devices[index].lost = used(node, type, static_cast<std::int64_t>(index)) > devices[index].size;
        }
        while (devices.size() > each.sizes.size() &&
               used(node, type, static_cast<std::int64_t>(devices.size()) - 1) == 0)
            devices.pop_back();
        if (!is_new) {
            settle_devices(node);
            continue;
        }
        std::vector<std::pair<std::uint64_t, Ask*>> there;
        for (auto& [id, app] : applications_)
            for (auto& [key, ask] : app->requests)
                if (ask.allocated && ask.node == node.id) there.emplace_back(ask.arrival, &ask);
        std::sort(there.begin(), there.end());
        for (const auto& [position, ask] : there) take_devices(node, *ask, ask->holds, true, {}, type);
        std::vector<std::pair<std::uint64_t, Foreign*>> foreign;
        for (auto& [key, one] : node.foreign) foreign.emplace_back(one.arrival, &one);
        std::sort(foreign.begin(), foreign.end());
        for (const auto& [position, one] : foreign) {
            Ask as_ask;
            as_ask.resource = one->resource;
            as_ask.stated = one->stated;
            take_devices(node, as_ask, one->holds, false, {}, type);
        }
    }
}

} // namespace yk::reference
