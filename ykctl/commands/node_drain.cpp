// SPDX-License-Identifier: Apache-2.0
#include "ykctl/commands/node_drain.h"

#include <chrono>

#include <fmt/format.h>

#include "protocol/si/enums.h"
#include "ykctl/cli/values.h"
#include "ykctl/client/dumps.h"
#include "ykctl/client/updates.h"
#include "ykctl/render/text.h"

namespace yk::cli {

using si::NodeAction;
using wire::Value;

si::NodeInfo action_of(NodeAction action) {
    si::NodeInfo node;
    node.action = action;
    return node;
}

void put_partition(const Context& context, si::NodeInfo& node) {
    if (!context.settings().partition) return;
    if (!node.attributes) node.attributes.emplace();
    put_pair(*node.attributes, si::kPartitionAttribute, *context.settings().partition);
}

std::string drain_reason(const Value& node) {
    return text_of(member_of(node, "attributes"), kDrainReason);
}

si::StringMap attributes_with(const Value& node, const std::string& reason) {
    si::StringMap attributes;
    for (const auto& [key, value] : member_of(node, "attributes").items())
        if (key != kDrainReason)
            attributes.emplace_back(key, value.is_string() ? value.get<std::string>() : std::string{});
    if (!reason.empty()) attributes.emplace_back(kDrainReason, reason);
    return attributes;
}

namespace {

/// A node that is to be drained or undrained: the message, and what is said of it.
struct Turn {
    si::NodeInfo change;
    std::optional<si::NodeInfo> reason; // a second message, where the reason changes
    std::string outcome;
};

Turn turn_of(const std::string& name, const Value& node, NodeAction action, const std::string& reason) {
    const bool drains = action == NodeAction::Drain;
    const auto running = number_of(node, "allocationCount");
    Turn turn{action_of(action), {}, drains ? "drained" : "undrained"};
    turn.change.node_id = name;
    if (drains && running == 1) turn.outcome = "draining: 1 allocation stays until it ends";
    if (drains && running > 1) turn.outcome = fmt::format("draining: {} allocations stay until they end", running);
    if (node.is_object() && (!reason.empty() || (!drains && member_of(node, "attributes").contains(kDrainReason)))) {
        turn.reason = action_of(NodeAction::Update);
        turn.reason->node_id = name;
        turn.reason->attributes = attributes_with(node, reason);
    }
    return turn;
}

/// Drains nodes or undrains them.
Outcome turn_nodes(Context& context, const std::vector<std::string>& names, NodeAction action,
                   const std::string& reason) {
    const auto known = find_nodes(context, names); // of one that is not there the daemon says so
    if (!known.ok() && !reason.empty()) return known.error();
    Report report{context};
    Batches<std::vector<Turn>> batches{[&](const std::vector<Turn>& turns) -> std::optional<Failure> {
        std::vector<si::NodeInfo> messages;
        for (const Turn& each : turns) {
            messages.push_back(each.change);
            put_partition(context, messages.back());
            if (each.reason) messages.push_back(*each.reason);
        }
        si::NodeRequest update;
        update.nodes = std::move(messages);
        auto outcomes = send_update(context, std::move(update));
        if (!outcomes.ok()) return outcomes.error();
        for (const Turn& each : turns) {
            const std::string& id = each.change.node_id;
            report.add(done(*outcomes, id_key(id), "node " + id, id, each.outcome));
        }
        return std::nullopt;
    }};
    for (std::size_t i = 0; i < names.size(); ++i)
        if (auto failure = batches.add(turn_of(names[i], known.ok() ? (*known)[i] : Value{}, action, reason)))
            return report.finish(std::move(failure));
    return report.finish(batches.finish());
}

/// Who drains it, when, and why.
std::string signed_reason(const std::string& reason) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return reason.empty() ? reason
                          : fmt::format("{} ({}, {})", reason, login_name(),
                                        time_text(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()));
}

void define_drain(Command node, Context& context) {
    const auto command = node.sub("drain", "nothing new on these nodes; what runs stays");
    const auto names = std::make_shared<std::vector<std::string>>();
    const auto reason = std::make_shared<std::string>();
    command.option("NAME", *names, "nodes").required();
    command.option("--reason", *reason, "why, for node list and node show, until it is undrained");
    command.run([&context, names, reason] {
        return turn_nodes(context, distinct(*names), NodeAction::Drain, signed_reason(*reason));
    });
}

void define_undrain(Command node, Context& context) {
    const auto command = node.sub("undrain", "schedule on these nodes again");
    const auto names = std::make_shared<std::vector<std::string>>();
    command.option("NAME", *names, "nodes").required();
    command.run([&context, names] { return turn_nodes(context, distinct(*names), NodeAction::Schedulable, {}); });
}

} // namespace

void define_node_drain(Command node, Context& context) {
    define_drain(node, context);
    define_undrain(node, context);
}

} // namespace yk::cli
