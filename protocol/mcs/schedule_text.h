// SPDX-License-Identifier: Apache-2.0
#pragma once
// A ScheduleStatus as the JSON text of the column `status` of a DeploymentSchedule, and back. Strict as the text of a
// policy.
//
//     {"application":{"groups":["staff"],"partition":"default","queue":"root.a","tags":{"team":"blue"},"user":"ann"},
//      "message":"queue full","nextAttempt":4,
//      "versions":[{"fromAttempt":0,"priority":0,"resource":{"memory":1000000,"vcore":500}}]}

#include <string>
#include <string_view>

#include "libcore/mcs/replicas/schedule_status.h"

namespace yk::mcs {

[[nodiscard]] std::string schedule_status_text(const ScheduleStatus& status);
/// `where` of an error is the path of the field.
[[nodiscard]] Result<ScheduleStatus> parse_schedule_status(std::string_view text);

/// Any thread.
class JsonScheduleTexts final : public ScheduleTexts {
public:
    [[nodiscard]] std::string text_of(const ScheduleStatus& status) const override {
        return schedule_status_text(status);
    }
    [[nodiscard]] Result<ScheduleStatus> status_of(std::string_view text) const override {
        return parse_schedule_status(text);
    }
};

} // namespace yk::mcs
