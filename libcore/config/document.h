// SPDX-License-Identifier: Apache-2.0
#pragma once
// A configuration as it was read: the schema of config.md section 2 with the position of everything that can be
// wrong, before any of it is checked. config_yaml makes it, validate() turns it into a config::Configuration.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libcore/config/config.h"

namespace yk::config {

struct Text {
    std::string value;
    Mark mark;
};

struct Count {
    std::uint64_t value = 0;
    Mark mark;
};

struct Entry {
    Text key;
    std::string value;
    Mark value_mark;
};

/// A map of text to text: quantities or properties. Keys are unique.
struct Entries {
    Mark mark;
    std::string path;
    std::vector<Entry> entries; // in file order
};

struct LimitDocument {
    Mark mark;
    std::string path;
    Text description;
    std::vector<Text> users;
    std::vector<Text> groups;
    std::optional<Entries> max_resources;
    Count max_applications;
};

struct ResourcesDocument {
    std::optional<Entries> guaranteed;
    std::optional<Entries> max;
};

struct TemplateDocument {
    Mark mark;
    std::string path;
    Count max_applications;
    Entries properties;
    ResourcesDocument resources;
    bool apply_to_existing = false;
    bool inherit_properties = false;
};

struct QueueDocument {
    Mark mark;
    std::string path;
    Text name;
    bool parent = false;
    std::vector<QueueDocument> queues;
    ResourcesDocument resources;
    Count max_applications;
    Entries properties;
    Text submit_acl;
    Text admin_acl;
    std::optional<TemplateDocument> child_template;
    std::vector<LimitDocument> limits;
    bool unreadable =
        false; // a key or value of its own was refused while reading, which may be why something is missing
};

struct FilterDocument {
    Text type;
    std::vector<Text> users;
    std::vector<Text> groups;
};

struct RuleDocument {
    Mark mark;
    std::string path;
    Text name;
    bool create = false;
    std::vector<RuleDocument> parent; // none or one
    Text value;
    FilterDocument filter;
};

struct Weight {
    Text type;
    double value = 0;
};

struct ExpectedAsksDocument {
    Mark mark;
    std::string path;
    std::optional<Entries> resources;
    std::optional<Entries> devices;
    std::optional<Entries> attributes;
    Count weight;
};

struct FragmentationDocument {
    std::string path;
    Text half_life;
    Text resource;
    std::vector<Text> others;
    std::vector<ExpectedAsksDocument> workload;
};

struct PartitionDocument {
    Mark mark;
    std::string path;
    Text name;
    std::optional<std::vector<QueueDocument>> queues;
    bool unreadable = false; // as above
    std::vector<RuleDocument> placement_rules;
    std::vector<LimitDocument> limits;
    bool preemption_enabled = true;
    bool quota_preemption_enabled = false;
    Text node_sort_type;
    std::vector<Weight> resource_weights;
    FragmentationDocument fragmentation;
    Text user_group_resolver;
};

struct Document {
    std::vector<PartitionDocument> partitions;
    bool unreadable = false; // as above
};

} // namespace yk::config
