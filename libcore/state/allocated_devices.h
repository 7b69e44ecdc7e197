// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which devices of its node something has, by name, for callbacks, events and snapshots (F-006).

#include <algorithm>
#include <string>
#include <vector>

#include "libcore/state/partition_state.h"

namespace yk {

/// The devices that the owner has on the node, by resource and index; empty where the node has none.
[[nodiscard]] inline std::vector<AllocatedDevice> allocated_devices(const PartitionState& state, const Node& node,
                                                                    DeviceOwner owner) {
    std::vector<AllocatedDevice> devices;
    if (!node.devices) return devices;
    for (const DeviceUse& use : node.devices->of(owner)) devices.push_back({state.resources.name(use.type), use.on});
    std::stable_sort(devices.begin(), devices.end(),
                     [](const auto& a, const auto& b) { return a.resource < b.resource; });
    return devices;
}

/// The same for people: `nvidia.com/gpu 3 (500), 4 (500)`.
[[nodiscard]] inline std::string devices_text(const PartitionState& state, const Node& node, DeviceOwner owner) {
    std::string text;
    std::string_view last;
    for (const AllocatedDevice& each : allocated_devices(state, node, owner)) {
        if (!text.empty()) text += ", ";
        if (each.resource != last) text += std::string{each.resource} + " ";
        last = each.resource;
        text += std::to_string(each.on.index) + " (" + std::to_string(each.on.amount) + ")";
    }
    return text;
}

} // namespace yk
