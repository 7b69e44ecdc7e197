// SPDX-License-Identifier: Apache-2.0
#include "ykd/dump/fragmentation_objects.h"

namespace yk::service {
namespace {

/// How much is idle, and how much of that can be used by nobody.
void add_fragments(Value& to, double idle, const FragmentCausesView& fragments) {
    to["idle"] = idle;
    to["fragments"] = fragments.sum();
    to["ratio"] = idle > 0 ? fragments.sum() / idle : 0.0;
    to["causes"] = {{"devices", fragments.devices},
                    {"others", fragments.others},
                    {"both", fragments.both},
                    {"attribute", fragments.attribute},
                    {"unasked", fragments.unasked}};
}

Value asks_value(const ExpectedAsksView& asks) {
    Value value = {{"amount", asks.amount}, {"share", asks.share}};
    if (asks.count > 0) value["devices"] = {{"count", asks.count}, {"each", asks.each}};
    if (!asks.others.empty()) value["others"] = resource_value(asks.others);
    for (const auto& [key, text] : asks.attributes) value["attributes"][key] = text;
    return value;
}

} // namespace

Value fragmentation_value(const FragmentationView& view, const std::string& partition, const std::string& rm_id) {
    Value value = {{"clusterId", rm_id}, {"partition", partition}, {"resource", view.resource}};
    if (!view.others.empty()) value["others"] = view.others;
    add_fragments(value, view.idle, view.fragments);
    value["learnt"] = view.is_learnt;
    Value workload = Value::array();
    for (const ExpectedAsksView& each : view.expected) workload.push_back(asks_value(each));
    value["workload"] = std::move(workload);
    return value;
}

Value node_fragments_value(const NodeFragmentsView& view, const std::string& partition, const std::string& rm_id) {
    Value value = {{"clusterId", rm_id}, {"partition", partition}, {"nodeID", view.node}};
    add_fragments(value, view.idle, view.fragments);
    return value;
}

} // namespace yk::service
