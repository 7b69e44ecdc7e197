// UpdateConfiguration, ValidateConfiguration, SetExtraConfig (interface.md 2.9), and the reload of configuration files.

#include "ykd/service/configuration.h"

#include <fmt/format.h>

#include <future>

#include "libcore/config/diff.h"
#include "ykd/service/config_errors.h"
#include "ykd/service/daemon.h"
#include "ykd/service/log.h"
#include "ykd/service/rm_checks.h"
#include "ykd/service/services.h"

namespace yk::service {
namespace {

using Request = si::UpdateConfigurationRequest;
using config_yaml::LoadOutcome;

constexpr std::string_view kPrefix = "update of configuration failed: ";

/// Makes `loaded` the configuration of the RM; true: something changed (I-181, C-445). Owner thread.
Result<bool> apply(const Rm& rm, RmOwner& owner, const LoadOutcome& loaded) {
    const config::Configuration& wanted = *loaded.configuration;
    const auto active = rm.facts().configuration;
    if (active && active->checksum == wanted.checksum) return false;
    YK_CHECKED(owner.context()->configure(wanted, owner.now()));
    rm.users->configure(wanted);
    owner.settle_releases();
    return true;
}

void remember(Rm& rm, RmOwner& owner, const LoadOutcome& loaded, const std::string& policy_group, bool from_file) {
    rm.change_facts([&](RmFacts& facts) {
        facts.configuration = std::make_shared<const config::Configuration>(*loaded.configuration);
        facts.config_from_file = from_file;
        if (!policy_group.empty()) facts.policy_group = policy_group;
        facts.partitions.clear();
        for (const std::string& name : owner.context()->partition_names())
            facts.partitions.push_back(owner.context()->full_name(name));
    });
}

/// An update on its way to the owner thread.
struct Update {
    CallPtr call;
    RmPtr rm;
    Request request;
    LoadOutcome loaded;
    bool from_file = false;
};

/// I-058: the text sent, or the daemon's file. False when the call was answered.
bool obtain(Update& update) {
    if (update.request.config) {
        update.loaded = config_yaml::load_or_default(*update.request.config, "config");
        return true;
    }
    const std::string group =
        update.request.policy_group.empty() ? update.rm->facts().policy_group : update.request.policy_group;
    const auto file = update.call->daemon().config_files().load(group);
    if (!file.ok()) {
        update.call->fail(ErrorCode::ConfigSource, file.error().message);
        return false;
    }
    if (!file->has_value()) {
        update.call->fail(
            ErrorCode::ConfigSource,
            fmt::format("the daemon has no configuration file for policy group {} (--config); send a text", group));
        return false;
    }
    update.from_file = true;
    update.loaded = config_yaml::load((*file)->text, (*file)->source);
    return true;
}

void carry_out(const Update& update, RmOwner& owner) {
    if (owner.context() == nullptr)
        return update.call->fail(ErrorCode::RmUnknown, fmt::format("RM {} is not registered any more", owner.rm_id()),
                                 "rmID");
    const auto changed = apply(*update.rm, owner, update.loaded);
    if (!changed.ok())
        return update.call->fail(ErrorCode::ConfigInvalid, std::string(kPrefix) + changed.error().text());
    Daemon& daemon = update.call->daemon();
    remember(*update.rm, owner, update.loaded, update.request.policy_group, update.from_file);
    if (update.request.extra_config) {
        daemon.extra_config().set(owner.rm_id(),
                                  {update.request.extra_config->begin(), update.request.extra_config->end()});
        daemon.apply_extra_config();
    }
    log("core.config")
        .info("RM {}: configuration {} {}", owner.rm_id(), update.loaded.configuration->checksum.substr(0, 12),
              *changed ? "is active" : "unchanged");
    update.call->ok({{"changed", *changed},
                     {"checksum", update.loaded.configuration->checksum},
                     {"partitions", update.rm->facts().partitions}});
}

Value changes_value(const config::Configuration& before, const config::Configuration& now) {
    Value changes = Value::array();
    for (const config::Difference& one : config::diff(before, now))
        changes.push_back({{"kind", config::kind_name(one.kind)},
                           {"partition", one.partition},
                           {"path", one.path},
                           {"old", one.old_value},
                           {"new", one.new_value},
                           {"text", one.text}});
    return changes;
}

Value validation_value(const LoadOutcome& loaded) {
    const config::Problem* first = loaded.configuration ? nullptr : first_problem(loaded);
    return {{"allowed", loaded.configuration.has_value()},
            {"reason", first == nullptr ? std::string{} : first->message},
            {"problems", problems_value(loaded)}};
}

/// What the running RM says to it: changes of state that are refused (C-471), and the differences.
void compare_with_running(const CallPtr& call, const RmPtr& rm, LoadOutcome loaded, bool want_changes) {
    rm->owner.control([call, rm, loaded = std::move(loaded), want_changes](RmOwner& owner) {
        Value value = validation_value(loaded);
        if (owner.context() != nullptr) {
            const auto possible = owner.context()->check_configuration(*loaded.configuration);
            if (!possible.ok()) {
                value["allowed"] = false;
                value["reason"] = possible.error().text();
            }
        }
        const auto active = rm->facts().configuration;
        call->daemon().workers().post([call, active, loaded, want_changes, value = std::move(value)]() mutable {
            if (want_changes && active) value["changes"] = changes_value(*active, *loaded.configuration);
            call->ok(value);
        });
    });
}

/// The RM that a validation is about: named, or the only one.
RmPtr running_rm(const CallPtr& call, const std::string& rm_id) {
    if (!rm_id.empty()) return find_rm(call, rm_id, false, Ownership::Anybody);
    const auto all = call->daemon().rms().all();
    if (all.size() == 1) return all.front();
    call->fail(ErrorCode::Invalid, "a comparison needs rmID: not exactly one RM is registered", "rmID");
    return nullptr;
}

} // namespace

void update_configuration(const CallPtr& call) {
    auto request = call->decode<Request>();
    if (!request) return;
    auto update = std::make_shared<Update>();
    update->call = call;
    update->rm = find_rm(call, request->rm_id, request->impersonate, Ownership::OwnerOrAdmin);
    if (!update->rm) return;
    update->request = std::move(*request);
    if (!obtain(*update)) return;
    if (!update->loaded.configuration) {
        wire::ErrorReply error = config_error(update->loaded);
        error.message = std::string(kPrefix) + error.message;
        return call->fail(std::move(error));
    }
    update->rm->owner.in_order([update](RmOwner& owner) { carry_out(*update, owner); });
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
    LoadOutcome loaded = compares ? config_yaml::load_or_default(*text, "config") : config_yaml::load(*text, "config");
    if (!loaded.configuration || !compares) return call->ok(validation_value(loaded));
    if (const RmPtr rm = running_rm(call, rm_id)) compare_with_running(call, rm, std::move(loaded), want_changes);
}

void set_extra_config(const CallPtr& call) {
    const Value body = wire::decode_value(call->envelope.body);
    wire::BodyReader reader(body);
    const auto map = reader.text_map("extraConfig");
    if (!map) reader.fail(ErrorCode::MissingField, "extraConfig", "extraConfig is missing");
    if (!call->accepts(reader)) return;
    call->daemon().extra_config().overlay({map->begin(), map->end()});
    call->daemon().apply_extra_config();
    call->ok();
}

std::string reload_from_file(Daemon& daemon, const RmPtr& rm) {
    const RmFacts facts = rm->facts();
    const auto file = daemon.config_files().load(facts.policy_group);
    if (!file.ok()) return fmt::format("RM {}: {}", rm->id, file.error().message);
    if (!file->has_value()) return fmt::format("RM {}: its configuration file is no longer configured", rm->id);
    auto loaded = std::make_shared<const LoadOutcome>(config_yaml::load((*file)->text, (*file)->source));
    if (!loaded->configuration)
        return fmt::format("RM {} keeps its configuration: {}", rm->id, loaded->first_error().text());
    auto outcome = std::make_shared<std::promise<std::string>>();
    auto answer = outcome->get_future();
    rm->owner.in_order([rm, loaded, outcome](RmOwner& owner) {
        if (owner.context() == nullptr) return outcome->set_value(fmt::format("RM {} is gone", rm->id));
        const auto changed = apply(*rm, owner, *loaded);
        if (!changed.ok())
            return outcome->set_value(fmt::format("RM {} keeps its configuration: {}", rm->id, changed.error().text()));
        remember(*rm, owner, *loaded, {}, true);
        outcome->set_value(fmt::format("RM {}: {}", rm->id, *changed ? "new configuration is active" : "unchanged"));
    });
    constexpr auto kPatience = std::chrono::seconds{5};
    if (answer.wait_for(kPatience) != std::future_status::ready)
        return fmt::format("RM {}: reload is under way", rm->id);
    return answer.get();
}

} // namespace yk::service
