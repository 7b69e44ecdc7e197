// SPDX-License-Identifier: Apache-2.0
#pragma once
// ScaleMemory: what the Autoscaler keeps of one life of a Deployment between two decisions. All of it can be lost: what
// the next decision needs is in the row of the scale, too.
//
// Owner: Autoscaler. Cost: some 500 bytes and the history.

#include <cstdint>
#include <optional>
#include <string>

#include "libcore/mcs/autoscaler/scale_decision.h"

namespace yk::mcs {

struct ScaleMemory {
    std::string deployment_uid;
    Instant since; // it is known here

    std::int64_t generation = 0; // of the Deployment whose policy this is; 0: none was read yet
    ScalingPolicy policy;
    bool is_policy_broken = false;

    PlacedHistory placed;             // that was seen at each decision, while a metric asks for it
    std::optional<KnownScale> scale;  // the last that is known, also if it was deleted since
    std::optional<Instant> own_write; // `scale` is an own write that the cache may not show yet
    Instant last_write;               // of the scale's row

    /// The newest row that this process wrote or found when it began to lead: while it leads, what is newer was written
    /// by somebody else (rs R-108).
    struct Trusted {
        std::string uid;
        std::int64_t version = 0;
        std::uint64_t epoch = 0; // of the lease in which that is so
    };
    std::optional<Trusted> trusted;
    rs::Ptr<DeploymentScale> in_doubt; // an own write of which nobody knows whether it was carried out

    std::int64_t behind_generation = 0; // the scale was found behind this generation of the Deployment
    Instant behind_since;
};

} // namespace yk::mcs
