// SPDX-License-Identifier: Apache-2.0
#pragma once
// DeploymentScale: how many replicas a Deployment is to have now, and why. The Autoscaler writes these rows, one for
// each Deployment, under the Deployment's id.

#include <cstdint>
#include <string>
#include <string_view>

#include "libcore/mcs/kinds.h"

namespace yk::mcs {

struct DeploymentScale {
    rs::ResourceMeta meta;
    Owner owner;                // the Deployment
    std::string cascade_parent; // the Deployment's id if this row goes with it in one transaction; empty: it does not.
                                // The writer sets it by the Deployment's delete_mode (rs R-134)
    std::int64_t desired = 0;
    std::string reason;
    std::int64_t observed_generation = 0; // of the Deployment that `desired` was computed from
    std::string status = "{}";            // recommendations, conditions: canonical JSON that only the Autoscaler reads
    std::uint64_t writer_epoch = 0;       // of the lease under which it was last written
    RowTimes times;
};

} // namespace yk::mcs

template <>
struct yk::rs::ResourceTraits<yk::mcs::DeploymentScale> {
    static constexpr Kind kKind = mcs::kScaleKind;
    static constexpr std::string_view kName = mcs::name_of(mcs::kScaleKind);
    static constexpr std::string_view kOwner = mcs::kAutoscalerService;
    static const ResourceMeta& meta(const mcs::DeploymentScale& row) { return row.meta; }
    static std::uint64_t content_hash(const mcs::DeploymentScale& row);
};
