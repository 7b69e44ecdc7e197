// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/deployment_scale.h"

#include "libcore/mcs/content_hash.h"

namespace yk::rs {

std::uint64_t ResourceTraits<mcs::DeploymentScale>::content_hash(const mcs::DeploymentScale& row) {
    mcs::ContentHash hash;
    hash.add(row.owner).add(row.cascade_parent).add(row.desired).add(row.reason);
    return hash.add(row.observed_generation).add(row.status).value();
}

} // namespace yk::rs
