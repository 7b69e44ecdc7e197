// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fragmentation: how much of what a node has idle of the measured resource can be used by nobody, the asks that are to
// be expected considered (F-022): for each shape of the workload the idle devices that are too small for it, or all
// that is idle where the shape does not fit at all; weighed by how many such asks come.
//
// Fragments are whole numbers: amounts times weights, so that equal nodes have equal fragments. They are exact below
// 2^53, and rounded above.
//
// Owner: ShapeBoards, or who reports. Thread: the partition's owner. Cost where is_plain(): of a node without devices
// two look-ups, of one with devices one step for each way in which asks want them; else a look at each shape.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "libcore/model/node.h"
#include "libcore/model/shape.h"
#include "libcore/nodes/steps.h"
#include "libcore/nodes/workload.h"

namespace yk {

/// What a node has left, as the measure sees it. A node whose measured resource does not come in devices has one
/// (F-023).
struct IdleNode {
    std::array<std::int64_t, kMostDevices> left{}; // of each device
    std::size_t devices = 0;
    std::array<std::int64_t, Workload::kMostOthers> others{};
    const Node* node = nullptr;
    const DeviceKind* kind = nullptr; // null: it does not come in devices here

    [[nodiscard]] double idle() const noexcept;
};

/// Amounts times weights.
using Fragments = double;

/// The fragments of a node by what makes them unusable (F-034). A shape that lacks devices and others counts as `both`.
struct FragmentCauses {
    Fragments devices = 0;
    Fragments others = 0;
    Fragments both = 0;
    Fragments attribute = 0;
    Fragments unasked = 0; // by shapes that ask for none of it

    double concerned = 0; // the weights of the shapes for which there are any

    [[nodiscard]] Fragments sum() const noexcept { return devices + others + both + attribute + unasked; }
};

class Fragmentation {
public:
    /// Of no resource, and nothing is expected.
    Fragmentation() { set({}); }

    void set(Workload workload);
    [[nodiscard]] const Workload& workload() const noexcept { return workload_; }
    /// The weights of all shapes together; 0: nothing is expected, and nothing is a fragment.
    [[nodiscard]] double weights() const noexcept { return weights_; }

    [[nodiscard]] IdleNode idle_of(const Node& node) const noexcept;
    /// What the node has left of the measured resource, and of the first one beside it; not below 0.
    [[nodiscard]] double left(const Node& node) const noexcept {
        return static_cast<double>(left_of(node, workload_.resource));
    }
    [[nodiscard]] double other_left(const Node& node) const noexcept {
        return workload_.others.empty() ? 0.0 : static_cast<double>(left_of(node, workload_.others[0]));
    }
    struct Sum {
        Fragments fragments = 0;
        /// The weights of the shapes for which the node has fragments. An ask that takes an amount takes at most that
        /// amount times these from the fragments of the node.
        double concerned = 0;
    };
    [[nodiscard]] Sum sum_of(const IdleNode& idle) const noexcept;
    [[nodiscard]] Fragments of(const IdleNode& idle) const noexcept { return sum_of(idle).fragments; }
    [[nodiscard]] FragmentCauses causes_of(const IdleNode& idle) const noexcept;
    /// The weights that are concerned on a node without devices of the resource that has so much left: each of these
    /// shapes has all that is idle as its fragments. REQUIRES: is_plain().
    [[nodiscard]] double concerned(double idle, double other) const noexcept;
    /// Whether no shape needs an attribute, at most one other resource is weighed, and there are not too many shapes.
    [[nodiscard]] bool is_plain() const noexcept { return is_plain_; }

    struct After {
        Fragments fragments = 0;
        std::optional<DeviceUse> on; // the device that a share should get; none: it does not matter
    };
    /// How the node would be with an ask of the shape on it. A share goes where it leaves the fewest fragments, on ties
    /// to the device of the lowest index (F-030). Where no device takes it there is no end of fragments.
    [[nodiscard]] After after(const Node& node, const Shape& shape) const noexcept;

private:
    static constexpr std::size_t kMostCells = std::size_t{1} << 20U; // of a table
    /// Asks that want devices in the same way.
    struct Want {
        std::int64_t amount = 0;
        DeviceDemand stated; // count 0: the amount says it
        double weight = 0;
    };

    void make_table();
    void group_by_devices();
    [[nodiscard]] Sum sum_on_devices(const IdleNode& idle) const noexcept;
    [[nodiscard]] static std::int64_t left_of(const Node& node, ResourceId type) noexcept {
        return type == ResourceNames::npos ? 0 : std::max<std::int64_t>(node.available.get(type), 0);
    }
    struct Use {
        bool devices = false, others = false, attributes = false; // that the shape finds
        double too_small = 0;                                     // what is idle on devices that are too small for it
    };
    [[nodiscard]] Use use_of(const WorkloadShape& shape, const IdleNode& idle) const noexcept;

    Workload workload_;
    double weights_ = 0;
    bool is_plain_ = true;
    // of plain measures: the weights of the shapes that fit, by how many of their amounts are not above what is left
    Steps amounts_, others_;
    std::vector<double> fitting_;
    double unasked_ = 0; // the weights of the shapes that ask for none of the resource
    std::vector<Want> wants_;
    std::vector<double> fitting_wants_; // by want, and by how many of their other amounts are not above what is left
};

} // namespace yk
