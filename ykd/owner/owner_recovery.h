// SPDX-License-Identifier: Apache-2.0
#pragma once
// OwnerRecovery: carries out the recovery of an RM, and what becomes of one that has failed (docs/spec/interface.md,
// section 3): the core, the stream and the state of the RM go together here. What is compared is RmRecovery's.
//
// Owner: RmOwner. Thread: the owner thread of the RM.
// REQUIRES, of each but note_update(), status() and clear(): the RM is registered.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "libcore/base/result.h"
#include "libcore/config/config.h"
#include "libcore/ports/recovery.h"
#include "protocol/si/recovery_messages.h"
#include "ykd/core_gateway/core_gateway.h"
#include "ykd/owner/owner_books.h"
#include "ykd/owner/rm_recovery.h"
#include "ykd/owner/rm_shared.h"
#include "ykd/owner/rm_state.h"
#include "ykd/runtime/callback_writer.h"

namespace yk {

/// How far the recovery of an RM is.
struct RecoveryStatus {
    si::RecoveryRequest wish;
    std::uint32_t attempt = 0; // of the last claim; 0: there was none
    Duration lasts{};          // so far
    RecoveryProgress has;
    // While it recovers: until it is taken to have failed (I-213).
    std::optional<Duration> total_left, idle_left;
};

class OwnerRecovery {
public:
    /// What belongs to the owner. All of it outlives this object.
    struct Parts {
        RmShared& shared;
        const std::unique_ptr<CoreGateway>& gateway; // nullptr: the RM is not registered
        CallbackWriter& writer;
        OwnerBooks& books;
        const RmState& state;
        const Instant& now;
        /// Applies the event to the state, and publishes the change.
        std::function<void(RmEvent event, const std::string& reason)> report;
        /// Makes the core anew, empty, without callbacks for what it had.
        std::function<Result<void>(const config::Configuration& configuration)> remake_core;
        /// Appends to the stream what the core said.
        std::function<void()> flush;
    };
    OwnerRecovery(Parts parts, const RecoveryLimits& limits)
        : parts_(std::move(parts)), max_attempts_(limits.max_attempts), process_(parts_.shared.rm_id, limits) {}
    OwnerRecovery(const OwnerRecovery&) = delete;
    OwnerRecovery& operator=(const OwnerRecovery&) = delete;

    /// The RM registers with recovery.
    void begin(const si::RecoveryRequest& wish);
    /// The core is gone.
    void clear();
    /// An update was applied (I-213).
    void note_update();
    /// When it has taken too long.
    [[nodiscard]] Instant deadline() const { return process_.deadline(); }
    /// Whether it has taken too long; then it has failed (I-213).
    void check_timers();
    /// Compares what the RM counts with what the core has, and ends the recovery if both are the same (I-236). An error
    /// says why that cannot be done now.
    [[nodiscard]] Result<si::RecoveryReport> compare(const si::RecoveryDoneRequest& claim);
    /// Replays the books that are kept for the RM, and compares both. An error: they cannot be read. REQUIRES: the RM
    /// recovers, and books are kept.
    [[nodiscard]] Result<si::RecoveryReport> replay_books();
    /// Tries the recovery once more, with what is there (I-254).
    void retry();
    /// Drops everything, without callbacks for that, and recovers anew with this configuration. An error leaves the RM
    /// unregistered.
    [[nodiscard]] Result<void> reset(const config::Configuration& configuration);
    /// Goes on with what is there; what is in quarantine stays set aside.
    void accept();
    /// nullopt: the RM neither recovers nor has failed.
    [[nodiscard]] std::optional<RecoveryStatus> status() const;
    /// What came of the recovery so far; nullptr: nothing was compared, and no timer was over.
    [[nodiscard]] const si::RecoveryReport* last_report() const { return process_.last_report(); }
    /// After each run of the health checks: what is inconsistent in the partitions; empty: nothing. Found in two runs
    /// in a row, the RM has Failed (I-245).
    void note_consistency(const std::string& broken);
    /// The same after each check of all invariants.
    void note_invariants(const std::string& broken);

private:
    void open_core();
    void note(int& runs, const std::string& broken);
    void end(RmEvent event);

    [[nodiscard]] bool is(si::CoreState state) const { return parts_.state.state() == state; }

    const Parts parts_;
    const std::uint32_t max_attempts_;
    RmRecovery process_;
    int broken_runs_ = 0, broken_invariants_ = 0; // of the health checks, and of all invariants, in a row
};

/// What came of a recovery, as the log says it.
[[nodiscard]] std::string summary_of(const si::RecoveryReport& report);

} // namespace yk
