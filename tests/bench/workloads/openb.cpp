// SPDX-License-Identifier: Apache-2.0
// W3: the node and pod lists of a production cluster (openb): each row is a node or an ask.

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>

#include <fmt/format.h>

#include "tests/bench/workloads/workloads.h"

namespace yk::bench {

namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr const char* kNodeFile = "openb_node_list_all_node.csv";
constexpr const char* kPodFile = "openb_pod_list_default.csv";

using Fields = std::vector<std::string>;

/// The lines after the heading, split at commas (the data has no quotes). Error: no such file, or a short line.
Result<std::vector<Fields>> read_table(const std::string& path, std::size_t columns) {
    std::ifstream file{path};
    if (!file) return Error::at(path, "cannot be read");
    std::vector<Fields> rows;
    std::string line;
    for (std::size_t number = 1; std::getline(file, line); ++number) {
        Fields fields;
        for (std::size_t from = 0; from <= line.size();) {
            const std::size_t to = std::min(line.find(',', from), line.size());
            fields.push_back(line.substr(from, to - from));
            from = to + 1;
        }
        if (fields.size() < columns)
            return Error::at(fmt::format("{}:{}", path, number),
                             fmt::format("has {} of {} columns", fields.size(), columns));
        if (number > 1) rows.push_back(std::move(fields));
    }
    return rows;
}

std::int64_t number(const std::string& text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::string lower(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

Amounts amounts(std::int64_t vcore, std::int64_t memory_mib, std::int64_t gpu) {
    Amounts all{{"vcore", vcore}, {"memory", memory_mib * kMiB}};
    if (gpu > 0) all.emplace_back("gpu", gpu);
    return all;
}

/// Gives equal amounts the same number.
class Sizes {
public:
    explicit Sizes(std::vector<Amounts>& list) : list_(list) {}
    std::uint32_t of(const Amounts& size) {
        const auto [at, made] = known_.emplace(size, static_cast<std::uint32_t>(list_.size()));
        if (made) list_.push_back(size);
        return at->second;
    }

private:
    std::vector<Amounts>& list_;
    std::map<Amounts, std::uint32_t> known_;
};

std::int64_t amount_in(const Amounts& amounts, const std::string& name) {
    const auto found =
        std::find_if(amounts.begin(), amounts.end(), [&](const auto& each) { return each.first == name; });
    return found == amounts.end() ? 0 : found->second;
}

/// The asks of the workload as what is expected, in flow style.
std::string expected_text(const Workload& workload) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> weights;
    for (const AskRow& ask : workload.asks) {
        const Amounts& size = workload.sizes[ask.size];
        ++weights[{amount_in(size, "gpu"), amount_in(size, "vcore")}];
    }
    std::string text;
    for (const auto& [amounts, weight] : weights)
        text += fmt::format("{}{{resources: {{gpu: {}, vcore: {}m}}, weight: {}}}", text.empty() ? "" : ", ",
                            amounts.first, amounts.second, weight);
    return text;
}

std::string config_of(NodeOrder order, const Workload& workload) {
    std::string policy = "type: " + policy_of(order);
    if (order == NodeOrder::Given)
        policy += ", fragmentation: {resource: gpu, workload: [" + expected_text(workload) + "]}";
    std::string text = fmt::format("partitions:\n  - name: default\n    nodesortpolicy: {{{}}}\n    queues:\n"
                                   "      - name: root\n        submitacl: '*'\n        queues:\n",
                                   policy);
    for (const ApplicationRow& each : workload.applications) text += fmt::format("          - name: {}\n", each.id);
    return text;
}

} // namespace

Result<Workload> make_openb(const std::string& folder, NodeOrder order) {
    YK_TRY(nodes, read_table(folder + "/" + kNodeFile, 5));
    YK_TRY(pods, read_table(folder + "/" + kPodFile, 9));
    std::stable_sort(pods.begin(), pods.end(),
                     [](const Fields& a, const Fields& b) { return number(a[8]) < number(b[8]); });
    Workload workload;
    Sizes sizes{workload.sizes};
    for (const Fields& row : nodes)
        workload.nodes.push_back({row[0], sizes.of(amounts(number(row[1]), number(row[2]), number(row[3]) * 1000))});
    std::map<std::string, std::uint32_t> applications; // by qos
    for (const Fields& row : pods) {
        const auto made = static_cast<std::uint32_t>(applications.size());
        const auto [at, first] = applications.emplace(lower(row[6]), made);
        if (first) workload.applications.push_back({at->first, "root." + at->first});
        const std::int64_t gpu = number(row[3]) * number(row[4]);
        workload.asks.push_back({at->second, sizes.of(amounts(number(row[1]), number(row[2]), gpu))});
    }
    workload.config = config_of(order, workload);
    return workload;
}

} // namespace yk::bench
