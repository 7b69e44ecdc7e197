// SPDX-License-Identifier: Apache-2.0
#include "ykd/configuration/configuration_service.h"

#include <fmt/format.h>

#include "ykd/configuration/config_errors.h"
#include "ykd/configuration/extra_config_keys.h"
#include "ykd/process/log.h"
#include "ykd/request/rm_checks.h"

namespace yk::service {
namespace {

using Request = si::UpdateConfigurationRequest;
using config_yaml::LoadOutcome;

constexpr std::string_view kPrefix = "update of configuration failed: ";

Value validation_value(const LoadOutcome& loaded) {
    const config::Problem* first = loaded.configuration ? nullptr : first_problem(loaded);
    return {{"allowed", loaded.configuration.has_value()},
            {"reason", first == nullptr ? std::string{} : first->message},
            {"problems", problems_value(loaded)}};
}

void fail(const CallPtr& call, wire::ErrorReply error) {
    error.message = std::string(kPrefix) + error.message;
    call->fail(error);
}

/// The answer to a dry run: what an update answers, and its changes (B-06).
Value trial_value(const Rm& rm, const Candidate& candidate, const ChangeOutcome& outcome) {
    const config::Configuration& wanted = *outcome.wanted;
    std::vector<std::string> partitions;
    for (const config::Partition& one : wanted.partitions) partitions.push_back(fmt::format("[{}]{}", rm.id, one.name));
    return {{"changed", outcome.changed},
            {"checksum", wanted.checksum},
            {"partitions", partitions},
            {"problems", problems_value(*candidate.outcome)},
            {"dryRun", true},
            {"changes", changes_of(rm, wanted, outcome.preview)}};
}

} // namespace

/// An update on its way. Owner: the closure of its next step.
struct ConfigurationService::Update {
    CallPtr call;
    RmPtr rm;
    Request request;
    Candidate candidate;
};

// --- update -------------------------------------------------------------------------------------

/// Takes one of the configurations that the RM had before, by its checksum (B-12). False: the call was answered.
bool ConfigurationService::obtain_former(Update& update) {
    const auto former = parts_.history.find(update.rm->id, *update.request.checksum);
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

/// Takes the text that was sent, or the daemon's file (I-058). False: the call was answered.
bool ConfigurationService::obtain(Update& update) {
    if (update.request.checksum) return obtain_former(update);
    if (update.request.config) {
        update.candidate =
            sent_candidate(*update.request.config, update.request.source.empty() ? "config" : update.request.source,
                           "request of " + update.call->session->grant.name);
        return true;
    }
    const std::string group =
        update.request.policy_group.empty() ? update.rm->facts().policy_group : update.request.policy_group;
    auto file = parts_.files.load(group);
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

Value ConfigurationService::answer_value(const Update& update, const ChangeOutcome& outcome) const {
    Value value{{"changed", outcome.changed},
                {"checksum", outcome.wanted->checksum},
                {"partitions", update.rm->facts().partitions},
                {"problems", problems_value(*update.candidate.outcome)}};
    if (const RmFacts facts = update.rm->facts(); differs_from_file(parts_.files, facts)) {
        value["notFollowed"] = file_of(parts_.files, facts);
        value["wayBack"] = way_back(update.rm->id);
    }
    return value;
}

void ConfigurationService::begin(const std::shared_ptr<Update>& update) {
    ConfigChange change{.rm = update->rm,
                        .epoch = update->call->rm_epoch,
                        .candidate = update->candidate,
                        .policy_group = update->request.policy_group,
                        .done = {}};
    if (const auto& extra = update->request.extra_config) change.extra_config.emplace(extra->begin(), extra->end());
    change.stored_already = update->rm->is_owned_by(*update->call->session);
    change.dry_run = update->request.dry_run;
    change.done = [this, update](const ChangeOutcome& outcome) {
        if (!outcome.refusal)
            return update->call->ok(update->request.dry_run ? trial_value(*update->rm, update->candidate, outcome)
                                                            : answer_value(*update, outcome));
        if (outcome.rm_left) return update->call->fail(*outcome.refusal);
        fail(update->call, *outcome.refusal);
    };
    parts_.changer.begin(std::move(change));
}

void ConfigurationService::update(const CallPtr& call) {
    auto request = call->decode<Request>();
    if (!request) return;
    const RmPtr known = parts_.rms.find(request->rm_id);
    if (!known || known->owner.state() == si::CoreState::New) // refused with the original's words (C-443)
        return call->fail(
            ErrorCode::RmUnknown,
            fmt::format("{}RM {} has no active partitions, make sure it is registered", kPrefix, request->rm_id),
            "rmID");
    auto update = std::make_shared<Update>();
    update->call = call;
    update->rm = find_rm(parts_.rms, call, request->rm_id, request->impersonate, Ownership::OwnerOrAdmin);
    if (!update->rm) return;
    update->request = std::move(*request);
    if (update->request.config && update->request.checksum)
        return call->fail(ErrorCode::Invalid, "either a text or the checksum of a former one", "checksum");
    if (!obtain(*update)) return;
    update->candidate.add_message(update->request.message);
    if (!update->request.dry_run &&
        !has_memory(parts_.memory, call, bytes_of_configuration(update->candidate.text->size())))
        return;
    if (update->candidate.good()) return begin(update);
    if (!update->request.dry_run) refuse_candidate(*update->rm, update->candidate);
    fail(call, config_error(*update->candidate.outcome));
}

// --- validation ---------------------------------------------------------------------------------

/// Answers with what depends on the running RM: changes that its state refuses (C-471), and the differences.
void ConfigurationService::compare_with_running(const CallPtr& call, const RmPtr& rm, const Candidate& candidate,
                                                bool want_changes) {
    const auto answer = [call, rm, candidate, want_changes](const Preview& preview) {
        Value value = validation_value(*candidate.outcome);
        if (!preview.refusal.empty()) {
            value["allowed"] = false;
            value["reason"] = preview.refusal;
        }
        if (want_changes) value["changes"] = changes_of(*rm, *candidate.configuration(), preview);
        call->ok(value);
    };
    look_ahead(parts_.workers, rm, candidate.configuration(), want_changes, answer, rm_left(call, rm->id));
}

RmPtr ConfigurationService::running_rm(const CallPtr& call, const std::string& rm_id) {
    if (!rm_id.empty()) return find_rm(parts_.rms, call, rm_id, false, Ownership::Viewer);
    auto all = parts_.rms.all();
    std::erase_if(all, [&call](const RmPtr& rm) { return !call->session->may_see(rm->id); });
    if (all.size() == 1) return all.front();
    call->fail(ErrorCode::Invalid, "a comparison needs rmID: this session does not see exactly one RM", "rmID");
    return nullptr;
}

void ConfigurationService::validate(const CallPtr& call) {
    const auto request = call->decode<si::ValidateConfigurationRequest>();
    if (!request) return;
    const bool compares = request->diff || !request->rm_id.empty();
    if (!compares) return call->ok(validation_value(config_yaml::load(*request->config, "config")));
    const Candidate candidate = sent_candidate(*request->config, "config", {});
    if (!candidate.good()) return call->ok(validation_value(*candidate.outcome));
    if (const RmPtr rm = running_rm(call, request->rm_id)) compare_with_running(call, rm, candidate, request->diff);
}

// --- the rest -----------------------------------------------------------------------------------

void ConfigurationService::reload(const CallPtr& call) {
    const auto request = call->decode<si::ReloadRequest>();
    if (!request) return;
    const std::string& rm_id = request->rm_id;
    if (!rm_id.empty() && !find_rm(parts_.rms, call, rm_id, request->impersonate, Ownership::OwnerOrAdmin)) return;
    if (rm_id.empty() && call->session->role != si::Role::Admin)
        return call->fail(ErrorCode::Forbidden,
                          fmt::format("a reload of all RMs, peers and tokens needs role admin, the session has {}; "
                                      "with an rmID it is of one RM",
                                      si::text(call->session->role)),
                          "rmID");
    parts_.reloader.reload(
        {.rm_id = rm_id, .from_file = request->from_file, .dry_run = request->dry_run, .message = request->message},
        kStorePatience, [call](const ReloadReport& report) { call->ok(report_value(report)); });
}

void ConfigurationService::set_extra_config(const CallPtr& call) {
    const auto request = call->decode<si::SetExtraConfigRequest>();
    if (!request) return;
    const si::StringMap& map = *request->extra_config;
    ExtraConfig& extra_config = parts_.settings.extra_config();
    const TextMap before = extra_config.effective();
    extra_config.overlay({map.begin(), map.end()});
    warn_of_each("core.config", "extraConfig", changes_ignored(before, extra_config.effective()));
    parts_.settings.apply();
    const bool levels =
        std::any_of(map.begin(), map.end(), [](const auto& one) { return one.first.starts_with("log."); });
    if (!levels) return call->ok();
    parts_.state.keep_levels([&extra_config] { return extra_config.overlaid_levels(); },
                             [call](bool kept) {
                                 call->ok({{"kept", kept}});
                             });
}

} // namespace yk::service
