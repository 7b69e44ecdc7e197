// SPDX-License-Identifier: Apache-2.0
// Explain of an application or an ask (I-354).

#include <fmt/format.h>

#include "libcore/reports/explain.h"
#include "libcore/reports/snapshot.h"
#include "ykd/dump/dump_kinds.h"
#include "ykd/dump/dump_objects.h"
#include "ykd/dump/dump_targets.h"
#include "ykd/explain/explain_kinds.h"
#include "ykd/explain/what_helps.h"
#include "ykd/request/gather.h"
#include "ykd/runtime/event_encoding.h"

namespace yk::service {
namespace {

/// What is asked.
struct Query {
    std::string what, partition, rm_id, application, key;
};

/// An explanation, and where its object is. When several applications of the partition have an ask with this key, only
/// the application's name is filled in.
struct Found {
    std::string rm_id, partition;
    Explanation explanation;
};

Value nodes_value(const NodeFitView& nodes) {
    Value lacking = Value::object();
    for (const auto& [name, count] : nodes.lacking) lacking[name] = count;
    Value value{{"nodes", nodes.nodes},       {"fitting", nodes.fitting},    {"unschedulable", nodes.unschedulable},
                {"reserved", nodes.reserved}, {"tooSmall", nodes.too_small}, {"lacking", std::move(lacking)}};
    for (const auto& [key, count] : {std::pair{"deviceShape", nodes.device_shape},
                                     {"deviceConflict", nodes.device_conflict},
                                     {"fragmented", nodes.fragmented}})
        if (count > 0) value[key] = count;
    if (nodes.best.empty()) return value;
    value["best"] = nodes.best;
    value["bestAvailable"] = resource_value(nodes.best_available);
    value["bestLack"] = nodes.best_lack;
    return value;
}

Value position_value(const SortView::Position& position) {
    Value value{{"applicationID", position.application},
                {"used", resource_value(position.used)},
                {"priority", position.priority},
                {"submitted", position.submitted.ns}};
    if (position.share) value["share"] = *position.share;
    return value;
}

Value sort_value(const SortView& sort) {
    Value first = Value::array();
    for (const SortView::Position& position : sort.first) first.push_back(position_value(position));
    return {{"policy", sort.policy},
            {"byPriority", sort.by_priority},
            {"ahead", sort.ahead},
            {"first", std::move(first)},
            {"own", position_value(sort.own)}};
}

Value obstacle_value(const ExplainReason& reason) {
    Value value = reason_value(reason);
    if (reason.nodes) value["nodes"] = nodes_value(*reason.nodes);
    if (reason.sort) value["sort"] = sort_value(*reason.sort);
    return value;
}

Value preemption_value(const PreemptionView& view) {
    Value victims = Value::array();
    for (const PreemptionView::Victim& victim : view.victims)
        victims.push_back({{"applicationID", victim.application},
                           {"allocationKey", victim.key},
                           {"queue", victim.queue},
                           {"nodeID", victim.node},
                           {"resource", resource_value(victim.resource)},
                           {"priority", victim.priority},
                           {"optedOut", victim.opted_out},
                           {"originator", victim.originator}});
    Value givers = Value::array();
    for (const PreemptionView::Giver& giver : view.givers) {
        Value value{{"queue", giver.queue}, {"used", resource_value(giver.used)}, {"candidates", giver.candidates}};
        if (giver.guaranteed) value["guaranteed"] = resource_value(*giver.guaranteed);
        if (!giver.spared.empty()) value["spared"] = giver.spared;
        givers.push_back(std::move(value));
    }
    Value excluded = Value::object();
    for (const auto& [reason, count] : view.excluded) excluded[reason] = count;
    Value value{{"result", view.result},
                {"victims", std::move(victims)},
                {"queues", std::move(givers)},
                {"excluded", std::move(excluded)}};
    if (!view.fence_root.empty()) value["fenceRoot"] = view.fence_root;
    if (!view.node.empty()) value["nodeID"] = view.node;
    if (view.announced) value["announced"] = true;
    if (view.remaining) value["remaining"] = resource_value(*view.remaining);
    return value;
}

Value details_value(const Found& found) {
    const Explanation& explanation = found.explanation;
    Value details{{"rmID", found.rm_id},
                  {"partition", found.partition},
                  {"application", explanation.application},
                  {"queue", explanation.queue},
                  {"user", explanation.user},
                  {"state", explanation.state},
                  {"pendingAsks", explanation.pending_asks},
                  {"asks", explanation.asks}};
    if (!explanation.key.empty()) details["allocationKey"] = explanation.key;
    if (explanation.oldest_pending) details["oldestPending"] = explanation.oldest_pending->ns;
    if (explanation.preemption) details["preemption"] = preemption_value(*explanation.preemption);
    if (explanation.nodes) details["nodes"] = nodes_value(*explanation.nodes);
    return details;
}

/// With `has_helps` each reason says what would help against it.
Value explanation_value(const Found& found, bool has_helps) {
    Value reasons = Value::array();
    const std::int64_t nodes = found.explanation.nodes ? found.explanation.nodes->nodes : 1;
    for (const ExplainReason& reason : found.explanation.reasons) {
        Value& value = reasons.emplace_back(obstacle_value(reason));
        if (std::string help = has_helps ? what_helps(reason, nodes) : ""; !help.empty())
            value["help"] = std::move(help);
    }
    return {{"verdict", found.explanation.verdict}, {"reasons", std::move(reasons)}, {"details", details_value(found)}};
}

/// The applications that may have an ask with the key.
std::vector<std::string> applications_of(const PartitionState& state, const Query& query) {
    if (!query.application.empty()) return {query.application};
    return applications_with_key(state, query.key);
}

std::vector<Found> explain_on(RmOwner& owner, const Query& query) {
    std::vector<Found> found;
    for_each_partition(owner, query.partition, [&](const PartitionState& state, const std::string& partition) {
        const auto add = [&](Explanation explanation) {
            if (explanation.found) found.push_back({owner.rm_id(), partition, std::move(explanation)});
        };
        if (query.what == "app") return add(explain_application(state, query.application, owner.now()));
        const std::vector<std::string> applications = applications_of(state, query);
        for (const std::string& application : applications) {
            if (applications.size() > 1) { // only their names: to explain thousands would hold up the owner thread
                Found& one = found.emplace_back(Found{owner.rm_id(), partition, {}});
                one.explanation.application = application;
                continue;
            }
            add(query.what == "preemption"
                    ? owner.gateway().explain_preemption(partition, application, query.key, owner.now())
                    : explain_ask(state, application, query.key, owner.now()));
        }
    });
    return found;
}

void answer(const CallPtr& call, const Query& query, const std::vector<Found>& found) {
    if (found.empty()) {
        const std::string text = query.what == "app" ? fmt::format("there is no application {}", query.application)
                                                     : fmt::format("there is no ask {}", query.key);
        return call->ok({{"verdict", "NOT_FOUND"},
                         {"reasons", Value::array({{{"code", "NOT_FOUND"}, {"object", ""}, {"text", text}}})},
                         {"details", Value::object()}});
    }
    if (found.size() == 1) return call->ok(explanation_value(found.front(), query.what != "preemption"));
    std::vector<std::string> candidates;
    candidates.reserve(found.size());
    for (const Found& one : found)
        candidates.push_back(
            fmt::format("application {} in [{}]{}", one.explanation.application, one.rm_id, one.partition));
    call->fail(ErrorCode::Invalid, fmt::format("there are several, say which one: {}", fmt::join(candidates, ", ")),
               query.what == "app" ? "partition" : "application");
}

} // namespace

void explain_ask(const ExplainParts& parts, const CallPtr& call, const std::string& what, wire::BodyReader& reader) {
    Query query;
    query.what = what;
    query.partition = reader.text("partition", wire::Presence::Optional, wire::TextRule::Queue);
    query.rm_id = reader.text("rmID");
    query.application =
        reader.text("application", query.what == "app" ? wire::Presence::Required : wire::Presence::Optional);
    const bool of_ask = query.what == "ask" || query.what == "preemption";
    query.key = reader.text("allocationKey", of_ask ? wire::Presence::Required : wire::Presence::Optional);
    if (!call->accepts(reader)) return;
    auto rms = rms_to_explain(parts, call, query.rm_id);
    if (!rms) return;
    gather<std::vector<Found>>(
        parts.workers, *std::move(rms), Lane::Control, [query](RmOwner& owner) { return explain_on(owner, query); },
        [call, query](std::vector<Gathered<std::vector<Found>>> all) {
            std::vector<Found> found;
            for (auto& one : all)
                for (Found& explanation : one.answer) found.push_back(std::move(explanation));
            answer(call, query, found);
        });
}

} // namespace yk::service
