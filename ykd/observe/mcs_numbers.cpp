// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/mcs_numbers.h"

#include <chrono>
#include <string_view>

namespace yk::service {
namespace {

double seconds_of(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

void write_state(MetricWriter& to, const McsNumbers& numbers) {
    const auto write = [&to](std::string_view name, std::string_view help, std::uint64_t value) {
        to.family(name, MetricType::Gauge, help);
        to.count({}, value);
    };
    write("mcs_running", "1 when the caches have what the database has.", numbers.is_running ? 1 : 0);
    write("mcs_db_up", "1 while the database answers.", numbers.is_store_up ? 1 : 0);
    write("mcs_transport_up", "1 while the change log answers, or the broker that has it.", numbers.is_log_up ? 1 : 0);
    to.family("mcs_staleness_seconds", MetricType::Gauge, "How long the caches have not followed the database.");
    to.real({}, seconds_of(numbers.staleness));
    write("mcs_writes_waiting", "Writes that wait for the disk.", numbers.writes);
    write("mcs_wal_pages", "Pages in the write-ahead log of SQLite.", numbers.wal_pages);
    to.family("mcs_log_rows", MetricType::Gauge, "Rows of the change log, about, where this process purges it.");
    if (numbers.log_rows) to.sample({}, *numbers.log_rows);
    to.family("mcs_log_fence_lag_seconds", MetricType::Gauge,
              "How long a transaction of PostgreSQL keeps later changes from being read.");
    if (numbers.log_held_for) to.real({}, seconds_of(*numbers.log_held_for));
    const auto total = [&to](std::string_view name, std::string_view help, std::uint64_t value) {
        to.family(name, MetricType::Counter, help);
        to.count({}, value);
    };
    total("mcs_writer_batch_size_sum", "Writes that were carried out in transactions.", numbers.grouped);
    total("mcs_writer_batch_size_count", "Those transactions.", numbers.groups);
    total("mcs_events_total", "Changes read from the change log.", numbers.events.events);
    total("mcs_events_unchained_total", "Of them, those that do not say what came before them.",
          numbers.events.unchained);
    total("mcs_events_unreadable_total", "Messages that could not be understood.", numbers.events.unreadable);
    to.family("mcs_relists_total", MetricType::Counter, "Full reads because the change log could not go on, by why.");
    for (const auto& [reason, count] : numbers.events.relists) to.count({{"reason", rs::name_of(reason)}}, count);
}

void write_relay(MetricWriter& to, const McsNumbers::RelayLine& relay) {
    const auto write = [&to](MetricType type, std::string_view name, std::string_view help, std::uint64_t value) {
        to.family(name, type, help);
        to.count({}, value);
    };
    const auto flag = [](bool is) { return is ? 1U : 0U; };
    using Type = MetricType;
    write(Type::Gauge, "mcs_transport_on_broker", "1 while changes are read from the broker, 0: from the database.",
          flag(relay.is_on_broker));
    write(Type::Gauge, "mcs_relay_running", "1 while this process copies changes to the broker.",
          flag(relay.is_running));
    write(Type::Gauge, "mcs_relay_stuck", "1 when changes were removed that no relay had sent.", flag(relay.is_stuck));
    write(Type::Gauge, "mcs_relay_under_way", "Changes that the broker has not acknowledged.", relay.under_way);
    to.family("mcs_relay_wait_seconds", Type::Gauge, "How long none was acknowledged, though some are under way.");
    to.real({}, seconds_of(relay.waits));
    to.family("mcs_relay_lag_seconds", Type::Gauge, "Age of the oldest change that no relay has sent.");
    to.real({}, seconds_of(relay.lag));
    write(Type::Counter, "mcs_relay_sent_total", "Changes sent, with repetitions.", relay.sent);
    write(Type::Counter, "mcs_relay_confirmed_total", "Those that the broker has acknowledged.", relay.confirmed);
    write(Type::Counter, "mcs_relay_beginnings_total", "How often the relay had to begin again.", relay.beginnings);
    write(Type::Counter, "mcs_relay_gaps_total", "How often it had to announce that all is to be read anew.",
          relay.gaps);
}

/// A family with one sample for each kind.
template <class Value>
void write_kinds(MetricWriter& to, const McsNumbers& numbers, std::string_view name, MetricType type,
                 std::string_view help, Value&& value) {
    to.family(name, type, help);
    for (const rs::KindStatus& kind : numbers.kinds) to.count({{"kind", kind.name}}, value(kind));
}

void write_reconciles(MetricWriter& to, const McsNumbers& numbers) {
    to.family("mcs_reconcile_total", MetricType::Counter, "Rows compared with the caches, by what came of it.");
    for (const rs::KindStatus& kind : numbers.kinds) {
        const rs::ReconcileCounters& of = kind.counters;
        const auto write = [&](std::string_view result, std::uint64_t count) {
            to.count({{"kind", kind.name}, {"result", result}}, count);
        };
        write("added", of.added);
        write("updated", of.updated + of.reborn + of.version_only + of.same_version);
        write("removed", of.removed);
        write("same", of.same + of.nothing + of.known);
        write("stale", of.stale);
        write("broken", of.broken);
        write("failed", of.failed);
    }
}

/// The same of those that have a time.
void write_times(MetricWriter& to, const McsNumbers& numbers, std::string_view name, std::string_view help,
                 const std::vector<std::optional<Duration>>& times) {
    to.family(name, MetricType::Gauge, help);
    for (std::size_t at = 0; at < numbers.kinds.size(); ++at)
        if (times[at]) to.real({{"kind", numbers.kinds[at].name}}, seconds_of(*times[at]));
}

void write_caches(MetricWriter& to, const McsNumbers& numbers) {
    using Kind = rs::KindStatus;
    write_kinds(to, numbers, "mcs_cache_size", MetricType::Gauge, "Rows in memory.",
                [](const Kind& kind) { return kind.size; });
    write_kinds(to, numbers, "mcs_cache_synced", MetricType::Gauge, "1 when they have been filled.",
                [](const Kind& kind) { return kind.is_synced ? 1U : 0U; });
    write_kinds(to, numbers, "mcs_queue_depth", MetricType::Gauge, "Rows that are to be read, now or later.",
                [](const Kind& kind) { return kind.queued + kind.waiting; });
    to.family("mcs_queue_oldest_seconds", MetricType::Gauge, "How long the oldest row to be read now has waited.");
    for (std::size_t at = 0; at < numbers.kinds.size(); ++at)
        to.real({{"kind", numbers.kinds[at].name}}, seconds_of(numbers.queue_ages[at]));
    write_kinds(to, numbers, "mcs_broken_rows", MetricType::Gauge, "Rows that cannot be understood.",
                [](const Kind& kind) { return kind.broken_rows; });
    write_kinds(to, numbers, "mcs_resync_repairs_total", MetricType::Counter,
                "Differences that no change had announced; 0 where all is well.",
                [](const Kind& kind) { return kind.counters.repairs; });
    write_times(to, numbers, "mcs_resync_last_success_age_seconds", "Since the last full read ended.",
                numbers.read_ages);
    write_times(to, numbers, "mcs_resync_seconds", "How long the last full read took.", numbers.read_times);
    write_reconciles(to, numbers);
}

/// A family with one sample for each handler of each kind.
template <class Value>
void write_handlers(MetricWriter& to, const McsNumbers& numbers, std::string_view name, MetricType type,
                    std::string_view help, Value&& value) {
    to.family(name, type, help);
    for (const rs::KindStatus& kind : numbers.kinds)
        for (const rs::HandlerStatus& handler : kind.handlers)
            to.count({{"kind", kind.name}, {"handler", handler.name}}, value(handler));
}

void write_services(MetricWriter& to, const McsNumbers& numbers) {
    using Handler = rs::HandlerStatus;
    write_handlers(to, numbers, "mcs_handler_calls_total", MetricType::Counter,
                   "Changes that a service was called for.",
                   [](const Handler& handler) { return handler.counters.calls; });
    write_handlers(to, numbers, "mcs_handler_failures_total", MetricType::Counter, "Those that failed.",
                   [](const Handler& handler) { return handler.counters.failures; });
    write_handlers(to, numbers, "mcs_handler_stalled_total", MetricType::Counter, "Those that took too long.",
                   [](const Handler& handler) { return handler.counters.stalled; });
    write_handlers(to, numbers, "mcs_handler_backlog", MetricType::Gauge, "Changes that it is still to be called for.",
                   [](const Handler& handler) { return handler.backlog; });
    write_handlers(to, numbers, "mcs_dead_letters", MetricType::Gauge,
                   "Changes that failed too often; they are tried on.",
                   [](const Handler& handler) { return handler.dead_letters; });
    to.family("mcs_lease_held", MetricType::Gauge, "1 while this process writes as the service.");
    for (const auto& lease : numbers.leases) to.count({{"name", lease.name}}, lease.is_held ? 1 : 0);
    to.family("mcs_lease_epoch", MetricType::Gauge,
              "How often the lease was taken over; 0 while another process has it.");
    for (const auto& lease : numbers.leases) to.count({{"name", lease.name}}, lease.epoch);
    to.family("mcs_lease_lost_total", MetricType::Counter, "How often this process has ceased to lead.");
    for (const auto& lease : numbers.leases) to.count({{"name", lease.name}}, lease.lost);
    to.family("mcs_fenced_writes_total", MetricType::Counter,
              "Writes that the database refused since another process leads.");
    for (const auto& [service, count] : numbers.fenced_writes) to.count({{"service", service}}, count);
    const auto write = [&](std::string_view name, std::string_view help, auto value) {
        to.family(name, MetricType::Counter, help);
        for (const auto& each : numbers.reconcilers) to.count({{"name", each.name}}, value(each));
    };
    write("mcs_reconciler_runs_total", "Comparisons of what there is with what there should be.",
          [](const auto& each) { return each.runs; });
    write("mcs_reconciler_found_total", "What they found amiss.", [](const auto& each) { return each.found; });
    write("mcs_reconciler_repaired_total", "What they repaired of it.", [](const auto& each) { return each.repaired; });
}

void write_autoscaler(MetricWriter& to, const McsNumbers& numbers) {
    to.family("mcs_autoscaler_decisions_total", MetricType::Counter,
              "Looks at the number of replicas of a Deployment, by what they came to.");
    for (const auto& each : numbers.decisions)
        to.count({{"direction", each.direction}, {"reason", each.reason}}, each.count);
    const auto write = [&to](std::string_view name, std::string_view help, std::uint64_t value) {
        to.family(name, MetricType::Counter, help);
        to.count({}, value);
    };
    write("mcs_autoscaler_overwritten_total", "Foreign writes into scales that it wrote over.", numbers.foreign_writes);
    write("mcs_metric_pages_total", "Pages of metrics that were asked for.", numbers.page_fetches);
    write("mcs_metric_page_failures_total", "Those that could not be had.", numbers.page_failures);
}

void write_deployments(MetricWriter& to, const McsNumbers& numbers) {
    to.family("mcs_deployments", MetricType::Gauge, "Deployments with a schedule, by its state.");
    for (const auto& [state, count] : numbers.deployments) to.count({{"state", state}}, count);
    const auto write = [&to](std::string_view name, std::string_view help, std::uint64_t value) {
        to.family(name, MetricType::Gauge, help);
        to.count({}, value);
    };
    write("mcs_replicas_desired", "Replicas that there should be.", numbers.desired);
    write("mcs_replicas_placed", "Replicas that run.", numbers.placed);
    write("mcs_replicas_pending", "Replicas that wait for a place.", numbers.pending);
}

} // namespace

void write_mcs(MetricWriter& to, const McsNumbers& numbers) {
    write_state(to, numbers);
    if (numbers.relay) write_relay(to, *numbers.relay);
    write_caches(to, numbers);
    write_services(to, numbers);
    write_autoscaler(to, numbers);
    write_deployments(to, numbers);
}

} // namespace yk::service
