// RegisterResourceManager, UnregisterResourceManager (interface.md 2.4).

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "libcore/base/counted.h"
#include "libcore/base/few_of.h"
#include "libcore/config_yaml/load.h"
#include "ykd/service/config_errors.h"
#include "ykd/service/daemon.h"
#include "ykd/service/log.h"
#include "ykd/service/reload.h"
#include "ykd/service/rm_checks.h"
#include "ykd/service/rm_contents.h"
#include "ykd/service/services.h"

namespace yk::service {
namespace {

using Request = si::RegisterResourceManagerRequest;

/// Capabilities that this version has something behind; others are echoed as ignored (I-021).
constexpr std::array<std::string_view, 9> kUnderstood{
    "events",     "events:all",           "containerState", "reportIgnored", "resyncCache",
    "predicates", "preemptionPredicates", "configStore",    "stateDump"};
constexpr std::array<std::string_view, 4> kNeedAnswers{"predicates", "preemptionPredicates", "configStore",
                                                       "stateDump"};

template <std::size_t N>
bool holds(const std::array<std::string_view, N>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool has(const std::vector<std::string>& capabilities, std::string_view name) {
    return std::find(capabilities.begin(), capabilities.end(), name) != capabilities.end();
}

/// What is to become of an RM that is registered already.
enum class IfRegistered { Drop, Refuse, Leave, Resume };
constexpr std::array<std::pair<std::string_view, IfRegistered>, 4> kIfRegistered{{{"drop", IfRegistered::Drop},
                                                                                  {"refuse", IfRegistered::Refuse},
                                                                                  {"leave", IfRegistered::Leave},
                                                                                  {"resume", IfRegistered::Resume}}};

/// nullopt: no such word. Absent, as from clients that do not know the field, is a restart of the RM (I-124).
std::optional<IfRegistered> if_registered(const Request& request) {
    if (request.if_registered.empty()) return IfRegistered::Drop;
    for (const auto& [word, meaning] : kIfRegistered)
        if (word == request.if_registered) return meaning;
    return std::nullopt;
}

/// Fields and permission; false when the call was answered.
bool check(const CallPtr& call, const Request& request) {
    const auto refuse = [&](ErrorCode code, const std::string& message, const std::string& path) {
        call->fail(code, message, path);
        return false;
    };
    if (request.rm_id.find_first_of("[]") != std::string::npos)
        return refuse(ErrorCode::Invalid, "an rmID holds neither [ nor ]", "rmID");
    if (!call->session->may_own(request.rm_id))
        return refuse(ErrorCode::Forbidden,
                      fmt::format("{} may not register RM {}", call->session->grant.name, request.rm_id), "rmID");
    if (request.recovery)
        return refuse(ErrorCode::Invalid, "this version of ykd has no recovery yet; register without it and replay",
                      "recovery");
    if (call->daemon().settings().require_recovery.count(request.rm_id) != 0)
        return refuse(ErrorCode::RecoveryRequired,
                      fmt::format("RM {} must register with recovery (--require-recovery), which this version lacks",
                                  request.rm_id),
                      {});
    if (!if_registered(request))
        return refuse(ErrorCode::Invalid,
                      fmt::format("'{}' is none of drop, refuse, leave, resume", request.if_registered),
                      "ifRegistered");
    for (std::size_t i = 0; request.detached && i < request.capabilities.size(); ++i)
        if (holds(kNeedAnswers, request.capabilities[i]))
            return refuse(ErrorCode::Invalid, "a detached RM answers no calls", fmt::format("capabilities[{}]", i));
    return true;
}

/// A registration on its way from the request to the owner thread.
struct Registration {
    CallPtr call;
    RmPtr rm;
    Request request;
    std::shared_ptr<const config_yaml::LoadOutcome> loaded;
    std::string text, origin;
    bool from_file = false;
    std::uint64_t reloads = 0; // begun before the file was read
    bool again = false;        // the RM was registered before
    std::vector<std::string> capabilities, ignored;
};
using RegistrationPtr = std::shared_ptr<Registration>;

/// I-024: the text sent, else the daemon's file, else the built-in default. False when the call was answered.
bool obtain_configuration(Registration& registration) {
    const auto& sent = registration.request.config;
    if (sent && !sent->empty()) {
        registration.text = *sent;
        registration.origin = "registration";
        registration.loaded = std::make_shared<const config_yaml::LoadOutcome>(config_yaml::load(*sent, "config"));
        return true;
    }
    registration.reloads = registration.call->daemon().config_files().reloads();
    auto file = registration.call->daemon().config_files().load(registration.request.policy_group);
    if (!file.ok()) {
        registration.call->fail(ErrorCode::ConfigSource, file.error().message);
        return false;
    }
    registration.from_file = file->has_value(); // also when it is empty: a reload looks at it again
    const bool built_in = !registration.from_file || (*file)->text.empty(); // C-009
    registration.text = built_in ? std::string(config_yaml::default_text()) : (*file)->text;
    const std::string source = built_in ? "built-in default" : (*file)->source;
    registration.origin = built_in ? source : "file " + source;
    registration.loaded =
        std::make_shared<const config_yaml::LoadOutcome>(config_yaml::load(registration.text, source));
    return true;
}

CallbackWriter::Interest interest_of(const Registration& registration) {
    CallbackWriter::Interest interest;
    interest.report_ignored = has(registration.capabilities, "reportIgnored") || registration.request.detached;
    interest.container_state = has(registration.capabilities, "containerState");
    interest.resync_cache = has(registration.capabilities, "resyncCache");
    interest.confirm_releases = registration.request.detached && registration.request.detached->confirm_releases;
    interest.predicate_ttl = registration.call->daemon().settings().predicate_timeout;
    interest.preemption_ttl = registration.call->daemon().settings().preemption_timeout;
    return interest;
}

RmCallOptions call_options_of(const Registration& registration) {
    const DaemonSettings& settings = registration.call->daemon().settings();
    RmCallOptions options;
    options.predicates = has(registration.capabilities, "predicates");
    options.preemption_predicates = has(registration.capabilities, "preemptionPredicates");
    options.batch = static_cast<std::uint32_t>(settings.predicate_batch);
    options.in_flight = static_cast<std::uint32_t>(settings.max_calls);
    return options;
}

OwnerEvents::Interest event_interest_of(const Registration& registration) {
    if (has(registration.capabilities, "events:all")) return OwnerEvents::Interest::All;
    return has(registration.capabilities, "events") ? OwnerEvents::Interest::RequestsAndNodes
                                                    : OwnerEvents::Interest::None;
}

RmFacts facts_of(const Registration& registration, const Installation& installation, RmOwner& owner) {
    const Request& request = registration.request;
    RmFacts facts;
    facts.version = request.version;
    facts.policy_group = request.policy_group;
    facts.build_info = {request.build_info.begin(), request.build_info.end()};
    facts.capabilities = registration.capabilities;
    facts.detached = request.detached;
    if (!request.detached) facts.owner = registration.call->session->sid;
    facts.configuration = {registration.loaded, &*registration.loaded->configuration};
    facts.config_from_file = registration.from_file;
    facts.config_origin = registration.origin;
    for (const std::string& name : owner.context()->partition_names())
        facts.partitions.push_back(owner.context()->full_name(name));
    facts.epoch = installation.epoch;
    facts.registered_at = owner.now();
    return facts;
}

si::RegisterResourceManagerResponse response_of(const Registration& registration, const RmFacts& facts) {
    si::RegisterResourceManagerResponse response;
    response.partitions = facts.partitions;
    response.policy_group = facts.policy_group;
    response.config_checksum = facts.configuration->checksum;
    response.stream_epoch = facts.epoch;
    response.core_state = si::CoreState::Running;
    response.re_registration = registration.again;
    response.ignored_capabilities = registration.ignored;
    return response;
}

/// The RM goes on with what it has.
void answer_kept(const Registration& registration, RmOwner& owner) {
    auto response = response_of(registration, registration.rm->facts());
    response.core_state = owner.state();
    response.re_registration = false;
    response.kept = true;
    response.last_ack = owner.stream().status().ack;
    registration.call->ok_encoded(wire::encoded(response));
}

/// The session of the request becomes the owner; the stream goes on where it is acknowledged.
void resume(const Registration& registration, RmOwner& owner) {
    Installation wishes;
    wishes.interest = interest_of(registration);
    wishes.events = event_interest_of(registration);
    wishes.calls = call_options_of(registration);
    registration.rm->change_facts([&](RmFacts& facts) {
        facts.owner = registration.call->session->sid;
        facts.capabilities = registration.capabilities;
        facts.version = registration.request.version;
    });
    owner.change_wishes(wishes);
    log("core.rmproxy")
        .info("RM {} goes on with {}: another session of {} serves it", owner.rm_id(), contents_of(owner).text(),
              registration.call->session->grant.name);
    answer_kept(registration, owner);
}

/// Why the RM cannot be gone on with, as a clause; empty: it can.
std::string not_resumable(const Registration& registration, const RmOwner& owner) {
    if (registration.rm->is_detached()) return " is detached";
    if (registration.request.detached) return " is not detached";
    if (is_served(registration.call->daemon(), registration.rm->facts())) return " is served by another process";
    if (owner.stream().status().broken) return " was lost (stream overflow or silence)";
    return {};
}

void refuse_to_drop(const Registration& registration, const std::string& rm_id, const RmContents& contents,
                    const std::string& why) {
    wire::ErrorReply error{ErrorCode::BusyState,
                           fmt::format("RM {}{} has {}, which a registration would drop", rm_id,
                                       why.empty() ? "" : why + " and", contents.text()),
                           {},
                           {},
                           {}};
    error.details = contents.value();
    error.details["served"] = is_served(registration.call->daemon(), registration.rm->facts());
    registration.call->fail(error);
}

/// I-124, unless the request says otherwise in `ifRegistered`: true when that was the answer.
bool stays(const Registration& registration, RmOwner& owner) {
    const IfRegistered wanted = *if_registered(registration.request);
    if (!registration.again || wanted == IfRegistered::Drop) return false;
    if (wanted == IfRegistered::Leave) {
        answer_kept(registration, owner);
        return true;
    }
    const std::string why = wanted == IfRegistered::Resume ? not_resumable(registration, owner) : std::string{};
    if (wanted == IfRegistered::Resume && why.empty()) {
        resume(registration, owner);
        return true;
    }
    const RmContents contents = contents_of(owner);
    if (!contents.any()) return false;
    refuse_to_drop(registration, owner.rm_id(), contents, why);
    return true;
}

/// I-122: a failure leaves nothing behind, and an RM that was registered before is gone.
void give_up(const Registration& registration, RmOwner& owner, wire::ErrorReply error) {
    Daemon& daemon = registration.call->daemon();
    owner.uninstall("its registration failed");
    error.message = "registration of RM failed: " + error.message;
    if (registration.again)
        error.message += fmt::format(" (RM {} is no longer registered, its partitions are gone)", owner.rm_id());
    daemon.retire(registration.rm);
    registration.call->fail(error);
}

/// A reload that began after the file was read may have passed the RM over, which was not there yet.
void follow_reload(const Registration& registration) {
    Daemon& daemon = registration.call->daemon();
    if (!registration.from_file || daemon.config_files().reloads() == registration.reloads) return;
    ReloadRequest request;
    request.rm_id = registration.rm->id;
    request.follow_up = true;
    daemon.workers().post([&daemon, request] { reload(daemon, request, kStorePatience, [](const ReloadReport&) {}); });
}

/// The owner thread's part.
void install(const RegistrationPtr& registration, RmOwner& owner) {
    Daemon& daemon = registration->call->daemon();
    const Request& request = registration->request;
    if (const RmContents lost = contents_of(owner); lost.any())
        log("core.rmproxy").warn("RM {} registers anew, which drops {}", owner.rm_id(), lost.text());
    if (!registration->loaded->configuration) return give_up(*registration, owner, config_error(*registration->loaded));
    if (request.extra_config)
        daemon.extra_config().set(owner.rm_id(), {request.extra_config->begin(), request.extra_config->end()});
    Installation installation;
    installation.configuration = *registration->loaded->configuration;
    const DerivedSettings settings = daemon.pending_settings();
    installation.settings = settings.core;
    owner.set_event_capacity(settings.service.request_capacity);
    installation.epoch = daemon.next_epoch();
    if (request.detached) installation.keep = request.detached->keep;
    installation.interest = interest_of(*registration);
    installation.events = event_interest_of(*registration);
    installation.calls = call_options_of(*registration);
    const auto done = owner.install(installation);
    if (!done.ok()) return give_up(*registration, owner, {ErrorCode::ConfigInvalid, done.error().text(), {}, {}, {}});
    registration->rm->users->clear();
    registration->rm->users->set_validity(settings.service.user_cache_valid);
    registration->rm->users->configure(installation.configuration);
    const RmFacts facts = facts_of(*registration, installation, owner);
    daemon.config_history().keep(owner.rm_id(), {real_now(), installation.configuration.checksum, registration->origin,
                                                 std::make_shared<const std::string>(std::move(registration->text))});
    registration->rm->set_facts(facts); // its text can be found already
    if (request.extra_config) daemon.apply_extra_config();
    log("core.rmproxy")
        .info("RM {} registered{}: partitions {}, configuration {} ({})", owner.rm_id(),
              request.detached ? " (detached)" : "", few_of(facts.partitions, 10, " "),
              installation.configuration.checksum.substr(0, 12), registration->origin);
    log_problems("RM " + owner.rm_id(), *registration->loaded);
    registration->call->ok_encoded(wire::encoded(response_of(*registration, facts)));
    follow_reload(*registration);
}

/// The owner thread's part of UnregisterResourceManager.
void leave(const CallPtr& call, const RmPtr& rm, RmOwner& owner, bool force, std::uint64_t epoch) {
    if (!is_meant_for(*call, *rm, epoch)) return rm_left(call, owner.rm_id())();
    const RmContents contents = contents_of(owner);
    if (contents.allocations > 0 && !force)
        return call->fail(ErrorCode::BusyState, fmt::format("RM {} has {}; release them or use force", owner.rm_id(),
                                                            counted(contents.allocations, "allocation")));
    owner.uninstall("it unregistered");
    call->daemon().retire(rm);
    log("core.rmproxy").info("RM {} unregistered, which drops {}", owner.rm_id(), contents.text());
    call->ok();
}

/// An RM that is known may always come with the configuration that it has: it goes on with what it has, or gives that
/// back. False when the call was answered.
bool fits(const Registration& registration) {
    Daemon& daemon = registration.call->daemon();
    if (const RmPtr known = daemon.rms().find(registration.request.rm_id)) {
        const ConfigurationPtr has = known->facts().configuration;
        const auto text = has ? daemon.config_history().find(known->id, has->checksum) : std::nullopt;
        if (text && registration.text.size() <= text->text->size()) return true;
    }
    return has_memory(registration.call, bytes_of_configuration(registration.text.size()));
}

/// To the RM's owner thread. When that one is leaving just now, to the one of a new RM with this id.
void hand_over(const RegistrationPtr& registration) {
    const CallPtr& call = registration->call;
    if (call->daemon().is_stopping()) return call->fail(ErrorCode::ShuttingDown, "the daemon is stopping");
    auto made = call->daemon().make_rm(registration->request.rm_id, call->session->taker());
    if (!made.ok() && call->daemon().is_stopping())
        return call->fail(ErrorCode::ShuttingDown, "the daemon is stopping");
    if (!made.ok()) return call->busy(made.error().message + "; unregister one (ykctl rm deregister RM)", 1000);
    registration->rm = std::move(made).value();
    registration->rm->owner.in_order(
        [registration](RmOwner& owner) {
            registration->again = owner.context() != nullptr;
            if (!stays(*registration, owner)) install(registration, owner);
        },
        [registration] { hand_over(registration); });
}

} // namespace

void register_rm(const CallPtr& call) {
    auto request = call->decode<Request>();
    if (!request || !check(call, *request)) return;
    auto registration = std::make_shared<Registration>();
    registration->call = call;
    registration->request = std::move(*request);
    if (registration->request.policy_group.empty()) registration->request.policy_group = "default";
    for (const std::string& name : registration->request.capabilities)
        (holds(kUnderstood, name) ? registration->capabilities : registration->ignored).push_back(name);
    if (!obtain_configuration(*registration)) return;
    if (fits(*registration)) hand_over(registration);
}

void unregister_rm(const CallPtr& call) {
    const Value body = wire::decode_value(call->envelope.body);
    wire::BodyReader reader(body);
    const std::string rm_id = reader.text("rmID", wire::Presence::Required);
    const bool force = reader.flag("force");
    const bool impersonate = reader.flag("impersonate");
    if (!call->accepts(reader)) return;
    // A lost RM can be unregistered too: that is how an operator gets rid of it.
    const RmPtr lost = call->daemon().rms().find(rm_id);
    const bool is_lost = lost && lost->owner.state() == si::CoreState::Lost && call->session->may_own(rm_id);
    const RmPtr rm = is_lost ? lost : find_rm(call, rm_id, impersonate, Ownership::Owner);
    if (!rm) return;
    rm->owner.in_order([call, rm, force, epoch = rm->epoch()](RmOwner& owner) { leave(call, rm, owner, force, epoch); },
                       rm_left(call, rm_id));
}

} // namespace yk::service
