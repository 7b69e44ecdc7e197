// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/wire/wire_client.h"

#include <algorithm>
#include <chrono>

#include "protocol/si/tool_requests.h"
#include "protocol/wire/body_reader.h"
#include "protocol/wire/codec.h"
#include "tests/bench/measure/measure.h"
#include "tests/bench/wire/decode.h"

namespace yk::bench {

namespace {

constexpr const char* kRm = "bench";
constexpr std::uint32_t kBatch = 1000;

} // namespace

Result<std::unique_ptr<WireClient>> WireClient::open(const DaemonAddress& address, const Workload& workload) {
    wire::ClientOptions options;
    options.url = address.url;
    options.token = address.token;
    options.client = "yk_bench";
    options.timeout = std::chrono::seconds{30};
    options.wait_for_socket = true;
    auto connected = wire::Client::connect(options);
    if (!connected.ok()) return to_error(connected.error());
    std::unique_ptr<WireClient> client{new WireClient{std::move(connected).value(), workload}};
    YK_CHECKED(client->register_all());
    return client;
}

Result<void> WireClient::register_all() {
    si::RegisterResourceManagerRequest hello;
    hello.rm_id = kRm;
    hello.version = "1";
    hello.config = workload_.config;
    const auto answer = client_->call_raw("RegisterResourceManager", wire::encoded(hello));
    if (!answer.ok()) return to_error(answer.error());
    YK_TRY(reader, StreamReader::start(*client_, kRm, *answer));
    reader_ = std::move(reader);
    YK_CHECKED(register_nodes());
    si::ApplicationRequest applications;
    applications.rm_id = kRm;
    for (const ApplicationRow& row : workload_.applications) {
        si::AddApplicationRequest add;
        add.application_id = row.id;
        add.queue_name = row.queue;
        add.partition_name = "default";
        add.ugi.user = "bench";
        applications.add.push_back(std::move(add));
    }
    return call("UpdateApplication", wire::encoded(applications));
}

Result<void> WireClient::register_nodes() {
    for (std::size_t from = 0; from < workload_.nodes.size(); from += kBatch) {
        si::NodeRequest request;
        request.rm_id = kRm;
        const std::size_t to = std::min(workload_.nodes.size(), from + kBatch);
        for (std::size_t i = from; i < to; ++i) {
            si::NodeInfo node;
            node.node_id = workload_.nodes[i].id;
            node.action = si::NodeAction::Create;
            node.schedulable_resource = workload_.sizes[workload_.nodes[i].size];
            request.nodes.push_back(std::move(node));
        }
        YK_CHECKED(call("UpdateNode", wire::encoded(request)));
    }
    return {};
}

Result<void> WireClient::call(const char* kind, const std::string& body) {
    const auto answer = client_->call_raw(kind, body, std::chrono::seconds{60});
    if (!answer.ok()) return to_error(answer.error());
    return {};
}

Result<void> WireClient::send(const si::AllocationRequest& request) {
    return call("UpdateAllocation", wire::encoded(request));
}

si::AllocationRequest WireClient::exchange(std::uint32_t from, std::uint32_t to, std::uint32_t released) const {
    si::AllocationRequest all = request(from, to);
    for (std::uint32_t i = released; i < released + (to - from); ++i) {
        si::AllocationRelease release;
        release.allocation_key = Key{i}.view();
        release.application_id = workload_.applications[workload_.asks[i].application].id;
        release.partition_name = "default";
        release.termination_type = si::TerminationType::StoppedByRm;
        all.releases.allocations_to_release.push_back(std::move(release));
    }
    return all;
}

Result<void> WireClient::wait_until_acknowledged() {
    si::DumpRequest streams;
    streams.what = "streams";
    streams.rm_id = kRm;
    const std::string question = wire::encoded(streams);
    const double end = wall_seconds() + 60;
    while (wall_seconds() < end) {
        const auto answer = client_->call_raw("Dump", question);
        if (!answer.ok()) return to_error(answer.error());
        const auto body = wire::scan_body(*answer);
        if (body.ok() && wire::decode_value(*body)["data"].at(0)["items"] == 0) return {};
    }
    return Error::of("what was sent is not acknowledged after a minute");
}

Result<void> WireClient::place_first(std::uint32_t count) {
    for (std::uint32_t from = 0; from < count; from += kBatch)
        YK_CHECKED(send(request(from, std::min(count, from + kBatch))));
    YK_CHECKED(wait_for(count));
    return {};
}

si::AllocationRequest WireClient::request(std::uint32_t from, std::uint32_t to) const {
    si::AllocationRequest request;
    request.rm_id = kRm;
    for (std::uint32_t i = from; i < to; ++i) {
        si::AllocationAsk ask;
        ask.allocation_key = Key{i}.view();
        ask.application_id = workload_.applications[workload_.asks[i].application].id;
        ask.partition_name = "default";
        ask.resource_ask = workload_.sizes[workload_.asks[i].size];
        request.asks.push_back(std::move(ask));
    }
    return request;
}

} // namespace yk::bench
