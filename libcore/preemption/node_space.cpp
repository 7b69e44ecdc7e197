// SPDX-License-Identifier: Apache-2.0
#include "libcore/preemption/node_space.h"

#include <algorithm>
#include <utility>

namespace yk {
NodeSpace::NodeSpace(const Node& node, const Shape& ask)
    : ask_(&ask), devices_(node.devices.get()), free_(node.available) {
    if (devices_ == nullptr) return;
    for (const DeviceKind& kind : devices_->kinds()) {
        if (ask.resource.get(kind.type) <= 0) continue;
        const DeviceDemand demand = kind.demand_of(ask.device_ask());
        Wanted& made = wanted_.emplace_back(Wanted{&kind, demand, kind.large_enough_for(demand), {}});
        for (std::size_t at = 0; at < kind.devices.size(); ++at)
            made.left[at] = sat_sub(kind.devices[at].size, kind.devices[at].used);
    }
    if (wanted_.empty()) devices_ = nullptr;
}

bool NodeSpace::Wanted::is_free(std::size_t device) const noexcept {
    return left[device] >= (kind->is_whole(demand) ? kind->devices[device].size : demand.each);
}

bool NodeSpace::Wanted::is_met() const noexcept {
    std::uint32_t free = 0;
    for_each_device(targets, [&](std::size_t at) { free += is_free(at) ? 1U : 0U; });
    return demand.count > 0 && free >= demand.count;
}

const NodeSpace::Wanted* NodeSpace::wanted(ResourceId type) const noexcept {
    const auto found =
        std::find_if(wanted_.begin(), wanted_.end(), [type](const Wanted& each) { return each.kind->type == type; });
    return found == wanted_.end() ? nullptr : &*found;
}

bool NodeSpace::has_devices() const noexcept {
    if (devices_ == nullptr) return true;
    return !devices_->in_conflict() &&
           std::all_of(wanted_.begin(), wanted_.end(), [](const Wanted& each) { return each.is_met(); });
}

bool NodeSpace::helped_by(AllocationId id, const Resource& size) const noexcept {
    bool by_amount = false;
    ask_->resource.for_each([&](ResourceId type, std::int64_t amount) {
        const bool lacks = amount > 0 && size.get(type) > 0 && amount > free_.get(type);
        by_amount = by_amount || (lacks && (devices_ == nullptr || wanted(type) == nullptr));
    });
    if (by_amount || devices_ == nullptr) return by_amount;
    bool useful = false;
    devices_->for_each_of(owner_of(id), [&](const NodeDevices::Hold& hold) {
        const Wanted* const want = wanted(hold.demand.type);
        if (want == nullptr || want->is_met()) return;
        for_each_device(hold.on & want->targets, [&](std::size_t at) { useful = useful || !want->is_free(at); });
    });
    return useful;
}

void NodeSpace::change_devices(AllocationId id, bool off) {
    devices_->for_each_of(owner_of(id), [&](const NodeDevices::Hold& hold) {
        for (Wanted& want : wanted_) {
            if (want.kind->type != hold.demand.type) continue;
            for_each_device(hold.on & want.targets, [&](std::size_t at) {
                want.left[at] =
                    off ? sat_add(want.left[at], hold.demand.each) : sat_sub(want.left[at], hold.demand.each);
            });
        }
    });
}

void NodeSpace::take_off(AllocationId id, const Resource& size) {
    free_.add(size);
    if (devices_ != nullptr) change_devices(id, true);
}

void NodeSpace::put_back(AllocationId id, const Resource& size) {
    free_.sub(size);
    if (devices_ != nullptr) change_devices(id, false);
}

std::vector<NodeSpace> NodeSpace::choices(std::span<const AllocationId> leaving) const {
    if (has_devices()) return {*this};
    NodeSpace empty = *this;
    for (const AllocationId id : leaving) empty.change_devices(id, true);
    std::vector<NodeSpace> made{*this};
    for (std::size_t at = 0; at < wanted_.size(); ++at) {
        const Wanted& now = wanted_[at];
        if (now.is_met()) continue;
        std::vector<std::size_t> devices; // that could become free
        for_each_device(now.targets, [&](std::size_t device) {
            if (empty.wanted_[at].is_free(device)) devices.push_back(device);
        });
        if (now.demand.count == 0 || devices.size() < now.demand.count) return {};
        std::stable_sort(devices.begin(), devices.end(),
                         [&](std::size_t a, std::size_t b) { return now.left[a] > now.left[b]; });
        const std::vector<NodeSpace> before = std::exchange(made, {});
        const bool one_each = now.demand.count == 1 && before.size() == 1; // only the first type has a choice
        const std::size_t choices = one_each ? devices.size() : 1;
        for (std::size_t first = 0; first < choices; ++first) {
            DeviceMask targets = 0;
            for (std::size_t i = first; i < first + now.demand.count; ++i) targets |= bit_of_device(devices[i]);
            for (NodeSpace space : before) {
                space.wanted_[at].targets = targets;
                made.push_back(std::move(space));
            }
        }
    }
    return made;
}

} // namespace yk
