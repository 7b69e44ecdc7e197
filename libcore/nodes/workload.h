// SPDX-License-Identifier: Apache-2.0
#pragma once
// Workload: which asks are to be expected, as far as they differ for the measure of fragmentation (F-020). The
// configuration gives it, or WorkloadCounts learns it from what arrives.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libcore/resources/node_devices.h"

namespace yk {

/// Asks that are alike for the measure.
struct WorkloadShape {
    std::int64_t amount = 0;          // of the measured resource; 0: they ask for none of it
    DeviceDemand stated;              // the devices that they state; count 0: the amount says it (F-003)
    std::vector<std::int64_t> others; // amounts of the other weighed resources, in their order
    std::vector<std::pair<std::string, std::string>> attributes; // that a node must have for them
    std::int64_t weight = 0;                                     // how many of them come among all

    /// Whether they differ in nothing but their weight.
    [[nodiscard]] bool is_like(const WorkloadShape& other) const {
        return amount == other.amount && stated.count == other.stated.count && stated.each == other.stated.each &&
               others == other.others && attributes == other.attributes;
    }
};

struct Workload {
    ResourceId resource = ResourceNames::npos; // that is measured (F-021)
    std::vector<ResourceId> others;            // that are weighed beside it, at most kMostOthers
    std::vector<WorkloadShape> shapes;

    static constexpr std::size_t kMostOthers = 4;

    /// The size of a device where no node has devices: what most asks want of the measured resource, on ties the larger
    /// amount; 0: they want none of it.
    [[nodiscard]] std::int64_t commonest_amount() const;
};

} // namespace yk
