// SPDX-License-Identifier: Apache-2.0
#include "libcore/changes/requests.h"

#include <algorithm>
#include <charconv>

#include "libcore/resources/resource.h"

namespace yk {

bool is_foreign(const AskSpec& spec) {
    return std::any_of(spec.tags.begin(), spec.tags.end(), [](const Tag& tag) { return tag.key == kForeign; });
}

bool any_negative(const Quantities& quantities) {
    return std::any_of(quantities.begin(), quantities.end(), [](const Quantity& q) { return q.value < 0; });
}

std::string quoted(std::string_view text) {
    return "'" + std::string{text} + "'";
}

Refusal too_many_types(const std::string& what, std::uint64_t limit) {
    return {what + ": a partition holds at most " + std::to_string(limit) +
                " resource types (rmMaxResourceTypes of ykd.conf, at most " + std::to_string(kMaxResourceTypes) + ")",
            ElementCode::NoCapacity};
}

// --- devices --------------------------------------------------------------------------------------------------------

namespace {

/// 0 when the list does not name it.
std::int64_t amount_of(const Quantities& quantities, std::string_view name) {
    const auto found =
        std::find_if(quantities.begin(), quantities.end(), [name](const Quantity& each) { return each.name == name; });
    return found == quantities.end() ? 0 : found->value;
}

/// What is wrong with the devices of one resource of an ask; empty: nothing.
std::string fault_of(const DevicesSpec& devices, std::int64_t amount, bool placed) {
    const std::string name{devices.name};
    if (devices.on.empty()) {
        if (devices.count < 1 || devices.count > kMostDevices || devices.each < 1)
            return "states " + std::to_string(devices.count) + " devices of " + name + " with " +
                   std::to_string(devices.each) + " each; it can be 1 to " + std::to_string(kMostDevices) +
                   " devices with at least 1 each";
        if (sat_mul(devices.each, devices.count) == amount) return {};
        return "states " + std::to_string(devices.count) + " x " + std::to_string(devices.each) + " of " + name +
               ", but asks for " + std::to_string(amount);
    }
    if (!placed) return "names devices of " + name + ", but no node that they are on";
    DeviceMask seen = 0;
    std::int64_t sum = 0;
    for (const DeviceAmount& each : devices.on) {
        if (each.index >= kMostDevices || each.amount < 1)
            return "has " + std::to_string(each.amount) + " of device " + std::to_string(each.index) + " of " + name +
                   "; devices are 0 to " + std::to_string(kMostDevices - 1) + ", amounts at least 1";
        const DeviceMask bit = bit_of_device(each.index);
        if ((seen & bit) != 0) return "names device " + std::to_string(each.index) + " of " + name + " twice";
        seen |= bit;
        sum = sat_add(sum, each.amount);
    }
    if (sum == amount) return {};
    return "has " + std::to_string(sum) + " of devices of " + name + ", but " + std::to_string(amount) + " in all";
}

} // namespace

std::optional<Refusal> refuse_devices(const AskSpec& spec, bool placed) {
    for (const DevicesSpec& each : spec.devices)
        if (std::string fault = fault_of(each, amount_of(spec.resource, each.name), placed); !fault.empty())
            return Refusal{title_of(spec) + " " + fault, ElementCode::Devices};
    return std::nullopt;
}

std::vector<DeviceDemand> stated_devices(const PartitionState& state, const AskSpec& spec) {
    std::vector<DeviceDemand> stated;
    for (const DevicesSpec& each : spec.devices)
        if (each.on.empty()) stated.push_back({state.resources.find(each.name), each.count, each.each});
    std::sort(stated.begin(), stated.end(), [](const auto& a, const auto& b) { return a.type < b.type; });
    return stated;
}

std::vector<DeviceUse> said_devices(const PartitionState& state, const AskSpec& spec) {
    std::vector<DeviceUse> said;
    for (const DevicesSpec& each : spec.devices)
        for (const DeviceAmount& on : each.on) said.push_back({state.resources.find(each.name), on});
    return said;
}

std::optional<Refusal> refuse_devices(const PartitionState& state, const NodeSpec& spec, const Node* node) {
    const std::string whose = "node " + std::string{spec.id};
    if (spec.devices)
        for (const DeviceListSpec& each : *spec.devices) {
            const std::string name{each.name};
            if (each.sizes.size() > kMostDevices)
                return Refusal{whose + " has " + std::to_string(each.sizes.size()) + " devices of " + name +
                                   "; at most " + std::to_string(kMostDevices) + " are allowed",
                               ElementCode::Devices};
            if (std::any_of(each.sizes.begin(), each.sizes.end(), [](std::int64_t size) { return size < 0; }))
                return Refusal{whose + " has a device of " + name + " with a negative size", ElementCode::Devices};
            const bool given = spec.capacity && std::any_of(spec.capacity->begin(), spec.capacity->end(),
                                                            [&](const Quantity& q) { return q.name == each.name; });
            if (given && amount_of(*spec.capacity, each.name) != sat_sum(each.sizes))
                return Refusal{whose + " has devices of " + name + " with " + std::to_string(sat_sum(each.sizes)) +
                                   " in all, but a capacity of " + std::to_string(amount_of(*spec.capacity, each.name)),
                               ElementCode::Devices};
        }
    if (!spec.devices && spec.capacity && node != nullptr && node->devices)
        for (const DeviceKind& kind : node->devices->kinds()) {
            std::int64_t sum = 0;
            for (const Device& each : kind.devices) sum = sat_add(sum, each.size);
            const std::string& name = state.resources.name(kind.type);
            if (const std::int64_t given = amount_of(*spec.capacity, name); given != sum)
                return Refusal{whose + " has devices of " + name + " with " + std::to_string(sum) +
                                   " in all: its capacity cannot be " + std::to_string(given) + " without new devices",
                               ElementCode::Devices};
        }
    if (const std::string_view groups =
            spec.attributes ? find_tag(*spec.attributes, kDeviceGroups) : std::string_view{};
        !groups.empty() && !parse_device_groups(groups))
        return Refusal{whose + ": attribute " + std::string{kDeviceGroups} + " is " + quoted(groups) +
                           "; it has to be a list of lists of devices, such as [[0,1],[2,3]]",
                       ElementCode::Devices};
    return std::nullopt;
}

Quantities capacity_of(const NodeSpec& spec) {
    Quantities capacity = spec.capacity.value_or(Quantities{});
    if (!spec.devices) return capacity;
    for (const DeviceListSpec& each : *spec.devices) {
        const auto known =
            std::find_if(capacity.begin(), capacity.end(), [&](const Quantity& q) { return q.name == each.name; });
        if (known == capacity.end())
            capacity.push_back({each.name, sat_sum(each.sizes)});
        else
            known->value = sat_sum(each.sizes);
    }
    return capacity;
}

std::optional<std::vector<DeviceMask>> parse_device_groups(std::string_view text) {
    std::vector<DeviceMask> groups;
    const auto blank = [&] {
        while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    };
    const auto next = [&](char wanted) {
        blank();
        if (text.empty() || text.front() != wanted) return false;
        text.remove_prefix(1);
        return true;
    };
    const auto number = [&](DeviceMask& mask) {
        blank();
        std::uint32_t index = 0;
        const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), index);
        if (fault != std::errc{} || index >= kMostDevices) return false;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        mask |= bit_of_device(index);
        return true;
    };
    if (!next('[')) return std::nullopt;
    if (next(']')) return groups;
    do {
        DeviceMask mask = 0;
        if (!next('[') || !number(mask)) return std::nullopt;
        while (next(','))
            if (!number(mask)) return std::nullopt;
        if (!next(']')) return std::nullopt;
        groups.push_back(mask);
    } while (next(','));
    if (!next(']')) return std::nullopt;
    blank();
    return text.empty() ? std::optional{std::move(groups)} : std::nullopt;
}

} // namespace yk
