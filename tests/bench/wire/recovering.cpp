// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/wire/recovering.h"

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "protocol/si/messages.h"
#include "protocol/wire/body_reader.h"
#include "tests/bench/cases/rm_memory.h"
#include "tests/bench/measure/isolate.h"
#include "tests/bench/wire/daemon_process.h"
#include "tests/bench/wire/decode.h"
#include "tests/bench/wire/stream_reader.h"
#include "tests/bench/workloads/workloads.h"

namespace yk::bench {

namespace {

using std::chrono::seconds;

constexpr const char* kRm = "bench";
constexpr std::uint32_t kBatch = 1000;

/// One connection to the daemon, which may just be starting.
class Session {
public:
    static Result<Session> open(const std::string& url) {
        wire::ClientOptions options;
        options.url = url;
        options.client = "yk_bench";
        options.timeout = seconds{60};
        options.wait_for_socket = true;
        auto connected = wire::Client::connect(options);
        if (!connected.ok()) return to_error(connected.error());
        return Session{std::move(connected).value()};
    }

    Result<std::string> call(const wire::EncodedRequest& request) {
        auto answer = client_->call_raw(request.kind, request.body);
        if (!answer.ok()) return to_error(answer.error());
        return std::move(answer).value();
    }
    Result<void> send(const wire::EncodedRequest& request) {
        YK_TRY(answer, call(request));
        static_cast<void>(answer);
        return {};
    }
    [[nodiscard]] const wire::Client& client() const { return *client_; }

private:
    explicit Session(std::unique_ptr<wire::Client> client) : client_(std::move(client)) {}

    std::unique_ptr<wire::Client> client_;
};

/// Registers with recovery, replays, and claims. Returns the reader of the stream once the RM is Running.
Result<std::unique_ptr<StreamReader>> recover(Session& session, const RmMemory& memory) {
    auto registration = memory.registration();
    registration.recovery.emplace().id = memory.claim().id;
    YK_TRY(answer, session.call(registration));
    YK_TRY(reader, StreamReader::start(session.client(), kRm, answer));
    YK_CHECKED(memory.replay([&session](const wire::EncodedRequest& request) { return session.send(request); }));
    YK_TRY(reported, session.call(memory.claim()));
    YK_TRY(report, decode<si::RecoveryReport>(reported));
    if (report.result != "running")
        return Error::of(fmt::format("the recovery is {}: {} of {} allocations, {} quarantined", report.result,
                                     report.counts.allocations.actual, report.counts.allocations.expected,
                                     report.quarantine_total));
    return reader;
}

Workload cluster_of(const RecoveryParameters& parameters) {
    TreeParameters tree;
    tree.nodes = parameters.nodes;
    tree.applications = parameters.applications;
    tree.asks = parameters.allocations;
    return make_tree(tree);
}

void fill_in(Sample& sample, const DaemonProcess& daemon, std::uint64_t placed) {
    sample.placed = placed;
    sample.asked = placed;
    sample.peak_rss = daemon.peak_rss();
}

Result<Sample> measure_recovery(DaemonProcess& daemon, const RecoveryParameters& parameters) {
    const Workload workload = cluster_of(parameters);
    const RmMemory memory{workload, kRm};
    YK_TRY(session, Session::open(daemon.url()));
    Sample sample;
    const double cpu_before = daemon.cpu_seconds();
    const double start = wall_seconds();
    YK_TRY(reader, recover(session, memory));
    sample.seconds = wall_seconds() - start;
    YK_TRY(reported, reader->wait_for_report());
    sample.pause = reported - start;
    sample.cpu_seconds = daemon.cpu_seconds() - cpu_before;
    fill_in(sample, daemon, memory.claim().expected.allocations);
    return sample;
}

/// Waits until the ask is placed, and in the books.
Result<void> wait_until_placed(Session& session, const si::AllocationRequest& ask) {
    si::SyncRequest sync;
    sync.rm_id = kRm;
    sync.asks.push_back({ask.asks.front().application_id, ask.asks.front().allocation_key, {}});
    YK_TRY(answer, session.call(sync));
    if (answer.find("placed") == std::string::npos) return Error::of("the ask was not placed");
    return {};
}

Result<Sample> measure_served(DaemonProcess& daemon, const RmMemory& memory) {
    const auto allocations = memory.claim().expected.allocations;
    {
        YK_TRY(session, Session::open(daemon.url()));
        YK_TRY(reader, recover(session, memory));
        YK_CHECKED(reader->wait_for(allocations));
    }
    Sample sample;
    const double start = wall_seconds();
    YK_CHECKED(daemon.kill_and_start());
    YK_TRY(session, Session::open(daemon.url()));
    YK_TRY(reader, recover(session, memory));
    YK_CHECKED(session.send(memory.new_ask()));
    YK_TRY(end, reader->wait_for(allocations + 1));
    sample.seconds = end - start;
    fill_in(sample, daemon, allocations);
    return sample;
}

/// Returns when all that was sent before was carried out.
Result<void> wait_until_carried_out(Session& session) {
    si::SyncRequest request;
    request.rm_id = kRm;
    return session.send(request);
}

/// Registers a detached RM with what `memory` has, and returns when all of it was carried out.
Result<void> begin_detached(Session& session, const RmMemory& memory, std::uint32_t keep = si::DetachedOptions{}.keep) {
    auto registration = memory.registration();
    registration.detached.emplace().keep = keep;
    YK_CHECKED(session.send(registration));
    YK_CHECKED(memory.replay([&session](const wire::EncodedRequest& request) { return session.send(request); }));
    return wait_until_carried_out(session);
}

Result<Sample> measure_detached(DaemonProcess& daemon, const RmMemory& memory) {
    const si::AllocationRequest ask = memory.new_ask();
    {
        YK_TRY(session, Session::open(daemon.url()));
        YK_CHECKED(begin_detached(session, memory));
    }
    Sample sample;
    const double start = wall_seconds();
    YK_CHECKED(daemon.kill_and_start());
    YK_TRY(session, Session::open(daemon.url()));
    YK_CHECKED(session.send(ask));
    YK_CHECKED(wait_until_placed(session, ask));
    sample.seconds = wall_seconds() - start;
    fill_in(sample, daemon, memory.claim().expected.allocations);
    return sample;
}

/// Reads the log of the stream until it has told of `count` allocations.
Result<void> read_log(Session& session, std::uint64_t count) {
    si::StreamLogRequest request;
    request.rm_id = kRm;
    request.count = kBatch;
    std::uint64_t read = 0;
    const double begin = wall_seconds();
    while (read < count) {
        YK_TRY(answer, session.call(request));
        const auto scanned = wire::scan_body(answer);
        if (!scanned.ok()) return Error::of(scanned.error().message);
        const wire::Value page = wire::decode_value(*scanned);
        for (const auto& item : page.at("items")) {
            request.after = item.at("n").get<std::uint64_t>();
            if (const auto& body = item.at("body"); body.contains("new")) read += body.at("new").size();
        }
        if (wall_seconds() - begin > 60) return Error::of(fmt::format("{} of {} in a minute", read, count));
        if (page.at("items").empty()) std::this_thread::sleep_for(std::chrono::microseconds{200});
    }
    return {};
}

std::vector<si::AllocationRequest> asks_of(const Workload& workload) {
    std::vector<si::AllocationRequest> requests;
    for (std::size_t i = 0; i < workload.asks.size(); ++i) {
        if (i % kBatch == 0) requests.emplace_back().rm_id = kRm;
        auto& ask = requests.back().asks.emplace_back();
        ask.allocation_key = Key{static_cast<std::uint32_t>(i)}.view();
        ask.application_id = workload.applications[workload.asks[i].application].id;
        ask.partition_name = "default";
        ask.resource_ask = workload.sizes[workload.asks[i].size];
    }
    return requests;
}

Result<Sample> measure_wire_detached(DaemonProcess& daemon, const Workload& workload) {
    Workload empty = workload;
    empty.asks.clear();
    const RmMemory memory{empty, kRm};
    const auto requests = asks_of(workload);
    YK_TRY(session, Session::open(daemon.url()));
    const auto keep = static_cast<std::uint32_t>(2 * workload.asks.size() + workload.nodes.size());
    YK_CHECKED(begin_detached(session, memory, keep));
    Sample sample;
    const double cpu_before = daemon.cpu_seconds();
    const double start = wall_seconds();
    for (const auto& request : requests) YK_CHECKED(session.send(request));
    YK_CHECKED(read_log(session, workload.asks.size()));
    sample.seconds = wall_seconds() - start;
    YK_CHECKED(wait_until_carried_out(session));
    sample.pause = wall_seconds() - start;
    sample.cpu_seconds = daemon.cpu_seconds() - cpu_before;
    fill_in(sample, daemon, workload.asks.size());
    return sample;
}

using Measure = std::function<Result<Sample>(DaemonProcess& daemon)>;

/// In a process of its own, with a daemon of its own.
Result<Sample> apart(const std::string& ykd, bool with_state, const Measure& measure) {
    return isolated_client([&]() -> Result<Sample> {
        YK_TRY(daemon, DaemonProcess::start(ykd, {.has_state = with_state}));
        auto sample = measure(*daemon);
        if (!sample.ok()) std::fprintf(stderr, "%s", daemon->log().c_str());
        return sample;
    });
}

} // namespace

Result<Sample> run_recovery(const std::string& ykd, const RecoveryParameters& parameters) {
    return apart(ykd, false, [&](DaemonProcess& daemon) { return measure_recovery(daemon, parameters); });
}

Result<Sample> run_restart(const std::string& ykd, const RecoveryParameters& parameters, Owner owner) {
    return apart(ykd, owner == Owner::Detached, [&](DaemonProcess& daemon) {
        const Workload workload = cluster_of(parameters);
        const RmMemory memory{workload, kRm};
        return owner == Owner::Detached ? measure_detached(daemon, memory) : measure_served(daemon, memory);
    });
}

Result<Sample> run_wire_detached(const std::string& ykd, const MakeWorkload& make, bool with_books) {
    return apart(ykd, with_books, [&](DaemonProcess& daemon) { return measure_wire_detached(daemon, make()); });
}

} // namespace yk::bench
