// SPDX-License-Identifier: Apache-2.0
#include "libcore/validation/validate.h"

#include <algorithm>
#include <set>

#include "libcore/config/names.h"
#include "libcore/validation/checks.h"

namespace yk::config {

namespace {

constexpr std::string_view kDefault = "default";
constexpr std::string_view kRoot = "root";

// --- what was read, as it will be loaded ------------------------------------------------------------------------

std::vector<std::string> to_strings(const std::vector<Text>& texts) {
    std::vector<std::string> strings;
    strings.reserve(texts.size());
    for (const Text& text : texts) strings.push_back(text.value);
    return strings;
}

std::map<std::string, std::string> to_map(const Entries& entries) {
    std::map<std::string, std::string> map;
    for (const Entry& entry : entries.entries) map.emplace(entry.key.value, entry.value);
    return map;
}

Resources load_resources(const ResourcesDocument& document) {
    return {checks::to_resource(document.guaranteed), checks::to_resource(document.max)};
}

std::vector<Limit> load_limits(const std::vector<LimitDocument>& documents) {
    std::vector<Limit> limits;
    limits.reserve(documents.size());
    for (const LimitDocument& document : documents)
        limits.push_back({document.description.value, to_strings(document.users), to_strings(document.groups),
                          checks::to_resource(document.max_resources), document.max_applications.value, document.mark});
    return limits;
}

/// Entries without a key or a value are dropped; a template that sets nothing counts as none (C-230).
std::optional<ChildTemplate> load_template(const std::optional<TemplateDocument>& document) {
    if (!document) return std::nullopt;
    ChildTemplate loaded;
    loaded.max_applications = document->max_applications.value;
    for (const Entry& entry : document->properties.entries)
        if (!entry.key.value.empty() && !entry.value.empty()) loaded.properties.emplace(entry.key.value, entry.value);
    loaded.resources = load_resources(document->resources);
    loaded.apply_to_existing = document->apply_to_existing;
    loaded.inherit_properties = document->inherit_properties;
    const auto sets_something = [](const std::optional<ResourceMap>& map) { return map && !map->empty(); };
    const bool present = loaded.max_applications != 0 || !loaded.properties.empty() || loaded.inherit_properties ||
                         sets_something(loaded.resources.guaranteed) || sets_something(loaded.resources.max);
    return present ? std::optional{std::move(loaded)} : std::nullopt;
}

Queue load_queue(const QueueDocument& document) {
    Queue queue;
    queue.name = document.name.value;
    queue.parent = document.parent;
    for (const QueueDocument& child : document.queues) queue.children.push_back(load_queue(child));
    queue.resources = load_resources(document.resources);
    queue.max_applications = document.max_applications.value;
    queue.properties = to_map(document.properties);
    queue.submit_acl = document.submit_acl.value;
    queue.admin_acl = document.admin_acl.value;
    queue.child_template = load_template(document.child_template);
    queue.limits = load_limits(document.limits);
    queue.mark = document.mark;
    return queue;
}

PlacementRule load_rule(const RuleDocument& document) {
    PlacementRule rule;
    rule.name = document.name.value;
    rule.create = document.create;
    rule.value = document.value.value;
    rule.filter = {document.filter.type.value, to_strings(document.filter.users), to_strings(document.filter.groups)};
    for (const RuleDocument& parent : document.parent) rule.parent.push_back(load_rule(parent));
    rule.mark = document.mark;
    return rule;
}

// --- one partition ----------------------------------------------------------------------------------------------

/// The name of the partition, `default` if it has none. It must be legal and not that of another one, whatever the case
/// (C-030, C-031).
std::string check_partition_name(const PartitionDocument& document, std::set<std::string>& names, Report& report) {
    const std::string& given = document.name.value;
    std::string name = given.empty() || lower(given) == kDefault ? std::string{kDefault} : given;
    const std::string path = document.path + ".name";
    if (!is_queue_name(name))
        report.error(document.name.mark, path,
                     "invalid partition name " + in_quotes(name) +
                         " (the rule is that of queue names: max 64 characters "
                         "out of a-z A-Z 0-9 _ : # / @ -)");
    else if (!names.insert(lower(name)).second)
        report.error(document.name.mark, path, "duplicate partition name found with name " + name);
    return name;
}

/// The root queue: the only top level queue if it is named so, else a new one above all. Takes the queues out of
/// `document` (C-042, C-043).
QueueDocument take_root(PartitionDocument& document) {
    std::vector<QueueDocument> top = std::move(*document.queues);
    if (top.size() == 1 && lower(top.front().name.value) == kRoot) {
        QueueDocument root = std::move(top.front());
        root.name.value = kRoot;
        root.parent = true;
        return root;
    }
    QueueDocument root;
    root.mark = document.mark;
    root.path = document.path + ".queues";
    root.name = {std::string{kRoot}, document.mark};
    root.parent = true;
    root.queues = std::move(top);
    return root;
}

/// The root must not have guaranteed or max, not even empty ones (C-047).
void check_root_resources(const QueueDocument& root, Report& report) {
    for (const auto& map : {root.resources.guaranteed, root.resources.max})
        if (map)
            report.error(
                map->mark, map->path,
                "root queue must not have resource limits set (its maximum is the sum of the nodes; set limits "
                "on its children)");
}

bool same_text(const std::vector<Text>& a, const std::vector<Text>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Text& x, const Text& y) { return x.value == y.value; });
}

bool same_limit(const LimitDocument& a, const LimitDocument& b) {
    return a.description.value == b.description.value && same_text(a.users, b.users) && same_text(a.groups, b.groups) &&
           to_map(a.max_resources.value_or(Entries{})) == to_map(b.max_resources.value_or(Entries{})) &&
           a.max_applications.value == b.max_applications.value;
}

/// The limits of the partition are those of the root; if both have some they must be equal (C-103).
void share_limits(const PartitionDocument& document, QueueDocument& root, Report& report) {
    if (document.limits.empty()) return;
    if (root.limits.empty())
        root.limits = document.limits;
    else if (!std::equal(root.limits.begin(), root.limits.end(), document.limits.begin(), document.limits.end(),
                         same_limit))
        report.error(document.limits.front().mark, document.path + ".limits",
                     "partition limits and root queue limits are not equivalent (give them in one of the two places)");
}

/// The policy that sorts the nodes, and the weights of resource types for it (C-380, C-381).
void load_node_sort(const PartitionDocument& document, Partition& into, Report& report) {
    const Text& type = document.node_sort_type;
    const std::string path = document.path + ".nodesortpolicy";
    if (const NodeSortPolicy* policy = find_node_sort_policy(type.value))
        into.node_sort_policy = policy;
    else if (!type.value.empty())
        report.error(type.mark, path + ".type",
                     "undefined policy: " + type.value + " (known: " + node_sort_policy_names() + ")");
    for (const Weight& weight : document.resource_weights) {
        into.resource_weights.emplace(weight.type.value, weight.value);
        if (weight.value < 0)
            report.error(weight.type.mark, path + ".resourceweights." + weight.type.value,
                         "negative resource weight for " + weight.type.value + " is not allowed");
    }
}

/// Only the resolver `os` is known to this build (C-364).
void check_resolver(const PartitionDocument& document, Report& report) {
    const Text& type = document.user_group_resolver;
    const std::string path = document.path + ".usergroupresolver.type";
    if (type.value == "ldap")
        report.error(type.mark, path, "user group resolver ldap is not part of this build (use os, or leave it out)");
    else if (!type.value.empty() && type.value != "os")
        report.error(type.mark, path, "unknown user group resolver " + type.value + " (known: os; or leave it out)");
}

using TypeNames = std::set<std::string_view>;

/// Every resource type that queue limits, guarantees or templates name. The views are into `queue`.
void collect_types(const QueueDocument& queue, TypeNames& types) {
    const auto add = [&](const std::optional<Entries>& map) {
        if (!map) return;
        for (const Entry& entry : map->entries) types.insert(entry.key.value);
    };
    const auto add_both = [&](const ResourcesDocument& resources) {
        add(resources.guaranteed);
        add(resources.max);
    };
    add_both(queue.resources);
    if (queue.child_template) add_both(queue.child_template->resources);
    for (const LimitDocument& limit : queue.limits) add(limit.max_resources);
    for (const QueueDocument& child : queue.queues) collect_types(child, types);
}

/// Reports a partition with too many resource types. The limit also keeps the checks that compare maps short (B-11).
bool has_legal_type_count(const PartitionDocument& document, const QueueDocument& root, Report& report) {
    TypeNames types;
    collect_types(root, types);
    if (types.size() <= kMaxResourceTypesPerPartition) return true;
    report.error(document.mark, document.path,
                 "the partition names " + std::to_string(types.size()) + " resource types, the limit is " +
                     std::to_string(kMaxResourceTypesPerPartition));
    return false;
}

/// What must be unique or is counted over all partitions.
struct Totals {
    std::set<std::string> names; // lower case
    std::size_t expressions = 0;
};

/// Checks in the order of section 4 of config.md, which decides which problem is the first.
Partition validate_partition(PartitionDocument& document, Totals& totals, Report& report) {
    Partition partition;
    partition.name = check_partition_name(document, totals.names, report);
    if (!document.queues) {
        if (!document.unreadable)
            report.error(document.mark, document.path,
                         "queue config is not set (a partition needs \"queues\", which may be an empty list)");
        return partition;
    }
    QueueDocument root = take_root(document);
    check_root_resources(root, report);
    share_limits(document, root, report);
    partition.root = load_queue(root);
    if (!has_legal_type_count(document, root, report)) return partition;
    checks::check_structure(root, partition.root, report);
    checks::check_resources(root, partition.root, report);
    checks::check_placement_rules(document.placement_rules, partition.root, totals.expressions, report);
    load_node_sort(document, partition, report);
    partition.fragmentation = checks::load_fragmentation(document.fragmentation, report);
    checks::check_max_applications(root, report);
    checks::check_limit_hierarchy(root, partition.root, report);
    check_resolver(document, report);
    checks::warn_about(document, root, partition.root, report);

    for (const RuleDocument& rule : document.placement_rules) partition.placement_rules.push_back(load_rule(rule));
    partition.limits = load_limits(document.limits);
    partition.preemption_enabled = document.preemption_enabled;
    partition.quota_preemption_enabled = document.quota_preemption_enabled;
    partition.user_group_resolver = document.user_group_resolver.value;
    return partition;
}

} // namespace

Configuration validate(Document document, Report& report) {
    Configuration configuration;
    if (document.partitions.empty() && !document.unreadable)
        report.error({}, {}, "no partition defined (a configuration needs \"partitions\" with at least one entry)");
    Totals totals;
    for (PartitionDocument& partition : document.partitions)
        configuration.partitions.push_back(validate_partition(partition, totals, report));
    if (const std::size_t count = document.partitions.size(); count > kMaxPartitions)
        report.error(document.partitions[kMaxPartitions].mark, document.partitions[kMaxPartitions].path,
                     "there are " + std::to_string(count) + " partitions, the limit is " +
                         std::to_string(kMaxPartitions));
    return configuration;
}

} // namespace yk::config
