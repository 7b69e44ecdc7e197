// SPDX-License-Identifier: Apache-2.0
#pragma once
// EffectiveSettings: what extraConfig means now, and how it reaches those that go by it: the cores of the RMs, their
// events, the cached groups of users, the log. Whoever changes extraConfig calls apply() afterwards.
//
// Owner: Daemon. Thread: any.

#include <atomic>
#include <mutex>
#include <string>

#include "ykd/configuration/extra_config.h"
#include "ykd/process/daemon_settings.h"
#include "ykd/rm/rm_table.h"
#include "ykd/runtime/event_ring.h"

namespace yk::service {

class EffectiveSettings {
public:
    /// The map of the settings file is in force at once.
    EffectiveSettings(const DaemonSettings& settings, RmTable& rms, EventRing& ring);

    /// The maps of RMs and operators.
    [[nodiscard]] ExtraConfig& extra_config() { return extra_config_; }
    [[nodiscard]] const ExtraConfig& extra_config() const { return extra_config_; }
    /// What apply() worked out last. Costs a copy.
    [[nodiscard]] DerivedSettings current() const;
    /// Worked out anew from the maps as they are now.
    [[nodiscard]] DerivedSettings pending() const;
    /// Whether --watch-config acts: service.enableConfigHotRefresh was never false (C-466).
    [[nodiscard]] bool hot_refresh() const { return hot_refresh_.load(std::memory_order_relaxed); }
    /// Works out what is in force, posts it to every owner thread, sets the log and the event ring, and logs warnings.
    void apply();

private:
    const Settings base_; // what no extraConfig decides
    const std::string log_level_;
    RmTable& rms_;
    EventRing& ring_;
    ExtraConfig extra_config_;
    std::atomic<bool> hot_refresh_{true};
    std::mutex order_;         // held through apply(); taken before mutex_
    mutable std::mutex mutex_; // guards current_
    DerivedSettings current_;
};

} // namespace yk::service
