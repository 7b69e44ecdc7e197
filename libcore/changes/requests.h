// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the requests of an RM have in common: why an element is refused, what a foreign allocation is, and what they say
// of devices: whether it can be, and in terms of the partition (F-001, F-003, F-006).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/ports/callbacks.h"
#include "libcore/ports/command.h"
#include "libcore/state/partition_state.h"

namespace yk {

/// Why one element of a request is refused.
struct Refusal {
    std::string reason;
    ElementCode code{};
};

inline constexpr std::string_view kForeign = "foreign"; // key of a tag; value `static`: never preempted (S-500)

/// Whether it is an allocation that the core did not place and only counts.
[[nodiscard]] bool is_foreign(const AskSpec& spec);
[[nodiscard]] bool any_negative(const Quantities& quantities);
[[nodiscard]] std::string quoted(std::string_view text);
/// `limit`: PartitionState::most_types().
[[nodiscard]] Refusal too_many_types(const std::string& what, std::uint64_t limit);

/// How a message names an ask, or what a release is about. Called for refusals only: making the text takes longer than
/// accepting an ask.
template <class Spec>
std::string title_of(const Spec& spec) {
    return "allocation key " + quoted(spec.key) + " of application " + quoted(spec.application);
}

// --- devices --------------------------------------------------------------------------------------------------------

/// Why the devices that an ask states, or a reported allocation has, cannot be; nullopt: they can.
/// `placed`: it is reported on a node.
[[nodiscard]] std::optional<Refusal> refuse_devices(const AskSpec& spec, bool placed);
/// The devices that it states. REQUIRES: its resources are those of the partition.
[[nodiscard]] std::vector<DeviceDemand> stated_devices(const PartitionState& state, const AskSpec& spec);
/// The devices that it has, as the RM says. REQUIRES: as above.
[[nodiscard]] std::vector<DeviceUse> said_devices(const PartitionState& state, const AskSpec& spec);

/// Why the devices of a node cannot be: too many, a size below 0, another sum than the capacity, or an attribute
/// kDeviceGroups that cannot be read. `node`: as it is so far, nullptr: it is new.
[[nodiscard]] std::optional<Refusal> refuse_devices(const PartitionState& state, const NodeSpec& spec,
                                                    const Node* node);
/// The capacity that a request gives to a node, with the sums of its devices, or of its devices alone (F-001).
[[nodiscard]] Quantities capacity_of(const NodeSpec& spec);
/// The masks of the devices that share a switch: `[[0,1,2,3],[4,5,6,7]]`; nullopt: it is no such list.
[[nodiscard]] std::optional<std::vector<DeviceMask>> parse_device_groups(std::string_view text);

} // namespace yk
