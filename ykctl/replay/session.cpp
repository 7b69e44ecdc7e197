// SPDX-License-Identifier: Apache-2.0
#include "ykctl/replay/session.h"

#include "protocol/si/enums.h"
#include "protocol/si/errors.h"
#include "protocol/si/kinds.h"
#include "ykctl/output/reason_text.h"
#include "ykctl/scenario/value_at.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace yk::replay {
namespace {

using scenario::integer_at;
using scenario::list_at;
using scenario::map_at;
using scenario::text_at;

constexpr const char* kPartition = "default";
constexpr const char* kVersion = "ykctl replay";  // of the RM: a later replay recognizes it by this
constexpr std::size_t kNodesPerMessage = 100'000; // the most elements of one list of a message (I-316)
constexpr std::uint32_t kItemsPerRead = 1000;

std::string config_text(const std::vector<std::string>& queues, const std::string& node_order) {
    std::string out = fmt::format("partitions:\n  - name: default\n    nodesortpolicy: {}\n    queues:\n"
                                  "      - name: root\n        submitacl: \"*\"\n        queues:\n",
                                  node_order);
    for (const std::string& queue : queues) out += fmt::format("          - name: \"{}\"\n", queue);
    return out;
}

si::Resources resources_of(const Amounts& amounts) {
    return {amounts.begin(), amounts.end()};
}

std::int64_t wall_clock_ns() {
    return std::chrono::nanoseconds{std::chrono::system_clock::now().time_since_epoch()}.count();
}

} // namespace

Session::Answer<bool> Session::is_taken() {
    YK_TRY(status, calls_.ask([] { return si::StatusRequest{}; }));
    const Value& rms = list_at(status, "rms");
    return std::any_of(rms.begin(), rms.end(), [this](const Value& rm) {
        const bool is_registered = rm.contains("version"); // else it is only listed in the daemon's settings
        return text_at(rm, "rmID") == rm_id_ && is_registered && text_at(rm, "version") != kVersion;
    });
}

Session::Done Session::open(const std::vector<std::string>& queues, const std::string& node_order, std::size_t items) {
    read_up_to_ = 0;
    si::RegisterResourceManagerRequest request;
    request.rm_id = rm_id_;
    request.version = kVersion;
    request.config = config_text(queues, node_order);
    request.detached.emplace().keep = static_cast<std::uint32_t>(items);
    YK_CHECKED(calls_.change(request));
    is_open_ = true;
    return {};
}

Session::Done Session::close() {
    const auto closed = calls_.change(si::UnregisterResourceManagerRequest{.rm_id = rm_id_, .force = true});
    const bool is_gone = !closed.ok() && closed.error().code == static_cast<std::uint32_t>(si::ErrorCode::RmUnknown);
    if (!closed.ok() && !is_gone) return closed; // gone: with the daemon that had it
    is_open_ = false;
    return {};
}

Session::Done Session::add_nodes(const std::vector<TraceNode>& nodes) {
    for (std::size_t first = 0; first < nodes.size(); first += kNodesPerMessage) {
        si::NodeRequest request;
        request.rm_id = rm_id_;
        for (std::size_t i = first; i < std::min(nodes.size(), first + kNodesPerMessage); ++i) {
            auto& node = request.nodes.emplace_back();
            node.node_id = nodes[i].name;
            node.action = si::NodeAction::Create;
            node.schedulable_resource = resources_of(nodes[i].capacity);
            if (says_devices_ && nodes[i].gpus > 0)
                node.devices = {{kGpu, std::vector(static_cast<std::size_t>(nodes[i].gpus), kWholeGpu)}};
        }
        YK_CHECKED(calls_.change(request));
    }
    return {};
}

Session::Done Session::add_applications(const std::vector<std::string>& queues) {
    si::ApplicationRequest request;
    request.rm_id = rm_id_;
    for (const std::string& queue : queues) {
        auto& application = request.add.emplace_back();
        application.application_id = queue;
        application.queue_name = "root." + queue;
        application.partition_name = kPartition;
        application.ugi.user = "replay";
    }
    return calls_.change(request);
}

Session::Done Session::ask(const std::vector<const TracePod*>& pods) {
    if (pods.empty()) return {};
    si::AllocationRequest request;
    request.rm_id = rm_id_;
    for (const TracePod* pod : pods) {
        auto& ask = request.asks.emplace_back();
        ask.allocation_key = pod->name;
        ask.application_id = pod->queue;
        ask.partition_name = kPartition;
        ask.resource_ask = resources_of(pod->request);
        if (says_devices_ && pod->gpus > 1)
            ask.devices = {{kGpu, {static_cast<std::uint32_t>(pod->gpus), pod->request.at(kGpu) / pod->gpus, {}}}};
    }
    return calls_.change(request);
}

Session::Done Session::release(const std::vector<const TracePod*>& pods) {
    if (pods.empty()) return {};
    si::AllocationRequest request;
    request.rm_id = rm_id_;
    for (const TracePod* pod : pods) {
        auto& release = request.releases.allocations_to_release.emplace_back();
        release.allocation_key = pod->name;
        release.application_id = pod->queue;
        release.partition_name = kPartition;
        release.termination_type = si::TerminationType::StoppedByRm;
    }
    return calls_.change(request);
}

Session::Done Session::sync() {
    return calls_.sync();
}

Session::Answer<std::vector<Notification>> Session::read() {
    for (;;) {
        if (stream_ != calls_.restarts()) read_up_to_ = 0;
        stream_ = calls_.restarts();
        std::vector<Notification> notifications;
        YK_CHECKED(read_pages(notifications));
        if (!notifications.empty() && stream_ == calls_.restarts()) YK_CHECKED(sync());
        if (stream_ == calls_.restarts()) return notifications;
    }
}

/// Stops early when the daemon is restarted meanwhile.
Session::Done Session::read_pages(std::vector<Notification>& notifications) {
    si::StreamLogRequest request;
    request.rm_id = rm_id_;
    request.count = kItemsPerRead;
    for (;;) {
        YK_TRY(page, calls_.ask([&] {
            request.after = stream_ == calls_.restarts() ? read_up_to_ : 0;
            return request;
        }));
        if (stream_ != calls_.restarts()) return {};
        const Value& items = list_at(page, "items");
        for (const Value& item : items) {
            const auto number = static_cast<std::uint64_t>(integer_at(item, "n"));
            if (number != read_up_to_ + 1)
                return refused(fmt::format("callbacks {} to {} are gone from the log", read_up_to_ + 1, number - 1));
            read_up_to_ = number;
            take(item, notifications);
        }
        if (!trouble_.empty()) return refused(trouble_);
        if (items.empty()) return {};
    }
}

void Session::take(const Value& item, std::vector<Notification>& notifications) {
    const std::string kind = text_at(item, "kind");
    const Value& body = map_at(item, "body");
    const std::int64_t at = integer_at(item, "at");
    const auto add = [&](const char* list, Notification::Kind what) {
        for (const Value& entry : list_at(body, list))
            notifications.push_back({what, text_at(entry, "allocationKey"), at, text_at(entry, "reason")});
    };
    if (kind == si::item::kUpdateAllocation) {
        add("new", Notification::Kind::Placed);
        add("rejected", Notification::Kind::AskRejected);
        add("released", Notification::Kind::Released);
        return;
    }
    const bool is_node = kind == si::item::kUpdateNode;
    const char* id = is_node ? "nodeID" : "applicationID";
    const auto exists = is_node ? si::ElementCode::NodeExists : si::ElementCode::AppExists; // it was sent again
    for (const Value& entry : list_at(body, "rejected"))
        if (integer_at(entry, "code") != static_cast<std::int64_t>(exists))
            trouble_ = fmt::format("{} {} was refused: {}", is_node ? "node" : "application", text_at(entry, id),
                                   text_at(entry, "reason"));
}

Session::Answer<Why> Session::explain(const TracePod& pod) {
    si::ExplainRequest question{.what = "ask", .partition = kPartition, .rm_id = rm_id_};
    question.application = pod.queue;
    question.allocation_key = pod.name;
    YK_TRY(answer, calls_.ask([&] { return question; }));
    const std::string verdict = text_at(answer, "verdict");
    Why why;
    why.is_waiting = verdict == "SCHEDULABLE" || verdict == "PLACED";
    why.reason = verdict;
    const Value& reasons = list_at(answer, "reasons");
    if (!reasons.empty() && !why.is_waiting) {
        why.reason = text_at(reasons.front(), "code");
        why.text = cli::reason_text(reasons.front(), map_at(map_at(answer, "details"), "nodes"));
    }
    return why;
}

Session::Done Session::schedule() {
    constexpr std::uint32_t kCycles = 10'000;
    for (bool is_idle = false; !is_idle;) {
        YK_TRY(answer, calls_.ask([] { return si::StepRequest{.cycles = kCycles}; }));
        is_idle = answer.value("idle", true);
    }
    return {};
}

Session::Answer<double> Session::unusable_gpu() {
    si::DumpRequest request{.what = "fragmentation", .partition = kPartition, .rm_id = rm_id_};
    YK_TRY(answer, calls_.ask([&] { return request; }));
    const Value& partitions = answer.contains("data") ? answer["data"] : Value{};
    double sum = 0;
    for (const Value& each : partitions)
        if (text_at(each, "resource") == kGpu && each.contains("fragments")) sum += each["fragments"].get<double>();
    return sum;
}

Session::Answer<std::int64_t> Session::clock_offset_ns() {
    const std::int64_t before = wall_clock_ns();
    YK_TRY(answer, calls_.ask([] { return si::PingRequest{}; }));
    const std::int64_t after = wall_clock_ns();
    const std::int64_t now = integer_at(answer, "now");
    return now > 0 ? now - (before + (after - before) / 2) : std::int64_t{0};
}

wire::CallError Session::refused(std::string message) const {
    wire::CallError error;
    error.message = fmt::format("RM {}: {}", rm_id_, message);
    return error;
}

} // namespace yk::replay
