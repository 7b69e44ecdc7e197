// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/application_numbers.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace yk::service {
namespace {

void add_deployments(const McsApplication& application, McsNumbers& numbers) {
    application.schedules().for_each([&](const rs::Ptr<mcs::DeploymentSchedule>& row) {
        ++numbers.deployments[std::string{mcs::name_of(row->state)}];
        numbers.desired += static_cast<std::uint64_t>(std::max<std::int64_t>(0, row->desired));
        numbers.placed += static_cast<std::uint64_t>(std::max<std::int64_t>(0, row->placed));
        numbers.pending += static_cast<std::uint64_t>(std::max<std::int64_t>(0, row->pending));
    });
}

McsNumbers::RelayLine relay_line(const TransportStatus& transport, bool is_stuck) {
    const rs::RelayStatus& relay = transport.relay.relay;
    return {transport.is_on_broker,
            transport.relay.leads && relay.is_running,
            is_stuck,
            relay.under_way,
            transport.relay_waits,
            transport.relay_lag,
            relay.sent,
            relay.confirmed,
            relay.beginnings,
            relay.gaps};
}

void add_autoscaler(McsApplication& application, McsNumbers& numbers) {
    const McsApplication::Observed observed = application.observed();
    for (const auto& line : observed.autoscaler.decisions().lines())
        numbers.decisions.push_back({std::string{line.direction}, std::string{line.reason}, line.count});
    numbers.foreign_writes = observed.autoscaler.foreign_writes();
    numbers.page_fetches = observed.pages.fetches();
    numbers.page_failures = observed.pages.failures();
}

} // namespace

McsNumbers numbers_of(McsApplication& application, Instant now) {
    const rs::StateManager& manager = application.manager();
    McsNumbers numbers;
    numbers.is_running = application.manager().is_running();
    numbers.is_store_up = manager.is_store_up();
    const auto transport = application.transport().status(now);
    numbers.is_log_up = manager.is_log_up() && (!transport || transport->is_up);
    const McsApplication::Observed observed = application.observed();
    const auto house = observed.house.status();
    if (transport) numbers.relay = relay_line(*transport, house.is_relay_stuck);
    numbers.staleness = manager.staleness(now);
    const auto writer = observed.writer.status();
    numbers.writes = writer.waiting;
    numbers.groups = writer.groups;
    numbers.grouped = writer.grouped;
    numbers.fenced_writes = observed.fenced_writes;
    numbers.wal_pages = static_cast<std::uint64_t>(std::max<std::int64_t>(0, house.wal_pages));
    numbers.log_rows = house.log_rows;
    numbers.log_held_for = observed.log_held_for;
    numbers.kinds = manager.status();
    for (const rs::KindStatus& kind : numbers.kinds) {
        numbers.read_times.push_back(kind.last_scan ? std::optional{kind.last_scan->ended - kind.last_scan->began}
                                                    : std::nullopt);
        numbers.read_ages.push_back(kind.last_scan ? std::optional{now - kind.last_scan->ended} : std::nullopt);
        numbers.queue_ages.push_back(kind.oldest ? now - *kind.oldest : Duration{});
    }
    numbers.events = manager.events();
    for (const std::string& name : lease_names(application.transport())) {
        const auto lease = application.lease(name, now);
        const auto lost = observed.lost.find(name);
        numbers.leases.push_back({std::string{name}, lease && lease->is_valid,
                                  lease ? static_cast<std::uint64_t>(lease->epoch) : 0,
                                  lost == observed.lost.end() ? 0 : lost->second});
    }
    for (const auto& each : manager.periodic())
        numbers.reconcilers.push_back(
            {std::string{each->name()}, each->runs(), each->total().found, each->total().repaired});
    add_autoscaler(application, numbers);
    add_deployments(application, numbers);
    return numbers;
}

} // namespace yk::service
