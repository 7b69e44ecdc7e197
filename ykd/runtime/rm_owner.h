#pragma once
// RmOwner: the owner thread of one RM and everything that only this thread may touch: the core with all
// partitions, its clock, callbacks and events (style.md 5; I-100 to I-102).
//
//   workers --submit()/control()--> Mailbox --> owner thread --append()--> OutboundStream <--poll()-- workers
//
// One turn: control lane, work in order, due timers, cycles until nothing moves or the time is up, then one flush.

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libcore/scheduler/cluster_context.h"
#include "protocol/si/enums.h"
#include "ykd/door/core_door.h"
#include "ykd/runtime/at_work.h"
#include "ykd/runtime/call_watch.h"
#include "ykd/runtime/callback_writer.h"
#include "ykd/runtime/daemon_calls.h"
#include "ykd/runtime/mailbox.h"
#include "ykd/runtime/outbound_stream.h"
#include "ykd/runtime/owner_events.h"
#include "ykd/runtime/tally.h"

namespace yk {

class RmOwner;

/// Something to be done on an owner thread. Either run() or gone() is called, once.
class OwnerTask {
public:
    virtual ~OwnerTask() = default;
    virtual void run(RmOwner& owner) = 0;
    /// The owner was closed before it came to the task. `accepted`: the task had a place, it was not waiting for room.
    /// Any thread.
    virtual void gone(bool accepted) = 0;
    /// For the last words of the process (AtWork): a literal.
    [[nodiscard]] virtual const char* what() const { return "a question"; }
    /// A task that waited for room was accepted at `position`, or (nullopt) waited too long. Any thread.
    virtual void settled(std::optional<std::uint64_t> /*position*/) {}
};
using OwnerTaskPtr = std::unique_ptr<OwnerTask>;

struct OwnerOptions {
    bool manual_schedule = false;
    bool virtual_clock = false;
    MailboxLimits inbound;
    StreamLimits outbound;
    Duration liveness_timeout = std::chrono::seconds{30};
    Duration session_ttl = std::chrono::seconds{300};
    Duration rm_retention = std::chrono::hours{24};
    std::shared_ptr<const Recordings> recordings; // nullptr: nothing is recorded
};

/// A registration, as far as the owner thread is concerned.
struct Installation {
    config::Configuration configuration;
    Settings settings;
    std::uint64_t epoch = 0;
    std::optional<std::uint32_t> keep; // detached: items kept readable
    CallbackWriter::Interest interest;
    OwnerEvents::Interest events = OwnerEvents::Interest::None;
    RmCallOptions calls;
};

struct StepOutcome {
    std::uint32_t cycles = 0;
    std::uint64_t allocations = 0;
    bool idle = false; // the last cycle changed nothing
};

/// Measures cycles: from the end of one part to the end of the next, with one look at the clock for each. Their stages
/// are measured in one cycle of kSampled only: two looks at the clock for each would be felt.
class CycleWatch final : public CycleObserver {
public:
    static constexpr std::uint32_t kSampled = 16;

    void start() { last_ = cycle_start_ = SteadyClock::now(); }
    void partition_done() override {
        const auto now = SteadyClock::now();
        partitions_.observe(now - last_);
        last_ = now;
    }
    bool wants_stages() override { return seen_++ % kSampled == 0; }
    void begin(Stage stage) override { begun_[static_cast<std::size_t>(stage)] = SteadyClock::now(); }
    void end(Stage stage) override {
        const auto at = static_cast<std::size_t>(stage);
        stages_[at].observe(SteadyClock::now() - begun_[at]);
    }
    void cycle_done() {
        cycles_.observe(last_ - cycle_start_);
        cycle_start_ = last_;
    }
    /// Adds what was measured since the last call.
    void take(Tally& into) {
        into.cycles.add(std::exchange(cycles_, {}));
        into.partitions.add(std::exchange(partitions_, {}));
        for (std::size_t i = 0; i < stages_.size(); ++i) into.stages[i].add(std::exchange(stages_[i], {}));
    }

private:
    SteadyClock::time_point last_, cycle_start_;
    Histogram cycles_, partitions_;
    std::uint32_t seen_ = 0;
    std::array<SteadyClock::time_point, kStages> begun_{};
    std::array<Histogram, kStages> stages_;
};

class RmOwner {
public:
    struct Hooks {
        /// A state changed (I-201). Owner thread.
        std::function<void(si::CoreState from, si::CoreState to, const std::string& reason)> state_changed;
        /// The RM was silent for rm_retention: it is to be removed. Owner thread; must only post.
        std::function<void()> retired;
        /// An application completed or failed (I-721). Owner thread.
        std::function<void(const ApplicationView&)> application_ended;
        Translator::Warn warn; // owner thread
    };

    RmOwner(std::string rm_id, const OwnerOptions& options, Instant now, EventRing& ring, TallyBoard& tally,
            Hooks hooks);
    ~RmOwner();
    RmOwner(const RmOwner&) = delete;
    RmOwner& operator=(const RmOwner&) = delete;

    // --- any thread -----------------------------------------------------------------------------
    [[nodiscard]] const std::string& rm_id() const { return rm_id_; }
    /// In the order of the RM's inputs (I-100). See Mailbox::push_work.
    Admission submit(OwnerTaskPtr& task, Load load, SteadyClock::time_point deadline, std::uint64_t& position) {
        return mailbox_.push_work(task, load, deadline, position);
    }
    /// What is called instead of a closure when the owner is closed, by the sender or by who closes it.
    using Gone = std::function<void()>;
    /// Between commands and cycles, before the work that waits. Either `call` or `gone` is called, once.
    void control(std::function<void(RmOwner&)> call, Gone gone);
    /// As control, but in the order of the inputs; waits for room as long as it takes.
    void in_order(std::function<void(RmOwner&)> call, Gone gone);
    /// In the order of the inputs, and then as soon as there is nothing more to schedule, but after `most` at the
    /// latest.
    void at_rest(Duration most, std::function<void(RmOwner&)> call, Gone gone);
    void expire_waiting(SteadyClock::time_point now) { mailbox_.expire(now, settle); }
    [[nodiscard]] si::CoreState state() const { return state_.load(std::memory_order_relaxed); }
    [[nodiscard]] OutboundStream& stream() { return stream_; }
    [[nodiscard]] const OutboundStream& stream() const { return stream_; }
    [[nodiscard]] std::uint64_t inbound_elements() const { return mailbox_.elements(); }
    [[nodiscard]] std::uint64_t inbound_bytes() const { return mailbox_.bytes(); }
    [[nodiscard]] std::uint64_t last_position() const { return mailbox_.last_position(); }
    /// What it holds, in bytes, roughly: as of the last turn.
    [[nodiscard]] std::uint64_t memory() const { return memory_.load(std::memory_order_relaxed); }
    [[nodiscard]] CallTally call_tally() const { return calls_.read(); }
    /// The RM's owner gave a sign of life (I-385).
    void heard();
    /// When the loop last came round, real time; for the watchdog and health check 13.
    [[nodiscard]] Instant last_turn() const { return Instant{last_turn_.load(std::memory_order_relaxed)}; }
    /// How often the loop came round.
    [[nodiscard]] std::uint64_t turns() const { return turns_.load(std::memory_order_relaxed); }
    /// I-263: no further cycles; the stream ends with a Notice SHUTDOWN.
    void begin_shutdown();
    /// After begin_shutdown(): everything queued was delivered.
    [[nodiscard]] bool is_finished() const { return ended_.load() && stream_.drained(); }
    /// Ends the thread. What waits is gone.
    void stop();

    // --- owner thread ---------------------------------------------------------------------------
    /// nullptr: not registered (any more).
    [[nodiscard]] const ClusterContext* context() const { return door_ ? &door_->context() : nullptr; }
    /// To change it. REQUIRES: context() is not nullptr.
    [[nodiscard]] CoreDoor& door() { return *door_; }
    [[nodiscard]] Instant now() const { return now_; }
    [[nodiscard]] CallbackWriter& callbacks() { return writer_; }
    /// Drops what there is without a word (I-124) and starts anew. An error leaves the RM unregistered (I-122).
    [[nodiscard]] Result<void> install(const Installation& installation);
    /// Another session goes on with what there is, and is told and asked what it wants from here on. The configuration,
    /// the settings and the stream stay. REQUIRES: context() is not nullptr.
    void change_wishes(const Installation& wishes);
    /// Drops everything; polls and updates find no such RM.
    void uninstall(const std::string& reason);
    /// Takes nothing more: all that waits, also of what was taken for this turn, is gone. An RM that is closed is never
    /// registered again; the next registration of its id makes a new one.
    void close();
    /// The RM answers a call of this epoch. False: nobody waits for the answer (I-375).
    bool take_answer(std::uint64_t epoch, std::uint64_t call, CallReply reply);
    /// Asks the RM to store a configuration, or for its state. `done` is called on this thread.
    void ask_to_store(std::string_view text, DaemonCalls::Done done) {
        writer_.config_to_store(daemon_calls_.begin(std::move(done)), text);
    }
    void ask_for_state(DaemonCalls::Done done) { writer_.state_wanted(daemon_calls_.begin(std::move(done))); }
    /// Lets detached RMs confirm what the core just released (I-387). After each change of the context.
    void settle_releases();
    /// Cycles for Step; `until` allocations end it early (0: no).
    StepOutcome step(std::uint32_t cycles, std::uint32_t until);
    /// Virtual clock: fires everything due until `to`, each at its own instant (I-353). With `alive` the RM counts as
    /// heard all the time.
    void advance(Instant to, bool alive);
    void set_event_capacity(std::uint64_t capacity) { events_.set_request_capacity(capacity); }
    /// Sends what was written; the stream's numbers count it from here on.
    void flush();
    /// Answers closures of workers after the work of this turn.
    [[nodiscard]] bool may_schedule() const { return door_ && state() == si::CoreState::Running && !finishing_; }

private:
    void look_for_rest(SteadyClock::time_point until, std::function<void(RmOwner&)> call, Gone gone);
    static void settle(OwnerTaskPtr& task, std::optional<std::uint64_t> position) { task->settled(position); }
    static void hand_back(OwnerTaskPtr& task, bool accepted) { task->gone(accepted); }
    void run_task(OwnerTask& task) {
        at_work().what = task.what();
        closed_ ? task.gone(true) : task.run(*this);
    }
    void run();
    void turn();
    void run_control();
    void run_work();
    void set_now();
    void fire_timers();
    void schedule();
    CycleOutcome cycle();
    void begin_turn();
    void heard_at(std::int64_t at);
    void publish_tally();
    void drop_context();
    void send_events();
    void change_state(si::CoreState to, const std::string& reason);
    void follow_pressure(Pressure pressure);
    void check_liveness();
    void set_wishes(const Installation& wishes);
    void watch_calls();
    void expire_calls();
    void settle_state(const std::string& reason);
    [[nodiscard]] SteadyClock::time_point next_wake() const;

    const std::string rm_id_;
    const OwnerOptions options_;
    const Hooks hooks_;
    Mailbox<OwnerTaskPtr> mailbox_;
    OutboundStream stream_;
    std::atomic<si::CoreState> state_{si::CoreState::New};
    std::atomic<std::int64_t> last_heard_{0}, published_now_{0}, last_turn_{0};
    std::atomic<std::uint64_t> turns_{0}, memory_{0};
    std::atomic<bool> stopping_{false};
    std::atomic<bool> ended_{false}; // the last item was queued

    // the owner thread's
    CallbackWriter writer_;
    OwnerEvents events_;
    TallyBoard& tally_;
    CycleWatch watch_;
    CoreCounters counted_; // of the context, as added to tally_ already
    std::unique_ptr<CoreDoor> door_;
    Instant now_;
    Instant next_event_batch_;
    bool detached_ = false;
    bool finishing_ = false; // begin_shutdown
    bool closed_ = false;    // close()
    bool more_to_schedule_ = false;
    bool crowded_ = false;              // suspended by back-pressure
    bool silent_ = false;               // suspended by silence
    std::optional<std::uint64_t> mute_; // suspended because it answers no calls: the polls it had taken by then
    CallWatch calls_;
    DaemonCalls daemon_calls_;
    bool retired_ = false;
    std::vector<OwnerTaskPtr> control_;
    std::vector<Mailbox<OwnerTaskPtr>::Work> work_;
    std::thread thread_; // last: starts when all else exists
};

} // namespace yk
