// SPDX-License-Identifier: Apache-2.0
#include "libcore/config_yaml/schema.h"

#include <algorithm>
#include <array>

#include "libcore/base/check.h"
#include "libcore/config/problem.h"
#include "libcore/config/suggest.h"

namespace yk::config_yaml {

namespace {

using Key = std::string_view;

constexpr std::array<Key, 2> kDocumentKeys{"partitions", "checksum"};
constexpr std::array<Key, 7> kPartitionKeys{"name",       "queues",         "placementrules",   "limits",
                                            "preemption", "nodesortpolicy", "usergroupresolver"};
constexpr std::array<Key, 2> kPreemptionKeys{"enabled", "quotapreemptionenabled"};
constexpr std::array<Key, 3> kNodeSortKeys{"type", "resourceweights", "fragmentation"};
constexpr std::array<Key, 4> kFragmentationKeys{"halflife", "resource", "others", "workload"};
constexpr std::array<Key, 4> kExpectedAsksKeys{"resources", "devices", "attributes", "weight"};
constexpr std::array<Key, 1> kResolverKeys{"type"};
constexpr std::array<Key, 10> kQueueKeys{"name",     "parent",    "resources",     "maxapplications", "properties",
                                         "adminacl", "submitacl", "childtemplate", "queues",          "limits"};
constexpr std::array<Key, 5> kTemplateKeys{"maxapplications", "properties", "resources", "applytoexisting",
                                           "inheritproperties"};
constexpr std::array<Key, 2> kResourcesKeys{"guaranteed", "max"};
constexpr std::array<Key, 5> kLimitKeys{"limit", "users", "groups", "maxresources", "maxapplications"};
constexpr std::array<Key, 5> kRuleKeys{"name", "create", "filter", "parent", "value"};
constexpr std::array<Key, 3> kFilterKeys{"type", "users", "groups"};

} // namespace

const MappingType kDocumentType{"the document", "configs.SchedulerConfig", kDocumentKeys};
const MappingType kPartitionType{"partition", "configs.PartitionConfig", kPartitionKeys};
const MappingType kPreemptionType{"preemption", "configs.PartitionPreemptionConfig", kPreemptionKeys};
const MappingType kNodeSortType{"nodesortpolicy", "configs.NodeSortingPolicy", kNodeSortKeys};
const MappingType kFragmentationType{"fragmentation", "configs.Fragmentation", kFragmentationKeys};
const MappingType kExpectedAsksType{"workload", "configs.ExpectedAsks", kExpectedAsksKeys};
const MappingType kResolverType{"usergroupresolver", "configs.UserGroupResolver", kResolverKeys};
const MappingType kQueueType{"queue", "configs.QueueConfig", kQueueKeys};
const MappingType kTemplateType{"childtemplate", "configs.ChildTemplate", kTemplateKeys};
const MappingType kResourcesType{"resources", "configs.Resources", kResourcesKeys};
const MappingType kLimitType{"limit", "configs.Limit", kLimitKeys};
const MappingType kRuleType{"placement rule", "configs.PlacementRule", kRuleKeys};
const MappingType kFilterType{"filter", "configs.Filter", kFilterKeys};

namespace {

const std::array<const MappingType*, 13> kTypes{
    &kDocumentType,     &kPartitionType, &kPreemptionType, &kNodeSortType, &kFragmentationType,
    &kExpectedAsksType, &kResolverType,  &kQueueType,      &kTemplateType, &kResourcesType,
    &kLimitType,        &kRuleType,      &kFilterType};

struct Typed {
    const MappingType* of;
    Key key;
    ValueType value;
};

const std::array<Typed, 28> kTyped{{
    {&kDocumentType, "partitions", {&kPartitionType, true, false}},
    {&kPartitionType, "queues", {&kQueueType, true, false}},
    {&kPartitionType, "placementrules", {&kRuleType, true, false}},
    {&kPartitionType, "limits", {&kLimitType, true, false}},
    {&kPartitionType, "preemption", {&kPreemptionType, false, false}},
    {&kPartitionType, "nodesortpolicy", {&kNodeSortType, false, false}},
    {&kPartitionType, "usergroupresolver", {&kResolverType, false, false}},
    {&kNodeSortType, "resourceweights", {nullptr, false, true}},
    {&kNodeSortType, "fragmentation", {&kFragmentationType, false, false}},
    {&kFragmentationType, "others", {nullptr, true, false}},
    {&kFragmentationType, "workload", {&kExpectedAsksType, true, false}},
    {&kExpectedAsksType, "resources", {nullptr, false, true}},
    {&kExpectedAsksType, "devices", {nullptr, false, true}},
    {&kExpectedAsksType, "attributes", {nullptr, false, true}},
    {&kQueueType, "resources", {&kResourcesType, false, false}},
    {&kQueueType, "properties", {nullptr, false, true}},
    {&kQueueType, "childtemplate", {&kTemplateType, false, false}},
    {&kQueueType, "queues", {&kQueueType, true, false}},
    {&kQueueType, "limits", {&kLimitType, true, false}},
    {&kTemplateType, "resources", {&kResourcesType, false, false}},
    {&kTemplateType, "properties", {nullptr, false, true}},
    {&kResourcesType, "guaranteed", {nullptr, false, true}},
    {&kResourcesType, "max", {nullptr, false, true}},
    {&kLimitType, "maxresources", {nullptr, false, true}},
    {&kRuleType, "filter", {&kFilterType, false, false}},
    {&kRuleType, "parent", {&kRuleType, false, false}},
    {nullptr, "users", {nullptr, true, false}}, // of limits and filters
    {nullptr, "groups", {nullptr, true, false}},
}};

/// `it belongs in limit or filter`; empty when no mapping has the key.
std::string where_it_belongs(std::string_view key) {
    std::string owners;
    for (const MappingType* type : kTypes)
        if (knows(*type, key)) owners += (owners.empty() ? "" : " or ") + std::string{type->noun};
    return owners.empty() ? owners : "it belongs in " + owners;
}

std::string advice(const MappingType& type, std::string_view key) {
    if (key == "statedumpfilepath") return "it was removed from the format: state dumps are made on request only";
    if (const std::string near = config::nearest(key, type.keys); !near.empty())
        return "did you mean \"" + near + "\"?";
    if (std::string owners = where_it_belongs(key); !owners.empty()) return owners;
    std::string known;
    for (const std::string_view each : type.keys) known += (known.empty() ? "" : ", ") + std::string{each};
    return "known: " + known;
}

} // namespace

bool knows(const MappingType& type, std::string_view key) {
    return std::find(type.keys.begin(), type.keys.end(), key) != type.keys.end();
}

ValueType value_type(const MappingType& type, std::string_view key) {
    YK_ASSUME(knows(type, key), "only known keys have a type");
    for (const Typed& each : kTyped)
        if ((each.of == &type || each.of == nullptr) && each.key == key) return each.value;
    return {};
}

std::string unknown_key_text(const MappingType& type, std::string_view key) {
    return "unknown key " + config::in_quotes(key) + " in " + std::string{type.noun} + ", " + advice(type, key);
}

std::string unknown_key_message(const MappingType& type, std::string_view key) {
    const std::string shown = config::in_quotes(key);
    return unknown_key_text(type, key) + " (field " + shown.substr(1, shown.size() - 2) + " not found in type " +
           std::string{type.go_type} + ")";
}

} // namespace yk::config_yaml
