// SPDX-License-Identifier: Apache-2.0
// Explain of a queue (B-07): each effective value, and where it comes from: a line of the configuration, a queue above,
// a child template, the tags of an application, or the default.

#include <fmt/format.h>

#include "libcore/reports/snapshot.h"
#include "ykd/explain/explain_kinds.h"
#include "ykd/explain/queue_settings.h"
#include "ykd/request/gather.h"

namespace yk::service {
namespace {

struct Found {
    std::string partition;
    QueueView view;
};

std::string state_text(const QueueView& view) {
    if (view.state == "Draining") return "it is not in the configuration any more and goes when it is empty";
    return view.managed ? "it is in the configuration" : "it was made by a placement rule and goes when it is empty";
}

Value found_value(const RmPtr& rm, const Found& found) {
    const auto configuration = rm->facts().configuration;
    static const config::Configuration kNone;
    Value values = Value::array();
    for (QueueSetting& each : queue_settings(found.view, configuration ? *configuration : kNone, found.partition))
        values.push_back({{"name", each.name}, {"value", std::move(each.value)}, {"from", each.from}});
    Value reasons = Value::array({{{"code", "STATE"}, {"object", found.view.path}, {"text", state_text(found.view)}}});
    return {{"verdict", found.view.state},
            {"reasons", std::move(reasons)},
            {"details",
             {{"rmID", rm->id},
              {"partition", found.partition},
              {"queue", found.view.path},
              {"isLeaf", found.view.leaf},
              {"isManaged", found.view.managed},
              {"values", std::move(values)}}}};
}

std::vector<Found> queues_of(RmOwner& owner, const std::string& partition, const std::string& path) {
    std::vector<Found> found;
    for_each_partition(owner, partition, [&](const PartitionState& state, const std::string& name) {
        if (auto view = queue_view(state, path, false)) found.push_back({name, *std::move(view)});
    });
    return found;
}

} // namespace

void explain_queue(const ExplainParts& parts, const CallPtr& call, wire::BodyReader& reader) {
    const std::string partition = reader.text("partition", wire::Presence::Optional, wire::TextRule::Queue);
    const std::string rm_id = reader.text("rmID");
    const std::string path = reader.text("queue", wire::Presence::Required, wire::TextRule::Queue);
    if (!call->accepts(reader)) return;
    auto rms = rms_to_explain(parts, call, rm_id);
    if (!rms) return;
    gather<std::vector<Found>>(
        parts.workers, *std::move(rms), Lane::Control,
        [partition, path](RmOwner& owner) { return queues_of(owner, partition, path); },
        [call, path](const std::vector<Gathered<std::vector<Found>>>& all) {
            answer_only_one(call, "queue", path, all, found_value);
        });
}

} // namespace yk::service
