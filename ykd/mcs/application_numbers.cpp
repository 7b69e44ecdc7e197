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
            relay.sent,
            relay.confirmed,
            relay.beginnings,
            relay.gaps};
}

} // namespace

McsNumbers numbers_of(McsApplication& application, Instant now) {
    const rs::StateManager& manager = application.manager();
    McsNumbers numbers;
    numbers.is_running = application.manager().is_running();
    numbers.is_store_up = manager.is_store_up();
    const auto transport = application.transport().status(now);
    numbers.is_log_up = manager.is_log_up() && (!transport || transport->is_up);
    if (transport) numbers.relay = relay_line(*transport, application.house().status().is_relay_stuck);
    numbers.staleness = manager.staleness(now);
    numbers.writes = application.writer().status().waiting;
    numbers.wal_pages = static_cast<std::uint64_t>(std::max<std::int64_t>(0, application.house().status().wal_pages));
    numbers.kinds = manager.status();
    for (const rs::KindStatus& kind : numbers.kinds)
        numbers.read_ages.push_back(kind.last_scan ? std::optional{now - kind.last_scan->ended} : std::nullopt);
    numbers.events = manager.events();
    for (const std::string& name : lease_names(application.transport())) {
        const auto lease = application.lease(name, now);
        numbers.leases.push_back(
            {name, lease && lease->is_valid, lease ? static_cast<std::uint64_t>(lease->epoch) : 0});
    }
    for (const auto& each : manager.periodic())
        numbers.reconcilers.push_back(
            {std::string{each->name()}, each->runs(), each->total().found, each->total().repaired});
    add_deployments(application, numbers);
    return numbers;
}

} // namespace yk::service
