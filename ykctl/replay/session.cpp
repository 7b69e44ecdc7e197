#include "ykctl/replay/session.h"

#include "protocol/si/enums.h"
#include "protocol/si/kinds.h"
#include "ykctl/commands/reason_text.h"
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
constexpr const char* kVersion = "ykctl replay";  // of the RM: how a later replay knows it again
constexpr std::size_t kNodesPerMessage = 100'000; // a list of a message holds no more (I-316)
constexpr std::int64_t kItemsPerRead = 1000;

std::string config_text(const std::vector<std::string>& queues, const std::string& policy) {
    std::string out = fmt::format("partitions:\n  - name: default\n    nodesortpolicy: {{type: {}}}\n    queues:\n"
                                  "      - name: root\n        submitacl: \"*\"\n        queues:\n",
                                  policy);
    for (const std::string& queue : queues) out += fmt::format("          - name: \"{}\"\n", queue);
    return out;
}

std::int64_t wall_clock_ns() {
    return std::chrono::nanoseconds{std::chrono::system_clock::now().time_since_epoch()}.count();
}

} // namespace

Session::Done Session::send(std::string_view kind, Value body) {
    body["rmID"] = rm_id_;
    auto answer = caller_(kind, std::move(body));
    if (!answer) return std::move(answer).error();
    return {};
}

Session::Answer<bool> Session::is_taken() {
    YK_TRY(status, caller_("Status", Value::object()));
    const Value& rms = list_at(status, "rms");
    return std::any_of(rms.begin(), rms.end(), [this](const Value& rm) {
        return text_at(rm, "rmID") == rm_id_ && text_at(rm, "version") != kVersion;
    });
}

Session::Done Session::open(const Trace& trace, const std::string& policy, std::size_t items) {
    read_up_to_ = 0;
    YK_CHECKED(send("RegisterResourceManager", {{"version", kVersion},
                                                {"policyGroup", "default"},
                                                {"config", config_text(trace.queues(), policy)},
                                                {"detached", {{"confirmReleases", true}, {"keep", items}}}}));
    is_open_ = true;
    return {};
}

Session::Done Session::close() {
    is_open_ = false;
    return send("UnregisterResourceManager", {{"force", true}});
}

Session::Done Session::add_nodes(const std::vector<TraceNode>& nodes) {
    for (std::size_t first = 0; first < nodes.size(); first += kNodesPerMessage) {
        Value list = Value::array();
        for (std::size_t i = first; i < std::min(nodes.size(), first + kNodesPerMessage); ++i)
            list.push_back({{"nodeID", nodes[i].name},
                            {"action", static_cast<int>(si::NodeAction::Create)},
                            {"schedulableResource", nodes[i].capacity}});
        YK_CHECKED(send("UpdateNode", {{"nodes", std::move(list)}}));
    }
    return {};
}

Session::Done Session::add_applications(const std::vector<std::string>& queues) {
    Value list = Value::array();
    for (const std::string& queue : queues)
        list.push_back({{"applicationID", queue},
                        {"queueName", "root." + queue},
                        {"partitionName", kPartition},
                        {"ugi", {{"user", "replay"}, {"groups", Value::array()}}}});
    return send("UpdateApplication", {{"new", std::move(list)}});
}

Session::Done Session::ask(const std::vector<const TracePod*>& pods) {
    if (pods.empty()) return {};
    Value list = Value::array();
    for (const TracePod* pod : pods)
        list.push_back({{"allocationKey", pod->name},
                        {"applicationID", pod->queue},
                        {"partitionName", kPartition},
                        {"resourceAsk", pod->request}});
    return send("UpdateAllocation", {{"asks", std::move(list)}});
}

Session::Done Session::release(const std::vector<const TracePod*>& pods) {
    if (pods.empty()) return {};
    Value list = Value::array();
    for (const TracePod* pod : pods)
        list.push_back({{"allocationKey", pod->name},
                        {"applicationID", pod->queue},
                        {"partitionName", kPartition},
                        {"terminationType", static_cast<int>(si::TerminationType::StoppedByRm)}});
    return send("UpdateAllocation", {{"releases", {{"allocationsToRelease", std::move(list)}}}});
}

Session::Done Session::sync() {
    return send("Sync", Value::object());
}

Session::Answer<std::vector<Told>> Session::read() {
    std::vector<Told> told;
    for (;;) {
        const Value request = {{"rmID", rm_id_}, {"after", read_up_to_}, {"count", kItemsPerRead}};
        YK_TRY(page, caller_("StreamLog", request));
        const Value& items = list_at(page, "items");
        for (const Value& item : items) {
            const std::int64_t number = integer_at(item, "n");
            if (number != read_up_to_ + 1)
                return refused(fmt::format("callbacks {} to {} are gone from the log", read_up_to_ + 1, number - 1));
            read_up_to_ = number;
            take(item, told);
        }
        if (!trouble_.empty()) return refused(trouble_);
        if (items.empty()) return told;
    }
}

void Session::take(const Value& item, std::vector<Told>& told) {
    const std::string kind = text_at(item, "kind");
    const Value& body = map_at(item, "body");
    const std::int64_t at = integer_at(item, "at");
    const auto add = [&](const char* list, Told::Kind what) {
        for (const Value& entry : list_at(body, list))
            told.push_back({what, text_at(entry, "allocationKey"), at, text_at(entry, "reason")});
    };
    if (kind == si::item::kUpdateAllocation) {
        add("new", Told::Kind::Placed);
        add("rejected", Told::Kind::AskRejected);
        add("released", Told::Kind::Released);
        return;
    }
    const char* id = kind == si::item::kUpdateNode ? "nodeID" : "applicationID";
    for (const Value& entry : list_at(body, "rejected"))
        trouble_ = fmt::format("{} {} was refused: {}", kind == si::item::kUpdateNode ? "node" : "application",
                               text_at(entry, id), text_at(entry, "reason"));
}

Session::Answer<Why> Session::explain(const TracePod& pod) {
    YK_TRY(answer, caller_("Explain", {{"what", "ask"},
                                       {"rmID", rm_id_},
                                       {"partition", kPartition},
                                       {"application", pod.queue},
                                       {"allocationKey", pod.name}}));
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

Session::Answer<std::int64_t> Session::clock_offset_ns() {
    const std::int64_t before = wall_clock_ns();
    YK_TRY(answer, caller_("Ping", Value::object()));
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
