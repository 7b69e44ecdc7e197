// SPDX-License-Identifier: Apache-2.0
#include "ykd/service/rm_installer.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/base/few_of.h"
#include "ykd/configuration/config_errors.h"
#include "ykd/configuration/kept_configurations.h"
#include "ykd/process/log.h"

namespace yk::service {
namespace {

bool has(const std::vector<std::string>& capabilities, std::string_view name) {
    return std::find(capabilities.begin(), capabilities.end(), name) != capabilities.end();
}

CallbackWriter::Interest interest_of(const RmWish& wish, const DaemonSettings& settings) {
    CallbackWriter::Interest interest;
    interest.report_ignored = has(wish.capabilities, "reportIgnored") || wish.request.detached;
    interest.container_state = has(wish.capabilities, "containerState");
    interest.resync_cache = has(wish.capabilities, "resyncCache");
    interest.echo_requests = has(wish.capabilities, "echoRequests");
    interest.confirm_releases = wish.request.detached && wish.request.detached->confirm_releases;
    interest.predicate_ttl = settings.predicate_timeout;
    interest.preemption_ttl = settings.preemption_timeout;
    return interest;
}

RmCallOptions call_options_of(const RmWish& wish, const DaemonSettings& settings) {
    RmCallOptions options;
    options.predicates = has(wish.capabilities, "predicates");
    options.preemption_predicates = has(wish.capabilities, "preemptionPredicates");
    options.batch = static_cast<std::uint32_t>(settings.predicate_batch);
    options.in_flight = static_cast<std::uint32_t>(settings.max_calls);
    return options;
}

OwnerEvents::Interest event_interest_of(const RmWish& wish) {
    if (has(wish.capabilities, "events:all")) return OwnerEvents::Interest::All;
    return has(wish.capabilities, "events") ? OwnerEvents::Interest::RequestsAndNodes : OwnerEvents::Interest::None;
}

RmFacts facts_of(const RmWish& wish, const Installation& installation, RmOwner& owner) {
    const auto& request = wish.request;
    RmFacts facts;
    facts.version = request.version;
    facts.policy_group = request.policy_group;
    facts.build_info = {request.build_info.begin(), request.build_info.end()};
    facts.capabilities = wish.capabilities;
    facts.detached = request.detached;
    if (!request.detached) facts.owner = wish.owner;
    facts.configuration = {wish.loaded, &*wish.loaded->configuration};
    facts.config_from_file = wish.from_file;
    facts.config_origin = wish.origin;
    for (const std::string& name : owner.context()->partition_names())
        facts.partitions.push_back(owner.context()->full_name(name));
    facts.epoch = installation.epoch;
    facts.registered_at = owner.now();
    return facts;
}

} // namespace

Installation RmInstaller::wishes_of(const RmWish& wish) const {
    Installation wishes;
    wishes.interest = interest_of(wish, parts_.settings);
    wishes.events = event_interest_of(wish);
    wishes.calls = call_options_of(wish, parts_.settings);
    return wishes;
}

/// The books of a detached RM, if any are kept. The file of the registration before is closed, and goes.
Result<void, wire::ErrorReply> RmInstaller::obtain_books(const Rm& rm, RmOwner& owner, const RmWish& wish,
                                                         Installation& installation) const {
    installation.books = wish.restored;
    if (wish.restored || !parts_.books.is_open()) return {};
    owner.books().set_keeper(nullptr);
    parts_.books.remove(rm.id);
    if (!wish.request.detached) return {};
    auto fresh = parts_.books.begin(rm.id);
    if (!fresh.ok())
        return wire::ErrorReply{
            si::ErrorCode::Busy, "its books cannot be kept (--state): " + fresh.error().message, {}, 1000, {}};
    installation.books = std::move(fresh).value();
    return {};
}

Result<RmFacts, wire::ErrorReply> RmInstaller::install(Rm& rm, RmOwner& owner, RmWish wish) const {
    const auto& request = wish.request;
    Installation installation = wishes_of(wish);
    if (auto fault = obtain_books(rm, owner, wish, installation); !fault.ok()) return fault.error();
    if (request.extra_config)
        parts_.effective.extra_config().set(rm.id, {request.extra_config->begin(), request.extra_config->end()});
    installation.configuration = *wish.loaded->configuration;
    for (config::Partition& each : installation.configuration.partitions) each.name = wish.ran.running(each.name);
    const DerivedSettings settings = parts_.effective.pending();
    installation.settings = settings.core;
    owner.set_event_capacity(settings.service.request_capacity);
    installation.epoch = parts_.registry.next_epoch();
    if (request.detached) installation.keep = request.detached->keep;
    installation.recovery = request.recovery;
    const auto done = owner.install(installation);
    if (!done.ok()) return wire::ErrorReply{si::ErrorCode::ConfigInvalid, done.error().text(), {}, {}, {}};
    rm.users->clear();
    rm.users->set_validity(settings.service.user_cache_valid);
    rm.users->configure(installation.configuration);
    RmFacts facts = facts_of(wish, installation, owner);
    const auto text = std::make_shared<const std::string>(std::move(wish.text));
    const AcceptedConfig accepted{real_now(), installation.configuration.checksum, wish.origin, text};
    parts_.history.keep(rm.id, accepted);
    rm.set_facts(facts); // after the history has its text: who sees the facts looks for it
    keep_configurations(parts_.state, parts_.history, rm);
    if (!wish.restored) {
        owner.books().note_registration(request);
        owner.books().note_configuration(kept_form(accepted), wish.from_file, owner.context()->partition_names());
    }
    if (request.extra_config) parts_.effective.apply();
    log("core.rmproxy")
        .info("RM {} {}{}: partitions {}, configuration {} ({})", rm.id, wish.restored ? "is restored" : "registered",
              request.detached ? " (detached)" : "", few_of(facts.partitions, 10, " "),
              installation.configuration.checksum.substr(0, 12), wish.origin);
    log_problems("RM " + rm.id, *wish.loaded);
    return facts;
}

} // namespace yk::service
