// SPDX-License-Identifier: Apache-2.0
#include "ykctl/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ostream>

#include "ykctl/render/text.h"
#include "ykctl/replay/random.h"

namespace yk::replay {
namespace {

constexpr int kUsage = 2;
constexpr std::int64_t kMostNodes = 100'000, kMostPods = 1'000'000;

struct NodeType {
    std::uint64_t cpu_milli, memory_mib, gpus;
    const char* model;
    std::uint64_t weight; // the number among ten nodes
};
constexpr std::array<NodeType, 3> kNodeTypes{
    {{32'000, 131'072, 0, "nan", 3}, {64'000, 262'144, 4, "T4", 4}, {96'000, 393'216, 8, "V100M16", 3}}};

struct Qos {
    const char* name;
    std::uint64_t weight;
};
constexpr std::array<Qos, 4> kQos{{{"LS", 6}, {"BE", 3}, {"Burstable", 1}, {"Guaranteed", 1}}};

template <class Table>
const auto& pick(const Table& table, Random& random) {
    std::uint64_t total = 0;
    for (const auto& entry : table) total += entry.weight;
    std::uint64_t at = random.below(total);
    for (const auto& entry : table) {
        if (at < entry.weight) return entry;
        at -= entry.weight;
    }
    return table.back();
}

std::string nodes_text(std::int64_t count, Random& random) {
    std::string out = "sn,cpu_milli,memory_mib,gpu,model\n";
    for (std::int64_t i = 0; i < count; ++i) {
        const NodeType& type = pick(kNodeTypes, random);
        out += fmt::format("node-{:04d},{},{},{},{}\n", i, type.cpu_milli, type.memory_mib, type.gpus, type.model);
    }
    return out;
}

/// GPUs in the proportions of the recorded trace: most pods share one, some want several whole ones, some none.
std::pair<std::uint64_t, std::uint64_t> gpus_of(Random& random) {
    const std::uint64_t kind = random.below(10);
    if (kind < 3) return {0, 0};
    if (kind < 7) return {1, 100 * (1 + random.below(9))};
    if (kind < 9) return {1, 1000};
    return {2 + 2 * random.below(4), 1000};
}

std::string pods_text(std::int64_t count, Random& random) {
    std::string out = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,"
                      "scheduled_time\n";
    std::uint64_t creation = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint64_t cpu = 1000 * (1 + random.below(16));
        const std::uint64_t memory = 1024 * (1 + random.below(cpu / 250));
        const auto [gpus, gpu_milli] = gpus_of(random);
        const Qos& qos = pick(kQos, random);
        const std::uint64_t deletion = creation + 600 + random.below(36'000);
        out += fmt::format("pod-{:05d},{},{},{},{},,{},Running,{},{},{}\n", i, cpu, memory, gpus, gpu_milli, qos.name,
                           creation, deletion, creation);
        creation += random.below(60);
    }
    return out;
}

bool write_file(const std::filesystem::path& path, const std::string& text, std::ostream& err) {
    std::ofstream file{path, std::ios::binary | std::ios::trunc};
    file << text;
    file.close();
    if (!file.fail()) return true;
    err << "ykctl: " << cli::printable(path.string()) << ": cannot be written: " << std::strerror(errno) << '\n';
    return false;
}

} // namespace

int generate_trace(const GenerateOptions& options, std::ostream& out, std::ostream& err) {
    if (options.directory.empty() || options.nodes < 1 || options.pods < 1 || options.nodes > kMostNodes ||
        options.pods > kMostPods) {
        err << fmt::format("ykctl: a trace needs a directory, 1 to {} nodes and 1 to {} pods\n", kMostNodes, kMostPods);
        return kUsage;
    }
    const std::filesystem::path directory{options.directory};
    std::error_code fault;
    std::filesystem::create_directories(directory, fault);
    if (fault) {
        err << fmt::format("ykctl: {}: cannot be made: {}\n", cli::printable(options.directory), fault.message());
        return kUsage;
    }
    Random random{static_cast<std::uint64_t>(options.seed)};
    if (!write_file(directory / "nodes.csv", nodes_text(options.nodes, random), err)) return kUsage;
    if (!write_file(directory / "pods.csv", pods_text(options.pods, random), err)) return kUsage;
    out << fmt::format("{0} nodes in {2}/nodes.csv, {1} pods in {2}/pods.csv\n", options.nodes, options.pods,
                       cli::printable(options.directory));
    return 0;
}

} // namespace yk::replay
