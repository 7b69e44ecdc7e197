// SPDX-License-Identifier: Apache-2.0
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
/// An empty map counts as absent, as everywhere but where the root is checked for having none (C-047).
[[nodiscard]] std::optional<ResourceMap> to_resource(const std::optional<Entries>& quantities);
/// Reports each bad quantity, with `prefix` before the message (C-060).
void report_bad_quantities(const std::optional<Entries>& quantities, std::string_view prefix, Report& report);

/// Whether every type of `small` that `big` names too is at most the value there; an absent `big` is no limit (`fits`
/// of config.md).
[[nodiscard]] bool fits(const std::optional<ResourceMap>& big, const ResourceMap& small);
/// Per type the smaller value; a type that only one side has keeps its value (`min` of config.md).
[[nodiscard]] std::optional<ResourceMap> min(const std::optional<ResourceMap>& a, const std::optional<ResourceMap>& b);

// queue_structure.cpp
/// Names and ACLs of the queues, and the limits of each by check_queue_limits() (C-041, C-044 to C-046).
void check_structure(const QueueDocument& root, const Queue& loaded, Report& report);

// queue_limits.cpp
/// What the queue and those above it allow: the limits of users and groups there must be within it (C-099).
struct Bounds {
    const std::optional<ResourceMap>* max = nullptr; // effective max (C-063)
    std::uint64_t max_applications = 0;              // of the nearest queue that sets it; 0: none
};
/// The user and group limits of one queue by themselves. `bounds`: null for the root (C-091 to C-099).
void check_queue_limits(const QueueDocument& queue, const Bounds* bounds, Report& report);
/// The limits of each name against those of the queues above (C-110 to C-115).
void check_limit_hierarchy(const QueueDocument& root, const Queue& loaded, Report& report);

// queue_resources.cpp
/// Guaranteed and max of each queue and template, and of parents against their children (C-060 to C-067, C-231).
void check_resources(const QueueDocument& root, const Queue& loaded, Report& report);
/// `maxapplications` of each queue against that of its parent (C-070).
void check_max_applications(const QueueDocument& root, Report& report);

// placement_rules.cpp
/// Each placement rule by itself, and fixed paths against the queues. `expressions` counts the regular expressions of
/// the whole configuration (C-300 to C-314).
void check_placement_rules(const std::vector<RuleDocument>& rules, const Queue& root, std::size_t& expressions,
                           Report& report);

// fragmentation.cpp
/// How fragmentation is measured (F-020, F-021).
[[nodiscard]] FragmentationSettings load_fragmentation(const FragmentationDocument& document, Report& report);

// doubts.cpp
/// The warnings about queues and rules of a partition (B-04).
void warn_about(const PartitionDocument& partition, const QueueDocument& root, const Queue& loaded, Report& report);

} // namespace yk::config::checks
