// SPDX-License-Identifier: Apache-2.0
#pragma once
// Node: capacity, usage, allocations and reservations of one machine of the cluster (S-104, S-165).
//
// Owner: NodeCollection's slab. Thread: the partition's owner. INVARIANT: available = capacity - allocated - occupied
// per type, pruned, negative values kept (S-183), and what is in use of lost devices is not subtracted (F-008);
// occupied = reported + the sum of the foreign allocations.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/list_slot.h"
#include "libcore/base/ordered_index.h"
#include "libcore/model/ids.h"
#include "libcore/resources/node_devices.h"
#include "libcore/resources/sum.h"

namespace yk {

inline constexpr std::string_view kUnknownInstanceType = "UNKNOWN"; // of a node that names none (S-033)

struct Node {
    std::string id;
    std::vector<std::pair<std::string, std::string>> attributes; // sorted by key, without the partition
    Resource capacity;                                           // this and the sums are changed by the Ledger
    Resource reported;                                           // occupied as the RM declares it
    Sum occupied;                                                // with foreign and quarantined allocations
    Sum allocated;
    Sum available;
    std::vector<AllocationId> allocations; // own
    std::vector<AllocationId> foreign;
    std::vector<ReservationId> reservations;
    std::unique_ptr<NodeDevices> devices; // null: all resources are amounts of the whole node (F-002)
    bool schedulable = true;

    // order (NodeCollection)
    std::uint64_t rank = 0; // orders as the id does
    IndexSlot slot{};
    IndexSlot wide_slot{}; // in WideFits
    ListSlot dirty{};
    bool grew = false; // may take more than when the blocks were tested

    [[nodiscard]] bool is_open() const noexcept { return schedulable && reservations.empty(); }
    [[nodiscard]] std::string_view attribute(std::string_view key) const noexcept {
        for (const auto& [name, value] : attributes)
            if (name == key) return value;
        return {};
    }
    /// The type under which its resource-seconds are counted: an attribute, else kUnknownInstanceType (S-033, I-722).
    [[nodiscard]] std::string_view instance_type() const noexcept {
        for (const std::string_view key : {"si/instance-type", "node.kubernetes.io/instance-type"})
            if (const std::string_view value = attribute(key); !value.empty()) return value;
        return kUnknownInstanceType;
    }
};

[[nodiscard]] inline DeviceOwner owner_of(AllocationId id) noexcept {
    return id.index;
}
/// None for what is in quarantine.
[[nodiscard]] inline AllocationId allocation_of(DeviceOwner owner) noexcept {
    return owner < AllocationId::kNone ? AllocationId{static_cast<std::uint32_t>(owner)} : AllocationId{};
}
[[nodiscard]] inline DeviceOwner owner_in_quarantine(std::uint64_t serial) noexcept {
    return serial | std::uint64_t{1} << 63;
}

/// How many allocations it has, foreign ones included.
[[nodiscard]] inline std::size_t objects_of(const Node& node) noexcept {
    return node.allocations.size() + node.foreign.size();
}
/// Whether a snapshot that shows at most `most` allocations of one node shows those of this one. Foreign allocations do
/// not count: they are always shown. 0: of none.
[[nodiscard]] inline bool is_within(const Node& node, std::size_t most) noexcept {
    return most > 0 && node.allocations.size() <= most;
}

} // namespace yk
