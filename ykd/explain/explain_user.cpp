// SPDX-License-Identifier: Apache-2.0
// Explain of a user (I-354, B-09): what a user, and the group that counts, may still use at each queue up to the root.

#include <fmt/format.h>

#include <algorithm>

#include "libcore/config/names.h"
#include "ykd/dump/dump_objects.h"
#include "ykd/explain/explain_kinds.h"
#include "ykd/request/gather.h"

namespace yk::service {
namespace {

/// What is asked.
struct Question {
    std::string partition, queue;
    ResolvedUser sent;                            // the user as in the request
    std::map<std::string, ResolvedUser> resolved; // by the full name of the partition
};

struct Found {
    std::string partition;
    ResolvedUser user;
    UserExplanation explanation;
};

/// Why the path cannot be that of a queue; empty: it can be.
std::string path_fault(std::string_view path) {
    if (path.substr(0, path.find('.')) != "root") return "a queue path begins with root";
    for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.', dot + 1)) {
        const std::string_view name = path.substr(dot + 1, path.find('.', dot + 1) - dot - 1);
        if (!config::is_queue_name(name)) return fmt::format("{}, got '{}'", config::kInvalidQueueName, name);
    }
    return {};
}

Value level_value(const UsageLevelView& level) {
    Value value{{"queue", level.queue},
                {"kind", level.group ? "group" : "user"},
                {"name", level.who},
                {"entry", level.entry},
                {"used", resource_value(level.used)},
                {"running", level.running},
                {"maxApplications", level.max_applications}};
    if (level.max) value["max"] = resource_value(*level.max);
    if (level.headroom) value["headroom"] = resource_value(*level.headroom);
    return value;
}

Value found_value(const RmPtr& rm, const Found& found) {
    const UserExplanation& explanation = found.explanation;
    Value reasons = Value::array();
    for (const ExplainReason& reason : explanation.reasons) reasons.push_back(reason_value(reason));
    Value levels = Value::array();
    for (const UsageLevelView& level : explanation.levels) levels.push_back(level_value(level));
    Value details{{"rmID", rm->id},
                  {"partition", found.partition},
                  {"user", explanation.user},
                  {"groups", found.user.groups},
                  {"queue", explanation.queue},
                  {"exists", explanation.exists},
                  {"group", explanation.group},
                  {"groupFrom", explanation.group_from},
                  {"levels", std::move(levels)}};
    if (explanation.headroom) details["headroom"] = resource_value(*explanation.headroom);
    if (!found.user.fault.empty()) details["fault"] = found.user.fault;
    return {{"verdict", explanation.verdict}, {"reasons", std::move(reasons)}, {"details", std::move(details)}};
}

std::vector<Found> explain_on(RmOwner& owner, const Question& question) {
    std::vector<Found> found;
    for_each_partition(owner, question.partition, [&](const PartitionState& state, const std::string& name) {
        const auto known = question.resolved.find(state.full_name);
        const ResolvedUser& user = known == question.resolved.end() ? question.sent : known->second;
        found.push_back({name, user, yk::explain_user(state, question.sent.user, user.groups, question.queue)});
    });
    return found;
}

struct Placed {
    RmPtr rm;
    Found found;
};

/// Where the queue exists; when it exists nowhere, where it could be made.
std::vector<Placed> choose(const std::vector<Gathered<std::vector<Found>>>& all) {
    std::vector<Placed> list;
    for (const auto& one : all)
        for (const Found& found : one.answer)
            if (found.explanation.found) list.push_back({one.rm, found});
    const auto exists = [](const Placed& each) { return each.found.explanation.exists; };
    if (std::any_of(list.begin(), list.end(), exists)) std::erase_if(list, std::not_fn(exists));
    return list;
}

std::string not_found_text(const std::string& queue, const std::vector<Gathered<std::vector<Found>>>& all) {
    std::string deepest;
    for (const auto& one : all)
        for (const Found& found : one.answer)
            if (found.explanation.deepest.size() > deepest.size()) deepest = found.explanation.deepest;
    if (deepest.empty()) return "there is no such partition";
    return fmt::format("there is no queue {}, and no rule could make it; the deepest on this path is {}", queue,
                       deepest);
}

void answer(const CallPtr& call, const std::string& queue, const std::vector<Gathered<std::vector<Found>>>& all) {
    const std::vector<Placed> placed = choose(all);
    if (placed.size() == 1) return call->ok(found_value(placed.front().rm, placed.front().found));
    if (placed.empty()) return call->fail(ErrorCode::NotFound, not_found_text(queue, all), "queue");
    std::vector<std::string> partitions;
    partitions.reserve(placed.size());
    for (const Placed& each : placed) partitions.push_back(fmt::format("[{}]{}", each.rm->id, each.found.partition));
    call->fail(ErrorCode::Invalid,
               fmt::format("queue {} is in several partitions, say which: {}", queue, fmt::join(partitions, ", ")),
               "partition");
}

void ask(const ExplainParts& parts, const CallPtr& call, const std::shared_ptr<Question>& question,
         const std::vector<RmPtr>& rms, const LookedUp& answers, Instant now) {
    for (const RmPtr& rm : rms)
        for (const std::string& full : rm->facts().partitions)
            question->resolved[full] = rm->users->preview(full, question->sent, false, answers, now);
    gather<std::vector<Found>>(
        parts.workers, rms, Lane::Control, [question](RmOwner& owner) { return explain_on(owner, *question); },
        [call, question](const std::vector<Gathered<std::vector<Found>>>& all) { answer(call, question->queue, all); });
}

} // namespace

void explain_user(const ExplainParts& parts, const CallPtr& call, wire::BodyReader& reader) {
    auto question = std::make_shared<Question>();
    question->partition = reader.text("partition", wire::Presence::Optional, wire::TextRule::Queue);
    const std::string rm_id = reader.text("rmID");
    question->queue = config::lower(reader.text("queue", wire::Presence::Required, wire::TextRule::Queue));
    question->sent = {reader.text("user", wire::Presence::Required), reader.texts("groups"), {}};
    if (const std::string fault = path_fault(question->queue); !fault.empty())
        reader.fail(ErrorCode::Invalid, "queue", fault);
    if (!call->accepts(reader)) return;
    auto rms = rms_to_explain(parts, call, rm_id);
    if (!rms) return;
    const Instant now = parts.clock.now();
    const bool unknown = std::any_of(rms->begin(), rms->end(), [&](const RmPtr& rm) {
        const auto partitions = rm->facts().partitions;
        return std::any_of(partitions.begin(), partitions.end(),
                           [&](const std::string& full) { return rm->users->needs_lookup(full, question->sent, now); });
    });
    std::vector<std::string> users;
    if (unknown) users.push_back(question->sent.user);
    parts.users.look_up(call, std::move(users),
                        [&parts, call, question, rms = *std::move(rms), now](const LookedUp& answers, bool complete) {
                            if (!complete) return call->fail(ErrorCode::Timeout, kSlowNames);
                            ask(parts, call, question, rms, answers, now);
                        });
}

} // namespace yk::service
