// SPDX-License-Identifier: Apache-2.0
#include "ykd/service/registration_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "libcore/base/few_of.h"
#include "libcore/base/pluralize.h"
#include "libcore/config_yaml/load.h"
#include "ykd/configuration/config_errors.h"
#include "ykd/configuration/kept_configurations.h"
#include "ykd/process/log.h"
#include "ykd/request/rm_checks.h"
#include "ykd/rm/rm_contents.h"

namespace yk::service {
namespace {

using Request = si::RegisterResourceManagerRequest;
using Parts = RegistrationService::Parts;

/// Capabilities that have an effect in this version; others are returned as ignored (I-021).
constexpr std::array<std::string_view, 10> kUnderstood{
    "events",     "events:all",           "containerState", "reportIgnored", "resyncCache",
    "predicates", "preemptionPredicates", "configStore",    "stateDump",     "echoRequests"};
/// Capabilities that an RM has only if a process serves it: it answers calls, or keeps books.
constexpr std::array<std::string_view, 5> kNeedProcess{"predicates", "preemptionPredicates", "configStore", "stateDump",
                                                       "echoRequests"};

template <std::size_t N>
bool holds(const std::array<std::string_view, N>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// What a registration does with an RM that is registered already.
enum class IfRegistered { Drop, Refuse, Leave, Resume };
constexpr std::array<std::pair<std::string_view, IfRegistered>, 4> kIfRegistered{{{"drop", IfRegistered::Drop},
                                                                                  {"refuse", IfRegistered::Refuse},
                                                                                  {"leave", IfRegistered::Leave},
                                                                                  {"resume", IfRegistered::Resume}}};

/// nullopt: there is no such word. A request without the field, as from clients that do not know it, is a restart of
/// the RM (I-124).
std::optional<IfRegistered> if_registered(const Request& request) {
    if (request.if_registered.empty()) return IfRegistered::Drop;
    for (const auto& [word, meaning] : kIfRegistered)
        if (word == request.if_registered) return meaning;
    return std::nullopt;
}

/// Checks fields and permission. False: the call was answered.
bool check(const DaemonSettings& settings, const CallPtr& call, const Request& request) {
    const auto refuse = [&](ErrorCode code, const std::string& message, const std::string& path) {
        call->fail(code, message, path);
        return false;
    };
    if (request.rm_id.find_first_of("[]") != std::string::npos)
        return refuse(ErrorCode::Invalid, "an rmID holds neither [ nor ]", "rmID");
    if (!call->session->may_own(request.rm_id))
        return refuse(ErrorCode::Forbidden,
                      fmt::format("{} may not register RM {}", call->session->grant.name, request.rm_id), "rmID");
    if (is_daemons_own(settings.mcs, *call, request.rm_id))
        return refuse(
            ErrorCode::Forbidden,
            fmt::format("RM {} is the daemon itself, which places deployments as it: take another id, or give "
                        "the daemon another one (mcs.rmID of ykd.conf)",
                        request.rm_id),
            "rmID");
    if (request.recovery && request.recovery->timeout_seconds == 0U)
        return refuse(ErrorCode::Invalid, "a recovery takes longer than 0 seconds", "recovery.timeoutSeconds");
    if (request.recovery && request.recovery->idle_seconds == 0U)
        return refuse(ErrorCode::Invalid, "a recovery pauses for longer than 0 seconds", "recovery.idleSeconds");
    if (!request.recovery && settings.require_recovery.count(request.rm_id) != 0)
        return refuse(ErrorCode::RecoveryRequired,
                      fmt::format("RM {} must register with recovery (requireRecovery of ykd.conf, "
                                  "--require-recovery), so that nothing is lost: with ykctl rm register --recovery ID",
                                  request.rm_id),
                      {});
    if (!if_registered(request))
        return refuse(ErrorCode::Invalid,
                      fmt::format("'{}' is none of drop, refuse, leave, resume", request.if_registered),
                      "ifRegistered");
    for (std::size_t i = 0; request.detached && i < request.capabilities.size(); ++i)
        if (holds(kNeedProcess, request.capabilities[i]))
            return refuse(ErrorCode::Invalid, "a detached RM answers no calls and keeps no books of its own",
                          fmt::format("capabilities[{}]", i));
    return true;
}

/// A registration on its way from the request to the owner thread. Owner: the closure of its next step.
struct Registration {
    explicit Registration(const Parts& of) : parts(of) {}

    const Parts& parts;
    CallPtr call;
    RmPtr rm;
    RmWish wish;
    std::uint64_t reloads = 0; // how many had begun before the file was read
    bool again = false;        // the RM was registered before
    std::vector<std::string> ignored;
    std::optional<KeptConfigurations> kept; // of before, when the daemon has them
};
using RegistrationPtr = std::shared_ptr<Registration>;

/// An RM that recovers, and sends no configuration, goes on with the one that was active (I-272). False: none is kept
/// for its policy group, or it is refused now.
bool go_on_with_kept(Registration& registration) {
    RmWish& wish = registration.wish;
    if (!wish.request.recovery || !registration.kept || registration.kept->policy_group != wish.request.policy_group)
        return false;
    const books::KeptConfiguration& active = registration.kept->list.back();
    auto loaded =
        std::make_shared<const config_yaml::LoadOutcome>(config_yaml::load_or_default(active.text, active.origin));
    if (!loaded->configuration) {
        log("core.config")
            .error("RM {} cannot go on with the configuration that was active: {}; it gets that of its file",
                   wish.request.rm_id, loaded->first_error().text());
        return false;
    }
    wish.loaded = std::move(loaded);
    wish.text = active.text;
    wish.origin = active.origin;
    wish.from_file = registration.kept->from_file;
    if (wish.from_file)
        warn_of_other_file(registration.parts.config_files, wish.request.rm_id, wish.request.policy_group, active);
    return true;
}

/// Loads the text that was sent, else the one that was active when the RM recovers, else the daemon's file, else the
/// built-in default (I-024). False: the call was answered.
bool obtain_configuration(Registration& registration) {
    if (!registration.wish.request.detached)
        registration.kept = registration.parts.state.configurations(registration.wish.request.rm_id);
    const auto& sent = registration.wish.request.config;
    if (sent && !sent->empty()) {
        registration.wish.text = *sent;
        registration.wish.origin = "registration";
        registration.wish.loaded = std::make_shared<const config_yaml::LoadOutcome>(config_yaml::load(*sent, "config"));
        return true;
    }
    registration.reloads = registration.parts.config_files.reloads();
    if (go_on_with_kept(registration)) return true;
    auto file = registration.parts.config_files.load(registration.wish.request.policy_group);
    if (!file.ok()) {
        registration.call->fail(ErrorCode::ConfigSource, file.error().message);
        return false;
    }
    registration.wish.from_file = file->has_value(); // also when it is empty: a reload looks at it again
    const bool built_in = !registration.wish.from_file || (*file)->text.empty(); // an empty file counts as none (C-009)
    registration.wish.text = built_in ? std::string(config_yaml::default_text()) : (*file)->text;
    const std::string source = built_in ? "built-in default" : (*file)->source;
    registration.wish.origin = built_in ? source : "file " + source;
    registration.wish.loaded =
        std::make_shared<const config_yaml::LoadOutcome>(config_yaml::load(registration.wish.text, source));
    return true;
}

si::RegisterResourceManagerResponse response_of(const Registration& registration, const RmFacts& facts) {
    si::RegisterResourceManagerResponse response;
    response.partitions = facts.partitions;
    response.policy_group = facts.policy_group;
    response.config_checksum = facts.configuration->checksum;
    response.stream_epoch = facts.epoch;
    response.re_registration = registration.again;
    response.ignored_capabilities = registration.ignored;
    return response;
}

/// Answers that the RM continues with what it has.
void answer_kept(const Registration& registration, RmOwner& owner) {
    auto response = response_of(registration, registration.rm->facts());
    response.core_state = owner.state();
    response.re_registration = false;
    response.kept = true;
    response.last_ack = owner.stream().status().ack;
    registration.call->ok_encoded(wire::encoded(response));
}

/// Makes the session of the request the owner of the RM. The stream continues behind what is acknowledged.
void resume(const Registration& registration, RmOwner& owner) {
    registration.rm->change_facts([&](RmFacts& facts) {
        facts.owner = registration.call->session->sid;
        facts.capabilities = registration.wish.capabilities;
        facts.version = registration.wish.request.version;
    });
    owner.change_wishes(registration.parts.installer.wishes_of(registration.wish));
    log("core.rmproxy")
        .info("RM {} goes on with {}: another session of {} serves it", owner.rm_id(), contents_of(owner).text(),
              registration.call->session->grant.name);
    answer_kept(registration, owner);
}

/// Whether a process serves the RM, other than the one that registers it now.
bool is_served_by_another(const Registration& registration) {
    const RmFacts facts = registration.rm->facts();
    return facts.owner != registration.call->session->sid && is_served(registration.parts.sessions, facts);
}

/// Why the session cannot continue with the RM, as the rest of a sentence; empty: it can.
std::string not_resumable(const Registration& registration, const RmOwner& owner) {
    if (registration.rm->is_detached()) return " is detached";
    if (registration.wish.request.detached) return " is not detached";
    if (is_served_by_another(registration)) return " is served by another process";
    if (owner.stream().status().broken)
        return fmt::format(" was lost ({})", registration.rm->owner.state_record().reason);
    return {};
}

/// With the epoch, so that who had this registration knows that nothing but its own would go.
void refuse_to_drop(const Registration& registration, const std::string& rm_id, const RmContents& contents,
                    const std::string& why) {
    wire::ErrorReply error{ErrorCode::BusyState,
                           fmt::format("RM {}{} has {}, which a registration would drop", rm_id,
                                       why.empty() ? "" : why + " and", contents.text()),
                           {},
                           {},
                           {}};
    error.details = contents.value();
    error.details["served"] = is_served_by_another(registration);
    error.details["streamEpoch"] = registration.rm->facts().epoch;
    registration.call->fail(error);
}

/// A registration drops what the RM has (I-124), unless the field `ifRegistered` wants something else. True: the RM
/// keeps what it has, and the call was answered.
bool stays(const Registration& registration, RmOwner& owner) {
    const IfRegistered wanted = *if_registered(registration.wish.request);
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

/// Answers a registration that failed. Nothing of it stays, and an RM that was registered before is removed (I-122).
void give_up(const Registration& registration, RmOwner& owner, wire::ErrorReply error) {
    owner.uninstall("its registration failed");
    error.message = "registration of RM failed: " + error.message;
    if (registration.again)
        error.message += fmt::format(" (RM {} is no longer registered, its partitions are gone)", owner.rm_id());
    registration.parts.books.remove(owner.rm_id());
    registration.parts.registry.retire(registration.rm, owner);
    registration.call->fail(error);
}

/// Reloads the RM if a reload began after its file was read: that one may not have seen the RM yet.
void follow_reload(const Registration& registration, bool from_file) {
    if (!from_file || registration.parts.config_files.reloads() == registration.reloads) return;
    ReloadRequest request;
    request.rm_id = registration.rm->id;
    request.follow_up = true;
    registration.parts.workers.post([&reloader = registration.parts.reloader, request] {
        reloader.reload(request, kStorePatience, [](const ReloadReport&) {});
    });
}

/// Makes the RM's core anew and answers. Thread: the owner thread.
void install(const RegistrationPtr& registration, RmOwner& owner) {
    if (const RmContents lost = contents_of(owner); lost.any())
        log("core.rmproxy").warn("RM {} registers anew, which drops {}", owner.rm_id(), lost.text());
    if (!registration->wish.loaded->configuration)
        return give_up(*registration, owner, config_error(*registration->wish.loaded));
    if (registration->kept) restore_history(registration->parts.history, owner.rm_id(), registration->kept->list);
    const auto facts = registration->parts.installer.install(*registration->rm, owner, std::move(registration->wish));
    if (!facts.ok()) return give_up(*registration, owner, facts.error());
    auto response = response_of(*registration, *facts);
    response.core_state = owner.state();
    owner.flush();
    owner.books().when_kept([registration, response, from_file = facts->config_from_file](bool) {
        registration->parts.state.when_written([registration, response, from_file] {
            registration->call->ok_encoded(wire::encoded(response));
            follow_reload(*registration, from_file);
        });
    });
}

/// Unregisters the RM and answers. Thread: the owner thread.
void leave(const Parts& parts, const CallPtr& call, const RmPtr& rm, RmOwner& owner, bool force, std::uint64_t epoch) {
    if (!is_meant_for(*call, *rm, epoch)) return rm_left(call, owner.rm_id())();
    const RmContents contents = contents_of(owner);
    if (contents.allocations > 0 && !force)
        return call->fail(ErrorCode::BusyState, fmt::format("RM {} has {}; release them or use force", owner.rm_id(),
                                                            pluralize(contents.allocations, "allocation")));
    owner.uninstall("it unregistered");
    parts.books.remove(rm->id);
    parts.state.forget_configurations(rm->id);
    parts.registry.retire(rm, owner);
    log("core.rmproxy").info("RM {} unregistered, which drops {}", owner.rm_id(), contents.text());
    parts.state.when_written([call] { call->ok(); });
}

/// Whether there is memory for the configuration. An RM that is known may always register with one as large as its own,
/// which it keeps or whose memory it gives back. False: the call was answered.
bool fits(const Registration& registration) {
    if (const RmPtr known = registration.parts.rms.find(registration.wish.request.rm_id)) {
        const ConfigurationPtr has = known->facts().configuration;
        const auto text = has ? registration.parts.history.find(known->id, has->checksum) : std::nullopt;
        if (text && registration.wish.text.size() <= text->text->size()) return true;
    }
    return has_memory(registration.parts.memory, registration.call,
                      bytes_of_configuration(registration.wish.text.size()));
}

/// Hands the registration to the RM's owner thread, or, when that RM is just being removed, to the one of a new RM with
/// the same id.
void hand_over(const RegistrationPtr& registration) {
    const CallPtr& call = registration->call;
    if (call->is_stopping()) return call->fail(ErrorCode::ShuttingDown, "the daemon is stopping");
    auto made = registration->parts.registry.make(registration->wish.request.rm_id, call->session->claimant());
    if (!made.ok() && call->is_stopping()) return call->fail(ErrorCode::ShuttingDown, "the daemon is stopping");
    if (!made.ok())
        return call->busy(
            made.error().message + "; unregister one (ykctl rm deregister RM), or raise maxRMs of ykd.conf", 1000);
    registration->rm = std::move(made).value();
    registration->rm->owner.in_order(
        [registration](RmOwner& owner) {
            registration->again = owner.context() != nullptr;
            if (!stays(*registration, owner)) install(registration, owner);
        },
        [registration] { hand_over(registration); });
}

} // namespace

void RegistrationService::register_rm(const CallPtr& call) {
    auto request = call->decode<Request>();
    if (!request || !check(parts_.settings, call, *request)) return;
    auto registration = std::make_shared<Registration>(parts_);
    registration->call = call;
    registration->wish.request = std::move(*request);
    if (!registration->wish.request.detached) registration->wish.owner = call->session->sid;
    if (registration->wish.request.policy_group.empty()) registration->wish.request.policy_group = "default";
    for (const std::string& name : registration->wish.request.capabilities)
        (holds(kUnderstood, name) ? registration->wish.capabilities : registration->ignored).push_back(name);
    if (!obtain_configuration(*registration)) return;
    if (fits(*registration)) hand_over(registration);
}

void RegistrationService::unregister_rm(const CallPtr& call) {
    const auto request = call->decode<si::UnregisterResourceManagerRequest>();
    if (!request) return;
    const std::string& rm_id = request->rm_id;
    // A lost RM can be unregistered, too, so that an operator can remove it.
    const RmPtr lost = parts_.rms.find(rm_id);
    const bool is_lost = lost && lost->owner.state() == si::CoreState::Lost && call->session->may_own(rm_id);
    const RmPtr rm = is_lost ? lost : find_rm(parts_.rms, call, rm_id, request->impersonate, Ownership::Owner);
    if (!rm) return;
    rm->owner.in_order([this, call, rm, force = request->force,
                        epoch = rm->epoch()](RmOwner& owner) { leave(parts_, call, rm, owner, force, epoch); },
                       rm_left(call, rm_id));
}

} // namespace yk::service
