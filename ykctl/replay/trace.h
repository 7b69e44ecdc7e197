// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cluster trace: nodes and pods, in the base units of the messages.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"

namespace yk::replay {

/// Resource name -> amount; memory in bytes, vcore and gpu in thousandths. gpu is left out when 0.
using Amounts = std::map<std::string, std::int64_t>;

inline constexpr const char* kGpu = "gpu";
inline constexpr std::int64_t kWholeGpu = 1000;

struct TraceNode {
    std::string name;
    Amounts capacity;
    std::int64_t gpus = 0; // kWholeGpu each
};

struct TracePod {
    std::string name;
    Amounts request;
    std::string queue;                    // the qos in lower case; also the application
    std::int64_t creation = 0;            // seconds from the start of the trace
    std::optional<std::int64_t> deletion; // not before creation
    std::int64_t gpus = 0;                // so many, with an equal part of the request on each
};

struct Trace {
    std::vector<TraceNode> nodes; // in file order
    std::vector<TracePod> pods;   // by creation time, file order for ties

    [[nodiscard]] Amounts capacity() const;
    [[nodiscard]] std::vector<std::string> queues() const; // sorted
};

/// Read the rows of a file, whose names have to be unique. Errors have `file:line` as `where`.
[[nodiscard]] Result<std::vector<TraceNode>> read_nodes(std::string_view text, const std::string& file);
[[nodiscard]] Result<std::vector<TracePod>> read_pods(std::string_view text, const std::string& file);

[[nodiscard]] Result<std::vector<TracePod>> load_pods(const std::string& pods_file);
/// Reads both files.
[[nodiscard]] Result<Trace> load_trace(const std::string& nodes_file, const std::string& pods_file);

/// Adds `amounts` to `sum`, or subtracts them with `sign` -1. Saturates at the limits of 64 bits.
void add_amounts(Amounts& sum, const Amounts& amounts, int sign = 1);

} // namespace yk::replay
