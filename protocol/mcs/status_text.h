// SPDX-License-Identifier: Apache-2.0
#pragma once
// A ScaleStatus as the JSON text of the column `status` of a DeploymentScale, and back, with ages in milliseconds
// instead of times. Strict as the text of a policy: who cannot read it begins with an empty status.
//
//     {"conditions":{"ableToScale":{"ageMs":60000,"is":true,"reason":"Ready"}},
//      "events":[{"added":2,"ageMs":60000,"removed":0}],"lastScaledAgeMs":60000,
//      "recommendations":[{"ageMs":15000,"highest":6,"lowest":4}]}
//
// The lists are short (ScaleHistory::kMostEntries), so a text has at most some 8 KiB.

#include <string>
#include <string_view>

#include "libcore/mcs/autoscaler/scale_texts.h"

namespace yk::mcs {

[[nodiscard]] std::string status_text(const ScaleStatus& status, Instant now);
/// `where` of an error is the path of the field.
[[nodiscard]] Result<ScaleStatus> parse_status(std::string_view text, Instant now);

/// Both texts of a scale as JSON. Any thread.
class JsonScaleTexts final : public ScaleTexts {
public:
    [[nodiscard]] Result<ScalingPolicy> policy_of(std::string_view text) const override;
    [[nodiscard]] std::string text_of(const ScaleStatus& status, Instant now) const override;
    [[nodiscard]] Result<ScaleStatus> status_of(std::string_view text, Instant now) const override;
};

} // namespace yk::mcs
