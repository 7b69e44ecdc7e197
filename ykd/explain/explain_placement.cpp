// SPDX-License-Identifier: Apache-2.0
// Explain of a placement (I-354, B-08): where an application would go, rule by rule, by the running rules or by those
// of a configuration that is sent along. Nothing is submitted.

#include <fmt/format.h>

#include <algorithm>

#include "libcore/placement/rule_chain.h"
#include "libcore/ports/null_callbacks.h"
#include "ykd/configuration/config_errors.h"
#include "ykd/explain/explain_kinds.h"
#include "ykd/request/gather.h"

namespace yk::service {
namespace {

/// The application that is asked about. It owns its texts, as the request is freed before the answer.
struct Question {
    std::string partition, rm_id, queue;
    ResolvedUser user;
    std::vector<std::pair<std::string, std::string>> tags;
    std::optional<std::string> config;

    [[nodiscard]] Tags tag_views() const {
        Tags views;
        for (const auto& [key, value] : tags) views.push_back({key, value});
        return views;
    }
};
using QuestionPtr = std::shared_ptr<const Question>;

struct Found {
    std::string rm_id, partition;
    ResolvedUser user;
    PlacementExplanation explanation;
};

bool needs_lookup(const UserDirectory& users, const Question& question, Instant now) {
    return users.needs_lookup(question.partition, question.user, now);
}

ResolvedUser user_of(const UserDirectory& users, const Question& question, const LookedUp& answers, Instant now) {
    return users.preview(question.partition, question.user, placement::is_forced(question.tag_views()), answers, now);
}

std::vector<std::string> to_look_up(bool needed, const Question& question) {
    return needed ? std::vector{question.user.user} : std::vector<std::string>{};
}

Found explain_in(const PartitionState& state, std::string rm_id, const ResolvedUser& user, const Question& question) {
    ApplicationSpec spec;
    spec.partition = question.partition;
    spec.queue = question.queue;
    spec.tags = question.tag_views();
    spec.user = user.user;
    spec.groups.assign(user.groups.begin(), user.groups.end());
    spec.user_fault = user.fault;
    return {std::move(rm_id), question.partition.empty() ? "default" : question.partition, user,
            yk::explain_placement(state, spec)};
}

Value found_value(const Found& found) {
    const PlacementExplanation& explanation = found.explanation;
    Value reasons = Value::array();
    for (const PlacementStep& step : explanation.steps) {
        Value reason{{"code", step.code}, {"object", step.rule}, {"text", step.text}};
        if (!step.path.empty()) reason["queue"] = step.path;
        reasons.push_back(std::move(reason));
    }
    Value details{{"rmID", found.rm_id},         {"partition", found.partition}, {"user", found.user.user},
                  {"groups", found.user.groups}, {"queue", explanation.queue},   {"creates", explanation.created}};
    if (!explanation.reason.empty()) details["reason"] = explanation.reason;
    return {{"verdict", explanation.queue.empty() ? "REJECTED" : "PLACED"},
            {"reasons", std::move(reasons)},
            {"details", std::move(details)}};
}

std::string partition_text(const Question& question) {
    return question.partition.empty() ? "default" : question.partition;
}

// --- a configuration that was sent along --------------------------------------------------------------------------

/// Explains with a core of its own, which builds the queues of the configuration and nothing else (C-449).
void explain_with(const CallPtr& call, const config::Configuration& configuration, const Question& question,
                  const ResolvedUser& user, Instant now) {
    NullCallbacks ignored;
    ClusterContext trial("trial", Settings{}, ignored, ignored);
    if (const auto done = trial.configure(configuration, now); !done.ok())
        return call->fail(ErrorCode::ConfigInvalid, done.error().text(), "config");
    if (const PartitionState* state = trial.read(question.partition))
        return call->ok(found_value(explain_in(*state, trial.rm_id(), user, question)));
    call->fail(ErrorCode::NotFound, fmt::format("the configuration has no partition {}", partition_text(question)),
               "partition");
}

void explain_with_config(const ExplainParts& parts, const CallPtr& call, const QuestionPtr& question) {
    const auto loaded =
        std::make_shared<const config_yaml::LoadOutcome>(config_yaml::load_or_default(*question->config, "config"));
    if (!loaded->configuration) return call->fail(config_error(*loaded));
    const Instant now = parts.clock.now();
    const auto users = std::make_shared<UserDirectory>("trial");
    users->configure(*loaded->configuration);
    parts.users.look_up(call, to_look_up(needs_lookup(*users, *question, now), *question),
                        [call, question, loaded, users, now](const LookedUp& answers, bool complete) {
                            if (!complete) return call->fail(ErrorCode::Timeout, kSlowNames);
                            explain_with(call, *loaded->configuration, *question,
                                         user_of(*users, *question, answers, now), now);
                        });
}

// --- the running rules --------------------------------------------------------------------------------------------

void answer(const CallPtr& call, const Question& question, const std::vector<Gathered<std::optional<Found>>>& all) {
    std::vector<const Found*> found;
    std::vector<std::string> rms;
    for (const auto& one : all) {
        if (!one.answer) continue;
        found.push_back(&*one.answer);
        rms.push_back(one.rm->id);
    }
    if (found.size() == 1) return call->ok(found_value(*found.front()));
    if (found.empty())
        return call->fail(ErrorCode::NotFound, fmt::format("there is no partition {}", partition_text(question)),
                          "partition");
    call->fail(
        ErrorCode::Invalid,
        fmt::format("several RMs have a partition {}, say which: {}", partition_text(question), fmt::join(rms, ", ")),
        "rmID");
}

void ask(const ExplainParts& parts, const CallPtr& call, const QuestionPtr& question, const std::vector<RmPtr>& rms,
         const LookedUp& answers, Instant now) {
    std::map<std::string, ResolvedUser> users;
    for (const RmPtr& rm : rms) users[rm->id] = user_of(*rm->users, *question, answers, now);
    gather<std::optional<Found>>(
        parts.workers, rms, Lane::Control,
        [question, users](RmOwner& owner) -> std::optional<Found> {
            const PartitionState* state = owner.read(question->partition);
            if (state == nullptr) return std::nullopt;
            return explain_in(*state, owner.rm_id(), users.at(owner.rm_id()), *question);
        },
        [call, question](const std::vector<Gathered<std::optional<Found>>>& all) { answer(call, *question, all); });
}

} // namespace

void explain_placement(const ExplainParts& parts, const CallPtr& call, wire::BodyReader& reader) {
    auto question = std::make_shared<Question>();
    question->partition = reader.text("partition", wire::Presence::Optional, wire::TextRule::Queue);
    question->rm_id = reader.text("rmID");
    question->queue = reader.text("queue", wire::Presence::Optional, wire::TextRule::Queue);
    question->user = {reader.text("user"), reader.texts("groups"), {}};
    question->tags = reader.text_map("tags").value_or(std::vector<std::pair<std::string, std::string>>{});
    question->config = reader.optional_text("config", wire::TextRule::Config);
    if (!call->accepts(reader)) return;
    if (question->config) return explain_with_config(parts, call, question);
    auto rms = rms_to_explain(parts, call, question->rm_id);
    if (!rms) return;
    if (rms->empty()) return call->fail(ErrorCode::NotFound, "no RM is registered; send a configuration along", "rmID");
    const Instant now = parts.clock.now();
    const bool unknown = std::any_of(rms->begin(), rms->end(),
                                     [&](const RmPtr& rm) { return needs_lookup(*rm->users, *question, now); });
    parts.users.look_up(call, to_look_up(unknown, *question),
                        [&parts, call, question, rms = *std::move(rms), now](const LookedUp& answers, bool complete) {
                            if (!complete) return call->fail(ErrorCode::Timeout, kSlowNames);
                            ask(parts, call, question, rms, answers, now);
                        });
}

} // namespace yk::service
