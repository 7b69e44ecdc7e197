// SPDX-License-Identifier: Apache-2.0
#pragma once
// RmRegistry: makes RMs and removes them, with all that is kept by their ids.
//
// Owner: Daemon. Thread: any.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "ykd/configuration/config_history.h"
#include "ykd/configuration/effective_settings.h"
#include "ykd/rm/rm_table.h"
#include "ykd/runtime/scheduler_clock.h"
#include "ykd/runtime/workers.h"
#include "ykd/state/daemon_state.h"

namespace yk::service {

class RmRegistry {
public:
    struct Parts {
        const DaemonSettings& settings;
        const SchedulerClock& clock;
        RmTable& rms;
        EventRing& ring;
        TallyBoard& tally;
        ConfigHistory& history;
        EffectiveSettings& effective;
        Degraded& degraded;
        DaemonState& state;
        Workers& workers;
        std::uint64_t epoch_base; // of Identity
    };
    explicit RmRegistry(const Parts& parts) : parts_(parts), last_epoch_(parts.epoch_base) {}

    /// From now on what is done to the cores of new RMs is recorded in this directory (--record). To be called before
    /// the first RM is made.
    [[nodiscard]] Result<void> start_recording(const std::string& directory, const std::string& version);
    /// The RM with this id, made if there is none. An error: there are as many as allowed, or no thread can be started.
    [[nodiscard]] Result<RmPtr> make(const std::string& rm_id, const Claimant& claimant);
    /// The epoch of a registration; never the same twice, also after a restart (I-260).
    [[nodiscard]] std::uint64_t next_epoch() { return ++last_epoch_; }
    /// Removes the RM for good, with its extraConfig and the history of its configurations, and lets its thread end.
    /// What waits for it is answered. Thread: the owner thread, after uninstall().
    void retire(const RmPtr& rm, RmOwner& owner);

private:
    [[nodiscard]] OwnerOptions owner_options() const;
    [[nodiscard]] RmOwner::Hooks hooks_of(const std::string& rm_id);
    /// Removes an RM that is still Lost when its owner thread comes to it.
    void remove_lost(const RmPtr& rm);
    void note_recording(const std::string& rm_id, const std::string& fault);

    const Parts parts_;
    std::shared_ptr<const Recordings> recordings_; // written before the first RM is made
    std::atomic<std::uint64_t> last_epoch_;
};

} // namespace yk::service
