// SPDX-License-Identifier: Apache-2.0
#include "ykd/dump/dump_objects.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "libcore/base/saturate.h"
#include "libcore/config/duration.h"
#include "libcore/config_yaml/dump.h"
#include "libcore/config_yaml/scalars.h"
#include "libcore/config_yaml/tree.h"

namespace yk::service {
namespace {

constexpr std::int64_t kNanosPerMilli = 1'000'000;
constexpr std::int64_t kNeverStarted = -62'135'596'800'000;                    // ms: Go's time without a value
constexpr std::int32_t kNoPriority = std::numeric_limits<std::int32_t>::min(); // of an application without asks
constexpr std::string_view kFirstState = "New";
constexpr std::string_view kNodePartition = "si/node-partition";

/// Adds fields, leaving out what is empty, zero or false ("omit" of I-401).
class Fields {
public:
    Value value = Value::object();

    template <class T>
    Fields& always(const char* key, T&& field) {
        value[key] = std::forward<T>(field);
        return *this;
    }
    Fields& omit(const char* key, const std::string& text) {
        if (!text.empty()) value[key] = text;
        return *this;
    }
    Fields& omit(const char* key, const ResourceMapView& resource) {
        if (!resource.empty()) value[key] = resource_value(resource);
        return *this;
    }
    Fields& omit(const char* key, const std::optional<ResourceMapView>& resource) {
        return resource ? omit(key, *resource) : *this;
    }
    Fields& omit(const char* key, const std::vector<std::string>& texts) {
        if (!texts.empty()) value[key] = texts;
        return *this;
    }
    Fields& omit(const char* key, Value list) {
        if (!list.empty()) value[key] = std::move(list);
        return *this;
    }
    template <class T>
    requires std::is_arithmetic_v<T> Fields& omit(const char* key, T number) {
        if (number != T{}) value[key] = number;
        return *this;
    }
};

Value tags_value(const TagsView& tags) {
    Value value = Value::object();
    for (const auto& [key, text] : tags) value[key] = text;
    return value;
}

/// The value of the first of these keys that there is, else empty.
std::string tag(const TagsView& tags, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys)
        for (const auto& [known, text] : tags)
            if (known == key) return text;
    return {};
}

/// Percent of `total`; of nothing, 100 when anything is used.
std::int64_t percent(std::int64_t used, std::int64_t total) {
    if (total == 0) return used > 0 ? 100 : 0;
    return sat_scale(100, static_cast<double>(used) / static_cast<double>(total));
}

/// Percent of `total`, for the types that `total` names.
ResourceMapView percents(const ResourceMapView& used, const ResourceMapView& total) {
    ResourceMapView result;
    for (const auto& [name, amount] : total) {
        const auto found = used.find(name);
        result[name] = percent(found == used.end() ? 0 : found->second, amount);
    }
    return result;
}

/// The outcome of the last attempt to preempt for an ask.
Value attempt_value(const PreemptionAttemptView& attempt) {
    Fields fields;
    fields.always("time", attempt.at.ns)
        .always("result", attempt.result)
        .omit("fenceRoot", attempt.fence_root)
        .omit("nodeId", attempt.node)
        .always("victims", attempt.victims)
        .always("candidates", attempt.candidates)
        .always("nodesTried", attempt.nodes_tried)
        .omit("excludedQueues", attempt.excluded_queues)
        .omit("excludedAllocations", attempt.excluded);
    return std::move(fields.value);
}

/// The last run of quota preemption for a queue (P-111).
Value quota_run_value(const QuotaRunView& run) {
    Fields fields;
    fields.always("time", run.at.ns)
        .omit("target", run.target)
        .omit("claimed", run.claimed)
        .always("candidates", run.candidates)
        .always("victims", run.victims);
    return std::move(fields.value);
}

/// The devices of an allocation, as it can be reported again: `{resource: [{index, amount}]}`.
Value devices_value(const std::vector<DeviceUseView>& devices) {
    Value value = Value::object();
    for (const DeviceUseView& each : devices)
        value[each.resource].push_back({{"index", each.index}, {"amount", each.amount}});
    return value;
}

/// Those that an ask states: `{resource: {count, each}}`.
Value stated_devices_value(const AskView& ask) {
    Value value = Value::object();
    for (const auto& [resource, stated] : ask.devices)
        value[resource] = {{"count", stated.first}, {"each", stated.second}};
    return value;
}

/// A list for each resource with devices: `value_of` each; resources whose list would be empty are left out.
template <class F>
Value by_device(const NodeView& view, F&& value_of) {
    Value value = Value::object();
    for (const auto& [resource, devices] : view.devices) {
        Value list = Value::array();
        for (std::size_t index = 0; index < devices.size(); ++index)
            if (const auto each = value_of(devices[index], index)) list.push_back(*each);
        if (!list.empty()) value[resource] = std::move(list);
    }
    return value;
}

} // namespace

Value ask_value(const AskView& ask) {
    Value log = Value::array();
    for (const LogEntryView& entry : ask.log)
        log.push_back({{"message", entry.message}, {"lastOccurrence", entry.last.ns}, {"count", entry.count}});
    Fields fields;
    fields.always("allocationKey", ask.key)
        .omit("allocationTags", tags_value(ask.tags))
        .omit("requestTime", ask.request_time.ns)
        .omit("resource", ask.resource)
        .always("priority", std::to_string(ask.priority))
        .omit("requiredNodeId", ask.required_node)
        .omit("devices", stated_devices_value(ask))
        .omit("applicationId", ask.application)
        .omit("placeholder", ask.placeholder)
        .omit("taskGroupName", ask.task_group)
        .omit("allocationLog", std::move(log))
        .omit("lastReason", ask.last_reason)
        .omit("triggeredPreemption", ask.triggered_preemption)
        .omit("originator", ask.originator)
        .omit("schedulingAttempted", ask.scheduling_attempted)
        .omit("triggeredScaleUp", ask.triggered_scale_up);
    if (ask.last_preemption) fields.always("lastPreemption", attempt_value(*ask.last_preemption));
    return std::move(fields.value);
}

Value allocation_value(const AllocationView& allocation) {
    Fields fields;
    fields.always("allocationKey", allocation.key)
        .omit("allocationTags", tags_value(allocation.tags))
        .omit("requestTime", allocation.request_time.ns)
        .omit("allocationTime", allocation.allocation_time.ns)
        .always("allocationDelay", (allocation.allocation_time - allocation.request_time).count())
        .omit("resource", allocation.resource)
        .always("priority", std::to_string(allocation.priority))
        .omit("nodeId", allocation.node)
        .omit("applicationId", allocation.application)
        .omit("placeholder", allocation.placeholder)
        .omit("placeholderUsed", allocation.placeholder_used)
        .omit("taskGroupName", allocation.task_group)
        .omit("preempted", allocation.preempted)
        .omit("originator", allocation.originator)
        .omit("devices", devices_value(allocation.devices));
    return std::move(fields.value);
}

namespace {

Value foreign_value(const AllocationView& allocation) {
    Fields fields;
    fields.always("allocationKey", allocation.key)
        .omit("allocationTags", tags_value(allocation.tags))
        .omit("allocationTime", allocation.allocation_time.ns)
        .omit("resource", allocation.resource)
        .always("priority", std::to_string(allocation.priority))
        .omit("nodeId", allocation.node)
        .omit("devices", devices_value(allocation.devices))
        .always("preemptable", allocation.preemptable);
    return std::move(fields.value);
}

Value placeholder_value(const PlaceholderDataView& data) {
    return {{"taskGroupName", data.task_group},
            {"count", data.count},
            {"minResource", resource_value(data.min_resource)},
            {"replaced", data.replaced},
            {"timedout", data.timed_out}};
}

Value seconds_value(const std::map<std::string, ResourceMapView>& usage) {
    Value value = Value::object();
    for (const auto& [instance, resource] : usage) value[instance] = resource_value(resource);
    return value;
}

Value usage_value(const UsageQueueView& view) {
    Value children = Value::array();
    for (const UsageQueueView& child : view.children) children.push_back(usage_value(child));
    Fields fields;
    fields.always("queuePath", view.path)
        .omit("resourceUsage", view.usage)
        .omit("runningApplications", view.running)
        .omit("maxResources", view.max)
        .omit("maxApplications", view.max_applications)
        .omit("children", std::move(children));
    return std::move(fields.value);
}

/// The resource-seconds of an application; empty when there are none, and after its end.
Value history_value(const ApplicationView& view) {
    if (view.used_seconds.empty() && view.preempted_seconds.empty() && view.placeholder_seconds.empty())
        return Value::object();
    return {{"resourceUsage", seconds_value(view.used_seconds)},
            {"preemptedResource", seconds_value(view.preempted_seconds)},
            {"placeholderResource", seconds_value(view.placeholder_seconds)}};
}

/// The states that the application has entered; every one begins in New, which is not named (I-720).
Value state_log_value(const ApplicationView& view) {
    Value log = Value::array();
    for (const auto& [at, state] : view.state_log)
        if (!log.empty() || state != kFirstState) log.push_back({{"time", at.ns}, {"applicationState", state}});
    return log;
}

std::string time_text(Instant at) { // RFC 3339
    const auto seconds = static_cast<std::time_t>(at.ns / 1'000'000'000);
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", fmt::gmtime(seconds));
}

template <class T, class F>
Value list_of(const std::vector<T>& from, F&& make) {
    Value list = Value::array();
    for (const T& one : from) list.push_back(make(one));
    return list;
}

// --- configuration ------------------------------------------------------------------------------

using config_yaml::Node;

Value scalar_value(const Node& node) {
    if (node.quoted) return node.scalar;
    if (node.scalar == "true" || node.scalar == "false") return node.scalar == "true";
    if (const auto number = config_yaml::to_unsigned(node)) return *number;
    if (const auto number = config_yaml::to_double(node)) return *number;
    return node.scalar;
}

Value tree_value(const Node& node) {
    if (node.kind == Node::Kind::Null) return nullptr;
    if (node.kind == Node::Kind::Scalar) return scalar_value(node);
    if (node.kind == Node::Kind::Sequence)
        return list_of(node.items, [](const config_yaml::NodePtr& item) { return tree_value(*item); });
    Value value = Value::object();
    for (const auto& member : node.members) value[member.key] = tree_value(*member.value);
    return value;
}

} // namespace

Value resource_value(const ResourceMapView& resource) {
    Value value = Value::object();
    for (const auto& [name, amount] : resource) value[name] = amount;
    return value;
}

Value partition_value(const PartitionView& view) {
    Fields capacity, sorting, fields;
    capacity.omit("capacity", view.capacity)
        .omit("usedCapacity", view.allocated)
        .omit("utilization", percents(view.allocated, view.capacity));
    Value weights = Value::object();
    for (const auto& [name, weight] : view.resource_weights) weights[name] = weight;
    sorting.omit("type", view.node_sort_policy).omit("resourceWeights", std::move(weights));
    Value applications = Value::object();
    std::int64_t total = 0;
    for (const auto& [state, count] : view.application_states) {
        applications[state] = count;
        total += count;
    }
    applications["total"] = total;
    fields.always("clusterId", view.rm)
        .always("name", view.name)
        .always("capacity", std::move(capacity.value))
        .always("nodeSortingPolicy", std::move(sorting.value))
        .always("preemptionEnabled", view.preemption_enabled)
        .always("quotaPreemptionEnabled", view.quota_preemption_enabled)
        .omit("totalNodes", view.nodes)
        .omit("totalContainers", view.allocations)
        .always("applications", std::move(applications))
        .always("state", view.state)
        .always("lastStateTransitionTime", view.last_transition.ns)
        .always("reservations", view.reservations)
        .always("quarantined", view.quarantined)
        .always("pendingAsks", view.pending_asks);
    return std::move(fields.value);
}

namespace {

Value template_value(const TemplateView& view) {
    Value properties = Value::object();
    for (const auto& [key, text] : view.properties) properties[key] = text;
    Fields fields;
    fields.omit("maxApplications", view.max_applications)
        .omit("maxResource", view.max)
        .omit("guaranteedResource", view.guaranteed)
        .omit("properties", std::move(properties))
        .always("owner", view.owner)
        .omit("applyToExisting", view.apply_to_existing)
        .omit("inheritProperties", view.inherit_properties);
    return std::move(fields.value);
}

} // namespace

Value queue_value(const QueueView& view, const std::string& partition, int nesting, Lists lists) {
    Value properties = Value::object();
    for (const auto& [key, text] : view.properties) properties[key] = text;
    Fields fields;
    fields.always("queuename", view.path)
        .always("status", view.state)
        .always("partition", partition)
        .omit("pendingResource", view.pending)
        .omit("maxResource", view.max)
        .omit("guaranteedResource", view.guaranteed)
        .omit("allocatedResource", view.allocated)
        .omit("preemptingResource", view.preempting)
        .omit("headroom", view.headroom)
        .always("isLeaf", view.leaf)
        .always("isManaged", view.managed)
        .omit("properties", std::move(properties))
        .always("parent", view.parent);
    if (nesting < kMaxQueueNesting)
        fields.omit("children", list_of(view.children, [&](const QueueView& child) {
                        return queue_value(child, partition, nesting + 1);
                    }));
    std::vector<std::string> names = view.child_paths;
    for (const QueueView& child : view.children) names.push_back(child.path);
    if (lists == Lists::Shown) fields.omit("childNames", names);
    fields.omit("childCount", view.child_paths.size());
    if (view.max) fields.omit("absUsedCapacity", percents(view.allocated, *view.max));
    fields.omit("maxRunningApps", view.max_applications)
        .omit("runningApps", view.running_applications)
        .always("currentPriority", view.current_priority)
        .omit("allocatingAcceptedApps", view.allocating_accepted)
        .always("sortingPolicy", view.sort_policy)
        .always("prioritySorting", view.priority_sorting)
        .always("preemptionEnabled", view.preemption_enabled)
        .always("isPreemptionFence", view.preemption_fence)
        .always("preemptionDelay", config::duration_text(view.preemption_delay))
        .always("isPriorityFence", view.priority_fence)
        .omit("priorityOffset", view.priority_offset)
        .always("quotaPreemptionDelay", config::duration_text(view.quota_preemption_delay))
        .omit("applications", view.applications)
        .omit("effectiveMaxResource", view.effective_max)
        .omit("fairShare", view.fair_share);
    if (view.child_template) fields.always("template", template_value(*view.child_template));
    if (view.last_quota_run) fields.always("lastQuotaPreemption", quota_run_value(*view.last_quota_run));
    return std::move(fields.value);
}

Value rule_value(const RuleView& view) {
    Value parameters = Value::object();
    for (const auto& [key, text] : view.parameters) parameters[key] = text;
    Fields fields;
    fields.always("name", view.name).always("parameters", std::move(parameters));
    if (view.filter) {
        Fields filter;
        filter.always("type", view.filter->type)
            .omit("userList", view.filter->users)
            .omit("groupList", view.filter->groups)
            .omit("userExp", view.filter->user_expression)
            .omit("groupExp", view.filter->group_expression);
        fields.always("filter", std::move(filter.value));
    }
    if (!view.parent.empty()) fields.always("parentRule", rule_value(view.parent.front()));
    return std::move(fields.value);
}

Value application_value(const ApplicationView& view, const std::string& partition, const std::string& rm_id,
                        Lists lists) {
    Fields fields;
    fields.always("applicationID", view.id)
        .omit("usedResource", view.allocated)
        .omit("maxUsedResource", view.max_used)
        .omit("pendingResource", view.pending)
        .always("partition", partition)
        .always("clusterId", rm_id)
        .always("queueName", view.queue)
        .always("submissionTime", view.submitted.ns);
    if (view.finished) fields.always("finishedTime", view.finished->ns);
    if (!view.whole || lists == Lists::Left)
        fields.always("brief", true).omit("allocationCount", view.allocation_count);
    else if (lists == Lists::Later)
        fields.always("requests", Value::array()).always("allocations", Value::array());
    else
        fields.always("requests", list_of(view.asks, ask_value))
            .always("allocations", list_of(view.allocations, allocation_value));
    fields.always("applicationState", view.state)
        .omit("user", view.user)
        .omit("groups", view.groups)
        .omit("rejectedMessage", view.rejected_message)
        .omit("stateLog", state_log_value(view))
        .omit("placeholderData", list_of(view.placeholder_data, placeholder_value))
        .omit("placeholderResource", view.placeholder)
        .always("hasReserved", !view.reservations.empty())
        .omit("reservations", view.reservations)
        .omit("maxRequestPriority", view.has_pending ? view.max_ask_priority : kNoPriority)
        .omit("pendingAsks", view.pending_asks);
    if (view.oldest_pending) fields.always("oldestPending", view.oldest_pending->ns);
    fields.always("startTime", view.started ? view.started->ns / kNanosPerMilli : kNeverStarted)
        .always("resourceHistory", history_value(view));
    if (view.backoff_deadline) fields.always("backoffDeadline", time_text(*view.backoff_deadline));
    return std::move(fields.value);
}

Value node_value(const NodeView& view, const std::string& partition, const std::string& rm_id, Lists lists) {
    Value attributes = tags_value(view.attributes);
    attributes[kNodePartition] = fmt::format("[{}]{}", rm_id, partition);
    Fields fields;
    fields.always("nodeID", view.id)
        .omit("hostName", tag(view.attributes, {"si/hostname", "si.io/hostname"}))
        .omit("rackName", tag(view.attributes, {"si/rackname", "si.io/rackname"}))
        .always("attributes", std::move(attributes))
        .omit("capacity", view.capacity)
        .omit("allocated", view.allocated)
        .omit("occupied", view.occupied)
        .omit("available", view.available)
        .omit("utilized", percents(view.allocated, view.capacity));
    if (!view.whole || lists == Lists::Left)
        fields.always("brief", true).omit("allocationCount", view.allocation_count);
    else
        fields.omit("allocations", list_of(view.allocations, allocation_value));
    fields.omit("foreignAllocations", list_of(view.foreign, foreign_value))
        .always("schedulable", view.schedulable)
        .always("isReserved", !view.reservations.empty())
        .omit("reservations", view.reservations)
        .omit("devices",
              by_device(view, [](const DeviceView& each,
                                 std::size_t) { return each.listed ? std::optional{each.size} : std::nullopt; }))
        .omit("usedDevices",
              by_device(view, [](const DeviceView& each, std::size_t) { return std::optional{each.used}; }))
        .omit("lostDevices",
              by_device(view, [](const DeviceView& each,
                                 std::size_t index) { return each.lost ? std::optional{index} : std::nullopt; }))
        .omit("deviceConflict", view.device_conflict);
    return std::move(fields.value);
}

Value reservation_value(const ReservationView& view, const std::string& partition, const std::string& rm_id) {
    return {{"partition", partition},
            {"clusterId", rm_id},
            {"applicationID", view.application},
            {"allocationKey", view.key},
            {"nodeID", view.node},
            {"queueName", view.queue},
            {"resource", resource_value(view.resource)},
            {"since", view.since.ns},
            {"reason", view.reason}};
}

Value user_value(const UsageView& view, const std::string& partition, const std::string& rm_id) {
    Value groups = Value::object();
    for (const auto& [application, group] : view.groups) groups[application] = group;
    Fields fields;
    fields.always("userName", view.name)
        .omit("groups", std::move(groups))
        .always("queues", usage_value(view.root))
        .always("partition", partition)
        .always("clusterId", rm_id);
    return std::move(fields.value);
}

Value group_value(const UsageView& view, const std::string& partition, const std::string& rm_id) {
    Fields fields;
    fields.always("groupName", view.name)
        .omit("applications", view.applications)
        .always("queues", usage_value(view.root))
        .always("partition", partition)
        .always("clusterId", rm_id);
    return std::move(fields.value);
}

Value utilization_value(const std::vector<NodeView>& nodes, const std::string& partition, const std::string& rm_id) {
    constexpr std::size_t kBuckets = 10;
    std::map<std::string, std::array<std::vector<std::string>, kBuckets>> by_type;
    for (const NodeView& node : nodes)
        for (const auto& [type, share] : percents(node.allocated, node.capacity)) {
            const std::int64_t index = std::clamp<std::int64_t>((share + 9) / 10 - 1, 0, kBuckets - 1);
            by_type[type][static_cast<std::size_t>(index)].push_back(node.id);
        }
    Value utilizations = Value::array();
    for (const auto& [type, buckets] : by_type) {
        Value list = Value::array();
        for (std::size_t i = 0; i < kBuckets; ++i)
            list.push_back({{"bucketName", fmt::format("{}-{}%", i * 10, (i + 1) * 10)},
                            {"numOfNodes", buckets[i].size()},
                            {"nodeNames", buckets[i]}});
        utilizations.push_back({{"type", type}, {"utilization", std::move(list)}});
    }
    return {{"clusterId", rm_id}, {"partition", partition}, {"utilizations", std::move(utilizations)}};
}

Value configuration_value(const config::Configuration& configuration) {
    config::Report report;
    const auto tree = config_yaml::parse_tree(config_yaml::dump(configuration), report);
    return tree ? tree_value(*tree) : Value::object();
}

} // namespace yk::service
