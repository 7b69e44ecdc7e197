// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an application used, as one log line when it has ended (I-721). Pure. Thread: any.

#include <string>

#include "libcore/ports/view.h"

namespace yk::service {

/// `YK_APP_SUMMARY: ApplicationID=app-1 SubmissionTime=.. ..`; times in ms since the epoch, 0: not yet.
[[nodiscard]] std::string summary_line(const ApplicationView& application, const std::string& rm_id);
/// The same fields as one JSON object.
[[nodiscard]] std::string summary_json(const ApplicationView& application, const std::string& rm_id);

} // namespace yk::service
