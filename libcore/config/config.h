// SPDX-License-Identifier: Apache-2.0
#pragma once
// The queue configuration as plain structs, with names in text (config.md, sections 2 to 15). Made by
// config_yaml::load(), checked and completed by validate(); read by the core. Immutable after loading.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/time.h"
#include "libcore/policies/node_sort_policy.h"

namespace yk::config {

/// A position in the source text, both from 1, the column in bytes; 0: in none.
struct Mark {
    int line = 0;
    int column = 0;
};

/// Converted quantities (C-020): type -> base units, milli-cores for vcore.
using ResourceMap = std::map<std::string, std::int64_t>;

struct Resources {
    std::optional<ResourceMap>
        guaranteed;                 // nullopt: the key is absent; for the root an empty map is refused too (C-047)
    std::optional<ResourceMap> max; // nullopt: no limit (C-062)
};

struct Limit {
    std::string description;
    std::vector<std::string> users;
    std::vector<std::string> groups;
    std::optional<ResourceMap> max_resources;
    std::uint64_t max_applications = 0; // 0: not limited
    Mark mark;
};

struct ChildTemplate {
    std::uint64_t max_applications = 0;
    std::map<std::string, std::string> properties;
    Resources resources;
    bool apply_to_existing = false;  // at every reload, to queues that placement made before (B-10)
    bool inherit_properties = false; // queues that it makes also get the properties of their parents (B-10)
};

struct Queue {
    std::string name; // as in the file; lower case at run time (C-049)
    bool parent = false;
    std::vector<Queue> children;
    Resources resources;
    std::uint64_t max_applications = 0; // 0: unlimited
    std::map<std::string, std::string> properties;
    std::string submit_acl;
    std::string admin_acl;
    std::optional<ChildTemplate> child_template;
    std::vector<Limit> limits;
    Mark mark;

    /// It is a parent by its flag or by having children (C-048).
    [[nodiscard]] bool is_parent() const { return parent || !children.empty(); }
};

struct Filter {
    std::string type; // "", allow, deny (any case)
    std::vector<std::string> users;
    std::vector<std::string> groups;
};

struct PlacementRule {
    std::string name;
    bool create = false;
    std::string value;
    Filter filter;
    std::vector<PlacementRule> parent; // none or one
    Mark mark;
};

/// Asks of one kind, among those that are to be expected (F-020).
struct ExpectedAsks {
    struct Devices {
        std::uint32_t count = 0;
        std::int64_t each = 0;
        friend bool operator==(const Devices&, const Devices&) = default;
    };
    ResourceMap resources;
    std::map<std::string, Devices> devices; // that they state; of the others the amount says it (F-003)
    std::map<std::string, std::string> attributes;
    std::uint64_t weight = 1; // so many of them come among all

    friend bool operator==(const ExpectedAsks&, const ExpectedAsks&) = default;
};

/// How fragmentation is measured (F-020, F-021).
struct FragmentationSettings {
    Duration half_life = kDefaultHalfLife; // of what was learnt
    std::string resource;                  // that is measured; empty: what comes in devices, or else is asked for most
    std::vector<std::string> others;       // that are weighed beside it; empty: vcore
    std::vector<ExpectedAsks> workload;    // empty: it is learnt from what arrives

    static constexpr Duration kDefaultHalfLife = std::chrono::hours{24};
    friend bool operator==(const FragmentationSettings&, const FragmentationSettings&) = default;
};

struct Partition {
    std::string name; // `default` when it had none (C-030)
    Queue root;       // after root insertion (C-042)
    std::vector<PlacementRule> placement_rules;
    std::vector<Limit> limits;
    bool preemption_enabled = true;
    bool quota_preemption_enabled = false;
    const NodeSortPolicy* node_sort_policy = &default_node_sort_policy(); // never nullptr
    std::map<std::string, double> resource_weights;                       // empty: vcore 1, memory 1 (C-381)
    FragmentationSettings fragmentation;
    std::string user_group_resolver;
};

struct Configuration {
    std::vector<Partition> partitions; // in file order
    std::string checksum;              // of the text it was loaded from (C-444)
};

} // namespace yk::config
