// SPDX-License-Identifier: Apache-2.0
#pragma once
// The metrics in Prometheus' text over HTTP, from that of the protocol: with the original's names, for dashboards that
// were made for it, and with our own, which keep to Prometheus' rules for names. Pure.

#include <string>

namespace yk::service {

/// As the original has them: without the label of the partition, when there is only one.
[[nodiscard]] std::string rest_metrics(const std::string& text);
/// Those that have the original's names as `ykd_...`: queues and resources are labels and no parts of names, times are
/// in seconds, counters and nothing else end in `_total`. A family that is there in two forms is there once. Those that
/// are not the original's, `mcs_...` and `process_...`, keep their names where these follow the rules.
[[nodiscard]] std::string own_metrics(const std::string& text);

} // namespace yk::service
