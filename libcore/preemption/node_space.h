// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeSpace: what would be free on a node for one ask, while a plan is made: amounts, and of each device that the ask
// could get. Allocations are taken off and put back here, and nothing changes on the node (F-007).
//
// Owner: whoever plans; the node and the shape outlive it. Thread: the partition's owner.
// Cost: as the amounts, where the node has no devices that the ask wants; else also a pass over its holds for each
// allocation.

#include <array>
#include <span>
#include <vector>

#include "libcore/model/shape.h"

namespace yk {

class NodeSpace {
public:
    NodeSpace(const Node& node, const Shape& ask);

    /// Whether the ask fits.
    [[nodiscard]] bool fits() const noexcept { return yk::fits(free_, ask_->resource) && has_devices(); }
    /// Whether the devices that it wants are free.
    [[nodiscard]] bool has_devices() const noexcept;
    /// Whether taking the allocation off brings the ask nearer to fitting: it has something of a type of which too
    /// little is free, or a part of a device that the ask could get and of which too little is left.
    [[nodiscard]] bool helped_by(AllocationId id, const Resource& size) const noexcept;
    /// Takes an allocation off the node, in the plan.
    void take_off(AllocationId id, const Resource& size);
    /// Puts it back.
    void put_back(AllocationId id, const Resource& size);

    /// The same with the devices chosen that the ask is to get, so that nothing is taken off others in vain: one for
    /// each choice, when all of `leaving` may be taken off. Itself alone where there is nothing to choose.
    [[nodiscard]] std::vector<NodeSpace> choices(std::span<const AllocationId> leaving) const;

private:
    /// A resource of which the ask wants devices here.
    struct Wanted {
        const DeviceKind* kind;
        DeviceDemand demand;
        DeviceMask targets; // the devices that it could get
        std::array<std::int64_t, kMostDevices> left;

        [[nodiscard]] bool is_met() const noexcept;
        [[nodiscard]] bool is_free(std::size_t device) const noexcept;
    };
    void change_devices(AllocationId id, bool off);
    [[nodiscard]] const Wanted* wanted(ResourceId type) const noexcept;

    const Shape* ask_;
    const NodeDevices* devices_; // nullptr: none that the ask wants
    Resource free_;
    std::vector<Wanted> wanted_;
};

} // namespace yk
