// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/cases/wire_client.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "protocol/wire/codec.h"
#include "tests/bench/measure/measure.h"

namespace yk::bench {

namespace {

constexpr const char* kRm = "bench";
constexpr std::uint32_t kBatch = 1000;
constexpr wire::DecodeOptions kFromDaemon{false, false};

Error to_error(const wire::CallError& error) {
    return {0, error.name + " " + error.message, error.path};
}
Error to_error(const wire::WireError& error) {
    return {0, error.message, error.path};
}

template <class T>
Result<T> decode(const std::string& bytes) {
    const auto body = wire::scan_body(bytes);
    if (!body.ok()) return to_error(body.error());
    auto message = wire::decode<T>(body.value(), kFromDaemon);
    if (!message.ok()) return to_error(message.error());
    return std::move(message).value();
}

} // namespace

Result<std::unique_ptr<WireClient>> WireClient::open(const std::string& url, const Workload& workload) {
    wire::ClientOptions options;
    options.url = url;
    options.client = "yk_bench";
    options.timeout = std::chrono::seconds{30};
    options.wait_for_socket = true;
    auto connected = wire::Client::connect(options);
    if (!connected.ok()) return to_error(connected.error());
    std::unique_ptr<WireClient> client{new WireClient{std::move(connected).value(), workload}};
    YK_CHECKED(client->register_all());
    return client;
}

WireClient::~WireClient() {
    {
        const std::lock_guard lock{mutex_};
        closing_ = true;
    }
    if (poller_.joinable()) poller_.join(); // a poll waits for a tenth of a second at most
}

Result<void> WireClient::register_all() {
    si::RegisterResourceManagerRequest hello;
    hello.rm_id = kRm;
    hello.version = "1";
    hello.config = workload_.config;
    const auto answer = client_->call_raw("RegisterResourceManager", wire::encoded(hello));
    if (!answer.ok()) return to_error(answer.error());
    YK_TRY(registered, decode<si::RegisterResourceManagerResponse>(answer.value()));
    stream_epoch_ = registered.stream_epoch;
    auto attached = wire::Client::attach(*client_);
    if (!attached.ok()) return to_error(attached.error());
    poller_ =
        std::thread{[this, poller = std::shared_ptr<wire::Client>{std::move(attached).value()}] { poll(*poller); }};
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

Result<double> WireClient::wait_for(std::uint64_t count) {
    std::unique_lock lock{mutex_};
    while (received_ < count && fault_.empty()) {
        const std::uint64_t before = received_;
        changed_.wait_for(lock, std::chrono::minutes{1}, [&] { return received_ != before || !fault_.empty(); });
        if (received_ == before && fault_.empty())
            fault_ = fmt::format("no allocation for a minute, after {} of {}", received_, count);
    }
    if (!fault_.empty()) return Error{0, fault_, {}};
    return last_;
}

void WireClient::poll(wire::Client& poller) {
    std::uint64_t ack = 0;
    while (true) {
        {
            const std::lock_guard lock{mutex_};
            if (closing_) return;
        }
        const auto polled = poll_once(poller, ack);
        if (!polled.ok()) {
            const std::lock_guard lock{mutex_};
            fault_ = "Poll: " + polled.error().text();
            changed_.notify_all();
            return;
        }
        ack = polled.value();
    }
}

/// The number of the last item handled.
Result<std::uint64_t> WireClient::poll_once(wire::Client& poller, std::uint64_t ack) {
    si::PollRequest request;
    request.rm_id = kRm;
    request.stream_epoch = stream_epoch_;
    request.ack = ack;
    request.wait_ms = 100;
    const auto answer = poller.call_raw("Poll", wire::encoded(request));
    if (!answer.ok()) return to_error(answer.error());
    YK_TRY(reply, decode<si::PollReply>(answer.value()));
    std::uint64_t allocations = 0;
    for (const si::StreamItem& item : reply.items) {
        ack = item.n;
        if (item.kind != "UpdateAllocation") continue;
        YK_TRY(response, decode<si::AllocationResponse>(item.body.bytes));
        allocations += response.made.size();
        if (!response.rejected.empty()) return Error{0, "an ask was rejected: " + response.rejected.front().reason, {}};
    }
    if (allocations > 0) arrived(allocations);
    return ack;
}

void WireClient::arrived(std::uint64_t allocations) {
    const std::lock_guard lock{mutex_};
    received_ += allocations;
    last_ = wall_seconds();
    changed_.notify_all();
}

} // namespace yk::bench
