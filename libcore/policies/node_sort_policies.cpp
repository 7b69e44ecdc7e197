// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "libcore/policies/node_sort_binpacking.h"
#include "libcore/policies/node_sort_fair.h"
#include "libcore/policies/node_sort_fragmentation.h"

namespace yk {
namespace {

constexpr std::array kPolicies{
    kNodeSortFair, // the default
    kNodeSortBinPacking,
    kNodeSortFragmentation,
};

} // namespace

std::span<const NodeSortPolicy> node_sort_policies() noexcept {
    return kPolicies;
}

const NodeSortPolicy* find_node_sort_policy(std::string_view name) noexcept {
    const auto found = std::find_if(kPolicies.begin(), kPolicies.end(),
                                    [name](const NodeSortPolicy& policy) { return policy.name == name; });
    return found == kPolicies.end() ? nullptr : &*found;
}

std::string node_sort_policy_names() {
    std::string names;
    for (const NodeSortPolicy& policy : kPolicies) {
        if (!names.empty()) names += ", ";
        names += policy.name;
    }
    return names;
}

const NodeSortPolicy& default_node_sort_policy() noexcept {
    return kPolicies.front();
}

} // namespace yk
