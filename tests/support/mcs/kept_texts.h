// SPDX-License-Identifier: Apache-2.0
#pragma once
// KeptTexts: texts of policies and statuses that are numbers of values which the test keeps.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/mcs/autoscaler/scale_texts.h"

namespace yk::testing {

class KeptTexts final : public mcs::ScaleTexts {
public:
    [[nodiscard]] Result<mcs::ScalingPolicy> policy_of(std::string_view text) const override {
        if (text == "{}") return mcs::ScalingPolicy{};
        const auto found = policies.find(text);
        if (found == policies.end()) return Error::of("no such policy");
        return found->second;
    }
    [[nodiscard]] std::string text_of(const mcs::ScaleStatus& status, Instant now) const override {
        statuses_.emplace_back(status, now);
        return "#" + std::to_string(statuses_.size() - 1);
    }
    [[nodiscard]] Result<mcs::ScaleStatus> status_of(std::string_view text, Instant now) const override {
        if (text.empty() || text[0] != '#') return Error::of("no such status");
        const auto& [status, then] = statuses_.at(std::stoul(std::string{text.substr(1)}));
        return later(status, now - then);
    }

    std::map<std::string, mcs::ScalingPolicy, std::less<>> policies;

private:
    /// All times moved: the ages are those of when it was written.
    [[nodiscard]] static mcs::ScaleStatus later(mcs::ScaleStatus status, Duration by) {
        auto recommendations = status.history.recommendations();
        auto events = status.history.events();
        for (auto& each : recommendations) each.at = each.at + by;
        for (auto& each : events) each.at = each.at + by;
        status.history = {std::move(recommendations), std::move(events)};
        if (status.last_scaled) status.last_scaled = *status.last_scaled + by;
        return status;
    }

    mutable std::vector<std::pair<mcs::ScaleStatus, Instant>> statuses_;
};

} // namespace yk::testing
