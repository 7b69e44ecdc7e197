#pragma once
// The kinds of Explain that are not about an application's asks, one file each, and what they share. The reader has
// read `what`.

#include <optional>
#include <string>
#include <vector>

#include "libcore/scheduler/cluster_context.h"
#include "protocol/wire/body_reader.h"
#include "ykd/service/call.h"
#include "ykd/service/rm_table.h"

namespace yk::service {

/// what: placement. Which queue an application would get, rule by rule.
void explain_placement(const CallPtr& call, wire::BodyReader& reader);
/// what: queue. Each effective value of a queue, and where it comes from.
void explain_queue(const CallPtr& call, wire::BodyReader& reader);
/// what: node. Why it takes nothing.
void explain_node(const CallPtr& call, wire::BodyReader& reader);
/// what: user. What a user may still use at each queue up to the root.
void explain_user(const CallPtr& call, wire::BodyReader& reader);
/// what: config. Where a value of the configuration, or of extraConfig, comes from.
void explain_config(const CallPtr& call, wire::BodyReader& reader);
/// The part of it that is about extraConfig.
void explain_setting(const CallPtr& call, const std::string& key);

/// As I-354 has it.
[[nodiscard]] Value reason_value(const ExplainReason& reason);
/// The RM of this id; all that the session may see (I-412) when it is empty. Nothing: the call was answered.
[[nodiscard]] std::optional<std::vector<RmPtr>> rms_to_explain(const CallPtr& call, const std::string& rm_id);

/// f(const ClusterContext&, short name) for the partition, by its short or full name; for all when it is empty. Owner
/// thread.
template <class F>
void for_each_partition(RmOwner& owner, const std::string& partition, F&& f) {
    const ClusterContext* context = owner.context();
    if (context == nullptr) return;
    for (const std::string& name : context->partition_names())
        if (partition.empty() || partition == name || partition == context->full_name(name)) f(*context, name);
}

} // namespace yk::service
