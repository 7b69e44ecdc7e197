// SPDX-License-Identifier: Apache-2.0
#include "libcore/config/diff.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "libcore/config/duration.h"
#include "libcore/config/names.h"
#include "libcore/config/quantity.h"

namespace yk::config {

namespace {

// --- values as one-line texts; equal values have equal texts
// ----------------------------------------------------------

std::string text_of(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return '[' + text + ']';
}

std::string text_of(std::uint64_t count) {
    return count == 0 ? std::string{} : std::to_string(count);
}

std::string text_of(double number) {
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
    return {buffer.data(), end};
}

std::string text_of(const std::optional<ResourceMap>& resource) {
    return resource ? written_resource(*resource) : std::string{};
}

/// `{a: x, b: y}` out of the fields whose value is not empty.
std::string fields(std::initializer_list<std::pair<std::string_view, std::string>> list) {
    std::string text;
    for (const auto& [name, value] : list) {
        if (value.empty() || value == "[]") continue;
        text += (text.empty() ? "" : ", ") + std::string{name} + ": " + value;
    }
    return text.empty() ? text : '{' + text + '}';
}

std::string text_of(const Limit& limit) {
    return fields({{"limit", limit.description.empty() ? "''" : limit.description},
                   {"users", text_of(limit.users)},
                   {"groups", text_of(limit.groups)},
                   {"maxresources", text_of(limit.max_resources)},
                   {"maxapplications", text_of(limit.max_applications)}});
}

std::string text_of(const PlacementRule& rule) {
    const std::string filter = fields(
        {{"type", rule.filter.type}, {"users", text_of(rule.filter.users)}, {"groups", text_of(rule.filter.groups)}});
    return fields({{"name", rule.name},
                   {"create", rule.create ? "true" : ""},
                   {"filter", filter},
                   {"parent", rule.parent.empty() ? std::string{} : text_of(rule.parent.front())},
                   {"value", rule.value}});
}

std::string text_of(const std::map<std::string, std::string>& properties) {
    std::string text;
    for (const auto& [key, value] : properties) text += (text.empty() ? "" : ", ") + key + ": " + value;
    return text.empty() ? text : '{' + text + '}';
}

std::string text_of(const std::optional<ChildTemplate>& child_template) {
    if (!child_template) return {};
    return fields({{"maxapplications", text_of(child_template->max_applications)},
                   {"properties", text_of(child_template->properties)},
                   {"guaranteed", text_of(child_template->resources.guaranteed)},
                   {"max", text_of(child_template->resources.max)},
                   {"applytoexisting", child_template->apply_to_existing ? "true" : ""},
                   {"inheritproperties", child_template->inherit_properties ? "true" : ""}});
}

std::string text_of(const ExpectedAsks& asks) {
    std::string devices;
    for (const auto& [name, each] : asks.devices)
        devices +=
            (devices.empty() ? "{" : ", ") + name + ": " + std::to_string(each.count) + 'x' + std::to_string(each.each);
    return fields({{"resources", text_of(std::optional{asks.resources})},
                   {"devices", devices.empty() ? devices : devices + '}'},
                   {"attributes", text_of(asks.attributes)},
                   {"weight", text_of(asks.weight)}});
}

template <class T>
std::string text_of_list(const std::vector<T>& list) {
    std::string text;
    for (const T& each : list) text += (text.empty() ? "" : ", ") + text_of(each);
    return text.empty() ? text : '[' + text + ']';
}

std::string node_sort_text(const Partition& partition) {
    std::string weights;
    for (const auto& [type, weight] : partition.resource_weights)
        weights += (weights.empty() ? "" : ", ") + type + ": " + text_of(weight);
    return std::string{partition.node_sort_policy->name} + (weights.empty() ? "" : " {" + weights + "}");
}

std::string fragmentation_text(const FragmentationSettings& settings) {
    const bool is_usual = settings.half_life == FragmentationSettings::kDefaultHalfLife;
    return fields({{"halflife", is_usual ? std::string{} : duration_text(settings.half_life)},
                   {"resource", settings.resource},
                   {"others", text_of(settings.others)},
                   {"workload", text_of_list(settings.workload)}});
}

std::string preemption_text(const Partition& partition) {
    return std::string{"enabled "} + (partition.preemption_enabled ? "true" : "false") + ", quota preemption " +
           (partition.quota_preemption_enabled ? "true" : "false");
}

// --- the comparison -------------------------------------------------------------------------------------------------

class Comparison {
public:
    std::vector<Difference> take() { return std::move(differences_); }

    Comparison() = default;
    explicit Comparison(std::string partition) : partition_(std::move(partition)) {}

    void configurations(const Configuration& before, const Configuration& now);
    void queues(const std::string& path, const Queue& before, const Queue& now);

private:
    void partitions(const Partition& before, const Partition& now);
    void children(const std::string& path, const Queue& before, const Queue& now);
    void properties(const std::string& path, const Queue& before, const Queue& now);
    void added(const std::string& path, const Queue& queue);
    void draining(const std::string& path, const Queue& queue);

    /// Notes a change of `what`, an empty text standing for "not set".
    void value(DifferenceKind kind, const std::string& path, std::string_view what, std::string before,
               std::string now);
    void note(DifferenceKind kind, const std::string& path, const std::string& what) {
        const std::string location = path.empty() ? partition_ : partition_ + ' ' + path;
        differences_.push_back({kind, partition_, path, {}, {}, location + ": " + what});
    }

    std::string partition_;
    std::vector<Difference> differences_;
};

void Comparison::value(DifferenceKind kind, const std::string& path, std::string_view what, std::string before,
                       std::string now) {
    if (before == now) return;
    const auto shown = [](const std::string& text) { return text.empty() ? std::string{"not set"} : text; };
    note(kind, path, std::string{what} + ' ' + shown(before) + " -> " + shown(now));
    differences_.back().old_value = std::move(before);
    differences_.back().new_value = std::move(now);
}

/// The elements of the list by name in lower case.
template <class T>
std::map<std::string, const T*> by_name(const std::vector<T>& list) {
    std::map<std::string, const T*> index;
    for (const T& each : list) index.emplace(lower(each.name), &each);
    return index;
}

void Comparison::configurations(const Configuration& before, const Configuration& now) {
    const auto old_ones = by_name(before.partitions);
    const auto new_ones = by_name(now.partitions);
    for (const Partition& partition : now.partitions) {
        partition_ = partition.name;
        const auto found = old_ones.find(lower(partition.name));
        if (found != old_ones.end())
            partitions(*found->second, partition);
        else
            note(DifferenceKind::PartitionAdded, {}, "partition is added");
    }
    for (const Partition& partition : before.partitions) {
        if (new_ones.count(lower(partition.name)) != 0) continue;
        partition_ = partition.name;
        note(DifferenceKind::PartitionRemoved, {}, "partition is removed with its nodes and applications");
    }
}

void Comparison::partitions(const Partition& before, const Partition& now) {
    value(DifferenceKind::PlacementRules, {}, "placement rules", text_of_list(before.placement_rules),
          text_of_list(now.placement_rules));
    value(DifferenceKind::NodeSortPolicy, {}, "node sort policy", node_sort_text(before), node_sort_text(now));
    value(DifferenceKind::NodeSortPolicy, {}, "fragmentation", fragmentation_text(before.fragmentation),
          fragmentation_text(now.fragmentation));
    value(DifferenceKind::Preemption, {}, "preemption", preemption_text(before), preemption_text(now));
    value(DifferenceKind::UserGroupResolver, {}, "user group resolver", before.user_group_resolver,
          now.user_group_resolver);
    queues("root", before.root, now.root);
}

void Comparison::queues(const std::string& path, const Queue& before, const Queue& now) {
    const auto type = [](const Queue& queue) { return queue.is_parent() ? "parent" : "leaf"; };
    value(DifferenceKind::QueueType, path, "type", type(before), type(now));
    value(DifferenceKind::Max, path, "max", text_of(before.resources.max), text_of(now.resources.max));
    value(DifferenceKind::Guaranteed, path, "guaranteed", text_of(before.resources.guaranteed),
          text_of(now.resources.guaranteed));
    value(DifferenceKind::MaxApplications, path, "maxapplications", text_of(before.max_applications),
          text_of(now.max_applications));
    properties(path, before, now);
    value(DifferenceKind::SubmitAcl, path, "submitacl", before.submit_acl, now.submit_acl);
    value(DifferenceKind::AdminAcl, path, "adminacl", before.admin_acl, now.admin_acl);
    value(DifferenceKind::Limits, path, "limits", text_of_list(before.limits), text_of_list(now.limits));
    value(DifferenceKind::ChildTemplate, path, "childtemplate", text_of(before.child_template),
          text_of(now.child_template));
    children(path, before, now);
}

void Comparison::properties(const std::string& path, const Queue& before, const Queue& now) {
    std::map<std::string, std::pair<std::string, std::string>> both;
    const auto in_quotes = [](const std::string& text) { return '"' + text + '"'; };
    for (const auto& [key, value] : before.properties) both[key].first = in_quotes(value);
    for (const auto& [key, value] : now.properties) both[key].second = in_quotes(value);
    for (auto& [key, values] : both)
        value(DifferenceKind::Property, path + ' ' + key, "property", values.first, values.second);
}

void Comparison::children(const std::string& path, const Queue& before, const Queue& now) {
    const auto old_ones = by_name(before.children);
    const auto new_ones = by_name(now.children);
    for (const Queue& child : now.children) {
        const std::string name = lower(child.name);
        const auto found = old_ones.find(name);
        if (found != old_ones.end())
            queues(path + '.' + name, *found->second, child);
        else
            added(path + '.' + name, child);
    }
    for (const Queue& child : before.children)
        if (new_ones.count(lower(child.name)) == 0) draining(path + '.' + lower(child.name), child);
}

void Comparison::added(const std::string& path, const Queue& queue) {
    note(DifferenceKind::QueueAdded, path, queue.is_parent() ? "parent queue is added" : "leaf queue is added");
    for (const Queue& child : queue.children) added(path + '.' + lower(child.name), child);
}

void Comparison::draining(const std::string& path, const Queue& queue) {
    note(DifferenceKind::QueueDraining, path, "queue drains, it is not in the new configuration");
    for (const Queue& child : queue.children) draining(path + '.' + lower(child.name), child);
}

} // namespace

std::string_view kind_name(DifferenceKind kind) {
    switch (kind) {
    case DifferenceKind::PartitionAdded: return "partition-added";
    case DifferenceKind::PartitionRemoved: return "partition-removed";
    case DifferenceKind::QueueAdded: return "queue-added";
    case DifferenceKind::QueueDraining: return "queue-draining";
    case DifferenceKind::QueueType: return "queue-type";
    case DifferenceKind::Max: return "max";
    case DifferenceKind::Guaranteed: return "guaranteed";
    case DifferenceKind::MaxApplications: return "maxapplications";
    case DifferenceKind::Property: return "property";
    case DifferenceKind::SubmitAcl: return "submitacl";
    case DifferenceKind::AdminAcl: return "adminacl";
    case DifferenceKind::Limits: return "limits";
    case DifferenceKind::ChildTemplate: return "childtemplate";
    case DifferenceKind::PlacementRules: return "placementrules";
    case DifferenceKind::NodeSortPolicy: return "nodesortpolicy";
    case DifferenceKind::Preemption: return "preemption";
    case DifferenceKind::UserGroupResolver: return "usergroupresolver";
    }
    return {};
}

std::vector<Difference> diff(const Configuration& before, const Configuration& now) {
    Comparison comparison;
    comparison.configurations(before, now);
    return comparison.take();
}

std::vector<Difference> diff(const std::string& partition, const std::string& path, const Queue& before,
                             const Queue& now) {
    Comparison comparison(partition);
    comparison.queues(path, before, now);
    return comparison.take();
}

} // namespace yk::config
