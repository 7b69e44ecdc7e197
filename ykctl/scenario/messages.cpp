// SPDX-License-Identifier: Apache-2.0
#include "ykctl/scenario/messages.h"

#include "libcore/base/check.h"
#include "protocol/si/enums.h"

#include <fmt/format.h>

namespace yk::scenario {
namespace {

void set_default(Value& map, const char* key, const Value& value) {
    if (!map.contains(key)) map[key] = value;
}

void expand_into(Value& out, const Value& element, const char* key) {
    const auto repeat = element.find("repeat");
    if (repeat == element.end()) {
        out.push_back(element);
        return;
    }
    Value copy = element;
    copy.erase("repeat");
    const std::string base = copy.value(key, "");
    for (std::uint32_t i = 0; i < repeat->get<std::uint32_t>(); ++i) {
        copy[key] = fmt::format("{}-{}", base, i);
        out.push_back(copy);
    }
}

/// The elements with each one that has `repeat: N` replaced by N elements, whose `key` field ends in `-0` to `-(N-1)`.
Value expanded(const Value& list, const char* key) {
    Value out = Value::array();
    for (const Value& element : list) expand_into(out, element, key);
    return out;
}

Value allocations_of(const Value& list) {
    Value out = expanded(list, "allocationKey");
    for (Value& allocation : out) set_default(allocation, "partitionName", "default");
    return out;
}

void complete_nodes(Value& message) {
    message["nodes"] = expanded(message["nodes"], "nodeID");
    for (Value& node : message["nodes"]) {
        set_default(node, "action", static_cast<int>(si::NodeAction::Create));
        if (!node.contains("existingAllocations")) continue;
        Value& existing = node["existingAllocations"];
        existing = allocations_of(existing);
        for (Value& allocation : existing) set_default(allocation, "nodeID", node.value("nodeID", ""));
    }
}

void complete_applications(Value& message) {
    if (message.contains("new")) {
        for (Value& application : message["new"]) {
            set_default(application, "partitionName", "default");
            set_default(application, "ugi", Value::object());
            set_default(application["ugi"], "user", "testuser");
        }
    }
    if (message.contains("remove"))
        for (Value& application : message["remove"]) set_default(application, "partitionName", "default");
}

void complete_releases(Value& message) {
    for (Value& list : message["releases"]) {
        for (Value& release : list) {
            set_default(release, "partitionName", "default");
            set_default(release, "terminationType", static_cast<int>(si::TerminationType::StoppedByRm));
        }
    }
}

void complete_registration(Value& message, const RmSettings& settings) {
    set_default(message, "policyGroup", settings.policy_group);
    message["version"] = settings.version;
}

} // namespace

std::string_view kind_of(Action action) {
    switch (action) {
    case Action::Register: return "RegisterResourceManager";
    case Action::Nodes: return "UpdateNode";
    case Action::Applications: return "UpdateApplication";
    case Action::Asks:
    case Action::Releases: return "UpdateAllocation";
    case Action::Config: return "UpdateConfiguration";
    case Action::Cycles:
    case Action::Wait:
    case Action::Expect: break;
    }
    YK_UNREACHABLE("a step that is no call has no request kind");
}

Value message_of(const Step& step, const std::string& rm_id, const RmSettings& settings) {
    YK_ASSUME(!kind_of(step.action).empty(), "only a call has a message");
    Value message = step.message;
    message["rmID"] = rm_id;
    if (step.action == Action::Nodes)
        complete_nodes(message);
    else if (step.action == Action::Applications)
        complete_applications(message);
    else if (step.action == Action::Asks)
        message["allocations"] = allocations_of(message["allocations"]);
    else if (step.action == Action::Releases)
        complete_releases(message);
    else if (step.action == Action::Register)
        complete_registration(message, settings);
    if ((step.action == Action::Register || step.action == Action::Config) && settings.extra_config)
        message["extraConfig"] = *settings.extra_config;
    return message;
}

} // namespace yk::scenario
