// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeDevices: the devices of a node, how much of each is in use and by whom (F-001 to F-009). A resource that comes in
// devices is divided among them: an ask gets what it wants from one of them, or from as many as it says.
//
// Owner: the Node, which has none unless its RM listed devices. Thread: the partition's owner.
// INVARIANT: of each device 0 <= used <= size, unless it is lost or used by what the core did not place; what all holds
// of an owner and a resource have together is what the owner has of that resource (F-009).
// Cost: a test or a choice looks at each device of the resource once; a change is logarithmic in the holds, and tries
// up to kMostTried of those that wait.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/resources/resource.h"

namespace yk {

/// At most so many devices of one resource on a node (F-001).
inline constexpr std::uint32_t kMostDevices = 64;

struct DeviceAmount {
    std::uint32_t index = 0; // of the device, in the node's list
    std::int64_t amount = 0;
};

/// Bit i: the device with index i.
using DeviceMask = std::uint64_t;

[[nodiscard]] constexpr DeviceMask bit_of_device(std::size_t index) noexcept {
    return DeviceMask{1} << index;
}

/// f(index) for each device of the mask, in their order.
template <class F>
void for_each_device(DeviceMask mask, F&& f) {
    for (; mask != 0; mask &= mask - 1) f(static_cast<std::size_t>(std::countr_zero(mask)));
}

/// The attribute of a node that says which devices share a switch: a list of lists of indices (F-005).
inline constexpr std::string_view kDeviceGroups = "ykd.io/device-groups";

/// `each` of each of `count` devices. count 0: the amount `each`, which no number of devices gives (F-003).
struct DeviceDemand {
    ResourceId type = ResourceNames::npos;
    std::uint32_t count = 0;
    std::int64_t each = 0;

    [[nodiscard]] std::int64_t amount() const noexcept { return count == 0 ? each : sat_mul(each, count); }
    friend bool operator==(const DeviceDemand&, const DeviceDemand&) = default;
};

/// What an ask wants on a node with devices.
struct DeviceAsk {
    const Resource& size;
    const std::vector<DeviceDemand>& stated; // by itself, by type; of other types the amount says it (F-003)
};

inline const std::vector<DeviceDemand> kNothingStated;

struct Device {
    std::int64_t size = 0; // 0: it is not there
    std::int64_t used = 0;
    bool lost = false; // gone or smaller than what is in use: it takes nothing new (F-008)

    [[nodiscard]] std::int64_t left() const noexcept { return lost || used >= size ? 0 : size - used; }
};

/// The devices of one resource, in the order of their indices.
struct DeviceKind {
    ResourceId type = ResourceNames::npos;
    std::vector<Device> devices;
    std::size_t listed = 0; // so many the RM listed; behind them stand those that are gone and still in use
    std::int64_t whole = 0; // the size of most of them, on ties the larger one: that of a whole device

    [[nodiscard]] DeviceDemand demand_of(const DeviceAsk& ask) const noexcept;
    /// What an amount is here: a share of one device, or whole devices.
    [[nodiscard]] DeviceDemand demand_of(std::int64_t amount) const noexcept;
    /// Those that have enough left for the demand; of whole devices, those that nothing uses.
    [[nodiscard]] DeviceMask free_for(const DeviceDemand& demand) const noexcept;
    /// Those that are large enough for it.
    [[nodiscard]] DeviceMask large_enough_for(const DeviceDemand& demand) const noexcept;
    [[nodiscard]] bool is_whole(const DeviceDemand& demand) const noexcept { return demand.each == whole; }
};

/// So much a budget counts for the devices of one resource of a node, however many they are.
inline constexpr std::size_t kDeviceKindBytes = sizeof(DeviceKind) + kMostDevices * sizeof(Device);

/// Who has devices: an allocation, or what waits in quarantine.
using DeviceOwner = std::uint64_t;
/// One device of an owner.
struct DeviceUse {
    ResourceId type = ResourceNames::npos;
    DeviceAmount on;
};

class NodeDevices {
public:
    /// A demand of an owner and the devices that meet it.
    struct Hold {
        DeviceDemand demand;
        DeviceMask on = 0;        // 0: the devices that it should have are not free
        DeviceMask only_on = 0;   // the RM said these; 0: it said none
        bool is_ours = true;      // placed by the core; what it did not place is a fact, and may use more than there is
        std::uint64_t serial = 0; // its number in the order in which they came
    };

    // --- what there is ----------------------------------------------------------------------------------------------
    [[nodiscard]] const std::vector<DeviceKind>& kinds() const noexcept { return kinds_; }
    /// nullptr: the resource has no devices here.
    [[nodiscard]] const DeviceKind* find(ResourceId type) const noexcept;
    /// Whether something has not the devices that it should have. Until it has, nothing is placed here that wants
    /// devices (F-006).
    [[nodiscard]] bool in_conflict() const noexcept { return !unmet_.empty(); }
    /// f(const Hold&) for each of the owner.
    template <class F>
    void for_each_of(DeviceOwner owner, F&& f) const {
        for (auto [at, end] = holds_.equal_range(owner); at != end; ++at) f(at->second);
    }
    /// f(DeviceOwner, const Hold&) for all.
    template <class F>
    void for_each(F&& f) const {
        for (const auto& [owner, hold] : holds_) f(owner, hold);
    }
    /// By how much lost devices are in use beyond their size, of the resources of which they are.
    [[nodiscard]] Resource lost() const;
    /// The devices of an owner, by type and index.
    [[nodiscard]] std::vector<DeviceUse> of(DeviceOwner owner) const;

    // --- questions --------------------------------------------------------------------------------------------------
    /// Whether the devices that the ask wants are free.
    [[nodiscard]] bool have(const DeviceAsk& ask) const noexcept;
    /// Whether they would be if nothing were in use.
    [[nodiscard]] bool could_have(const DeviceAsk& ask) const noexcept;
    /// The devices of `free` that a demand gets: a share the one that has least left, whole devices the first ones, of
    /// the smallest group that has enough of them (F-005). 0: there are not enough.
    [[nodiscard]] DeviceMask choose(const DeviceKind& kind, const DeviceDemand& demand, DeviceMask free) const noexcept;

    // --- changes ----------------------------------------------------------------------------------------------------
    /// The devices of a resource, by the size of each, new or others than before. What is gone and in use is lost; what
    /// is back is not (F-008).
    void set_kind(ResourceId type, std::span<const std::int64_t> sizes);
    /// The resource is an amount of the whole node from now on.
    void remove_kind(ResourceId type);
    void set_groups(std::vector<DeviceMask> groups) { groups_ = std::move(groups); }
    /// Gives the owner what it wants of each resource: the devices that were `said`; or of those that choose() names,
    /// the `better` ones where they are enough.
    void take(DeviceOwner owner, const DeviceAsk& ask, std::span<const DeviceUse> said, bool is_ours,
              std::span<const DeviceUse> better = {});
    /// The same for one resource.
    void take(ResourceId type, DeviceOwner owner, const DeviceAsk& ask, std::span<const DeviceUse> said, bool is_ours,
              std::span<const DeviceUse> better = {});
    /// Takes back what the owner has, and gives devices to those that wait for them.
    void give_back(DeviceOwner owner);

    /// Empty when the invariants hold; otherwise which one does not.
    [[nodiscard]] std::string check() const;

private:
    using Holds = std::multimap<DeviceOwner, Hold>;
    /// A change tries so many of those that wait: they may be as many as an RM reports.
    static constexpr std::size_t kMostTried = 256;

    [[nodiscard]] DeviceKind& kind_of(ResourceId type) noexcept;
    void add(DeviceOwner owner, Hold hold, DeviceMask better);
    void put(Hold& hold, DeviceMask on);
    void take_off(const Hold& hold);
    void add_up(DeviceKind& kind) const;
    void meet_demands();

    std::vector<DeviceKind> kinds_; // by type
    std::vector<DeviceMask> groups_;
    Holds holds_;
    std::map<std::uint64_t, Holds::iterator> unmet_; // those on no device, by serial
    std::uint64_t last_serial_ = 0;
};

} // namespace yk
