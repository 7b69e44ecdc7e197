// UpdateConfiguration, ValidateConfiguration, SetExtraConfig (interface.md 2.9).

#include <fmt/format.h>

#include "ykd/service/config_change.h"
#include "ykd/service/config_errors.h"
#include "ykd/service/daemon.h"
#include "ykd/service/extra_config_keys.h"
#include "ykd/service/log.h"
#include "ykd/service/reload.h"
#include "ykd/service/rm_checks.h"
#include "ykd/service/services.h"

namespace yk::service {
namespace {

using Request = si::UpdateConfigurationRequest;
using config_yaml::LoadOutcome;

constexpr std::string_view kPrefix = "update of configuration failed: ";

/// An update on its way.
struct Update {
    CallPtr call;
    RmPtr rm;
    Request request;
    Candidate candidate;
};

/// B-12: one of the configurations that the RM had before.
bool obtain_former(Update& update) {
    const auto former = update.call->daemon().config_history().find(update.rm->id, *update.request.checksum);
    if (!former) {
        update.call->fail(ErrorCode::NotFound,
                          fmt::format("no configuration {} of RM {} is kept; see ykctl config history",
                                      *update.request.checksum, update.rm->id),
                          "checksum");
        return false;
    }
    update.candidate =
        sent_candidate(*former->text, "config", fmt::format("back to {}", former->checksum.substr(0, 12)));
    return true;
}

/// I-058: the text sent, or the daemon's file. False when the call was answered.
bool obtain(Update& update) {
    if (update.request.checksum) return obtain_former(update);
    if (update.request.config) {
        update.candidate =
            sent_candidate(*update.request.config, update.request.source.empty() ? "config" : update.request.source,
                           "request of " + update.call->session->grant.name);
        return true;
    }
    const std::string group =
        update.request.policy_group.empty() ? update.rm->facts().policy_group : update.request.policy_group;
    auto file = update.call->daemon().config_files().load(group);
    if (!file.ok()) {
        if (!update.request.dry_run) note_refusal(*update.rm, file.error().message);
        update.call->fail(ErrorCode::ConfigSource, file.error().message);
        return false;
    }
    if (!file->has_value()) {
        update.call->fail(
            ErrorCode::ConfigSource,
            fmt::format("the daemon has no configuration file for policy group {} (--config); send a text", group));
        return false;
    }
    update.candidate = file_candidate(std::move(**file));
    return true;
}

void fail(const Update& update, wire::ErrorReply error) {
    error.message = std::string(kPrefix) + error.message;
    update.call->fail(error);
}

Value answer_value(const Update& update, const ChangeOutcome& outcome) {
    Value value{{"changed", outcome.changed},
                {"checksum", outcome.wanted->checksum},
                {"partitions", update.rm->facts().partitions},
                {"problems", problems_value(*update.candidate.outcome)}};
    Daemon& daemon = update.call->daemon();
    if (const RmFacts facts = update.rm->facts(); differs_from_file(daemon, facts)) {
        value["notFollowed"] = file_of(daemon, facts);
        value["wayBack"] = way_back(update.rm->id);
    }
    return value;
}

/// B-06: everything of an update but its effect.
Value trial_value(const Update& update, const ChangeOutcome& outcome) {
    const config::Configuration& wanted = *outcome.wanted;
    std::vector<std::string> partitions;
    for (const config::Partition& one : wanted.partitions)
        partitions.push_back(fmt::format("[{}]{}", update.rm->id, one.name));
    return {{"changed", outcome.changed},
            {"checksum", wanted.checksum},
            {"partitions", partitions},
            {"problems", problems_value(*update.candidate.outcome)},
            {"dryRun", true},
            {"changes", changes_of(*update.rm, wanted, outcome.preview)}};
}

void begin(const std::shared_ptr<Update>& update) {
    ConfigChange change{.rm = update->rm,
                        .epoch = update->call->rm_epoch,
                        .candidate = update->candidate,
                        .policy_group = update->request.policy_group,
                        .done = {}};
    if (const auto& extra = update->request.extra_config) change.extra_config.emplace(extra->begin(), extra->end());
    change.stored_already = update->rm->is_owned_by(*update->call->session);
    change.dry_run = update->request.dry_run;
    change.done = [update](const ChangeOutcome& outcome) {
        if (!outcome.refusal)
            return update->call->ok(update->request.dry_run ? trial_value(*update, outcome)
                                                            : answer_value(*update, outcome));
        if (outcome.rm_left) return update->call->fail(*outcome.refusal);
        fail(*update, *outcome.refusal);
    };
    begin_change(update->call->daemon(), std::move(change));
}

// --- validation ---------------------------------------------------------------------------------

Value validation_value(const LoadOutcome& loaded) {
    const config::Problem* first = loaded.configuration ? nullptr : first_problem(loaded);
    return {{"allowed", loaded.configuration.has_value()},
            {"reason", first == nullptr ? std::string{} : first->message},
            {"problems", problems_value(loaded)}};
}

/// What the running RM says to it: changes of state that are refused (C-471), and the differences.
void compare_with_running(const CallPtr& call, const RmPtr& rm, const Candidate& candidate, bool want_changes) {
    const auto answer = [call, rm, candidate, want_changes](const Preview& preview) {
        Value value = validation_value(*candidate.outcome);
        if (!preview.refusal.empty()) {
            value["allowed"] = false;
            value["reason"] = preview.refusal;
        }
        if (want_changes) value["changes"] = changes_of(*rm, *candidate.configuration(), preview);
        call->ok(value);
    };
    look_ahead(call->daemon(), rm, candidate.configuration(), want_changes, answer, rm_left(call, rm->id));
}

/// The RM that a validation is about: named, or the only one.
RmPtr running_rm(const CallPtr& call, const std::string& rm_id) {
    if (!rm_id.empty()) return find_rm(call, rm_id, false, Ownership::Viewer);
    auto all = call->daemon().rms().all();
    std::erase_if(all, [&call](const RmPtr& rm) { return !call->session->may_see(rm->id); });
    if (all.size() == 1) return all.front();
    call->fail(ErrorCode::Invalid, "a comparison needs rmID: this session does not see exactly one RM", "rmID");
    return nullptr;
}

} // namespace

void update_configuration(const CallPtr& call) {
    auto request = call->decode<Request>();
    if (!request) return;
    const RmPtr known = call->daemon().rms().find(request->rm_id);
    if (!known || known->owner.state() == si::CoreState::New) // C-443
        return call->fail(
            ErrorCode::RmUnknown,
            fmt::format("{}RM {} has no active partitions, make sure it is registered", kPrefix, request->rm_id),
            "rmID");
    auto update = std::make_shared<Update>();
    update->call = call;
    update->rm = find_rm(call, request->rm_id, request->impersonate, Ownership::OwnerOrAdmin);
    if (!update->rm) return;
    update->request = std::move(*request);
    if (update->request.config && update->request.checksum)
        return call->fail(ErrorCode::Invalid, "either a text or the checksum of a former one", "checksum");
    if (!obtain(*update)) return;
    if (!update->request.dry_run && !has_memory(call, bytes_of_configuration(update->candidate.text->size()))) return;
    if (update->candidate.good()) return begin(update);
    if (!update->request.dry_run) refuse_candidate(*update->rm, update->candidate);
    fail(*update, config_error(*update->candidate.outcome));
}

void validate_configuration(const CallPtr& call) {
    const Value body = wire::decode_value(call->envelope.body);
    wire::BodyReader reader(body);
    const auto text = reader.optional_text("config", wire::TextRule::Config);
    const std::string rm_id = reader.text("rmID");
    const bool want_changes = reader.flag("diff");
    if (!text) reader.fail(ErrorCode::MissingField, "config", "config is missing");
    if (!call->accepts(reader)) return;
    const bool compares = want_changes || !rm_id.empty();
    if (!compares) return call->ok(validation_value(config_yaml::load(*text, "config")));
    const Candidate candidate = sent_candidate(*text, "config", {});
    if (!candidate.good()) return call->ok(validation_value(*candidate.outcome));
    if (const RmPtr rm = running_rm(call, rm_id)) compare_with_running(call, rm, candidate, want_changes);
}

void set_extra_config(const CallPtr& call) {
    const Value body = wire::decode_value(call->envelope.body);
    wire::BodyReader reader(body);
    const auto map = reader.text_map("extraConfig");
    if (!map) reader.fail(ErrorCode::MissingField, "extraConfig", "extraConfig is missing");
    if (!call->accepts(reader)) return;
    Daemon& daemon = call->daemon();
    const TextMap before = daemon.extra_config().effective();
    daemon.extra_config().overlay({map->begin(), map->end()});
    warn_of_each("core.config", "extraConfig", changes_ignored(before, daemon.extra_config().effective()));
    daemon.apply_extra_config();
    call->ok();
}

} // namespace yk::service
