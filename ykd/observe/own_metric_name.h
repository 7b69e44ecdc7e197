// SPDX-License-Identifier: Apache-2.0
#pragma once
// Our names of metrics, beside those of the original, which dashboards made for it ask for. Pure.

#include <optional>
#include <string>
#include <string_view>

namespace yk::service {

/// Our name of the original's family: `ykd_...`, by Prometheus' rules for names: queues and resources are labels and no
/// parts of names, times are in seconds, counters and nothing else end in `_total`. Those that are not the original's,
/// `mcs_...` and `process_...`, keep their names where these follow the rules. nullopt: what it says is in another
/// family, which has it in this form.
[[nodiscard]] std::optional<std::string> own_metric_name(std::string_view family);

} // namespace yk::service
