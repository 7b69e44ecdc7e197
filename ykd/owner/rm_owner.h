// SPDX-License-Identifier: Apache-2.0
#pragma once
// RmOwner: what only the owner thread of an RM may use: the core with all partitions, its clock, callbacks and events
// (I-100 to I-102, docs/adr/0001). Every task that runs on the thread gets it as its argument.
//
// One turn: the control lane, work in order, due timers, cycles until one changes nothing or 2 ms are over, then one
// flush of the callbacks.
//
// Owner: RmThread. Thread: the owner thread of the RM.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/check.h"
#include "libcore/base/owner_thread.h"
#include "libcore/cluster/cluster_context.h"
#include "ykd/core_gateway/core_gateway.h"
#include "ykd/owner/cycle_watch.h"
#include "ykd/owner/daemon_calls.h"
#include "ykd/owner/owner_books.h"
#include "ykd/owner/owner_recovery.h"
#include "ykd/owner/owner_task.h"
#include "ykd/owner/rm_shared.h"
#include "ykd/owner/rm_state.h"
#include "ykd/runtime/at_work.h"
#include "ykd/runtime/call_watch.h"
#include "ykd/runtime/callback_writer.h"
#include "ykd/runtime/mailbox.h"
#include "ykd/runtime/outbound_stream.h"
#include "ykd/runtime/owner_events.h"
#include "ykd/runtime/tally.h"

namespace yk {

/// The settings of the daemon that matter here.
struct OwnerOptions {
    bool manual_schedule = false; // cycles only by step()
    bool virtual_clock = false;   // time only by advance()
    MailboxLimits inbound;
    StreamLimits outbound;
    LivenessLimits liveness;
    RecoveryLimits recovery;
    std::shared_ptr<const Recordings> recordings; // nullptr: nothing is recorded
};

/// A registration, as far as the owner thread is concerned.
struct Installation {
    config::Configuration configuration;
    Settings settings;
    std::uint64_t epoch = 0;
    std::optional<std::uint32_t> keep; // detached: so many items stay readable
    CallbackWriter::Interest interest;
    OwnerEvents::Interest events = OwnerEvents::Interest::None;
    RmCallOptions calls;
    std::optional<si::RecoveryRequest> recovery; // the RM recovers instead of starting empty (I-212)
    std::shared_ptr<books::BookKeeper> books;    // of a detached RM; nullptr: none are kept
};

/// What step() did.
struct StepOutcome {
    std::uint32_t cycles = 0;
    std::uint64_t allocations = 0;
    bool idle = false; // the last cycle changed nothing
};

class RmOwner {
public:
    /// Called on the owner thread.
    struct Hooks {
        /// The state changed (I-201).
        std::function<void(si::CoreState from, si::CoreState to, const std::string& reason)> state_changed;
        /// The RM gave no sign of life for rm_retention: it is to be removed. Must only post.
        std::function<void()> retired;
        /// An application completed or failed (I-721).
        std::function<void(const ApplicationView&)> application_ended;
        Translator::Warn warn;
    };

    RmOwner(RmShared& shared, const OwnerOptions& options, Instant now, EventRing& ring, TallyBoard& tally,
            Hooks hooks);

    [[nodiscard]] const std::string& rm_id() const { return shared_.rm_id; }
    [[nodiscard]] OutboundStream& stream() const { return shared_.stream; }
    [[nodiscard]] si::CoreState state() const {
        owner_thread_.assert_here();
        return rm_state_.state();
    }
    /// nullptr: the RM is not registered (any more).
    [[nodiscard]] const ClusterContext* context() const {
        owner_thread_.assert_here();
        return gateway_ ? &gateway_->context() : nullptr;
    }
    /// The state of a partition, for reports, valid until the end of the turn; nullptr: the RM is not registered, or
    /// has no such partition.
    [[nodiscard]] const PartitionState* read(std::string_view partition) {
        owner_thread_.assert_here();
        return gateway_ ? gateway_->read(partition) : nullptr;
    }
    /// The core, to change it. REQUIRES: context() is not nullptr.
    [[nodiscard]] CoreGateway& gateway() {
        YK_ASSUME(gateway_, "the RM is registered");
        owner_thread_.assert_here();
        return *gateway_;
    }
    /// The scheduler's time, as of the begin of the turn.
    [[nodiscard]] Instant now() const {
        owner_thread_.assert_here();
        return now_;
    }
    /// Registers the RM: drops what it had, without callbacks for that (I-124), and starts with an empty core. An error
    /// leaves it unregistered (I-122).
    [[nodiscard]] Result<void> install(const Installation& installation);
    /// Another session takes the registration over: from now on the RM gets the callbacks, events and calls that this
    /// session announced. The configuration, the settings and the stream stay. REQUIRES: context() is not nullptr.
    void change_wishes(const Installation& wishes);
    [[nodiscard]] OwnerRecovery& recovery() {
        owner_thread_.assert_here();
        return recovery_;
    }
    /// Unregisters the RM and drops everything; polls and updates find no such RM from now on.
    void uninstall(const std::string& reason);
    /// Accepts nothing more; gone() is called for tasks that wait, also for those that were taken for this turn. An RM
    /// that is closed is never registered again; the next registration of its id makes a new one.
    void close();
    /// Handles the RM's answer to a call of this epoch. False: nobody waits for the answer (I-375).
    bool take_answer(std::uint64_t epoch, std::uint64_t call, CallReply reply);
    /// Writes what the daemon itself has to say to the RM.
    [[nodiscard]] CallbackWriter& writer() {
        owner_thread_.assert_here();
        return writer_;
    }
    /// The number of a call of the daemon itself, to be written. `done` is called on the owner thread.
    [[nodiscard]] std::uint64_t begin_call(DaemonCalls::Done done) {
        owner_thread_.assert_here();
        return daemon_calls_.begin(std::move(done));
    }
    /// What is done in the name of the RM is noted here before the core gets it.
    [[nodiscard]] OwnerBooks& books() {
        owner_thread_.assert_here();
        return books_;
    }
    /// Where an update is written before the core gets it, and what came of it, for an RM that keeps books; nullptr: it
    /// is not, also when it is the RM's own replay (I-269).
    [[nodiscard]] CallbackWriter* echo(bool impersonated) {
        owner_thread_.assert_here();
        return shared_.echoes.load(std::memory_order_relaxed) && (impersonated || !is_recovering()) ? &writer_
                                                                                                    : nullptr;
    }
    /// Confirms what the core just released in the name of a detached RM (I-387). To be called after each change of the
    /// core.
    void settle_releases();
    /// Runs at most `cycles` cycles (Step). Ends early with `until` allocations, unless that is 0, or after many cycles
    /// in a row that changed nothing.
    StepOutcome step(std::uint32_t cycles, std::uint32_t until);
    /// Advances the virtual clock to `to`: fires every timer that is due until then at its own time (I-353). With
    /// `alive` the RM gives signs of life all the time.
    void advance(Instant to, bool alive);
    void set_event_capacity(std::uint64_t capacity) {
        owner_thread_.assert_here();
        events_.set_request_capacity(capacity);
    }
    /// Appends the callbacks written so far to the stream, and the recorded commands to their file.
    void flush();
    /// Whether cycles may run: the RM is Running, and no graceful stop has begun.
    [[nodiscard]] bool may_schedule() const {
        owner_thread_.assert_here();
        return gateway_ && state() == si::CoreState::Running && !finishing_ && !books_.is_full();
    }
    /// Checks, in debug builds, that this is the owner thread; before it starts and after it ended any thread passes.
    void assert_owner_thread() const { owner_thread_.assert_here(); }

    /// Whether it has nothing to do until something new comes: no update waits, and the last cycle changed nothing. To
    /// be asked by a task of the control lane, which comes before the updates that the turn has taken.
    friend bool is_settled(const RmOwner& owner) {
        owner.owner_thread_.assert_here();
        return !owner.more_to_schedule_ && owner.work_.empty() && owner.shared_.mailbox.elements() == 0;
    }

private:
    friend class RmThread; // runs and stops it, sees whether there is more to schedule, reads the tally of the calls

    void run_task(OwnerTask& task) {
        at_work().what = task.what();
        closed_ ? task.gone(true) : task.run(*this);
    }
    void run();
    std::optional<SteadyClock::time_point> turn_if_due();
    void turn();
    void run_control();
    void run_work();
    void set_now();
    void fire_timers();
    void schedule();
    CycleOutcome cycle();
    void begin_turn();
    void publish_tally();
    void drop_context();
    void send_events();
    void publish(const std::optional<RmStateChange>& change);
    void record_overflow(const std::string& reason);
    void check_liveness();
    [[nodiscard]] Result<std::unique_ptr<CoreGateway>> make_gateway(const config::Configuration& configuration,
                                                                    const Settings& settings, std::uint64_t epoch);
    [[nodiscard]] bool is_recovering() const { return state() == si::CoreState::Recovering; }
    [[nodiscard]] bool holds_timers() const {
        return finishing_ || is_recovering() || state() == si::CoreState::Failed;
    }
    [[nodiscard]] std::optional<Instant> next_due() const;
    [[nodiscard]] Result<void> remake_core(const config::Configuration& configuration);
    void set_wishes(const Installation& wishes);
    void watch_calls();
    void expire_calls();
    [[nodiscard]] SteadyClock::time_point next_wake() const;

    RmShared& shared_;
    const OwnerOptions options_;
    const Hooks hooks_;
    [[no_unique_address]] OwnerThread owner_thread_;
    CallbackWriter writer_;
    OwnerBooks books_{writer_};
    OwnerEvents events_;
    TallyBoard& tally_;
    CycleWatch watch_;
    CoreCounters counted_;                 // of the core, as added to tally_ already
    std::unique_ptr<CoreGateway> gateway_; // nullptr: the RM is not registered
    Instant now_;
    SteadyClock::time_point next_turn_{}; // of turn_if_due()
    Instant next_event_batch_;
    bool detached_ = false;
    bool finishing_ = false; // a graceful stop has begun
    bool closed_ = false;    // close() was called
    bool more_to_schedule_ = false;
    RmState rm_state_;
    OwnerRecovery recovery_;
    RmCallOptions call_options_;          // of the registration
    std::uint64_t polls_at_timeouts_ = 0; // the polls the RM had made when it was suspended for calls that timed out
    CallWatch calls_;
    DaemonCalls daemon_calls_;
    std::vector<OwnerTaskPtr> control_;
    std::vector<Mailbox<OwnerTaskPtr>::Work> work_;
};

} // namespace yk
