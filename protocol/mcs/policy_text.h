// SPDX-License-Identifier: Apache-2.0
#pragma once
// A ScalingPolicy as the JSON text of the column `policy` of a Deployment, and back. Strict: an unknown field, one that
// is there twice, a wrong type or a number out of its range is an error that names the field and what is allowed.
//
//     {"metrics":[{"name":"load","target":70000,"type":"average"}],
//      "schedule":[{"at":"08:00","days":["mon","fri"],"replicas":10}],
//      "down":{"rates":[{"periodSeconds":60,"type":"percent","value":10}],"select":"max","windowSeconds":300}}
//
// The text that is written is canonical: keys sorted, no blanks, and nothing that is the default. Equal policies have
// equal texts.

#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "libcore/mcs/scaling/scaling_policy.h"

namespace yk::mcs {

/// `where` of an error is the path of the field, such as `metrics[0].target`.
[[nodiscard]] Result<ScalingPolicy> parse_policy(std::string_view text);
[[nodiscard]] std::string policy_text(const ScalingPolicy& policy);

} // namespace yk::mcs
