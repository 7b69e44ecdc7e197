#pragma once
// What an application used, as one log line when it has ended (I-721).

#include <string>

#include "libcore/scheduler/view.h"

namespace yk::service {

/// `YK_APP_SUMMARY: ApplicationID=app-1 SubmissionTime=.. ..`; times in ms.
[[nodiscard]] std::string summary_line(const ApplicationView& application, const std::string& rm_id);
/// The same fields as one JSON object.
[[nodiscard]] std::string summary_json(const ApplicationView& application, const std::string& rm_id);

} // namespace yk::service
