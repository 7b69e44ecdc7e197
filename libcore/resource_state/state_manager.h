// SPDX-License-Identifier: Apache-2.0
#pragma once
// StateManager: the start, and everything that several kinds share: the change log, the database's gate, the turns of
// full reads, leases, periodic reconcilers.
//
// The start (section 8 of docs/spec/resource-state.md): capture the log's latest cursor, read every row of every kind,
// fill the caches, open the log at the captured cursor, consume up to what was the latest then; only now handlers and
// periodic reconcilers begin. What changes meanwhile is in the read, or comes as an event, or both.
//
// It waits for nothing and has no thread: whoever drives it (drive() below, or a loop of the program) takes IoCalls,
// runs them and has them finished, and in between has turn() called.
//
// Owner: the program. Thread: one, also for everything that was added to it: the first that asks for work, which debug
// builds check.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/owner_thread.h"
#include "libcore/resource_state/change_consumer.h"
#include "libcore/resource_state/periodic_reconciler.h"
#include "libcore/resource_state/poll_pace.h"
#include "libcore/resource_state/resource_informer.h"

namespace yk::rs {

class StateManager {
public:
    enum class Phase : std::uint8_t {
        New,
        Capturing,  // S2: asks the log for its latest cursor
        Loading,    // S3 and S4: reads everything
        Opening,    // S5: opens the log at the cursor that was captured
        CatchingUp, // S6: consumes what came meanwhile
        Running     // S7 and later
    };

    StateManager(ChangeLog& log, NoticeSink& notices, const Settings& settings, std::uint64_t seed);
    ~StateManager();
    StateManager(const StateManager&) = delete;
    StateManager& operator=(const StateManager&) = delete;

    // --- before the start -----------------------------------------------------------------------
    /// A kind; `store` must outlive the manager. REQUIRES: no other one of that kind.
    template <Resource T>
    ResourceInformer<T>& add(ResourceStore<T>& store) {
        auto made = std::make_unique<ResourceInformer<T>>(store, gate_, settings_, notices_, chance_.next());
        ResourceInformer<T>& informer = *made;
        add_informer(std::move(made));
        return informer;
    }
    /// It must outlive the manager.
    void add(PeriodicReconciler& reconciler, PeriodicOptions options);
    void start(Instant now);

    // --- work -----------------------------------------------------------------------------------
    /// The next call of a port; nullptr: none now. Several may be under way at once.
    [[nodiscard]] std::unique_ptr<IoCall> next_call(Instant now);
    /// Does a bit of what needs no port; false: there is nothing.
    bool turn(Instant now);
    /// When there may be something to do again, if nothing happens before; nullopt: never.
    [[nodiscard]] std::optional<Instant> next_due(Instant now) const;
    /// The log has something new: it is asked without waiting for the next look.
    void wake() {
        owner_thread_.claim();
        pace_.wake();
    }

    // --- what the program wants -----------------------------------------------------------------
    enum class Call : std::uint8_t { ForChanges, Anyway };
    /// The row was written by this process, or somebody wants it looked at: it is read before all others (rs R-091).
    /// `call`: whether handlers are called for a change only.
    void enqueue(Kind kind, std::string_view id, Instant now, Call call = Call::ForChanges);
    /// Calls that failed too often are made now; of one id, or of all (empty). Returns how many.
    std::size_t retry_dead_letters(Kind kind, std::string_view id, Instant now);
    void request_resync(Kind kind, Instant now);
    void request_relist(std::optional<Kind> kind, RelistReason reason, Instant now) {
        owner_thread_.claim();
        consumer_.relist(kind, reason, now);
    }
    /// The process has the right to write as a service, or (nullopt) has lost it (rs ).
    void set_lease(std::string_view service, const std::optional<Lease>& lease, Instant now);
    void run_periodic(std::string_view name, Instant now);

    // --- questions ------------------------------------------------------------------------------
    [[nodiscard]] Phase phase() const { return phase_; }
    [[nodiscard]] bool is_running() const { return phase_ == Phase::Running; }
    /// Everything up to here was consumed.
    [[nodiscard]] const Cursor& position() const { return position_; }
    [[nodiscard]] bool is_store_up() const { return gate_.is_up(); }
    [[nodiscard]] bool is_log_up() const { return log_.breaker.is_up() && !must_reopen_; }
    /// How long the caches have not followed the log; 0: they do.
    [[nodiscard]] Duration staleness(Instant now) const;
    [[nodiscard]] std::vector<KindStatus> status() const;
    [[nodiscard]] const ConsumerCounters& events() const { return consumer_.counters(); }
    [[nodiscard]] const std::vector<std::unique_ptr<PeriodicRuns>>& periodic() const { return periodic_; }
    /// What keeps the start from its end.
    struct StartTrouble {
        unsigned restarts = 0; // how often it began again
        std::string reason;    // of the last time; the name of the reason if that was a gap of the log
        /// What was said of the database's being damaged, so that the start will hardly come to its end (rs F-33).
        /// Empty: it is not.
        std::string damage;
    };
    /// None once it is running: full caches are of use whatever has become of the database.
    [[nodiscard]] StartTrouble start_trouble() const;

private:
    struct LogState {
        LogState(ChangeLog& port, const BackoffRange& probe, std::uint64_t seed) : log(port), breaker(probe, seed) {}
        ChangeLog& log;
        Breaker breaker;
        bool is_calling = false;
    };
    using Opened = Result<CapturedCursor, LogFault>;

    void add_informer(std::unique_ptr<Informer> informer);
    [[nodiscard]] Informer* find(Kind kind) const;

    // the log
    [[nodiscard]] std::optional<Instant> next_log_time() const;
    [[nodiscard]] std::unique_ptr<IoCall> next_log_call(Instant now);
    [[nodiscard]] std::unique_ptr<IoCall> capture_call();
    [[nodiscard]] std::unique_ptr<IoCall> open_call();
    [[nodiscard]] std::unique_ptr<IoCall> reopen_call();
    [[nodiscard]] std::unique_ptr<IoCall> poll_call();
    [[nodiscard]] bool log_answered(const LogFault* fault, Instant now);
    void captured(Opened cursor, Instant now);
    void opened(Opened target, Instant now);
    void reopened(Opened cursor, Instant now);
    void polled(const Result<EventBatch, LogFault>& batch, Instant now);
    void on_gap(const LogFault& gap, Instant now);

    // the start
    bool advance(Instant now);
    bool advance_loading(Instant now);
    bool advance_catching_up(Instant now);
    void start_again(std::string_view why, Instant now);
    void begin_running(Instant now);
    void announce_slow_start(Instant now);

    // what happens now and then
    bool turn_resync(Instant now);
    bool turn_periodic(Instant now);
    bool turn_older(Instant now);
    void run(PeriodicRuns& runs, Instant now);
    [[nodiscard]] bool may_conclude(Duration period, Instant now) const;
    void announce(NoticeKind what, std::string_view text, std::string_view name = {});

    [[no_unique_address]] OwnerThread owner_thread_;
    const Settings settings_;
    NoticeSink& notices_;
    Chance chance_;
    StoreGate gate_;
    LogState log_;
    ResourceChangeConsumer consumer_;
    std::vector<std::unique_ptr<Informer>> informers_;
    std::vector<std::unique_ptr<PeriodicRuns>> periodic_;
    std::map<std::string, Lease, std::less<>> leases_;

    Phase phase_ = Phase::New;
    std::optional<CapturedCursor> captured_; // from the capture to the opening of the log
    Cursor target_;                          // CatchingUp: what was the latest when the log was opened
    Cursor position_;
    bool is_marked_ = false;        // CatchingUp: the target was reached, its keys are being read
    bool must_reopen_ = false;      // Running: the log cannot go on from where it was
    RelistReason gap_{};            // why, then
    bool must_start_again_ = false; // when no call is under way any more
    StartTrouble start_trouble_;    // but for the damage that gate_ knows
    unsigned gaps_at_start_ = 0;
    Instant started_;
    bool slow_start_announced_ = false;
    std::optional<Instant> stale_since_;
    PollPace pace_{settings_.poll};
    Instant retry_; // the start, or a log that answered a gap, not before
    Instant next_resync_;
    Instant next_look_for_stalled_;
    std::deque<Informer*> resyncs_; // whose turn is still to come
    std::size_t next_informer_ = 0, next_caller_ = 0;
};

/// Drives a manager on this thread with ports that answer at once or after a while: one turn and one call, so that
/// neither keeps the other waiting; false: there is nothing to do before next_due().
bool drive(StateManager& manager, Instant now);

} // namespace yk::rs
