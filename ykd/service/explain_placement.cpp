// Explain of a placement (I-354, B-08): where an application would go, rule by rule, by the running rules or by those
// of a configuration that is sent along. Nothing is submitted.

#include <fmt/format.h>

#include "libcore/placement/rule_chain.h"
#include "libcore/scheduler/silence.h"
#include "ykd/service/config_errors.h"
#include "ykd/service/daemon.h"
#include "ykd/service/explain_kinds.h"
#include "ykd/service/gather.h"

namespace yk::service {
namespace {

/// The application that is asked about, as owned text.
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

/// May block.
ResolvedUser user_of(const UserDirectory& users, const Question& question, Instant now) {
    return users.preview(question.partition, question.user, placement::is_forced(question.tag_views()), now);
}

std::optional<Found> explain_in(const ClusterContext& context, const ResolvedUser& user, const Question& question) {
    ApplicationSpec spec;
    spec.partition = question.partition;
    spec.queue = question.queue;
    spec.tags = question.tag_views();
    spec.user = user.user;
    spec.groups.assign(user.groups.begin(), user.groups.end());
    spec.user_fault = user.fault;
    auto explanation = context.explain_placement(spec);
    if (!explanation) return std::nullopt;
    return Found{context.rm_id(), question.partition.empty() ? "default" : question.partition, user,
                 *std::move(explanation)};
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

/// Builds the queues of the configuration and nothing else (C-449).
void explain_with_config(const CallPtr& call, const Question& question) {
    const auto loaded = config_yaml::load_or_default(*question.config, "config");
    if (!loaded.configuration) return call->fail(config_error(loaded));
    const Instant now = call->daemon().now();
    Silence silence;
    ClusterContext trial("trial", Settings{}, silence, silence);
    if (const auto done = trial.configure(*loaded.configuration, now); !done.ok())
        return call->fail(ErrorCode::ConfigInvalid, done.error().text(), "config");
    UserDirectory users("trial");
    users.configure(*loaded.configuration);
    const auto found = explain_in(trial, user_of(users, question, now), question);
    if (found) return call->ok(found_value(*found));
    call->fail(ErrorCode::NotFound, fmt::format("the configuration has no partition {}", partition_text(question)),
               "partition");
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

} // namespace

void explain_placement(const CallPtr& call, wire::BodyReader& reader) {
    auto question = std::make_shared<Question>();
    question->partition = reader.text("partition", wire::Presence::Optional, wire::TextRule::Queue);
    question->rm_id = reader.text("rmID");
    question->queue = reader.text("queue", wire::Presence::Optional, wire::TextRule::Queue);
    question->user = {reader.text("user"), reader.texts("groups"), {}};
    question->tags = reader.text_map("tags").value_or(std::vector<std::pair<std::string, std::string>>{});
    question->config = reader.optional_text("config", wire::TextRule::Config);
    if (!call->accepts(reader)) return;
    if (question->config) return explain_with_config(call, *question);
    auto rms = rms_to_explain(call, question->rm_id);
    if (!rms) return;
    if (rms->empty()) return call->fail(ErrorCode::NotFound, "no RM is registered; send a configuration along", "rmID");
    std::map<std::string, ResolvedUser> users; // looked up here: an owner thread may not wait
    for (const RmPtr& rm : *rms) users[rm->id] = user_of(*rm->users, *question, call->daemon().now());
    gather<std::optional<Found>>(
        call->daemon().workers(), *std::move(rms), Lane::Control,
        [question, users](RmOwner& owner) -> std::optional<Found> {
            if (owner.context() == nullptr) return std::nullopt;
            return explain_in(*owner.context(), users.at(owner.rm_id()), *question);
        },
        [call, question](const std::vector<Gathered<std::optional<Found>>>& all) { answer(call, *question, all); });
}

} // namespace yk::service
