// Explain (I-354): why an application's asks, or one ask, are still pending, and who would be preempted for it,
// computed by the planner's own predicates. The other kinds are in explain_KIND.cpp.

#include <fmt/format.h>

#include "ykd/runtime/event_encoding.h"
#include "ykd/service/daemon.h"
#include "ykd/service/dump_kinds.h"
#include "ykd/service/dump_objects.h"
#include "ykd/service/dump_targets.h"
#include "ykd/service/explain_kinds.h"
#include "ykd/service/gather.h"
#include "ykd/service/services.h"

namespace yk::service {
namespace {

struct Query {
    std::string what, partition, rm_id, application, key;
};

/// An explanation and whose it is; with only the application's name when a key is that of several in the partition.
struct Found {
    std::string rm_id, partition;
    Explanation explanation;
};

Value nodes_value(const NodeFitView& nodes) {
    Value lacking = Value::object();
    for (const auto& [name, count] : nodes.lacking) lacking[name] = count;
    Value value{{"nodes", nodes.nodes},       {"fitting", nodes.fitting},    {"unschedulable", nodes.unschedulable},
                {"reserved", nodes.reserved}, {"tooSmall", nodes.too_small}, {"lacking", std::move(lacking)}};
    if (nodes.best.empty()) return value;
    value["best"] = nodes.best;
    value["bestAvailable"] = resource_value(nodes.best_available);
    value["bestLack"] = nodes.best_lack;
    return value;
}

Value place_value(const SortView::Place& place) {
    Value value{{"applicationID", place.application},
                {"used", resource_value(place.used)},
                {"priority", place.priority},
                {"submitted", place.submitted.ns}};
    if (place.share) value["share"] = *place.share;
    return value;
}

Value sort_value(const SortView& sort) {
    Value first = Value::array();
    for (const SortView::Place& place : sort.first) first.push_back(place_value(place));
    return {{"policy", sort.policy},
            {"byPriority", sort.by_priority},
            {"ahead", sort.ahead},
            {"first", std::move(first)},
            {"own", place_value(sort.own)}};
}

Value reason_value(const ExplainReason& reason) {
    Value value{{"code", reason.code}, {"object", reason.object}, {"text", reason.text}};
    if (reason.need) value["need"] = resource_value(*reason.need);
    if (reason.used) value["used"] = resource_value(*reason.used);
    if (reason.limit) value["limit"] = resource_value(*reason.limit);
    if (reason.asks > 0) value["asks"] = reason.asks;
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

Value explanation_value(const Found& found) {
    Value reasons = Value::array();
    for (const ExplainReason& reason : found.explanation.reasons) reasons.push_back(reason_value(reason));
    return {{"verdict", found.explanation.verdict}, {"reasons", std::move(reasons)}, {"details", details_value(found)}};
}

/// The applications that an ask's key is looked for in.
std::vector<std::string> applications_of(const ClusterContext& context, const std::string& partition,
                                         const Query& query) {
    if (!query.application.empty()) return {query.application};
    return context.applications_with_key(partition, query.key);
}

std::vector<Found> explain_on(RmOwner& owner, const Query& query) {
    std::vector<Found> found;
    for_each_partition(owner, query.partition, [&](const ClusterContext& context, const std::string& partition) {
        const auto add = [&](Explanation explanation) {
            if (explanation.found) found.push_back({owner.rm_id(), partition, std::move(explanation)});
        };
        if (query.what == "app") return add(context.explain_application(partition, query.application, owner.now()));
        const std::vector<std::string> applications = applications_of(context, partition, query);
        for (const std::string& application : applications) {
            if (applications.size() > 1) { // only their names are told; to explain thousands would hold up the owner
                Found& one = found.emplace_back(Found{owner.rm_id(), partition, {}});
                one.explanation.application = application;
                continue;
            }
            add(query.what == "preemption" ? context.explain_preemption(partition, application, query.key, owner.now())
                                           : context.explain_ask(partition, application, query.key, owner.now()));
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
    if (found.size() == 1) return call->ok(explanation_value(found.front()));
    std::vector<std::string> places;
    places.reserve(found.size());
    for (const Found& one : found)
        places.push_back(
            fmt::format("application {} in [{}]{}", one.explanation.application, one.rm_id, one.partition));
    call->fail(ErrorCode::Invalid, fmt::format("there are several, say which one: {}", fmt::join(places, ", ")),
               query.what == "app" ? "partition" : "application");
}

} // namespace

Value reason_value(const ExplainReason& reason) {
    Value value{{"code", reason.code}, {"object", reason.object}, {"text", reason.text}};
    if (reason.need) value["need"] = resource_value(*reason.need);
    if (reason.used) value["used"] = resource_value(*reason.used);
    if (reason.limit) value["limit"] = resource_value(*reason.limit);
    if (reason.asks > 0) value["asks"] = reason.asks;
    return value;
}

std::optional<std::vector<RmPtr>> rms_to_explain(const CallPtr& call, const std::string& rm_id) {
    DumpQuery query; // what may be dumped may be explained (I-412)
    query.rm_id = rm_id;
    if (!check_visible(call, query)) return std::nullopt;
    std::vector<RmPtr> rms = call->daemon().rms().all();
    std::erase_if(
        rms, [&](const RmPtr& rm) { return (!rm_id.empty() && rm->id != rm_id) || !call->session->may_see(rm->id); });
    if (!rms.empty() || rm_id.empty()) return rms;
    call->fail(ErrorCode::NotFound, fmt::format("RM {} is not registered", rm_id), "rmID");
    return std::nullopt;
}

void explain(const CallPtr& call) {
    Daemon& daemon = call->daemon();
    const Value body = wire::decode_value(call->envelope.body);
    wire::BodyReader reader(body);
    Query query;
    query.what = reader.text("what", wire::Presence::Required);
    if (query.what == "placement") return explain_placement(call, reader);
    if (query.what == "queue") return explain_queue(call, reader);
    if (query.what == "node") return explain_node(call, reader);
    if (query.what == "user") return explain_user(call, reader);
    if (query.what == "config") return explain_config(call, reader);
    query.partition = reader.text("partition", wire::Presence::Optional, wire::TextRule::Queue);
    query.rm_id = reader.text("rmID");
    query.application =
        reader.text("application", query.what == "app" ? wire::Presence::Required : wire::Presence::Optional);
    const bool of_ask = query.what == "ask" || query.what == "preemption";
    query.key = reader.text("allocationKey", of_ask ? wire::Presence::Required : wire::Presence::Optional);
    if (query.what != "app" && !of_ask)
        reader.fail(
            ErrorCode::Invalid, "what",
            fmt::format("ykd explains app, ask, queue, node, user, config, preemption and placement, not \"{}\"",
                        query.what));
    if (!call->accepts(reader)) return;
    auto rms = rms_to_explain(call, query.rm_id);
    if (!rms) return;
    gather<std::vector<Found>>(
        daemon.workers(), *std::move(rms), Lane::Control, [query](RmOwner& owner) { return explain_on(owner, query); },
        [call, query](std::vector<Gathered<std::vector<Found>>> all) {
            std::vector<Found> found;
            for (auto& one : all)
                for (Found& explanation : one.answer) found.push_back(std::move(explanation));
            answer(call, query, found);
        });
}

} // namespace yk::service
