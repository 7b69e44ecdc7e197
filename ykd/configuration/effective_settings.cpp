// SPDX-License-Identifier: Apache-2.0
#include "ykd/configuration/effective_settings.h"

#include "ykd/process/log.h"

namespace yk::service {
namespace {

Settings base_settings(const DaemonSettings& settings) {
    Settings base;
    base.reservations_disabled = settings.reservations_disabled;
    base.inspect_outstanding = !settings.manual_schedule;
    base.quota_checks = !settings.manual_schedule;
    base.budget = settings.rm_max;
    return base;
}

} // namespace

EffectiveSettings::EffectiveSettings(const DaemonSettings& settings, RmTable& rms, EventRing& ring)
    : base_(base_settings(settings)),
      log_level_(settings.log_level),
      rms_(rms),
      ring_(ring),
      extra_config_(settings.extra_config) {
    apply();
}

DerivedSettings EffectiveSettings::current() const {
    const std::lock_guard lock(mutex_);
    return current_;
}

DerivedSettings EffectiveSettings::pending() const {
    return derive_settings(extra_config_.effective(), base_);
}

void EffectiveSettings::apply() {
    const std::lock_guard one_at_a_time(order_); // else a map that was read earlier could be applied later
    const TextMap map = extra_config_.effective();
    const DerivedSettings derived = derive_settings(map, base_);
    {
        const std::lock_guard lock(mutex_);
        current_ = derived;
    }
    if (!derived.service.hot_refresh) hot_refresh_.store(false, std::memory_order_relaxed);
    set_log_levels(map, log_level_);
    warn_of_each("core.config", "extraConfig", derived.warnings);
    ring_.set_enabled(derived.service.events_enabled);
    ring_.set_capacity(derived.service.ring_capacity);
    for (const RmPtr& rm : rms_.all()) {
        rm->users->set_validity(derived.service.user_cache_valid);
        rm->owner.control(
            [derived](RmOwner& owner) {
                if (owner.context() != nullptr) owner.gateway().set_settings(derived.core, owner.now());
                owner.set_event_capacity(derived.service.request_capacity);
            },
            [] {});
    }
}

} // namespace yk::service
