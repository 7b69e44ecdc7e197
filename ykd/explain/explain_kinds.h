// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kinds of Explain, one file each, and what they share. `reader` is at the body of the request. Each kind answers
// the call now or later.
//
// Thread: workers.

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "libcore/reports/explain.h"
#include "protocol/wire/body_reader.h"
#include "ykd/configuration/config_history.h"
#include "ykd/configuration/effective_settings.h"
#include "ykd/request/call.h"
#include "ykd/request/gather.h"
#include "ykd/request/user_lookup.h"
#include "ykd/rm/rm_table.h"
#include "ykd/runtime/scheduler_clock.h"

namespace yk::service {

/// The parts that explanations need. They outlive every call.
struct ExplainParts {
    const DaemonSettings& settings;
    const SchedulerClock& clock;
    const RmTable& rms;
    const EffectiveSettings& effective;
    const ConfigHistory& config_history;
    UserLookup& users;
    Workers& workers;
};

/// `what`: app, ask, preemption. Why an application's asks, or one ask, are still pending, and who would be preempted
/// for it, found with the planner's own tests.
void explain_ask(const ExplainParts& parts, const CallPtr& call, const std::string& what, wire::BodyReader& reader);
/// `what`: placement. Which queue an application would get, rule by rule.
void explain_placement(const ExplainParts& parts, const CallPtr& call, wire::BodyReader& reader);
/// `what`: queue. Each setting in force of a queue, and where it comes from.
void explain_queue(const ExplainParts& parts, const CallPtr& call, wire::BodyReader& reader);
/// `what`: node. Why no ask is placed on it.
void explain_node(const ExplainParts& parts, const CallPtr& call, wire::BodyReader& reader);
/// `what`: user. What a user may still use at each queue up to the root.
void explain_user(const ExplainParts& parts, const CallPtr& call, wire::BodyReader& reader);
/// `what`: config. Where a value of the configuration, or of extraConfig, comes from.
void explain_config(const ExplainParts& parts, const CallPtr& call, wire::BodyReader& reader);
/// `what`: config, for a key of extraConfig.
void explain_setting(const ExplainParts& parts, const CallPtr& call, const std::string& key);

/// A reason as a value (I-354).
[[nodiscard]] Value reason_value(const ExplainReason& reason);
/// The RM with this id; when it is empty, all that the session may see (I-412). Nothing: the call was answered.
[[nodiscard]] std::optional<std::vector<RmPtr>> rms_to_explain(const ExplainParts& parts, const CallPtr& call,
                                                               const std::string& rm_id);

/// Calls f(const PartitionState&, short name) for the partition with this short or full name; for all when it is empty.
/// Thread: the owner thread.
template <class F>
void for_each_partition(RmOwner& owner, const std::string& partition, F&& f) {
    const ClusterContext* context = owner.context();
    if (context == nullptr) return;
    for (const std::string& name : context->partition_names())
        if (partition.empty() || partition == name || partition == context->full_name(name)) f(*owner.read(name), name);
}

/// Answers with value(RmPtr, Found) of the only object that was found. None, or one in each of several partitions, is
/// an error. `noun`: node or queue, which is also the field of the request that has its name.
template <class Found, class F>
void answer_only_one(const CallPtr& call, const std::string& noun, const std::string& name,
                     const std::vector<Gathered<std::vector<Found>>>& all, F&& value) {
    std::vector<std::string> partitions;
    Value answer;
    for (const auto& one : all)
        for (const Found& found : one.answer) {
            partitions.push_back(fmt::format("[{}]{}", one.rm->id, found.partition));
            if (partitions.size() == 1) answer = value(one.rm, found);
        }
    if (partitions.size() == 1) return call->ok(answer);
    if (partitions.empty()) return call->fail(ErrorCode::NotFound, fmt::format("there is no {} {}", noun, name), noun);
    call->fail(ErrorCode::Invalid,
               fmt::format("{} {} is in several partitions, say which: {}", noun, name, fmt::join(partitions, ", ")),
               "partition");
}

} // namespace yk::service
