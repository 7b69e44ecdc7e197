// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the metrics of a partition are made of (interface.md section 6), as plain numbers: made by the owner thread in a
// few milliseconds for 10,000 queues and 100,000 applications, turned into text elsewhere.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace yk {

/// Applications of a queue that ended, ever; outlives the queue.
struct EndedCounts {
    std::uint64_t completed = 0;
    std::uint64_t failed = 0;
    std::uint64_t rejected = 0;
    bool operator==(const EndedCounts&) const = default;
};

/// Amounts by position in PartitionMetrics::resource_names.
using MetricAmounts = std::vector<std::pair<std::uint32_t, std::int64_t>>;

struct QueueMetrics {
    static constexpr std::size_t kStates = 10; // as ApplicationState

    std::string path;
    bool leaf = false;
    bool managed = true;
    MetricAmounts allocated, pending, preempting;
    std::optional<MetricAmounts> guaranteed, max; // nullopt: no limit (I-509)
    std::uint64_t max_applications = 0;           // 0: no limit
    std::uint64_t running = 0;                    // applications of the subtree
    std::uint64_t applications = 0;               // of a leaf, live
    std::uint64_t placed = 0, released = 0;       // allocations of a leaf, ever
    std::array<std::uint64_t, kStates> states{};  // of a leaf: applications by state, ended ones that are kept included
};

struct PartitionMetrics {
    static constexpr std::size_t kBands = 10; // of node usage: (0,10%], (10,20%] ..
    using Bands = std::array<std::uint64_t, kBands>;
    using States = std::array<std::uint64_t, QueueMetrics::kStates>;

    std::vector<std::string> resource_names;
    std::vector<QueueMetrics> queues;                      // parents before children, by name
    std::map<std::string, EndedCounts, std::less<>> ended; // by path; "": refused by no queue
    States states{};                                       // of all applications, ended ones that are kept included
    std::unordered_map<std::string, States> kept;          // of ended ones, by path, until join_kept()
    std::uint64_t rejected_by_none = 0;                    // among the rejected ones that are kept
    std::uint64_t nodes_open = 0, nodes_draining = 0;
    std::uint64_t allocations = 0;
    std::optional<double> fragmentation_ratio; // nullopt: the node policy does not measure it (F-034)
    std::vector<Bands> node_usage; // nodes per band, by position in resource_names; nowhere one: no node has the type
};

} // namespace yk
