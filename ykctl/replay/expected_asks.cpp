// SPDX-License-Identifier: Apache-2.0
#include "ykctl/replay/expected_asks.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace yk::replay {
namespace {

std::int64_t amount_of(const TracePod& pod, const char* name) {
    const auto found = pod.request.find(name);
    return found == pod.request.end() ? 0 : found->second;
}

} // namespace

std::vector<ExpectedAsks> expected_of(const std::vector<TracePod>& pods) {
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::int64_t> counts;
    for (const TracePod& pod : pods) ++counts[{amount_of(pod, kGpu), pod.gpus, amount_of(pod, "vcore")}];
    std::vector<ExpectedAsks> asks;
    asks.reserve(counts.size());
    for (const auto& [kind, count] : counts)
        asks.push_back({std::get<2>(kind), std::get<1>(kind), std::get<0>(kind), count});
    std::stable_sort(asks.begin(), asks.end(),
                     [](const ExpectedAsks& a, const ExpectedAsks& b) { return a.weight > b.weight; });
    return asks;
}

std::string workload_text(const std::vector<ExpectedAsks>& asks, const std::string& indent) {
    std::string text;
    for (const ExpectedAsks& each : asks) {
        std::string line = fmt::format("{}- {{resources: {{vcore: {}m", indent, each.vcore);
        if (each.gpu > 0) line += fmt::format(", {}: {}", kGpu, each.gpu);
        line += "}, ";
        if (each.gpus > 1) line += fmt::format("devices: {{{}: {}x{}}}, ", kGpu, each.gpus, each.gpu / each.gpus);
        text += line + fmt::format("weight: {}}}\n", each.weight);
    }
    return text;
}

} // namespace yk::replay
