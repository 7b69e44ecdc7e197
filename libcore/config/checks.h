#pragma once
// The parts of validate(), in the order in which they run over one partition. Each gets the queue as it was read and
// as it will be loaded; their children correspond one to one. For validate.cpp only.

#include <optional>
#include <string_view>

#include "libcore/config/document.h"
#include "libcore/config/problem.h"

namespace yk::config::checks {

/// The quantities of a map; bad ones are left out.
[[nodiscard]] ResourceMap to_resource(const Entries& quantities);
/// An empty map counts as absent, as it does everywhere below the presence check of C-047.
[[nodiscard]] std::optional<ResourceMap> to_resource(const std::optional<Entries>& quantities);
/// Reports each bad quantity, `prefix` in front (C-060).
void report_bad_quantities(const std::optional<Entries>& quantities, std::string_view prefix, Report& report);

/// `fits` of config.md: every type of `small` that `big` names too is at most the value there. Absent: no limit.
[[nodiscard]] bool fits(const std::optional<ResourceMap>& big, const ResourceMap& small);
/// `min` of config.md: per type the smaller value; a type of one side keeps its value.
[[nodiscard]] std::optional<ResourceMap> min(const std::optional<ResourceMap>& a, const std::optional<ResourceMap>& b);

// queue_structure.cpp: C-041, C-045, C-046, ACLs, and the limits of each queue by check_queue_limits().
void check_structure(const QueueDocument& root, const Queue& loaded, Report& report);

// queue_limits.cpp
/// What the queue and those above it allow (C-099).
struct Bounds {
    const std::optional<ResourceMap>* max = nullptr; // effective max (C-063)
    std::uint64_t max_applications = 0;              // the nearest that is set; 0: none
};
/// C-091 to C-099. `bounds`: null for the root.
void check_queue_limits(const QueueDocument& queue, const Bounds* bounds, Report& report);
/// C-110 to C-115, over the tree.
void check_limit_hierarchy(const QueueDocument& root, const Queue& loaded, Report& report);

// queue_resources.cpp
/// C-060 to C-067 and C-231.
void check_resources(const QueueDocument& root, const Queue& loaded, Report& report);
/// C-070.
void check_max_applications(const QueueDocument& root, Report& report);

// placement_rules.cpp
/// C-300 to C-314. `expressions` counts the regular expressions of the whole configuration.
void check_placement_rules(const std::vector<RuleDocument>& rules, const Queue& root, std::size_t& expressions,
                           Report& report);

// doubts.cpp
/// The warnings of B-04 about a partition's queues and rules.
void warn_about(const PartitionDocument& partition, const QueueDocument& root, const Queue& loaded, Report& report);

} // namespace yk::config::checks
