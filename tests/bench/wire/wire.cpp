// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/wire/wire.h"

#include <algorithm>
#include <cstdio>

#include "tests/bench/measure/isolate.h"
#include "tests/bench/wire/daemon_process.h"
#include "tests/bench/wire/wire_client.h"

namespace yk::bench {

namespace {

constexpr std::uint32_t kBatch = 1000;

std::vector<si::AllocationRequest> batches(const WireClient& client, std::uint32_t asks) {
    std::vector<si::AllocationRequest> requests;
    for (std::uint32_t from = 0; from < asks; from += kBatch)
        requests.push_back(client.request(from, std::min(asks, from + kBatch)));
    return requests;
}

Result<Sample> measure_bulk(const DaemonProcess& daemon, const Workload& workload) {
    YK_TRY(client, WireClient::open(daemon.address(), workload));
    const auto asks = static_cast<std::uint32_t>(workload.asks.size());
    const std::vector<si::AllocationRequest> requests = batches(*client, asks);
    Sample sample;
    const double daemon_before = daemon.cpu_seconds();
    const double start = wall_seconds();
    for (const si::AllocationRequest& request : requests) YK_CHECKED(client->send(request));
    YK_TRY(end, client->wait_for(asks));
    sample.seconds = end - start;
    YK_CHECKED(client->wait_until_acknowledged());
    sample.cpu_seconds = daemon.cpu_seconds() - daemon_before;
    sample.placed = asks;
    sample.asked = asks;
    sample.peak_rss = daemon.peak_rss();
    return sample;
}

Result<Sample> measure_latency(const DaemonProcess& daemon, const Workload& workload, std::uint32_t steps) {
    YK_TRY(client, WireClient::open(daemon.address(), workload));
    const auto asks = static_cast<std::uint32_t>(workload.asks.size());
    const std::uint32_t filling = asks - steps;
    YK_CHECKED(client->place_first(filling));
    std::vector<float> latencies;
    Sample sample;
    const double begin = wall_seconds();
    for (std::uint32_t i = filling; i < asks; ++i) {
        const si::AllocationRequest request = client->request(i, i + 1);
        const double start = wall_seconds();
        YK_CHECKED(client->send(request));
        YK_TRY(end, client->wait_for(i + 1));
        latencies.push_back(static_cast<float>(end - start));
    }
    sample.seconds = wall_seconds() - begin;
    sample.placed = steps;
    sample.asked = steps;
    sample.peak_rss = daemon.peak_rss();
    set_latencies(sample, latencies);
    return sample;
}

Result<Sample> measure(const WireDaemon& with, const MakeWorkload& make, std::uint32_t steps) {
    YK_TRY(daemon, DaemonProcess::start(with.ykd, {.has_state = with.has_state,
                                                   .settings = with.has_mcs ? "mcs: {enabled: true}\n" : ""}));
    const Workload workload = make();
    auto sample = steps == 0 ? measure_bulk(*daemon, workload) : measure_latency(*daemon, workload, steps);
    if (!sample.ok()) std::fprintf(stderr, "%s\n%s", sample.error().text().c_str(), daemon->log().c_str());
    return sample;
}

} // namespace

Result<Sample> run_wire(const WireDaemon& daemon, const MakeWorkload& make) {
    return isolated_client([&] { return measure(daemon, make, 0); });
}

Result<Sample> run_wire_latency(const WireDaemon& daemon, const MakeWorkload& make, std::uint32_t steps) {
    return isolated_client([&] { return measure(daemon, make, steps); });
}

} // namespace yk::bench
