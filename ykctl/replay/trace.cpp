// SPDX-License-Identifier: Apache-2.0
#include "ykctl/replay/trace.h"

#include "libcore/base/saturate.h"
#include "protocol/wire/text.h"
#include "ykctl/cli/values.h"
#include "ykctl/replay/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <unordered_map>

namespace yk::replay {
namespace {

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20U;
constexpr std::int64_t kMaxMilli = std::int64_t{1} << 40U; // thousandths of a core: a billion cores
constexpr std::int64_t kMaxMebibytes = std::int64_t{1} << 40U;
constexpr std::int64_t kMaxGpus = 1'000'000;
constexpr std::int64_t kMaxSeconds = std::int64_t{1} << 40U;
constexpr std::size_t kMaxQueues = 1000;

/// Checks that no name occurs twice.
class Names {
public:
    Result<std::string> take(const CsvReader& row, std::string_view column) {
        const std::string& name = row.field(column);
        if (name.empty() || wire::check_text(name, wire::TextRule::Id) != wire::TextFault::None)
            return row.error(fmt::format("{}: a name is 1 to 256 bytes of UTF-8 without control characters", column));
        const auto [found, is_new] = lines_.emplace(name, row.line());
        if (!is_new) return row.error(fmt::format("{}: \"{}\" stands in line {} already", column, name, found->second));
        return name;
    }

private:
    std::unordered_map<std::string, std::size_t> lines_;
};

bool is_queue_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

Result<std::string> queue_of(const CsvReader& row) {
    std::string queue = row.field("qos");
    for (char& c : queue)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (queue.empty() || queue.size() > 64 || !std::all_of(queue.begin(), queue.end(), is_queue_character))
        return row.error(fmt::format("qos: \"{}\" is no queue name (1 to 64 letters, digits, - and _)", queue));
    return queue;
}

Result<Amounts> basic_amounts(const CsvReader& row) {
    YK_TRY(vcore, row.number("cpu_milli", kMaxMilli));
    YK_TRY(memory, row.number("memory_mib", kMaxMebibytes));
    return Amounts{{"vcore", vcore}, {"memory", memory * kMebibyte}};
}

Result<TraceNode> node_of(const CsvReader& row, Names& names) {
    YK_TRY(name, names.take(row, "sn"));
    YK_TRY(capacity, basic_amounts(row));
    YK_TRY(gpus, row.number("gpu", kMaxGpus));
    if (gpus > 0) capacity[kGpu] = gpus * kWholeGpu;
    return TraceNode{std::move(name), std::move(capacity), gpus};
}

Result<TracePod> pod_of(const CsvReader& row, Names& names) {
    TracePod pod;
    YK_TRY(name, names.take(row, "name"));
    YK_TRY(request, basic_amounts(row));
    YK_TRY(gpus, row.number("num_gpu", kMaxGpus));
    YK_TRY(gpu_milli, row.number("gpu_milli", kMaxMilli));
    if (gpus * gpu_milli > 0) {
        request[kGpu] = gpus * gpu_milli;
        pod.gpus = gpus;
    }
    YK_TRY(queue, queue_of(row));
    YK_TRY(creation, row.number("creation_time", kMaxSeconds));
    if (!row.field("deletion_time").empty()) {
        YK_TRY(deletion, row.number("deletion_time", kMaxSeconds));
        if (deletion < creation)
            return row.error(fmt::format("deleted at {}, before its creation at {}", deletion, creation));
        pod.deletion = deletion;
    }
    pod.name = std::move(name);
    pod.request = std::move(request);
    pod.queue = std::move(queue);
    pod.creation = creation;
    return pod;
}

Result<std::string> text_of(const std::string& file) {
    auto text = cli::read_text(file, std::cin, kMaxFileBytes);
    if (!text) return Error::of(text.error().message);
    return std::move(text).value();
}

} // namespace

Result<std::vector<TraceNode>> read_nodes(std::string_view text, const std::string& file) {
    YK_TRY(rows, CsvReader::open(text, file, {{"sn"}, {"cpu_milli"}, {"memory_mib"}, {"gpu"}, {"model", false}}));
    std::vector<TraceNode> nodes;
    Names names;
    for (;;) {
        YK_TRY(more, rows.next());
        if (!more) return nodes;
        YK_TRY(node, node_of(rows, names));
        nodes.push_back(std::move(node));
    }
}

Result<std::vector<TracePod>> read_pods(std::string_view text, const std::string& file) {
    const std::vector<CsvColumn> columns{{"name"},
                                         {"cpu_milli"},
                                         {"memory_mib"},
                                         {"num_gpu"},
                                         {"gpu_milli"},
                                         {"gpu_spec", false},
                                         {"qos"},
                                         {"pod_phase", false},
                                         {"creation_time"},
                                         {"deletion_time"},
                                         {"scheduled_time", false}};
    YK_TRY(rows, CsvReader::open(text, file, columns));
    std::vector<TracePod> pods;
    std::set<std::string> queues;
    Names names;
    for (;;) {
        YK_TRY(more, rows.next());
        if (!more) break;
        YK_TRY(pod, pod_of(rows, names));
        if (queues.insert(pod.queue).second && queues.size() > kMaxQueues)
            return rows.error(fmt::format("more than {} different qos", kMaxQueues));
        pods.push_back(std::move(pod));
    }
    std::stable_sort(pods.begin(), pods.end(),
                     [](const TracePod& a, const TracePod& b) { return a.creation < b.creation; });
    return pods;
}

Result<std::vector<TracePod>> load_pods(const std::string& pods_file) {
    YK_TRY(text, text_of(pods_file));
    return read_pods(text, pods_file);
}

Result<Trace> load_trace(const std::string& nodes_file, const std::string& pods_file) {
    YK_TRY(nodes_text, text_of(nodes_file));
    YK_TRY(nodes, read_nodes(nodes_text, nodes_file));
    YK_TRY(pods, load_pods(pods_file));
    return Trace{std::move(nodes), std::move(pods)};
}

Amounts Trace::capacity() const {
    Amounts sum;
    for (const TraceNode& node : nodes) add_amounts(sum, node.capacity);
    return sum;
}

std::vector<std::string> Trace::queues() const {
    std::set<std::string> names;
    for (const TracePod& pod : pods) names.insert(pod.queue);
    return {names.begin(), names.end()};
}

void add_amounts(Amounts& sum, const Amounts& amounts, int sign) {
    for (const auto& [name, amount] : amounts) {
        std::int64_t& total = sum[name];
        total = sign > 0 ? sat_add(total, amount) : sat_sub(total, amount);
    }
}

} // namespace yk::replay
