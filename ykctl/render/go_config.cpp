// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/go_config.h"

#include <optional>

#include "libcore/config/quantity.h"

namespace yk::cli {
namespace {

using wire::Value;

/// A Go struct as JSON: fields that are tagged `omitempty` there are left out when they are empty.
class Struct {
public:
    Struct& always(const char* name, Value value) {
        value_[name] = std::move(value);
        return *this;
    }
    Struct& omit(const char* name, Value value) {
        if (!value.empty()) value_[name] = std::move(value);
        return *this;
    }
    Struct& omit(const char* name, const std::string& text) {
        if (!text.empty()) value_[name] = text;
        return *this;
    }
    Struct& omit(const char* name, bool flag) {
        if (flag) value_[name] = true;
        return *this;
    }
    Struct& omit(const char* name, std::uint64_t number) {
        if (number != 0) value_[name] = number;
        return *this;
    }
    [[nodiscard]] Value take() { return std::move(value_); }

private:
    Value value_ = Value::object();
};

template <class List, class Each>
Value list_of(const List& list, Each&& each) {
    Value values = Value::array();
    for (const auto& one : list) values.push_back(each(one));
    return values;
}

template <class Map>
Value map_of(const Map& map) {
    Value value = Value::object();
    for (const auto& [key, one] : map) value[key] = one;
    return value;
}

/// Quantities as texts, which they are in the original and in the file.
Value quantities(const std::optional<config::ResourceMap>& amounts) {
    Value value = Value::object();
    if (amounts)
        for (const auto& [type, amount] : *amounts) value[type] = config::quantity_text(type, amount);
    return value;
}

Value resources(const config::Resources& from) {
    return Struct{}.omit("Guaranteed", quantities(from.guaranteed)).omit("Max", quantities(from.max)).take();
}

Value child_template(const std::optional<config::ChildTemplate>& from) {
    if (!from) return Struct{}.always("Resources", Value::object()).take();
    return Struct{}
        .omit("MaxApplications", from->max_applications)
        .omit("Properties", map_of(from->properties))
        .always("Resources", resources(from->resources))
        .omit("ApplyToExisting", from->apply_to_existing)
        .omit("InheritProperties", from->inherit_properties)
        .take();
}

Value limit(const config::Limit& from) {
    return Struct{}
        .always("Limit", from.description)
        .omit("Users", Value(from.users))
        .omit("Groups", Value(from.groups))
        .omit("MaxResources", quantities(from.max_resources))
        .omit("MaxApplications", from.max_applications)
        .take();
}

Value queue(const config::Queue& from) {
    return Struct{}
        .always("Name", from.name)
        .omit("Parent", from.parent)
        .always("Resources", resources(from.resources))
        .omit("MaxApplications", from.max_applications)
        .omit("Properties", map_of(from.properties))
        .omit("AdminACL", from.admin_acl)
        .omit("SubmitACL", from.submit_acl)
        .always("ChildTemplate", child_template(from.child_template))
        .omit("Queues", list_of(from.children, queue))
        .omit("Limits", list_of(from.limits, limit))
        .take();
}

Value rule(const config::PlacementRule& from) {
    Value filter = Struct{}
                       .always("Type", from.filter.type)
                       .omit("Users", Value(from.filter.users))
                       .omit("Groups", Value(from.filter.groups))
                       .take();
    Struct value;
    value.always("Name", from.name).omit("Create", from.create).always("Filter", std::move(filter));
    if (!from.parent.empty()) value.always("Parent", rule(from.parent.front()));
    return value.omit("Value", from.value).take();
}

Value preemption(const config::Partition& from) {
    Struct value; // a value equal to the default is left out
    if (!from.preemption_enabled) value.always("Enabled", false);
    return value.omit("QuotaPreemptionEnabled", from.quota_preemption_enabled).take();
}

Value node_sort(const config::Partition& from) {
    const bool is_default = from.node_sort_policy == &default_node_sort_policy() && from.resource_weights.empty();
    return Struct{}
        .always("Type", is_default ? "" : std::string{from.node_sort_policy->name})
        .omit("ResourceWeights", map_of(from.resource_weights))
        .take();
}

Value partition(const config::Partition& from) {
    return Struct{}
        .always("Name", from.name)
        .always("Queues", Value::array({queue(from.root)}))
        .omit("PlacementRules", list_of(from.placement_rules, rule))
        .omit("Limits", list_of(from.limits, limit))
        .always("Preemption", preemption(from))
        .always("NodeSortPolicy", node_sort(from))
        .always("UserGroupResolver", Struct{}.omit("type", from.user_group_resolver).take())
        .take();
}

} // namespace

Value go_configuration(const config::Configuration& configuration, const Value& extra) {
    constexpr int kDeadlockTimeout = 60; // the setting has no effect in ykd, but its key stays in the dump (C-467)
    return Struct{}
        .always("Partitions", list_of(configuration.partitions, partition))
        .always("Checksum", configuration.checksum)
        .omit("Extra", extra)
        .always("DeadlockDetectionEnabled", false)
        .always("DeadlockTimeoutSeconds", kDeadlockTimeout)
        .take();
}

} // namespace yk::cli
