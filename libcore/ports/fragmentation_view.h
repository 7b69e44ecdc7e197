// SPDX-License-Identifier: Apache-2.0
#pragma once
// FragmentationView: how much of what is idle in a partition can be used by nobody, and why (F-034). Amounts are in the
// unit of the measured resource.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libcore/ports/view.h"

namespace yk {

/// What is idle and can be used by nobody, by what the expected asks lack there.
struct FragmentCausesView {
    double devices = 0;
    double others = 0; // of the other weighed resources
    double both = 0;
    double attribute = 0;
    double unasked = 0; // the share of those asks that want none of the resource

    [[nodiscard]] double sum() const noexcept { return devices + others + both + attribute + unasked; }
};

struct NodeFragmentsView {
    std::string node;
    double idle = 0;
    FragmentCausesView fragments;
};

/// Asks that are expected, alike for the measure.
struct ExpectedAsksView {
    std::int64_t amount = 0; // of the measured resource
    std::uint32_t count = 0; // of devices that they state; 0: the amount says it
    std::int64_t each = 0;
    ResourceMapView others;
    std::vector<std::pair<std::string, std::string>> attributes;
    double share = 0; // of all that are expected
};

struct FragmentationView {
    std::string resource; // empty: there is nothing to measure
    std::vector<std::string> others;
    bool is_learnt = false; // what is expected; otherwise the configuration says it
    std::vector<ExpectedAsksView> expected;
    double idle = 0; // of nodes that are schedulable
    FragmentCausesView fragments;
    std::vector<NodeFragmentsView> nodes; // by id, if they were asked for
};

} // namespace yk
