// SPDX-License-Identifier: Apache-2.0
#pragma once
// RmRecovery: the recovery of an RM as a process: its timers, its attempts, and the comparison of what the RM counts
// with what the core has (docs/spec/interface.md 3.2 and 3.4). The objects themselves are the core's business
// (ClusterRecovery).
//
// Owner: RmOwner. Thread: the owner thread of the RM. It reads no clock and calls nothing.

#include <cstdint>
#include <optional>
#include <string>

#include "libcore/base/result.h"
#include "libcore/base/time.h"
#include "libcore/ports/recovery.h"
#include "protocol/si/recovery_messages.h"

namespace yk {

/// How long a recovery may take when its registration does not say (I-212), and how often it is compared.
struct RecoveryLimits {
    Duration timeout = std::chrono::seconds{600};
    Duration idle_timeout = std::chrono::seconds{120};
    std::uint32_t max_attempts = 5; // the last comparison that may lead to another one is the one before (I-239)
};

class RmRecovery {
public:
    RmRecovery(std::string rm_id, const RecoveryLimits& limits) : rm_id_(std::move(rm_id)), limits_(limits) {}

    /// A registration with recovery: starts both timers (I-213).
    void begin(const si::RecoveryRequest& wish, Instant now);
    /// The same recovery once more, with fresh timers and attempt 1 (I-254).
    void begin_again(Instant now);
    /// The RM registered without recovery, or is not registered any more.
    void clear();
    /// An update of the RM arrived: starts the idle timer anew.
    void note_update(Instant now) { last_update_ = now; }

    [[nodiscard]] const si::RecoveryRequest& wish() const { return wish_; }
    [[nodiscard]] Instant started() const { return started_; }
    [[nodiscard]] std::uint32_t attempt() const { return attempt_; }
    /// What came of it so far: of the last claim, or of a timer; nullptr: nothing yet.
    [[nodiscard]] const si::RecoveryReport* last_report() const {
        return timed_out_ ? &*timed_out_ : last_ ? &*last_ : nullptr;
    }
    // When each timer is over.
    [[nodiscard]] Instant total_deadline() const { return started_ + timeout(); }
    [[nodiscard]] Instant idle_deadline() const { return last_update_ + idle_timeout(); }
    /// When the first timer is over.
    [[nodiscard]] Instant deadline() const;
    /// Why the recovery has taken too long; nullopt: it has not.
    [[nodiscard]] std::optional<std::string> timed_out(Instant now) const;

    /// Why the claim cannot be compared now (I-241).
    [[nodiscard]] Result<void> check(const si::RecoveryDoneRequest& claim, si::CoreState state) const;
    /// The report that this claim was answered with; nullptr: it is a new one (I-241).
    [[nodiscard]] const si::RecoveryReport* answered(const si::RecoveryDoneRequest& claim) const;
    /// Compares what the RM counts with what the core has. `state`: of the RM; one that has Failed stays so.
    const si::RecoveryReport& compare(const si::RecoveryDoneRequest& claim, const RecoveryView& view,
                                      si::CoreState state, Instant now);
    /// The report of a recovery that took too long: against the forecast of the registration.
    const si::RecoveryReport& report_failure(const RecoveryView& view, const std::string& why, Instant now);

private:
    [[nodiscard]] Duration timeout() const;
    [[nodiscard]] Duration idle_timeout() const;
    [[nodiscard]] si::RecoveryReport report_on(const RecoveryView& view, Instant now) const;

    const std::string rm_id_;
    const RecoveryLimits limits_;
    si::RecoveryRequest wish_;
    Instant started_, last_update_;
    std::uint32_t attempt_ = 0; // of the last claim; 0: there was none
    std::optional<si::RecoveryReport> last_, timed_out_;
};

} // namespace yk
