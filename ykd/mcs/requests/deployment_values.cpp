// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/requests/deployment_values.h"

#include <algorithm>
#include <chrono>

#include "libcore/mcs/work_tags.h"
#include "protocol/mcs/schedule_text.h"
#include "protocol/mcs/status_text.h"
#include "ykd/configuration/extra_config_keys.h"

namespace yk::service {
namespace {

using wire::Value;

// --- rows as values --------------------------------------------------------------------------------------------------

Value scale_value(const mcs::DeploymentScale& row) {
    return {{"version", row.meta.version},
            {"desired", row.desired},
            {"reason", row.reason},
            {"observedGeneration", row.observed_generation},
            {"updatedMs", row.times.updated_ms}};
}

Value schedule_value(const mcs::DeploymentSchedule& row) {
    Value value{{"version", row.meta.version},      {"applicationID", row.application_id},
                {"desired", row.desired},           {"placed", row.placed},
                {"pending", row.pending},           {"state", mcs::name_of(row.state)},
                {"updatedMs", row.times.updated_ms}};
    const auto status = mcs::parse_schedule_status(row.status);
    if (status.ok() && !status->message.empty()) value["message"] = status->message;
    return value;
}

/// A child of an earlier life of the id is none of this one.
template <class Child>
bool is_child(const Child& child, const mcs::Deployment& of) {
    return child && child->owner.uid == of.meta.uid;
}

/// Those that a user gave.
Value tags_value(const mcs::Texts& tags, bool hides_secrets) {
    Value value = Value::object();
    for (const auto& [tag, text] : tags)
        if (tag != mcs::kSubmitterTag)
            value[tag] = hides_secrets && tag.starts_with(mcs::kVariableTags) ? std::string{kMasked} : text;
    return value;
}

void add_condition(Value& conditions, const char* name, const mcs::Condition& condition, Instant now) {
    if (condition.reason.empty()) return;
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now - condition.since).count();
    conditions.push_back({{"type", name}, {"status", condition.is_true}, {"reason", condition.reason}, {"ageMs", age}});
    if (!condition.message.empty()) conditions.back()["message"] = condition.message;
}

/// The row has ages, of the moment when it was written (rs R-119).
Value conditions_value(const mcs::DeploymentScale& row, Instant real_now) {
    Value conditions = Value::array();
    const Instant written = std::min(real_now, Instant{} + std::chrono::milliseconds{row.times.updated_ms});
    const auto status = mcs::parse_status(row.status, written);
    if (!status.ok()) return conditions; // of another program: it is about to be written anew
    const mcs::ScaleConditions& has = status->conditions;
    add_condition(conditions, "AbleToScale", has.able_to_scale, real_now);
    add_condition(conditions, "ScalingActive", has.scaling_active, real_now);
    add_condition(conditions, "ScalingLimited", has.scaling_limited, real_now);
    add_condition(conditions, "Stabilized", has.stabilized, real_now);
    return conditions;
}

/// Whether all that runs is as the Deployment says: it is changed a part at a time.
bool is_current(const mcs::DeploymentSchedule& row, const mcs::Deployment& deployment) {
    const auto status = mcs::parse_schedule_status(row.status);
    if (!status.ok()) return false; // of another program: it is about to be written anew
    const mcs::ScheduleStatus wanted = mcs::first_status(deployment);
    return status->application == wanted.application && !status->has_outdated() &&
           status->versions.back().spec == wanted.versions.back().spec;
}

Value command_value(const LocalWork::State& command) {
    Value value{{"state", command.phase}, {"restarts", command.restarts}};
    if (!command.why.empty()) value["why"] = command.why;
    return value;
}

Value placements_value(const mcs::DeploymentSchedule& row, const CommandStates& commands) {
    Value placements = Value::array();
    for (std::size_t at = 0; at < row.placements.size(); ++at) {
        const mcs::Placement& each = row.placements[at];
        placements.push_back({{"replica", each.replica},
                              {"attempt", each.attempt},
                              {"allocationKey", each.allocation_key},
                              {"state", mcs::name_of(each.state)}});
        if (!each.node_id.empty()) placements.back()["nodeID"] = each.node_id;
        if (at < commands.size() && commands[at]) placements.back()["command"] = command_value(*commands[at]);
    }
    return placements;
}

} // namespace

wire::Value value_of(const DeploymentRows& rows) {
    const mcs::Deployment& row = *rows.deployment;
    Value value{{"id", row.meta.id},
                {"name", row.name},
                {"uid", row.meta.uid},
                {"version", row.meta.version},
                {"generation", row.meta.generation},
                {"partition", *row.partition},
                {"queue", *row.queue},
                {"user", *row.user},
                {"groups", *row.groups},
                {"resource", *row.resource},
                {"minReplicas", row.min_replicas},
                {"maxReplicas", row.max_replicas},
                {"policy", *row.policy},
                {"priority", row.priority},
                {"tags", tags_value(row.tags, rows.hides_secrets)},
                {"paused", row.is_paused},
                {"deleteMode", mcs::name_of(row.delete_mode)},
                {"createdMs", row.times.created_ms},
                {"updatedMs", row.times.updated_ms}};
    if (row.replicas) value["replicas"] = *row.replicas;
    if (const auto submitter = row.tags->find(mcs::kSubmitterTag); submitter != row.tags->end())
        value["submittedBy"] = submitter->second;
    if (is_child(rows.scale, row)) value["scale"] = scale_value(*rows.scale);
    if (!is_child(rows.schedule, row)) return value;
    value["schedule"] = schedule_value(*rows.schedule);
    if (rows.commands)
        value["schedule"]["commands"] = {{"all", rows.commands->all}, {"running", rows.commands->running}};
    return value;
}

wire::Value described(const DeploymentRows& rows, Instant real_now, const CommandStates& commands) {
    Value value = value_of(rows);
    if (value.contains("scale")) value["scale"]["conditions"] = conditions_value(*rows.scale, real_now);
    if (!value.contains("schedule")) return value;
    value["schedule"]["placements"] = placements_value(*rows.schedule, commands);
    value["schedule"]["current"] = is_current(*rows.schedule, *rows.deployment);
    return value;
}

} // namespace yk::service
