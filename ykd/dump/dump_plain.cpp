// SPDX-License-Identifier: Apache-2.0
#include "ykd/dump/dump_plain.h"

#include <fmt/format.h>

#include <algorithm>

#include "ykd/configuration/extra_config_keys.h"
#include "ykd/dump/recovery_dump.h"
#include "ykd/process/log.h"
#include "ykd/runtime/event_encoding.h"

namespace yk::service {

/// With secrets masked (I-440).
Value PlainDumps::extra_values() const {
    Value extra = Value::object();
    for (const auto& [key, text] : parts_.effective.extra_config().effective())
        extra[key] = is_secret(key) ? std::string{kMasked} : text;
    return extra;
}

Value PlainDumps::config_values(const Viewer& viewer, const DumpQuery& query) const {
    Value list = Value::array();
    const Value extra = extra_values();
    for (const RmPtr& rm : registered_rms(parts_.rms, viewer, query)) {
        const RmFacts facts = rm->facts();
        Value value = configuration_value(*facts.configuration);
        value["checksum"] = facts.configuration->checksum;
        value["extra"] = extra;
        value["deadlockdetectionenabled"] =
            false; // the original has these keys; ykd detects no deadlocks (C-467, C-473)
        value["deadlocktimeoutseconds"] = 60;
        value["rmID"] = rm->id;
        value["policyGroup"] = facts.policy_group;
        list.push_back(std::move(value));
    }
    return list;
}

Value PlainDumps::cluster_values(const Viewer& viewer, const DumpQuery& query) const {
    Value list = Value::array();
    for (const RmPtr& rm : registered_rms(parts_.rms, viewer, query)) {
        const RmFacts facts = rm->facts();
        Value build = Value::object();
        for (const auto& [key, text] : facts.build_info) build[key] = text;
        build["rmId"] = rm->id;
        for (const std::string& full : facts.partitions)
            list.push_back({{"startTime", facts.registered_at.ns},
                            {"rmBuildInformation", Value::array({build})},
                            {"partition", split_partition(full).name},
                            {"clusterName", facts.policy_group}});
    }
    return list;
}

Value PlainDumps::stream_values(const Viewer& viewer, const DumpQuery& query) const {
    Value list = Value::array();
    for (const RmPtr& rm : registered_rms(parts_.rms, viewer, query)) {
        const StreamStatus stream = rm->owner.stream().status();
        list.push_back({{"rmID", rm->id},
                        {"epoch", stream.epoch},
                        {"next", stream.next},
                        {"ack", stream.ack},
                        {"backlog", stream.backlog},
                        {"items", stream.items},
                        {"bytes", stream.bytes},
                        {"congested", stream.congested},
                        {"pollParked", stream.poll_parked},
                        {"detached", rm->is_detached()},
                        {"since", rm->facts().registered_at.ns}});
    }
    for (const EventStreams::Info& one : parts_.event_streams.all())
        list.push_back({{"streamID", one.id}, {"client", one.client}, {"next", one.next}, {"since", one.since.ns}});
    return list;
}

/// The history of one partition, or over all (I-703). Nothing: the call was answered.
std::optional<Value> PlainDumps::history_values(const CallPtr& call, const DumpQuery& query) const {
    const HistoryKeeper& history = parts_.history;
    if (!history.enabled()) {
        call->fail(ErrorCode::BadState, "no history is kept (setting historySize 0)");
        return std::nullopt;
    }
    if (query.partition.empty()) return history.dump({});
    const auto targets = find_targets(parts_.rms, call, query);
    if (!targets) return std::nullopt;
    for (const DumpTarget& target : *targets)
        for (const std::string& name : target.partitions)
            return history.dump(fmt::format("[{}]{}", target.rm->id, name));
    return history.dump({});
}

/// The configurations that each RM had, the newest first (B-12).
Value PlainDumps::config_history_values(const Viewer& viewer, const DumpQuery& query) const {
    Value list = Value::array();
    for (const RmPtr& rm : registered_rms(parts_.rms, viewer, query)) {
        const auto kept = parts_.config_history.of(rm->id);
        for (auto one = kept.rbegin(); one != kept.rend(); ++one)
            list.push_back({{"rmID", rm->id},
                            {"checksum", one->checksum},
                            {"at", one->at.ns},
                            {"origin", one->origin},
                            {"active", one == kept.rbegin()},
                            {"bytes", one->text->size()}});
    }
    return list;
}

/// The texts of the active configurations, or of those of the history with these checksums, as they were written.
Value PlainDumps::config_text_values(const Viewer& viewer, const DumpQuery& query) const {
    const Value extra = extra_values();
    Value list = Value::array();
    for (const RmPtr& rm : registered_rms(parts_.rms, viewer, query)) {
        const auto add = [&](const AcceptedConfig& one) {
            list.push_back({{"rmID", rm->id}, {"checksum", one.checksum}, {"text", *one.text}, {"extra", extra}});
        };
        if (!query.names) {
            if (const auto kept = parts_.config_history.of(rm->id); !kept.empty()) add(kept.back());
            continue;
        }
        for (const std::string& checksum : *query.names)
            if (const auto found = parts_.config_history.find(rm->id, checksum)) add(*found);
    }
    return list;
}

/// Of each logger the level in force, and whether it has a setting of its own (C-463). The first, without a name, is
/// that of `log.level`.
Value PlainDumps::log_level_values() const {
    const TextMap extra = parts_.effective.extra_config().effective();
    const auto value_of = [&](std::string_view logger, const std::string& key) {
        return Value{{"logger", logger}, {"level", log_level_of(logger)}, {"set", extra.count(key) != 0}};
    };
    Value list = Value::array({value_of("", "log.level")});
    std::vector<std::string_view> names(known_loggers().begin(), known_loggers().end());
    std::sort(names.begin(), names.end());
    for (const std::string_view name : names) list.push_back(value_of(name, fmt::format("log.{}.level", name)));
    return list;
}

Value PlainDumps::event_stream_values() const {
    Value list = Value::array();
    for (const EventStreams::Info& one : parts_.event_streams.all())
        list.push_back({{"Name", one.id + " of " + one.client}, {"CreatedAt", one.since.ns}});
    return list;
}

/// The states of the RMs; the dump `recovery` has more about each.
Value PlainDumps::recovery_values(const Viewer& viewer) const {
    Value list = Value::array();
    for (const RmPtr& rm : registered_rms(parts_.rms, viewer, {}))
        list.push_back(state_value(rm->id, rm->owner.state_record()));
    return list;
}

PlainDumps::Answer PlainDumps::make(const CallPtr& call, const DumpQuery& query) const {
    const Viewer viewer = viewer_of(*call);
    if (query.what == "history") return {true, history_values(call, query)};
    if (query.what == "confighistory") return {true, config_history_values(viewer, query)};
    if (query.what == "configtext") return {true, config_text_values(viewer, query)};
    if (query.what == "clusters") return {true, cluster_values(viewer, query)};
    if (query.what == "loglevels") return {true, log_level_values()};
    if (query.what == "streams") return {true, stream_values(viewer, query)};
    if (query.what != "config") return {false, std::nullopt};
    Value list = config_values(viewer, query);
    return {true, list.size() == 1 ? Value(list.front()) : std::move(list)};
}

Value PlainDumps::full(const Viewer& viewer, const DumpSnapshot& snapshot, Value diagnostics, bool brief) const {
    Value partitions = Value::array(), queues = Value::array(), applications = Value::array(), nodes = Value::array(),
          reservations = Value::array(), users = Value::array(), groups = Value::array(), rules = Value::array();
    for (const DumpPart& part : snapshot.parts) {
        if (part.info) partitions.push_back(partition_value(*part.info));
        for (std::size_t i = 0; i < part.queues.size(); ++i) queues.push_back(queue_of(part, i));
        for (std::size_t i = 0; i < part.applications.size(); ++i) applications.push_back(application_of(part, i));
        Value of_partition = Value::array();
        for (const NodeView& node : part.nodes) of_partition.push_back(node_value(node, part.partition, part.rm_id));
        nodes.push_back(
            {{"partitionName", part.partition}, {"clusterId", part.rm_id}, {"nodesInfo", std::move(of_partition)}});
        for (std::size_t i = 0; i < part.users.views.size(); ++i) users.push_back(user_of(part, i));
        for (std::size_t i = 0; i < part.groups.views.size(); ++i) groups.push_back(group_of(part, i));
        for (const ReservationView& one : part.reservations)
            reservations.push_back(reservation_value(one, part.partition, part.rm_id));
        Value of_rules = Value::array();
        for (const RuleView& rule : part.rules) of_rules.push_back(rule_value(rule));
        rules.push_back({{"partition", part.partition}, {"clusterId", part.rm_id}, {"rules", std::move(of_rules)}});
    }
    if (brief) applications = nodes = queues = reservations = users = groups = nullptr;
    const Bytes16& boot = parts_.identity.boot_id;
    const Value history = parts_.history.dump({});
    return {{"timestamp", snapshot.as_of.ns},
            {"bootID", uuid_text(boot)},
            {"partitions", std::move(partitions)},
            {"applications", std::move(applications)},
            {"appHistory", history["apps"]},
            {"nodes", std::move(nodes)},
            {"clusterInfo", cluster_values(viewer, {})},
            {"containerHistory", history["containers"]},
            {"queues", std::move(queues)},
            {"rmDiagnostics", std::move(diagnostics)},
            {"logLevel", log_level()},
            {"placementRules", std::move(rules)},
            {"eventStreams", event_stream_values()},
            {"config", config_values(viewer, {})},
            {"reservations", std::move(reservations)},
            {"users", std::move(users)},
            {"groups", std::move(groups)},
            {"streams", stream_values(viewer, {})},
            {"recovery", recovery_values(viewer)}};
}

} // namespace yk::service
