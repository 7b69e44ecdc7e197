// SPDX-License-Identifier: Apache-2.0
// Explain of a node (I-354): why no ask is placed on it, with what it holds and what is pending.

#include <fmt/format.h>

#include "ykd/dump/dump_objects.h"
#include "ykd/explain/explain_kinds.h"
#include "ykd/request/gather.h"

namespace yk::service {
namespace {

struct Found {
    std::string partition;
    NodeExplanation explanation;
};

Value pending_value(const NodePendingView& pending) {
    Value lacking = Value::object();
    for (const auto& [resource, asks] : pending.lacking) lacking[resource] = asks;
    return {{"asks", pending.asks}, {"required", pending.required},  {"fitting", pending.fitting},
            {"held", pending.held}, {"tooLarge", pending.too_large}, {"lacking", std::move(lacking)}};
}

Value reservations_value(const std::vector<NodeReservationView>& reservations) {
    Value list = Value::array();
    for (const NodeReservationView& one : reservations)
        list.push_back({{"applicationID", one.application},
                        {"allocationKey", one.key},
                        {"queue", one.queue},
                        {"resource", resource_value(one.resource)},
                        {"since", one.since.ns}});
    return list;
}

Value found_value(const RmPtr& rm, const Found& found) {
    const NodeExplanation& explanation = found.explanation;
    const NodeView& node = explanation.node;
    Value reasons = Value::array();
    for (const ExplainReason& reason : explanation.reasons) reasons.push_back(reason_value(reason));
    Value applications = Value::array();
    for (const auto& [id, count] : explanation.applications)
        applications.push_back({{"applicationID", id}, {"allocations", count}});
    return {{"verdict", explanation.verdict},
            {"reasons", std::move(reasons)},
            {"details",
             {{"rmID", rm->id},
              {"partition", found.partition},
              {"nodeID", node.id},
              {"schedulable", node.schedulable},
              {"capacity", resource_value(node.capacity)},
              {"occupied", resource_value(node.occupied)},
              {"allocated", resource_value(node.allocated)},
              {"available", resource_value(node.available)},
              {"allocations", node.allocation_count},
              {"foreign", explanation.foreign},
              {"applications", std::move(applications)},
              {"reservations", reservations_value(explanation.reservations)},
              {"pending", pending_value(explanation.pending)}}}};
}

std::vector<Found> explain_on(RmOwner& owner, const std::string& partition, const std::string& node) {
    std::vector<Found> found;
    for_each_partition(owner, partition, [&](const PartitionState& state, const std::string& name) {
        NodeExplanation explanation = yk::explain_node(state, node);
        if (explanation.found) found.push_back({name, std::move(explanation)});
    });
    return found;
}

} // namespace

void explain_node(const ExplainParts& parts, const CallPtr& call, wire::BodyReader& reader) {
    const std::string partition = reader.text("partition", wire::Presence::Optional, wire::TextRule::Queue);
    const std::string rm_id = reader.text("rmID");
    const std::string node = reader.text("node", wire::Presence::Required);
    if (!call->accepts(reader)) return;
    auto rms = rms_to_explain(parts, call, rm_id);
    if (!rms) return;
    gather<std::vector<Found>>(
        parts.workers, *std::move(rms), Lane::Control,
        [partition, node](RmOwner& owner) { return explain_on(owner, partition, node); },
        [call, node](const std::vector<Gathered<std::vector<Found>>>& all) {
            answer_only_one(call, "node", node, all, found_value);
        });
}

} // namespace yk::service
