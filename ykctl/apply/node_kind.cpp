// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "protocol/si/enums.h"
#include "ykctl/apply/object_kind.h"
#include "ykctl/client/existing.h"
#include "ykctl/commands/node_drain.h"

namespace yk::cli {
namespace {

using si::NodeAction;
using wire::Value;
using Step = Plan::Step;

PartitionKey key_of(const Context& context, const Value& node) {
    const auto said = text_of(member_of(node, "attributes"), si::kPartitionAttribute);
    return {partition_or(context, said), text_of(node, "nodeID")};
}

/// The attributes that are a person's: without the partition, and without why it is drained.
Value own_attributes(const Value& node) {
    auto own = Value::object();
    for (const auto& [key, text] : member_of(node, "attributes").items())
        if (key != si::kPartitionAttribute && key != kDrainReason) own[key] = text;
    return own;
}

/// What the RM said is taken on a node, without what its foreign allocations add to that.
Value declared_occupied(const Value& node) {
    Value declared = member_of(node, "occupied");
    for (const auto& foreign : member_of(node, "foreignAllocations"))
        for (const auto& [type, amount] : member_of(foreign, "resource").items())
            if (declared.contains(type))
                declared[type] = declared[type].get<std::int64_t>() - amount.get<std::int64_t>();
    return declared;
}

/// Whether the file wants it to take work; nullopt: it does not say.
std::optional<bool> wants_work(const Value& node) {
    if (!node.contains("action")) return std::nullopt;
    switch (static_cast<NodeAction>(number_of(node, "action"))) {
    case NodeAction::Create:
    case NodeAction::Schedulable: return true;
    case NodeAction::CreateDrain:
    case NodeAction::Drain: return false;
    default: return std::nullopt;
    }
}

const char* state_text(bool takes_work) {
    return takes_work ? "schedulable" : "drained";
}

Value action_message(const PartitionKey& key, NodeAction action) {
    return {{"nodeID", key.second},
            {"action", static_cast<int>(action)},
            {"attributes", {{si::kPartitionAttribute, key.first}}}};
}

class NodeKind final : public ObjectKind {
public:
    const MessageSpec& spec() const override { return node_spec(); }
    const char* noun() const override { return "node"; }
    std::string identity(const Context& context, const Value& wanted) const override {
        const auto [partition, id] = key_of(context, wanted);
        return partition + '\x1f' + id;
    }

    Answer<std::vector<Plan>> plan(Context& context, std::vector<Value> wanted) override {
        YK_TRY(there, existing_nodes(context, wanted));
        std::vector<Plan> plans;
        for (Value& node : wanted) {
            const auto key = key_of(context, node);
            const auto found = there.find(key);
            Plan plan{"node " + key.second, key.second, id_key(key.second), Step::None, {}, {}};
            if (static_cast<NodeAction>(number_of(node, "action")) == NodeAction::Decommission)
                plan.refusal = {"the file wants it gone (DECOMISSION): that is  ykctl delete -f", 0};
            else if (found == there.end())
                plan_creation(plan, key, std::move(node));
            else
                plan_change(plan, key, found->second, node);
            plans.push_back(std::move(plan));
        }
        return plans;
    }

    Answer<ElementOutcomes> send(Context& context, Value messages) const override {
        return send_update(context, "UpdateNode", {{"nodes", std::move(messages)}});
    }
    Done created(const ElementOutcomes& outcomes, const Plan& plan) const override {
        return added(outcomes, plan.key, plan.what, plan.id, "created");
    }

    std::optional<Failure> remove(Context& context, const std::vector<Value>& wanted, bool force,
                                  Report& report) const override {
        const auto there = existing_nodes(context, wanted);
        if (!there.ok()) return there.error();
        auto removals = Value::array();
        for (const Value& node : wanted) {
            const auto key = key_of(context, node);
            const auto found = there->find(key);
            const auto running = found == there->end() ? 0 : number_of(found->second, "allocationCount");
            Done left{"node " + key.second, key.second, kAbsent, {}, {}, {}};
            if (found != there->end() && (running == 0 || force)) {
                removals.push_back(action_message(key, NodeAction::Decommission));
                continue;
            }
            if (running > 0)
                left.refusal = {fmt::format("it still has {}; drain it first, or release them with it: --force",
                                            pluralize(static_cast<std::size_t>(running), "allocation")),
                                0};
            report.add(std::move(left));
        }
        if (removals.empty()) return std::nullopt;
        const auto outcomes = send(context, removals);
        if (!outcomes.ok()) return outcomes.error();
        for (const Value& removal : removals) {
            const auto id = text_of(removal, "nodeID");
            report.add(done(*outcomes, id_key(id), "node " + id, id, "removed"));
        }
        return std::nullopt;
    }

private:
    static void plan_creation(Plan& plan, const PartitionKey& key, Value node) {
        plan.step = Step::Create;
        node["action"] =
            static_cast<int>(wants_work(node).value_or(true) ? NodeAction::Create : NodeAction::CreateDrain);
        node["attributes"][si::kPartitionAttribute] = key.first;
        plan.messages.push_back(std::move(node));
    }

    static void plan_change(Plan& plan, const PartitionKey& key, const Value& there, const Value& node) {
        Differences differences;
        Value update = action_message(key, NodeAction::Update);
        const auto amounts = [&](const char* field, const char* shown, const Value& now) {
            if (!node.contains(field)) return;
            differences.compare(shown, amounts_text(now), amounts_text(node[field]));
            update[field] = node[field];
        };
        amounts("schedulableResource", "capacity", member_of(there, "capacity"));
        amounts("occupiedResource", "occupied", declared_occupied(there));
        if (node.contains("devices")) {
            differences.compare("devices", devices_text(member_of(there, "devices")), devices_text(node["devices"]));
            update["devices"] = node["devices"];
        }
        Value attributes = own_attributes(there);
        if (node.contains("attributes")) {
            const Value wanted = own_attributes(node);
            differences.compare("attributes", pairs_text(attributes), pairs_text(wanted));
            attributes = wanted;
        }
        plan.differences = differences.take();
        if (!plan.differences.empty()) {
            attributes[si::kPartitionAttribute] = key.first; // those that are sent replace all there are
            if (const auto reason = drain_reason(there); !reason.empty()) attributes[kDrainReason] = reason;
            update["attributes"] = std::move(attributes);
            plan.messages.push_back(std::move(update));
        }
        const bool takes_work = flag_of(there, "schedulable");
        if (const auto wanted = wants_work(node); wanted && *wanted != takes_work) {
            plan.differences.push_back({"state", state_text(takes_work), state_text(*wanted)});
            plan.messages.push_back(action_message(key, *wanted ? NodeAction::Schedulable : NodeAction::Drain));
        }
        if (!plan.differences.empty()) plan.step = Step::Change;
    }
};

} // namespace

std::unique_ptr<ObjectKind> node_kind() {
    return std::make_unique<NodeKind>();
}

} // namespace yk::cli
