#pragma once
// The kinds of Explain that are not about an application's asks, one file each, and what they share. The reader has
// read `what`.

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "libcore/scheduler/cluster_context.h"
#include "protocol/wire/body_reader.h"
#include "ykd/service/call.h"
#include "ykd/service/gather.h"
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

/// Answers with value(RmPtr, Found) of the only one; none, or one in each of several partitions, is an error. `noun`:
/// node or queue, also the field of the request that has its name.
template <class Found, class F>
void answer_only_one(const CallPtr& call, const std::string& noun, const std::string& name,
                     const std::vector<Gathered<std::vector<Found>>>& all, F&& value) {
    std::vector<std::string> places;
    Value answer;
    for (const auto& one : all)
        for (const Found& found : one.answer) {
            places.push_back(fmt::format("[{}]{}", one.rm->id, found.partition));
            if (places.size() == 1) answer = value(one.rm, found);
        }
    if (places.size() == 1) return call->ok(answer);
    if (places.empty()) return call->fail(ErrorCode::NotFound, fmt::format("there is no {} {}", noun, name), noun);
    call->fail(ErrorCode::Invalid,
               fmt::format("{} {} is in several partitions, say which: {}", noun, name, fmt::join(places, ", ")),
               "partition");
}

} // namespace yk::service
