// UpdateConfiguration, ValidateConfiguration, SetExtraConfig (interface.md 2.9), and the reload of configuration files.

#include "ykd/service/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "libcore/base/counted.h"
#include "libcore/config/partition_names.h"
#include "ykd/service/config_effects.h"
#include "ykd/service/config_errors.h"
#include "ykd/service/config_preview.h"
#include "ykd/service/daemon.h"
#include "ykd/service/extra_config_keys.h"
#include "ykd/service/log.h"
#include "ykd/service/rm_checks.h"
#include "ykd/service/services.h"

namespace yk::service {
namespace {

using Request = si::UpdateConfigurationRequest;
using config_yaml::LoadOutcome;

constexpr std::string_view kPrefix = "update of configuration failed: ";

/// A configuration that was read and is good, on its way to the owner thread: everything that takes time was done.
struct Loaded {
    std::shared_ptr<const LoadOutcome> outcome;
    std::shared_ptr<const std::string> text;
    std::string origin; // for the history
    bool from_file = false;

    Loaded() = default;
    Loaded(std::string words, std::string_view source, std::string from, bool file = false)
        : outcome(std::make_shared<const LoadOutcome>(file ? config_yaml::load(words, source)
                                                           : config_yaml::load_or_default(words, source))),
          text(std::make_shared<const std::string>(std::move(words))),
          origin(std::move(from)),
          from_file(file) {}

    [[nodiscard]] bool good() const { return outcome->configuration.has_value(); }
    /// REQUIRES: good().
    [[nodiscard]] ConfigurationPtr configuration() const { return {outcome, &*outcome->configuration}; }
};

/// C-030: a partition that is written in another case keeps the name it has; so it is kept and shown.
void keep_names(const Rm& rm, Loaded& loaded) {
    const auto active = rm.facts().configuration;
    if (!active) return;
    config::PartitionNames names;
    for (const config::Partition& one : active->partitions) names.add(one.name);
    const auto& wanted = loaded.outcome->configuration->partitions;
    if (std::all_of(wanted.begin(), wanted.end(), [&](const auto& one) { return names.running(one.name) == one.name; }))
        return;
    auto renamed = std::make_shared<LoadOutcome>(*loaded.outcome);
    for (config::Partition& one : renamed->configuration->partitions) one.name = names.running(one.name);
    loaded.outcome = std::move(renamed);
}

bool is_active(const Rm& rm, const Loaded& loaded) {
    const auto active = rm.facts().configuration;
    return active && active->checksum == loaded.outcome->configuration->checksum;
}

/// Makes `loaded` the configuration of the RM; true: something changed (I-181, C-445). Owner thread.
Result<bool> apply(const Rm& rm, RmOwner& owner, const Loaded& loaded) {
    if (is_active(rm, loaded)) return false;
    const config::Configuration& wanted = *loaded.outcome->configuration;
    YK_CHECKED(owner.door().configure(wanted, owner.now()));
    rm.users->configure(wanted);
    owner.settle_releases();
    return true;
}

/// Owner thread. What was there before is freed elsewhere: a large configuration takes a while.
void remember(Daemon& daemon, Rm& rm, RmOwner& owner, const Loaded& loaded, const std::string& policy_group) {
    ConfigurationPtr before = loaded.configuration();
    rm.change_facts([&](RmFacts& facts) {
        facts.last_reload = ReloadNote{real_now(), {}};
        std::swap(facts.configuration, before);
        facts.config_from_file = loaded.from_file;
        if (!policy_group.empty()) facts.policy_group = policy_group;
        facts.partitions.clear();
        for (const std::string& name : owner.context()->partition_names())
            facts.partitions.push_back(owner.context()->full_name(name));
    });
    daemon.config_history().keep(rm.id,
                                 {real_now(), loaded.outcome->configuration->checksum, loaded.origin, loaded.text});
    daemon.workers().post([before = std::move(before)] {});
}

void note_refusal(Rm& rm, const std::string& why) {
    rm.change_facts([&](RmFacts& facts) { facts.last_reload = ReloadNote{real_now(), why}; });
}

/// The first problem with its place, and how many others there are.
std::string refusal_of(const LoadOutcome& outcome) {
    std::string first = outcome.first_error().text();
    const std::size_t others = outcome.problems.size() - 1;
    if (others == 0) return first;
    return fmt::format("{} (and {})", first, counted(others, "more problem"));
}

/// Applied afterwards with Daemon::apply_extra_config().
template <class Change>
void change_extra_config(Daemon& daemon, const Change& change) {
    const TextMap before = daemon.extra_config().effective();
    change(daemon.extra_config());
    for (const std::string& warning : changes_ignored(before, daemon.extra_config().effective()))
        log("core.config").warn("extraConfig: {}", warning);
}

/// An update on its way to the owner thread.
struct Update {
    CallPtr call;
    RmPtr rm;
    Request request;
    Loaded loaded;
};

void refuse(const Update& update, wire::ErrorReply error) {
    const LoadOutcome& outcome = *update.loaded.outcome;
    const std::string why = outcome.configuration ? error.message : refusal_of(outcome);
    log("core.config").warn("RM {}: configuration refused, the old one stays: {}", update.rm->id, why);
    if (!outcome.configuration) log_problems(update.rm->id, outcome);
    if (!update.request.dry_run) note_refusal(*update.rm, why);
    error.message = std::string(kPrefix) + error.message;
    update.call->fail(error);
}

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
    update.loaded = Loaded(*former->text, "config", fmt::format("back to {}", former->checksum.substr(0, 12)));
    return true;
}

/// I-058: the text sent, or the daemon's file. False when the call was answered.
bool obtain(Update& update) {
    const std::string asked_by = "request of " + update.call->session->grant.name;
    if (update.request.checksum) return obtain_former(update);
    if (update.request.config) {
        update.loaded = Loaded(*update.request.config, "config", asked_by);
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
    update.loaded = Loaded(std::move((*file)->text), (*file)->source, "file " + (*file)->source, true);
    return true;
}

void log_active(const std::string& rm_id, const Loaded& loaded, bool changed) {
    log("core.config")
        .info("RM {}: configuration {} of {} {}", rm_id, loaded.outcome->configuration->checksum.substr(0, 12),
              loaded.origin, changed ? "is active" : "unchanged");
    log_problems(rm_id, *loaded.outcome);
}

// --- storing (I-184) ----------------------------------------------------------------------------

constexpr std::size_t kItemRoom = 4096; // of a poll's reply, around the text

/// Applies a configuration, or says (`refusal`) why the RM did not store it. True: it is active.
using Finish = std::function<bool(RmOwner&, const std::optional<std::string>& refusal)>;

/// Whether the RM is to be asked: not for what is active already or would be refused.
bool wants_to_store(const Rm& rm, RmOwner& owner, const Loaded& loaded) {
    const auto able = rm.facts().capabilities;
    return std::find(able.begin(), able.end(), "configStore") != able.end() && !is_active(rm, loaded) &&
           owner.context()->check_configuration(*loaded.outcome->configuration).ok();
}

/// The largest text that the RM can receive.
std::size_t room_for_text(Daemon& daemon, const Rm& rm) {
    const auto owner = rm.facts().owner;
    const SessionPtr session = owner ? daemon.sessions().find(*owner) : nullptr;
    return daemon.reply_limit(session.get()) - kItemRoom;
}

/// The RM stored what could not be applied after all: it is to store what is active.
void give_back(Daemon& daemon, const RmPtr& rm, RmOwner& owner) {
    const auto active = rm->facts().configuration;
    const auto kept = active ? daemon.config_history().find(rm->id, active->checksum) : std::nullopt;
    if (kept && owner.context() != nullptr)
        rm->config_store.store(owner, *kept->text, [](RmOwner&, const std::optional<std::string>&) {});
}

/// Has the RM store what `loaded` says if it wants to (capability configStore), then goes on with `finish`. Owner
/// thread, in the RM's turn.
void store_first(Daemon& daemon, const RmPtr& rm, RmOwner& owner, const Loaded& loaded, const Finish& finish) {
    if (!wants_to_store(*rm, owner, loaded)) return static_cast<void>(finish(owner, std::nullopt));
    const std::size_t room = room_for_text(daemon, *rm);
    if (loaded.text->size() > room)
        return static_cast<void>(
            finish(owner, fmt::format("the text has {} bytes, it can receive {}", loaded.text->size(), room)));
    rm->config_store.store(owner, *loaded.text,
                           [&daemon, rm, finish](RmOwner& then, const std::optional<std::string>& refusal) {
                               if (!finish(then, refusal) && !refusal) give_back(daemon, rm, then);
                           });
}

wire::ErrorReply not_stored(const std::string& rm_id, const std::string& why) {
    return {ErrorCode::ConfigStore, fmt::format("RM {} did not store the configuration: {}", rm_id, why), {}, {}, {}};
}

/// True: the configuration is active.
bool apply_update(const Update& update, RmOwner& owner) {
    const auto changed = apply(*update.rm, owner, update.loaded);
    if (!changed.ok()) {
        refuse(update, {ErrorCode::ConfigInvalid, changed.error().text(), {}, {}, {}});
        return false;
    }
    Daemon& daemon = update.call->daemon();
    remember(daemon, *update.rm, owner, update.loaded, update.request.policy_group);
    if (update.request.extra_config)
        change_extra_config(daemon, [&](ExtraConfig& extra) {
            extra.set(owner.rm_id(), {update.request.extra_config->begin(), update.request.extra_config->end()});
        });
    daemon.workers().post([update, changed = *changed] {
        if (update.request.extra_config) update.call->daemon().apply_extra_config();
        log_active(update.rm->id, update.loaded, changed);
        update.call->ok({{"changed", changed},
                         {"checksum", update.loaded.outcome->configuration->checksum},
                         {"partitions", update.rm->facts().partitions},
                         {"problems", problems_value(*update.loaded.outcome)}});
    });
    return true;
}

void carry_out(const Update& update, RmOwner& owner) {
    if (owner.context() == nullptr)
        return update.call->fail(ErrorCode::RmUnknown, fmt::format("RM {} is not registered any more", owner.rm_id()),
                                 "rmID");
    const Finish finish = [update](RmOwner& then, const std::optional<std::string>& refusal) {
        if (!refusal) return apply_update(update, then);
        refuse(update, not_stored(update.rm->id, *refusal));
        return false;
    };
    if (update.rm->is_owned_by(*update.call->session)) return static_cast<void>(finish(owner, std::nullopt));
    store_first(update.call->daemon(), update.rm, owner, update.loaded, finish);
}

// --- looking ahead ------------------------------------------------------------------------------

Value changes_of(const Rm& rm, const config::Configuration& wanted, const Preview& preview) {
    const auto active = rm.facts().configuration;
    return active ? changes_value(*active, wanted, preview.running) : Value::array();
}

/// B-06: everything of an update but its effect.
void try_out(const Update& update) {
    const auto answer = [update](const Preview& preview) {
        if (!preview.refusal.empty())
            return update.call->fail(ErrorCode::ConfigInvalid, std::string(kPrefix) + preview.refusal);
        const config::Configuration& wanted = *update.loaded.outcome->configuration;
        const RmFacts facts = update.rm->facts();
        std::vector<std::string> partitions;
        for (const config::Partition& one : wanted.partitions)
            partitions.push_back(fmt::format("[{}]{}", update.rm->id, one.name));
        update.call->ok({{"changed", !facts.configuration || facts.configuration->checksum != wanted.checksum},
                         {"checksum", wanted.checksum},
                         {"partitions", partitions},
                         {"problems", problems_value(*update.loaded.outcome)},
                         {"dryRun", true},
                         {"changes", changes_of(*update.rm, wanted, preview)}});
    };
    look_ahead(update.call->daemon(), update.rm, update.loaded.configuration(), true, answer,
               rm_left(update.call, update.rm->id));
}

Value validation_value(const LoadOutcome& loaded) {
    const config::Problem* first = loaded.configuration ? nullptr : first_problem(loaded);
    return {{"allowed", loaded.configuration.has_value()},
            {"reason", first == nullptr ? std::string{} : first->message},
            {"problems", problems_value(loaded)}};
}

/// What the running RM says to it: changes of state that are refused (C-471), and the differences.
void compare_with_running(const CallPtr& call, const RmPtr& rm, const Loaded& loaded, bool want_changes) {
    const auto answer = [call, rm, loaded, want_changes](const Preview& preview) {
        Value value = validation_value(*loaded.outcome);
        if (!preview.refusal.empty()) {
            value["allowed"] = false;
            value["reason"] = preview.refusal;
        }
        if (want_changes) value["changes"] = changes_of(*rm, *loaded.outcome->configuration, preview);
        call->ok(value);
    };
    look_ahead(call->daemon(), rm, loaded.configuration(), want_changes, answer, rm_left(call, rm->id));
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
    if (!update->loaded.good()) return refuse(*update, config_error(*update->loaded.outcome));
    keep_names(*update->rm, update->loaded);
    if (update->request.dry_run) return try_out(*update);
    update->rm->owner.in_order(
        [update](RmOwner& owner) {
            update->rm->config_store.in_turn(owner, [update](RmOwner& then) { carry_out(*update, then); });
        },
        rm_left(call, update->rm->id));
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
    const Loaded loaded(*text, "config", {});
    if (!loaded.good()) return call->ok(validation_value(*loaded.outcome));
    if (const RmPtr rm = running_rm(call, rm_id)) compare_with_running(call, rm, loaded, want_changes);
}

void set_extra_config(const CallPtr& call) {
    const Value body = wire::decode_value(call->envelope.body);
    wire::BodyReader reader(body);
    const auto map = reader.text_map("extraConfig");
    if (!map) reader.fail(ErrorCode::MissingField, "extraConfig", "extraConfig is missing");
    if (!call->accepts(reader)) return;
    change_extra_config(call->daemon(), [&](ExtraConfig& extra) { extra.overlay({map->begin(), map->end()}); });
    call->daemon().apply_extra_config();
    call->ok();
}

namespace {

/// Notes a refusal and says it.
std::string kept(Rm& rm, const std::string& why) {
    note_refusal(rm, why);
    return fmt::format("RM {} keeps its configuration: {}", rm.id, why);
}

/// The reload of one RM's file on its owner thread.
struct Reload {
    Daemon& daemon;
    RmPtr rm;
    Loaded loaded;
    std::shared_ptr<std::promise<std::string>> outcome;

    void carry_out(RmOwner& owner) const {
        if (owner.context() == nullptr) return outcome->set_value(fmt::format("RM {} is gone", rm->id));
        store_first(daemon, rm, owner, loaded,
                    [reload = *this](RmOwner& then, const std::optional<std::string>& refusal) {
                        if (!refusal) return reload.take(then);
                        return reload.keep_old(not_stored(reload.rm->id, *refusal).message);
                    });
    }
    /// True: the configuration is active.
    bool take(RmOwner& owner) const {
        const auto changed = apply(*rm, owner, loaded);
        if (!changed.ok()) return keep_old(changed.error().text());
        remember(daemon, *rm, owner, loaded, {});
        daemon.workers().post([id = rm->id, text = loaded, changed = *changed] { log_active(id, text, changed); });
        outcome->set_value(fmt::format("RM {}: {}", rm->id, *changed ? "new configuration is active" : "unchanged"));
        return true;
    }
    bool keep_old(const std::string& why) const {
        log("core.config").warn("RM {} keeps its configuration: {}", rm->id, why);
        outcome->set_value(kept(*rm, why));
        return false;
    }
};

} // namespace

std::string reload_from_file(Daemon& daemon, const RmPtr& rm) {
    const RmFacts facts = rm->facts();
    const auto file = daemon.config_files().load(facts.policy_group);
    if (!file.ok()) return kept(*rm, file.error().message);
    if (!file->has_value()) return kept(*rm, "its configuration file is no longer configured");
    Loaded loaded((*file)->text, (*file)->source, "file " + (*file)->source, true);
    if (!loaded.good()) {
        log_problems(rm->id, *loaded.outcome);
        return kept(*rm, refusal_of(*loaded.outcome));
    }
    keep_names(*rm, loaded);
    auto outcome = std::make_shared<std::promise<std::string>>();
    auto answer = outcome->get_future();
    rm->owner.in_order(
        [reload = Reload{daemon, rm, loaded, outcome}](RmOwner& owner) {
            reload.rm->config_store.in_turn(owner, [reload](RmOwner& then) { reload.carry_out(then); });
        },
        [outcome, id = rm->id] { outcome->set_value(fmt::format("RM {} is gone", id)); });
    constexpr auto kPatience = std::chrono::seconds{5};
    if (answer.wait_for(kPatience) != std::future_status::ready)
        return fmt::format("RM {}: reload is under way", rm->id);
    return answer.get();
}

} // namespace yk::service
