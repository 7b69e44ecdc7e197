// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/rest_documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "ykd/rest/exchange/rest_answers.h"

namespace yk::service {

using wire::Value;

// --- events -------------------------------------------------------------------------------------

Value rest_event(const Value& record) {
    static constexpr std::array kOriginal{
        "type",        "objectID", "message", "timestampNano", "eventChangeType", "eventChangeDetail",
        "referenceID", "eventID",  "rmID",    "partitionName"};
    Value event = Value::object();
    for (const char* key : kOriginal)
        if (record.contains(key) && !is_omitted(record[key])) event[key] = record[key];
    event["resource"] = Value::object();
    if (!record.contains("resource") || record["resource"].empty()) return event;
    Value resources = Value::object();
    for (const auto& [name, amount] : record["resource"].items())
        resources[name] = is_omitted(amount) ? Value::object() : Value{{"value", amount}};
    event["resource"]["resources"] = std::move(resources);
    return event;
}

// --- applications -------------------------------------------------------------------------------

Value rest_application(Value application) {
    // Ours first (interface.md I-711), and what the original says.
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kWords{{
        {"preemption preconditions failed", "Preemption preconditions failed"},
        {"preemption does not satisfy guarantees", "Preemption queue guarantees check failed"},
        {"preemption helps but falls short", "Preemption helped but short of resources"},
        {"preemption does not help", "Preemption does not help"},
        {"no victim on the required node", "No fit on required node, preemption does not help"},
    }};
    if (application.contains("requests"))
        for (Value& request : application["requests"]) {
            if (!request.contains("allocationLog")) continue;
            for (Value& entry : request["allocationLog"]) {
                const auto found = std::find_if(kWords.begin(), kWords.end(),
                                                [&](const auto& words) { return entry["message"] == words.first; });
                if (found != kWords.end()) entry["message"] = found->second;
            }
        }
    if (application.value("rejectedMessage", std::string{}).starts_with("failed to place application"))
        application["queueName"] = "";
    return application;
}

// --- others -------------------------------------------------------------------------------------

Value rest_cluster(Value cluster) {
    cluster["policyGroup"] = cluster["clusterName"];
    cluster["clusterName"] = "kubernetes";
    return cluster;
}

Value rest_utilization(Value partition) {
    for (Value& type : partition["utilizations"])
        for (Value& bucket : type["utilization"])
            for (const char* key : {"numOfNodes", "nodeNames"})
                if (is_omitted(bucket[key])) bucket.erase(key);
    return partition;
}

namespace {

/// The number that ours begins with; 0 where all is well.
std::string count_of(const std::string& ours) {
    const std::string number = ours.substr(0, ours.find_first_not_of("0123456789"));
    return number.empty() ? "0" : number;
}

std::string names_of(const std::string& ours) {
    return ours;
}

/// `[rm]default: 1 on 4 nodes; ...` as the original has it: reservations per node, of each partition.
std::string ratios_of(const std::string& ours) {
    constexpr std::string_view kBefore = ": ", kBetween = " on ";
    std::string ratios;
    for (std::size_t at = ours.find(kBetween); at != std::string::npos; at = ours.find(kBetween, at + 1)) {
        const std::size_t number = ours.rfind(kBefore, at) + kBefore.size();
        const double reserved = std::strtod(ours.c_str() + number, nullptr);
        const double nodes = std::strtod(ours.c_str() + at + kBetween.size(), nullptr);
        ratios += fmt::format("{}{:.6f}", ratios.empty() ? "" : " ", nodes > 0 ? reserved / nodes : 0);
    }
    return ratios;
}

/// A check of the original's: how we call it, how it does, and what of our diagnosis takes the place of `{}`.
struct OriginalCheck {
    std::string_view ours, name, description, diagnosis;
    std::string (*wrong)(const std::string& ours);
};

constexpr std::array kOriginalChecks{
    OriginalCheck{"Scheduling errors", "Scheduling errors", "Check for scheduling error entries in metrics",
                  "There were {} scheduling errors logged in the metrics", count_of},
    OriginalCheck{"Failed nodes", "Failed nodes", "Check for failed nodes entries in metrics",
                  "There were {} failed nodes logged in the metrics", count_of},
    OriginalCheck{"Negative resources (partitions)", "Negative resources",
                  "Check for negative resources in the partitions", "Partitions with negative resources: [{}]",
                  names_of},
    OriginalCheck{"Negative resources (nodes)", "Negative resources", "Check for negative resources in the nodes",
                  "Nodes with negative resources: [{}]", names_of},
    OriginalCheck{"Consistency of data (partition)", "Consistency of data",
                  "Check if total partition resource == sum of the node resources from the partition",
                  "Partitions with inconsistent data: [{}]", names_of},
    OriginalCheck{"Consistency of data (node)", "Consistency of data",
                  "Check if node total resource = allocated resource + occupied resource + available resource",
                  "Nodes with inconsistent data: [{}]", names_of},
    OriginalCheck{"Reservation check", "Reservation check", "Check the reservation nr compared to the number of nodes",
                  "Reservation/node nr ratio: [{}]", ratios_of},
    OriginalCheck{"Orphan allocation on node check", "Orphan allocation on node check",
                  "Check if there are orphan allocations on the nodes", "Orphan allocations: [{}]", names_of},
    OriginalCheck{"Orphan allocation on app check", "Orphan allocation on app check",
                  "Check if there are orphan allocations on the applications", "OrphanAllocations: [{}]", names_of},
};

} // namespace

Value rest_health(const Value& health) {
    Value shown = health;
    Value checks = Value::array(), further = Value::array();
    for (const Value& check : health["HealthChecks"]) {
        const auto found = std::find_if(kOriginalChecks.begin(), kOriginalChecks.end(),
                                        [&](const OriginalCheck& one) { return check["Name"] == one.ours; });
        if (found == kOriginalChecks.end()) {
            further.push_back(check);
            continue;
        }
        checks.push_back(
            {{"Name", found->name},
             {"Succeeded", check["Succeeded"]},
             {"Description", found->description},
             {"DiagnosisMessage", fmt::format(fmt::runtime(found->diagnosis),
                                              found->wrong(check.value("DiagnosisMessage", std::string{})))}});
    }
    shown["HealthChecks"] = std::move(checks);
    shown["FurtherChecks"] = std::move(further);
    return shown;
}

Value rest_full_dump(Value dump, Value configuration) {
    dump["config"] = std::move(configuration);
    if (dump["rmDiagnostics"].contains("empty"))
        dump["rmDiagnostics"]["empty"] = "Resource Manager did not register callback";
    for (Value& cluster : dump["clusterInfo"]) cluster = rest_cluster(std::move(cluster));
    for (Value& application : dump["applications"]) application = rest_application(std::move(application));
    for (const char* key : {"applications", "appHistory", "containerHistory", "eventStreams"})
        if (dump.contains(key) && is_omitted(dump[key])) dump.erase(key);
    return dump;
}

} // namespace yk::service
