// SPDX-License-Identifier: Apache-2.0
#pragma once
// Report: the results of a replay, as numbers, tables and JSON.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "protocol/wire/value.h"
#include "ykctl/replay/trace.h"

namespace yk::replay {

/// The usage at one moment.
struct Sample {
    double seconds = 0; // since the first ask
    std::uint64_t placed = 0;
    std::map<std::string, Amounts> used; // by queue
};

struct Report {
    std::uint64_t nodes = 0, pods = 0;
    std::uint64_t placed = 0;                     // at some time during the replay
    std::map<std::string, std::uint64_t> reasons; // of the other pods; the counts add up to pods - placed
    std::map<std::string, std::string> examples;  // by reason, the text for one of the pods
    Amounts capacity;
    Amounts used;                      // at the end
    std::vector<double> time_to_place; // seconds, of the placed ones
    std::vector<Sample> samples;       // in order of time, each different from the one before
    double seconds = 0;                // from the first ask to the end
};

/// The smallest value that at least the share `q` (0 to 1) of the values does not exceed; 0 for none.
[[nodiscard]] double quantile(std::vector<double> values, double q);

/// At most `count` samples spread over the time, including the last one.
[[nodiscard]] std::vector<Sample> thinned(const std::vector<Sample>& samples, std::size_t count);

[[nodiscard]] std::string report_text(const Report& report);
/// The report for the machine formats.
[[nodiscard]] wire::Value report_value(const Report& report);

} // namespace yk::replay
