// SPDX-License-Identifier: Apache-2.0
#pragma once
// The metrics in Prometheus' text over HTTP, from that of the protocol: with the original's names, for dashboards that
// were made for it, and with our own, which keep to Prometheus' rules for names. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace yk::service {

/// As the original has them: without the label of the partition, when there is only one. Takes place in the text.
[[nodiscard]] std::string rest_metrics(std::string text);

/// Those that have the original's names as `ykd_...`: queues and resources are labels and no parts of names, times are
/// in seconds, counters and nothing else end in `_total`. A family that is there in two forms is there once. Those that
/// are not the original's, `mcs_...` and `process_...`, keep their names where these follow the rules.
class OwnMetrics {
public:
    /// Adds what is made of the next page of the text, which is of whole lines.
    void add(std::string_view page);
    [[nodiscard]] std::string take() { return std::move(shown_); }

private:
    std::string shown_;
    std::string family_;             // of the lines that follow its head, maybe on another page
    std::optional<std::string> own_; // its name here
};

} // namespace yk::service
