// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report of a recovery (I-237) as texts for a person.

#include <string>

#include "protocol/wire/value.h"
#include "ykctl/render/style.h"

namespace yk::cli {

/// The report in one sentence, without an end of line: `recovery r1 of rm-1, attempt 1: retry after 4s; 3 of 3 nodes, 1
/// of 1 application, 1 of 2 allocations (another digest); 1 object quarantined`.
[[nodiscard]] std::string recovery_sentence(const wire::Value& report);

/// The whole report: what came of it, a table of what was expected and what is there, lists of what is wrong, and what
/// there is to do now.
[[nodiscard]] std::string recovery_report_text(const wire::Value& report, const Style& style);

} // namespace yk::cli
