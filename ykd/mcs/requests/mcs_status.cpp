// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/requests/mcs_status.h"

#include <chrono>
#include <string_view>

namespace yk::service {
namespace {

using wire::Value;

std::int64_t ms_of(Duration duration) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

std::string_view state_of(const McsThread::State& state, const McsApplication* application) {
    if (state.phase == McsThread::State::Phase::Failed) return "failed";
    if (application == nullptr) return "opening";
    return application->manager().is_running() ? "running" : "starting";
}

Value handlers_value(const rs::KindStatus& kind) {
    Value handlers = Value::array();
    for (const rs::HandlerStatus& each : kind.handlers)
        handlers.push_back({{"name", each.name},
                            {"active", each.is_active},
                            {"backlog", each.backlog},
                            {"deadLetters", each.dead_letters},
                            {"calls", each.counters.calls},
                            {"failures", each.counters.failures}});
    return handlers;
}

Value kind_value(const rs::KindStatus& kind, Instant now) {
    Value value{{"kind", kind.name},
                {"size", kind.size},
                {"synced", kind.is_synced},
                {"queued", kind.queued},
                {"waiting", kind.waiting},
                {"brokenRows", kind.broken_rows},
                {"changes", kind.counters.changes()},
                {"repairs", kind.counters.repairs},
                {"handlers", handlers_value(kind)}};
    for (const rs::BrokenStatus& each : kind.broken) value["broken"].push_back({{"id", each.id}, {"reason", each.why}});
    if (kind.last_scan) {
        value["lastResync"] = kind.last_scan->text();
        value["lastResyncAgeMs"] = ms_of(now - kind.last_scan->ended);
        value["lastResyncBeganMs"] = ms_of(now - kind.last_scan->began);
    }
    return value;
}

Value kinds_value(const rs::StateManager& manager, Instant now) {
    Value kinds = Value::array();
    for (const rs::KindStatus& each : manager.status()) kinds.push_back(kind_value(each, now));
    return kinds;
}

Value services_value(const McsApplication& application, Instant now) {
    Value services = Value::array();
    for (const std::string& name : lease_names(application.transport())) {
        const auto lease = application.lease(name, now);
        services.push_back({{"name", name}, {"leads", lease && lease->is_valid}});
        if (lease) services.back()["epoch"] = lease->epoch;
    }
    return services;
}

Value reconcilers_value(const McsApplication& application) {
    Value reconcilers = Value::array();
    for (const auto& each : application.manager().periodic())
        reconcilers.push_back({{"name", each->name()},
                               {"runs", each->runs()},
                               {"found", each->total().found},
                               {"repaired", each->total().repaired}});
    return reconcilers;
}

Value scheduler_value(const McsScheduling& scheduling, const std::string& rm_id) {
    const mcs::Scheduler& scheduler = scheduling.scheduler();
    Value value{{"rmID", rm_id},
                {"state", mcs::name_of(scheduler.core().state())},
                {"schedules", scheduler.table().size()},
                {"nodes", scheduler.nodes().size()},
                {"refusedNodes", scheduler.nodes().refused_nodes()},
                {"unwritten", scheduler.unwritten()}};
    const std::string trouble = scheduling.link().trouble();
    const std::string& reason = scheduler.core().reason().empty() ? trouble : scheduler.core().reason();
    if (!reason.empty()) value["reason"] = reason;
    return value;
}

Value database_value(McsApplication& application) {
    const auto house = application.observed().house.status();
    Value value{{"path", application.connections().place},
                {"uid", application.connections().identity.uid},
                {"up", is_database_up(application.manager(), application.transport())},
                {"walPages", house.wal_pages}};
    if (!house.fault.empty()) value["fault"] = house.fault;
    return value;
}

/// What the broker is, and how it is.
Value transport_value(const TransportStatus& of) {
    Value value{{"name", of.name},
                {"place", of.place},
                {"up", of.is_up},
                {"reads", of.is_on_broker ? "broker" : "database"},
                {"downMs", ms_of(of.down_for)}};
    if (!of.fault.empty()) value["fault"] = of.fault;
    return value;
}

/// This process's relay, which does something while it leads as that.
Value relay_value(const TransportStatus& of, bool is_stuck) {
    const rs::RelayStatus& relay = of.relay.relay;
    Value value{{"leads", of.relay.leads},      {"running", relay.is_running},
                {"underWay", relay.under_way},  {"waitingMs", ms_of(of.relay_waits)},
                {"lagMs", ms_of(of.relay_lag)}, {"sent", relay.sent},
                {"confirmed", relay.confirmed}, {"beginnings", relay.beginnings},
                {"gaps", relay.gaps},           {"stuck", is_stuck}};
    if (relay.safe) value["safe"] = relay.safe->text();
    if (!relay.trouble.empty()) value["fault"] = relay.trouble;
    return value;
}

} // namespace

wire::Value status_value(const McsThread& thread, McsApplication* application, Instant now) {
    const McsThread::State state = thread.state();
    Value value{{"state", state_of(state, application)}};
    if (!state.reason.empty()) value["reason"] = state.reason;
    if (application == nullptr) return value;
    const rs::StateManager& manager = application->manager();
    const auto writes = application->observed().writer.status();
    value["position"] = manager.position().text();
    value["staleMs"] = ms_of(manager.staleness(now));
    value["database"] = database_value(*application);
    if (const auto transport = application->transport().status(now)) {
        value["transport"] = transport_value(*transport);
        value["relay"] = relay_value(*transport, application->observed().house.status().is_relay_stuck);
    }
    value["kinds"] = kinds_value(manager, now);
    value["services"] = services_value(*application, now);
    value["scheduler"] = scheduler_value(application->scheduling(), thread.settings().rm_id);
    value["reconcilers"] = reconcilers_value(*application);
    if (const LocalWork* const work = application->scheduling().work())
        value["commands"] = {
            {"replicas", work->size()}, {"running", work->running()}, {"most", thread.settings().local.max_commands}};
    value["writes"] = {{"waiting", writes.waiting}};
    if (!writes.fault.empty()) value["writes"]["fault"] = writes.fault;
    if (const auto degraded = thread.degraded(); !degraded.empty()) value["degraded"] = degraded;
    value["limits"] = {{"deployments", thread.settings().max_deployments},
                       {"replicas", thread.settings().max_replicas},
                       {"deploymentSize", thread.settings().max_deployment_size}};
    return value;
}

} // namespace yk::service
