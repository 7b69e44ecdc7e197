// SPDX-License-Identifier: Apache-2.0
#include "libcore/resources/node_devices.h"

#include <algorithm>
#include <bit>
#include <map>

#include "libcore/base/check.h"
#include "libcore/base/commonest.h"

namespace yk {
namespace {

/// The first `count` devices of the mask.
DeviceMask first_of(DeviceMask mask, std::uint32_t count) noexcept {
    DeviceMask chosen = 0;
    for (; count > 0; --count, mask &= mask - 1) chosen |= mask & (~mask + 1);
    return chosen;
}

bool has_enough(DeviceMask mask, const DeviceDemand& demand) noexcept {
    return demand.count > 0 && static_cast<std::uint32_t>(std::popcount(mask)) >= demand.count;
}

} // namespace

// --- one kind -------------------------------------------------------------------------------------------------------

DeviceDemand DeviceKind::demand_of(const DeviceAsk& ask) const noexcept {
    for (const DeviceDemand& each : ask.stated)
        if (each.type == type) return each;
    return demand_of(ask.size.get(type));
}

DeviceDemand DeviceKind::demand_of(std::int64_t amount) const noexcept {
    std::int64_t largest = 0;
    for (const Device& each : devices) largest = std::max(largest, each.lost ? 0 : each.size);
    if (amount <= largest) return {type, 1, amount};
    const bool in_whole = whole > 0 && amount % whole == 0 && amount / whole <= kMostDevices;
    return in_whole ? DeviceDemand{type, static_cast<std::uint32_t>(amount / whole), whole}
                    : DeviceDemand{type, 0, amount};
}

DeviceMask DeviceKind::free_for(const DeviceDemand& demand) const noexcept {
    DeviceMask mask = 0;
    for (std::size_t at = 0; at < devices.size(); ++at) {
        const bool enough = devices[at].left() >= demand.each && (!is_whole(demand) || devices[at].used == 0);
        mask |= enough ? bit_of_device(at) : 0;
    }
    return mask;
}

DeviceMask DeviceKind::large_enough_for(const DeviceDemand& demand) const noexcept {
    DeviceMask mask = 0;
    for (std::size_t at = 0; at < devices.size(); ++at)
        mask |= !devices[at].lost && devices[at].size >= demand.each ? bit_of_device(at) : 0;
    return mask;
}

// --- what there is --------------------------------------------------------------------------------------------------

const DeviceKind* NodeDevices::find(ResourceId type) const noexcept {
    const auto found =
        std::find_if(kinds_.begin(), kinds_.end(), [type](const DeviceKind& each) { return each.type == type; });
    return found == kinds_.end() ? nullptr : &*found;
}

DeviceKind& NodeDevices::kind_of(ResourceId type) noexcept {
    const DeviceKind* const kind = find(type);
    YK_ASSUME(kind != nullptr, "a hold is of a resource with devices");
    return kinds_[static_cast<std::size_t>(kind - kinds_.data())];
}

Resource NodeDevices::lost() const {
    Resource lost;
    for (const DeviceKind& kind : kinds_) {
        std::int64_t sum = 0;
        for (const Device& each : kind.devices)
            if (each.lost) sum = sat_add(sum, sat_sub(each.used, each.size));
        if (sum > 0) lost.set(kind.type, sum);
    }
    return lost;
}

std::vector<DeviceUse> NodeDevices::of(DeviceOwner owner) const {
    std::vector<DeviceUse> uses;
    for_each_of(owner, [&uses](const Hold& hold) {
        for_each_device(hold.on, [&](std::size_t index) {
            uses.push_back({hold.demand.type, {static_cast<std::uint32_t>(index), hold.demand.each}});
        });
    });
    std::sort(uses.begin(), uses.end(), [](const DeviceUse& a, const DeviceUse& b) {
        return std::pair{a.type, a.on.index} < std::pair{b.type, b.on.index};
    });
    return uses;
}

// --- questions ------------------------------------------------------------------------------------------------------

bool NodeDevices::have(const DeviceAsk& ask) const noexcept {
    return std::all_of(kinds_.begin(), kinds_.end(), [&](const DeviceKind& kind) {
        if (ask.size.get(kind.type) <= 0) return true;
        const DeviceDemand demand = kind.demand_of(ask);
        return !in_conflict() && has_enough(kind.free_for(demand), demand);
    });
}

bool NodeDevices::could_have(const DeviceAsk& ask) const noexcept {
    return std::all_of(kinds_.begin(), kinds_.end(), [&](const DeviceKind& kind) {
        if (ask.size.get(kind.type) <= 0) return true;
        const DeviceDemand demand = kind.demand_of(ask);
        return has_enough(kind.large_enough_for(demand), demand);
    });
}

DeviceMask NodeDevices::choose(const DeviceKind& kind, const DeviceDemand& demand, DeviceMask free) const noexcept {
    if (!has_enough(free, demand)) return 0;
    if (kind.is_whole(demand)) {
        DeviceMask smallest = free;
        for (const DeviceMask group : groups_)
            if (has_enough(free & group, demand) && std::popcount(free & group) < std::popcount(smallest))
                smallest = free & group;
        return first_of(smallest, demand.count);
    }
    DeviceMask chosen = 0;
    for (std::uint32_t left = demand.count; left > 0; --left) {
        std::size_t fullest = kMostDevices;
        for_each_device(free & ~chosen, [&](std::size_t at) {
            if (fullest == kMostDevices || kind.devices[at].left() < kind.devices[fullest].left()) fullest = at;
        });
        chosen |= bit_of_device(fullest);
    }
    return chosen;
}

// --- changes --------------------------------------------------------------------------------------------------------

void NodeDevices::set_kind(ResourceId type, std::span<const std::int64_t> sizes) {
    auto at = std::lower_bound(kinds_.begin(), kinds_.end(), type,
                               [](const DeviceKind& each, ResourceId id) { return each.type < id; });
    if (at == kinds_.end() || at->type != type) at = kinds_.insert(at, DeviceKind{type, {}, 0, 0});
    std::vector<Device>& devices = at->devices;
    devices.resize(std::max(devices.size(), sizes.size()));
    at->listed = sizes.size();
    std::map<std::int64_t, std::size_t> count_of;
    for (std::size_t index = 0; index < devices.size(); ++index) {
        Device& device = devices[index];
        device.size = index < sizes.size() ? sizes[index] : 0;
        device.lost = device.used > device.size;
        if (device.size > 0) ++count_of[device.size];
    }
    while (devices.size() > at->listed && devices.back().used == 0) devices.pop_back();
    at->whole = commonest(count_of);
    meet_demands();
}

void NodeDevices::remove_kind(ResourceId type) {
    if (find(type) == nullptr) return;
    std::erase_if(unmet_, [type](const auto& each) { return each.second->second.demand.type == type; });
    std::erase_if(holds_, [type](const auto& each) { return each.second.demand.type == type; });
    std::erase_if(kinds_, [type](const DeviceKind& each) { return each.type == type; });
}

void NodeDevices::put(Hold& hold, DeviceMask on) {
    hold.on = on;
    DeviceKind& kind = kind_of(hold.demand.type);
    for_each_device(on, [&](std::size_t index) {
        std::int64_t& used = kind.devices[index].used;
        used = sat_add(used, hold.demand.each);
    });
}

void NodeDevices::take_off(const Hold& hold) {
    DeviceKind& kind = kind_of(hold.demand.type);
    bool at_end = false; // a saturated sum cannot be subtracted from (S-003)
    for_each_device(hold.on, [&](std::size_t index) { at_end = at_end || kind.devices[index].used == kMaxQuantity; });
    if (at_end) return add_up(kind);
    for_each_device(hold.on, [&](std::size_t index) { kind.devices[index].used -= hold.demand.each; });
}

/// Adds up anew what is in use.
void NodeDevices::add_up(DeviceKind& kind) const {
    for (Device& each : kind.devices) each.used = 0;
    for_each([&kind](DeviceOwner, const Hold& hold) {
        if (hold.demand.type != kind.type) return;
        for_each_device(hold.on, [&](std::size_t index) {
            kind.devices[index].used = sat_add(kind.devices[index].used, hold.demand.each);
        });
    });
}

/// Finds devices for the hold and keeps it, with or without.
void NodeDevices::add(DeviceOwner owner, Hold hold, DeviceMask better) {
    const DeviceKind& kind = kind_of(hold.demand.type);
    DeviceMask free = kind.free_for(hold.demand);
    if (hold.only_on != 0) {
        const DeviceMask there =
            kind.devices.size() < kMostDevices ? bit_of_device(kind.devices.size()) - 1 : ~DeviceMask{0};
        free = (hold.is_ours ? free : there) & hold.only_on;
    }
    if (has_enough(free & better, hold.demand)) free &= better;
    put(hold, choose(kind, hold.demand, free));
    hold.serial = ++last_serial_;
    const auto made = holds_.emplace(owner, hold);
    if (hold.on == 0) unmet_.emplace(hold.serial, made);
}

void NodeDevices::take(DeviceOwner owner, const DeviceAsk& ask, std::span<const DeviceUse> said, bool is_ours,
                       std::span<const DeviceUse> better) {
    for (const DeviceKind& kind : kinds_) take(kind.type, owner, ask, said, is_ours, better);
}

void NodeDevices::take(ResourceId type, DeviceOwner owner, const DeviceAsk& ask, std::span<const DeviceUse> said,
                       bool is_ours, std::span<const DeviceUse> better) {
    if (ask.size.get(type) <= 0) return;
    bool any_said = false;
    for (const DeviceUse& use : said) {
        if (use.type != type) continue;
        any_said = true;
        add(owner, {{type, 1, use.on.amount}, 0, bit_of_device(use.on.index), is_ours}, 0);
    }
    if (any_said) return;
    DeviceMask best = 0;
    for (const DeviceUse& use : better)
        if (use.type == type) best |= bit_of_device(use.on.index);
    add(owner, {kind_of(type).demand_of(ask), 0, 0, is_ours}, best);
}

void NodeDevices::give_back(DeviceOwner owner) {
    const auto [first, end] = holds_.equal_range(owner);
    if (first == end) return;
    for (auto at = first; at != end;) {
        const Hold hold = at->second;
        if (hold.on == 0) unmet_.erase(hold.serial);
        at = holds_.erase(at);
        take_off(hold);
    }
    for (DeviceKind& kind : kinds_) { // what is used no more than it can be is lost no longer, or forgotten
        for (Device& each : kind.devices) each.lost = each.lost && each.used > each.size;
        while (kind.devices.size() > kind.listed && kind.devices.back().used == 0) kind.devices.pop_back();
    }
    meet_demands();
}

/// Gives devices to the holds that have none, in the order in which they came.
void NodeDevices::meet_demands() {
    std::size_t tried = 0;
    for (auto waiting = unmet_.begin(); waiting != unmet_.end() && tried < kMostTried; ++tried) {
        Hold& hold = waiting->second->second;
        const DeviceKind& kind = kind_of(hold.demand.type);
        if (hold.demand.count == 0) hold.demand = kind.demand_of(hold.demand.each); // the devices may be others now
        const DeviceMask free = kind.free_for(hold.demand) & (hold.only_on != 0 ? hold.only_on : ~DeviceMask{0});
        put(hold, choose(kind, hold.demand, free));
        waiting = hold.on == 0 ? std::next(waiting) : unmet_.erase(waiting);
    }
}

std::string NodeDevices::check() const {
    std::size_t unmet = 0;
    for (const DeviceKind& kind : kinds_) {
        std::vector<std::int64_t> used(kind.devices.size());
        std::vector<bool> foreign(kind.devices.size());
        bool outside = false;
        for_each([&](DeviceOwner, const Hold& hold) {
            if (hold.demand.type != kind.type) return;
            unmet += hold.on == 0 ? 1U : 0U;
            for_each_device(hold.on, [&](std::size_t index) {
                outside = outside || index >= used.size();
                if (outside) return;
                used[index] = sat_add(used[index], hold.demand.each);
                foreign[index] = foreign[index] || !hold.is_ours;
            });
        });
        if (outside) return "a hold on a device that is not there";
        for (std::size_t at = 0; at < used.size(); ++at) {
            const Device& device = kind.devices[at];
            if (device.used != used[at]) return "what is in use of a device is not what its holds have";
            if (device.used > device.size && !device.lost && !foreign[at])
                return "more of a device is in use than there is";
        }
    }
    return unmet == unmet_.size() ? std::string{} : "the count of unmet demands is wrong";
}

} // namespace yk
