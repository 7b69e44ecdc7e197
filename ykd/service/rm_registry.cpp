// SPDX-License-Identifier: Apache-2.0
#include "ykd/service/rm_registry.h"

#include <fmt/format.h>

#include <system_error>

#include "ykd/observe/application_summary.h"
#include "ykd/process/log.h"
#include "ykd/recording/files.h"

namespace yk::service {

Result<void> RmRegistry::start_recording(const std::string& directory, const std::string& version) {
    YK_TRY(opened, Recordings::open(directory, version, [this](const std::string& rm_id, const std::string& fault) {
               note_recording(rm_id, fault);
           }));
    recordings_ = std::move(opened);
    log("core").warn("everything that is done to the core is recorded in {} (--record), which grows without end",
                     directory);
    return {};
}

/// Notes that the recording of an RM begins (`fault` is empty), or that it ended because of a fault.
void RmRegistry::note_recording(const std::string& rm_id, const std::string& fault) {
    const std::string key = "recording " + rm_id;
    if (fault.empty()) return static_cast<void>(parts_.degraded.clear(key));
    log("core").error("recording of RM {}: {}", rm_id, fault);
    parts_.degraded.set(key, fmt::format("RM {} is not recorded any more since {}: {}; make room and register it anew",
                                         rm_id, utc_stamp(real_now()), fault));
}

OwnerOptions RmRegistry::owner_options() const {
    const DaemonSettings& settings = parts_.settings;
    OwnerOptions options;
    options.recordings = recordings_;
    options.manual_schedule = settings.manual_schedule;
    options.virtual_clock = settings.virtual_clock;
    options.inbound = settings.inbound;
    options.outbound = settings.outbound;
    options.liveness.liveness_timeout = settings.liveness_timeout;
    options.liveness.session_ttl = settings.session_ttl;
    options.liveness.rm_retention = settings.rm_retention;
    options.recovery = {settings.recovery_timeout, settings.recovery_idle_timeout,
                        static_cast<std::uint32_t>(settings.recovery_max_attempts)};
    return options;
}

RmOwner::Hooks RmRegistry::hooks_of(const std::string& rm_id) {
    RmOwner::Hooks hooks;
    hooks.state_changed = [rm_id](si::CoreState from, si::CoreState to, const std::string& reason) {
        const bool is_bad = to == si::CoreState::Lost || to == si::CoreState::Failed;
        const auto level = is_bad                           ? spdlog::level::err
                           : to == si::CoreState::Suspended ? spdlog::level::warn
                                                            : spdlog::level::info;
        log(from == si::CoreState::Recovering || to == si::CoreState::Recovering ? "recovery" : "core.rmproxy")
            .log(level, "RM {}: {} -> {} ({})", rm_id, si::text(from), si::text(to), reason);
    };
    hooks.retired = [this, rm_id] {
        parts_.workers.post([this, rm_id] {
            if (const RmPtr rm = parts_.rms.find(rm_id)) remove_lost(rm);
        });
    };
    hooks.application_ended = [rm_id, as_json = parts_.settings.summary_json](const ApplicationView& application) {
        if (!application.started) return;
        auto& usage = log("core.scheduler.application.usage");
        usage.info("{}", summary_line(application, rm_id));
        if (as_json) usage.info("{}", summary_json(application, rm_id));
    };
    hooks.warn = [](std::string_view logger, const std::string& sentence) { log(logger).warn("{}", sentence); };
    return hooks;
}

Result<RmPtr> RmRegistry::make(const std::string& rm_id, const Claimant& claimant) {
    const auto make = [&] {
        return std::make_shared<Rm>(rm_id, claimant, owner_options(), parts_.clock.now(), parts_.ring, parts_.tally,
                                    hooks_of(rm_id));
    };
    try {
        return parts_.rms.find_or_make(rm_id, claimant, make);
    } catch (const std::system_error& fault) { // also on the owner thread of a former RM, where nothing catches
        return Error::of(fmt::format("no thread can be started for RM {}: {}", rm_id, fault.what()));
    }
}

void RmRegistry::remove_lost(const RmPtr& rm) {
    rm->owner.control(
        [this, rm](RmOwner& owner) {
            if (owner.state() != si::CoreState::Lost) return; // it has registered meanwhile
            log("core.rmproxy").warn("RM {} was not heard of for rmRetention; its partitions are removed", rm->id);
            owner.uninstall("it was not heard of for rmRetention");
            parts_.state.forget_configurations(rm->id);
            retire(rm, owner);
        },
        [] {});
}

/// The order matters. First what is kept by the id is dropped, as a new RM may have the id as soon as this one is out
/// of the table. Then it leaves the table, and then it is closed: a call that is answered because of that, and looks
/// into the table again, finds another RM or none.
void RmRegistry::retire(const RmPtr& rm, RmOwner& owner) {
    const bool had_settings = parts_.effective.extra_config().forget(rm->id);
    parts_.history.forget(rm->id);
    parts_.degraded.clear("recording " + rm->id);
    parts_.rms.remove(rm);
    owner.close();
    parts_.workers.post([rm] { rm->owner.stop(); }); // keeps the RM until then: no owner thread can end itself
    if (had_settings) parts_.effective.apply();
}

} // namespace yk::service
