// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/deployment_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "protocol/mcs/schedule_text.h"
#include "protocol/mcs/status_text.h"
#include "ykd/process/random_bytes.h"
#include "ykd/runtime/clock.h"

namespace yk::service {
namespace {

using si::ErrorCode;
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

void add_condition(Value& conditions, const char* name, const mcs::Condition& condition, Instant now) {
    if (condition.reason.empty()) return;
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now - condition.since).count();
    conditions.push_back({{"type", name}, {"status", condition.is_true}, {"reason", condition.reason}, {"ageMs", age}});
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

Value placements_value(const mcs::DeploymentSchedule& row) {
    Value placements = Value::array();
    for (const mcs::Placement& each : row.placements) {
        placements.push_back({{"replica", each.replica},
                              {"attempt", each.attempt},
                              {"allocationKey", each.allocation_key},
                              {"state", mcs::name_of(each.state)}});
        if (!each.node_id.empty()) placements.back()["nodeID"] = each.node_id;
    }
    return placements;
}

// --- requests as rows ------------------------------------------------------------------------------------------------

/// A ULID: 48 bits of the time in milliseconds and 80 random ones, so that ids sort by when they were made (rs R-019).
std::string new_id() {
    constexpr char kDigits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    const Bytes16 random = random_bytes();
    const auto ms = static_cast<std::uint64_t>(real_now().ns / 1'000'000);
    std::string id(26, '0');
    for (std::size_t at = 0; at < 10; ++at) id[9 - at] = kDigits[ms >> (5 * at) & 31U];
    for (std::size_t at = 10; at < id.size(); ++at) id[at] = kDigits[random[at - 10] & 31U];
    return id;
}

/// What a replica needs.
Result<mcs::Amounts> size_of_replica(const std::optional<si::Resources>& resource) {
    YK_TRY(amounts, amounts_of(resource.value_or(si::Resources{})));
    std::erase_if(amounts, [](const auto& each) { return each.second == 0; });
    if (amounts.empty()) return fault(ErrorCode::MissingField, "a replica needs something", "body.resource");
    return amounts;
}

std::size_t size_of(const mcs::Deployment& row) {
    std::size_t size = row.meta.id.size() + row.name.size() + row.partition.size() + row.queue.size() + row.user.size();
    for (const std::string& group : row.groups) size += group.size() + 1;
    for (const auto& [type, amount] : row.resource) size += type.size() + sizeof amount;
    for (const auto& [key, value] : row.tags) size += key.size() + value.size();
    return size;
}

void take_texts(const si::McsBody& body, mcs::Deployment& row) {
    row.name = body.name.value_or("");
    row.partition = body.partition.value_or(row.partition);
    row.queue = body.queue.value_or("");
    row.user = body.user.value_or("");
    row.groups = body.groups.value_or(std::vector<std::string>{});
    for (const auto& [key, value] : body.tags.value_or(si::StringMap{})) row.tags.insert_or_assign(key, value);
}

/// What has no request of its own yet is as wide as it may be, so that the given number decides.
Result<void> take_numbers(const si::McsBody& body, const McsSettings& settings, mcs::Deployment& row) {
    const auto most = static_cast<std::int64_t>(settings.max_replicas);
    const std::uint64_t replicas = body.replicas.value_or(1);
    YK_CHECKED(check_replicas(replicas, 0, most));
    row.replicas = static_cast<std::int64_t>(replicas);
    row.max_replicas = most;
    row.priority = body.priority.value_or(0);
    YK_TRY(mode, delete_mode_of(body));
    row.delete_mode = mode.value_or(settings.delete_mode);
    YK_TRY(amounts, size_of_replica(body.resource));
    row.resource = std::move(amounts);
    return {};
}

} // namespace

wire::Value value_of(const DeploymentRows& rows) {
    const mcs::Deployment& row = *rows.deployment;
    Value value{{"id", row.meta.id},
                {"name", row.name},
                {"uid", row.meta.uid},
                {"version", row.meta.version},
                {"generation", row.meta.generation},
                {"partition", row.partition},
                {"queue", row.queue},
                {"user", row.user},
                {"groups", row.groups},
                {"resource", row.resource},
                {"minReplicas", row.min_replicas},
                {"maxReplicas", row.max_replicas},
                {"priority", row.priority},
                {"tags", row.tags},
                {"paused", row.is_paused},
                {"deleteMode", mcs::name_of(row.delete_mode)},
                {"createdMs", row.times.created_ms},
                {"updatedMs", row.times.updated_ms}};
    if (row.replicas) value["replicas"] = *row.replicas;
    if (is_child(rows.scale, row)) value["scale"] = scale_value(*rows.scale);
    if (is_child(rows.schedule, row)) value["schedule"] = schedule_value(*rows.schedule);
    return value;
}

wire::Value described(const DeploymentRows& rows, Instant real_now) {
    Value value = value_of(rows);
    value["policy"] = rows.deployment->policy;
    if (value.contains("scale")) value["scale"]["conditions"] = conditions_value(*rows.scale, real_now);
    if (value.contains("schedule")) value["schedule"]["placements"] = placements_value(*rows.schedule);
    return value;
}

Result<void> check_replicas(std::uint64_t replicas, std::int64_t least, std::int64_t most) {
    const bool is_good = replicas <= static_cast<std::uint64_t>(most) &&
                         (replicas == 0 || replicas >= static_cast<std::uint64_t>(least));
    if (is_good) return {};
    return fault(ErrorCode::Invalid, fmt::format("{} replicas: {} to {} are allowed", replicas, least, most),
                 "body.replicas");
}

Result<std::optional<mcs::DeleteMode>> delete_mode_of(const si::McsBody& body) {
    if (!body.delete_mode || body.delete_mode->empty()) return std::optional<mcs::DeleteMode>{};
    const auto mode = mcs::find_delete_mode(*body.delete_mode);
    if (!mode) return fault(ErrorCode::Invalid, "it is cascade, owners or orphan", "body.deleteMode");
    return mode;
}

Result<mcs::Deployment> deployment_of(const si::McsWriteRequest& request, const McsSettings& settings) {
    const si::McsBody body = request.body.value_or(si::McsBody{});
    mcs::Deployment row;
    row.meta.id = request.id.empty() ? new_id() : request.id;
    take_texts(body, row);
    YK_CHECKED(check_name(row.meta.id, "id"));
    YK_CHECKED(check_name(row.name, "body.name"));
    if (row.user.empty()) return fault(ErrorCode::MissingField, "it is missing", "body.user");
    YK_CHECKED(take_numbers(body, settings, row));
    if (const std::size_t size = size_of(row); size > settings.max_deployment_size)
        return fault(ErrorCode::Limit,
                     fmt::format("its texts have {} bytes, of at most {} (mcs.maxDeploymentSize)", size,
                                 settings.max_deployment_size),
                     "body");
    return row;
}

// --- what holds of every row that a user writes ----------------------------------------------------------------------

Error fault(ErrorCode code, std::string message, std::string path) {
    return Error::coded(static_cast<int>(code), std::move(message), std::move(path));
}

Result<void> check_name(const std::string& name, const char* path) {
    constexpr std::size_t kMost = 200; // bytes; application ids and keys are made of it (rs R-126)
    if (name.empty()) return fault(ErrorCode::MissingField, "it is missing", path);
    if (name.size() > kMost)
        return fault(ErrorCode::Invalid, fmt::format("it has {} bytes, of at most {}", name.size(), kMost), path);
    return {};
}

Result<mcs::Amounts> amounts_of(const si::Resources& resource) {
    mcs::Amounts amounts;
    for (const auto& [type, amount] : resource) {
        if (amount < 0) return fault(ErrorCode::Invalid, type + " is below 0", "body.resource");
        amounts.emplace(type, amount);
    }
    return amounts;
}

} // namespace yk::service
