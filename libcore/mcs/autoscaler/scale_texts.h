// SPDX-License-Identifier: Apache-2.0
#pragma once
// ScaleTexts: the port to the texts in the columns `policy` of a Deployment and `status` of a DeploymentScale, so that
// libcore needs no library for them.

#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "libcore/mcs/autoscaler/scale_status.h"

namespace yk::mcs {

/// Owner: the program. Thread: that of the Autoscaler; no call waits.
class ScaleTexts {
public:
    virtual ~ScaleTexts() = default;
    [[nodiscard]] virtual Result<ScalingPolicy> policy_of(std::string_view text) const = 0;
    /// The text has ages instead of times, since the clock of another process or another start is another one
    /// (rs R-119). Whenever it is read, the ages are those of when it was written, so that a brake holds longer than it
    /// should, never shorter. Ages are cut to milliseconds, which makes them younger, too.
    [[nodiscard]] virtual std::string text_of(const ScaleStatus& status, Instant now) const = 0;
    [[nodiscard]] virtual Result<ScaleStatus> status_of(std::string_view text, Instant now) const = 0;
};

} // namespace yk::mcs
