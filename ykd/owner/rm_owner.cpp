// SPDX-License-Identifier: Apache-2.0
#include "ykd/owner/rm_owner.h"

#include <algorithm>
#include <utility>

#include "protocol/wire/packer.h"
#include "ykd/runtime/clock.h"

namespace yk {
namespace {

// Budgets of one turn: neither may many updates keep cycles from running, nor a long backlog keep updates waiting, and
// callbacks are flushed at least this often while the core is busy.
constexpr std::uint64_t kMaxElementsPerTurn = 4096;
constexpr auto kScheduleBudget = std::chrono::milliseconds{2};
constexpr int kCyclesPerLook = 32;                           // between two readings of the clock
constexpr auto kHeartbeat = std::chrono::seconds{2};         // longest time between two turns
constexpr Duration kEventInterval = std::chrono::seconds{2}; // between two batches of events (I-620)
constexpr std::uint32_t kIdleCycles = 1000;    // Step ends after so many cycles in a row that changed nothing
constexpr std::size_t kMostConfirmed = 10'000; // releases in one request
constexpr int kMaxRepeats = 1000;              // timers fired at one instant of virtual time

std::string state_details(const RmStateChange& change, Instant at) {
    wire::Buffer buffer;
    wire::Packer packer(buffer);
    packer.map(4);
    packer.key("old");
    packer.natural(static_cast<std::uint64_t>(change.from));
    packer.key("new");
    packer.natural(static_cast<std::uint64_t>(change.to));
    packer.field("reason", change.reason);
    packer.key("at");
    packer.integer(at.ns);
    return buffer.str();
}

} // namespace

RmOwner::RmOwner(RmShared& shared, const OwnerOptions& options, Instant now, EventRing& ring, TallyBoard& tally,
                 Hooks hooks)
    : shared_(shared),
      options_(options),
      hooks_(std::move(hooks)),
      events_(ring),
      tally_(tally),
      now_(now),
      next_event_batch_(now + kEventInterval),
      rm_state_(options.liveness),
      recovery_({shared_, gateway_, writer_, books_, rm_state_, now_,
                 [this](RmEvent event, const std::string& reason) { publish(rm_state_.handle(event, reason)); },
                 [this](const config::Configuration& configuration) { return remake_core(configuration); },
                 [this] { flush(); }},
                options.recovery) {
    events_.set_end_listener(hooks_.application_ended);
}

void RmOwner::close() {
    owner_thread_.assert_here();
    closed_ = true;
    shared_.mailbox.close(RmShared::hand_back);
}

// --- the loop -----------------------------------------------------------------------------------

void RmOwner::run() {
    at_work().whose = &shared_.rm_id;
    owner_thread_.bind();
    writer_.owner_thread().bind();
    events_.owner_thread().bind();
    while (!shared_.stopping.load(std::memory_order_relaxed)) {
        shared_.mailbox.wait_until(next_wake());
        turn();
    }
    // After stop() what is left belongs to the thread that destroys it.
    owner_thread_.release();
    writer_.owner_thread().release();
    events_.owner_thread().release();
    if (gateway_) gateway_->owner_thread().release();
}

/// In a simulation: a turn if run() would begin one now. Else when it would.
std::optional<SteadyClock::time_point> RmOwner::turn_if_due() {
    if (!shared_.mailbox.take_wake() && SteadyClock::now() < next_turn_) return next_turn_;
    at_work().whose = &shared_.rm_id;
    turn();
    at_work().whose = nullptr;
    next_turn_ = next_wake();
    return std::nullopt;
}

SteadyClock::time_point RmOwner::next_wake() const {
    const auto now = SteadyClock::now();
    if (more_to_schedule_) return now;
    auto wake = now + kHeartbeat;
    if (const auto call = calls_.next()) wake = std::min(wake, *call);
    if (!gateway_ || options_.virtual_clock) return wake;
    Instant next = events_.has_batch() ? next_event_batch_ : Instant{real_now() + Duration{kHeartbeat}};
    if (const auto due = next_due()) next = std::min(next, *due);
    return std::min(wake, now + std::max(Duration{0}, next - real_now()));
}

void RmOwner::set_now() {
    if (!options_.virtual_clock) now_ = std::max(now_, real_now());
    shared_.published_now.store(now_.ns, std::memory_order_relaxed);
    writer_.set_time(now_);
}

void RmOwner::turn() {
    begin_turn();
    shared_.turns.fetch_add(1, std::memory_order_relaxed);
    shared_.mailbox.take(kMaxElementsPerTurn, control_, work_, RmShared::settle);
    run_control();
    run_work();
    at_work().what = "its timers";
    if (!options_.virtual_clock) fire_timers();
    recovery_.check_timers();
    expire_calls();
    at_work().what = "a scheduling cycle";
    schedule();
    at_work().what = "what is to be told";
    check_liveness();
    send_events();
    flush();
    publish_tally();
    shared_.memory.store(gateway_ ? memory_of(context()->holdings()) : 0, std::memory_order_relaxed);
}

/// A turn begins at least every kHeartbeat. If the pause was longer, the process was stopped or the thread busy, and
/// the RM could give no sign of life; so its last one is taken to be later by that time.
void RmOwner::begin_turn() {
    const Instant before{shared_.last_turn.load(std::memory_order_relaxed)};
    set_now();
    const Instant real = options_.virtual_clock ? real_now() : now_;
    shared_.last_turn.store(real.ns, std::memory_order_relaxed);
    const Duration pause = real - before - Duration{kHeartbeat};
    if (pause <= Duration{0} || options_.virtual_clock) return;
    shared_.mark_alive_at(std::min(now_.ns, shared_.last_alive.load(std::memory_order_relaxed) + pause.count()));
}

/// Adds to the metrics what happened since the last turn.
void RmOwner::publish_tally() {
    Tally turn;
    if (gateway_) {
        const CoreCounters now = context()->counters();
        turn.core = now;
        turn.core.subtract(counted_);
        counted_ = now;
    }
    turn.events = events_.take_tally();
    watch_.take(turn);
    tally_.add(turn);
}

/// Removes the core, after its counters were added to the metrics.
void RmOwner::drop_context() {
    books_.set_silent(true);
    if (gateway_) gateway_->drop_everything(now_);
    books_.set_silent(false);
    publish_tally(); // with what drop_everything() released
    events_.end_epoch();
    writer_.discard(); // the RM gets no callback of it (I-124)
    gateway_.reset();
    counted_ = {};
    calls_.clear();
    daemon_calls_.drop();
    recovery_.clear();
}

void RmOwner::run_control() {
    for (const OwnerTaskPtr& task : control_) run_task(*task);
    control_.clear();
}

void RmOwner::run_work() {
    for (auto& each : work_) {
        run_task(*each.item);
        each.item.reset();
    }
    work_.clear();
}

/// When something is due at a time of the scheduler: a timer of the core, unless these are held back, or one of the
/// recovery.
std::optional<Instant> RmOwner::next_due() const {
    if (is_recovering()) return recovery_.deadline();
    return holds_timers() ? std::nullopt : context()->next_timer();
}

void RmOwner::fire_timers() {
    if (!gateway_ || holds_timers()) return;
    const auto due = context()->next_timer();
    if (!due || *due > now_) return;
    gateway_->fire_timers(now_);
    settle_releases();
}

CycleOutcome RmOwner::cycle() {
    const CycleOutcome outcome = gateway_->cycle(now_, &watch_);
    watch_.cycle_done();
    settle_releases();
    return outcome;
}

void RmOwner::schedule() {
    more_to_schedule_ = false;
    if (options_.manual_schedule || !may_schedule()) return;
    const auto until = SteadyClock::now() + kScheduleBudget;
    watch_.start();
    do {
        for (int i = 0; i < kCyclesPerLook; ++i)
            if (!cycle().progress()) return;
    } while (SteadyClock::now() < until);
    more_to_schedule_ = true;
}

void RmOwner::settle_releases() {
    owner_thread_.assert_here();
    for (auto pending = writer_.take_confirmations(); !pending.empty(); pending = writer_.take_confirmations()) {
        for (std::size_t i = 0; i < pending.size();
             i += kMostConfirmed) { // a recorded message may have no longer lists
            const auto begin = std::make_move_iterator(pending.begin() + static_cast<std::ptrdiff_t>(i));
            si::AllocationRequest request;
            request.rm_id = shared_.rm_id;
            request.releases.allocations_to_release.assign(
                begin, begin + static_cast<std::ptrdiff_t>(std::min(kMostConfirmed, pending.size() - i)));
            const auto shared = std::make_shared<const si::AllocationRequest>(std::move(request));
            books_.note_sent(shared, now_);
            gateway_->apply(*shared, now_);
        }
    }
}

// --- calls to the RM ----------------------------------------------------------------------------

bool RmOwner::take_answer(std::uint64_t epoch, std::uint64_t call, CallReply reply) {
    owner_thread_.assert_here();
    if (!gateway_ || epoch != shared_.stream.status().epoch) {
        calls_.late();
        return false;
    }
    const bool failed = reply.outcome == CallReply::Outcome::Failed;
    const auto now = SteadyClock::now();
    const bool in_time =
        DaemonCalls::is_mine(call) ? daemon_calls_.end(call, std::move(reply)) : gateway_->apply(call, reply, now_);
    calls_.answered(call, failed, in_time, now);
    return in_time;
}

void RmOwner::watch_calls() {
    for (const StartedCall& each : writer_.take_calls()) calls_.started(each.call, each.kind, SteadyClock::now());
}

/// Ends the calls whose time limit is over; after kTimeoutsInRow timeouts the RM is suspended until it polls again
/// (I-379).
void RmOwner::expire_calls() {
    if (!gateway_) return;
    for (const std::uint64_t call : calls_.take_expired(SteadyClock::now())) {
        shared_.stream.expire(call);
        if (daemon_calls_.end(call, {CallReply::Outcome::TimedOut, {}, {}})) continue;
        static_cast<void>(gateway_->apply(call, {CallReply::Outcome::TimedOut, {}, {}}, now_));
    }
    if (rm_state_.has(SuspensionCause::Calls) || !calls_.unanswered()) return;
    polls_at_timeouts_ = shared_.stream.status().polls;
    shared_.stream.watch_next_poll();
    publish(rm_state_.handle(RmEvent::CallsTimedOut));
}

void RmOwner::send_events() {
    if (now_ < next_event_batch_) return;
    next_event_batch_ = now_ + kEventInterval;
    events_.send(writer_, shared_.stream.take_lost());
}

void RmOwner::flush() {
    owner_thread_.assert_here();
    events_.flush();
    watch_calls();
    if (gateway_) gateway_->flush_recording();
    books_.end_turn();
    shared_.books_full.store(books_.is_full(), std::memory_order_relaxed);
    if (writer_.empty()) {
        if (rm_state_.has(SuspensionCause::Stream)) publish(rm_state_.handle(shared_.stream.pressure()));
        return;
    }
    publish(rm_state_.handle(shared_.stream.append(writer_.take())));
}

// --- registration -------------------------------------------------------------------------------

/// An empty core with this configuration.
Result<std::unique_ptr<CoreGateway>> RmOwner::make_gateway(const config::Configuration& configuration,
                                                           const Settings& settings, std::uint64_t epoch) {
    auto recording =
        options_.recordings ? options_.recordings->begin({{}, shared_.rm_id, epoch, now_, settings}) : nullptr;
    auto gateway = std::make_unique<CoreGateway>(shared_.rm_id, settings,
                                                 books_.keeper() ? static_cast<Callbacks&>(books_) : writer_, events_,
                                                 hooks_.warn, std::move(recording));
    gateway->owner_thread().bind();
    const auto done = gateway->configure(configuration, now_);
    writer_.discard();
    if (!done.ok()) return done.error();
    return gateway;
}

Result<void> RmOwner::install(const Installation& installation) {
    owner_thread_.assert_here();
    drop_context();
    books_.set_keeper(installation.books);
    events_.set_interest(installation.events);
    set_now();
    auto gateway = make_gateway(installation.configuration, installation.settings, installation.epoch);
    if (!gateway.ok()) {
        uninstall("registration failed");
        return gateway.error();
    }
    gateway_ = std::move(gateway).value();
    set_wishes(installation);
    detached_ = installation.keep.has_value();
    shared_.last_alive = now_.ns;
    shared_.stream.open(installation.epoch, installation.keep);
    if (installation.recovery) recovery_.begin(*installation.recovery);
    publish(rm_state_.handle(installation.recovery ? RmEvent::RegisteredToRecover : RmEvent::Registered));
    return {};
}

/// Drops everything, without callbacks for that, and starts with an empty core in the same epoch. An error leaves the
/// RM unregistered.
Result<void> RmOwner::remake_core(const config::Configuration& configuration) {
    const Settings settings = context()->settings();
    drop_context();
    auto gateway = make_gateway(configuration, settings, shared_.stream.status().epoch);
    if (!gateway.ok()) {
        uninstall("its core could not be made anew");
        return gateway.error();
    }
    gateway_ = std::move(gateway).value();
    gateway_->set_rm_calls(call_options_, now_);
    return {};
}

void RmOwner::set_wishes(const Installation& wishes) {
    events_.set_interest(wishes.events);
    writer_.set_interest(wishes.interest);
    shared_.echoes.store(wishes.interest.echo_requests, std::memory_order_relaxed);
    call_options_ = wishes.calls;
    gateway_->set_rm_calls(call_options_, now_);
    calls_.set_limits(wishes.interest.predicate_ttl, wishes.interest.preemption_ttl);
}

void RmOwner::change_wishes(const Installation& wishes) {
    YK_ASSUME(gateway_, "the RM is registered");
    owner_thread_.assert_here();
    shared_.stream.supersede("another session goes on with the resource manager");
    set_wishes(wishes);
    shared_.mark_alive();
}

void RmOwner::uninstall(const std::string& reason) {
    owner_thread_.assert_here();
    drop_context();
    books_.set_keeper(nullptr);
    publish(rm_state_.handle(RmEvent::Unregistered, reason));
    shared_.stream.break_off({si::ErrorCode::RmUnknown, "the resource manager is not registered: " + reason});
}

// --- states (docs/spec/interface.md 3.1) --------------------------------------------------------

/// Publishes a change of the state: for all threads, to the RM while its stream goes on, and to the hook (I-201).
void RmOwner::publish(const std::optional<RmStateChange>& change) {
    if (!change) return;
    shared_.state_record.note(change->from, change->to, change->reason, now_); // first: of each state there is a reason
    shared_.state.store(change->to);
    if (change->to == si::CoreState::Running) more_to_schedule_ = true;
    Pressure pressure = Pressure::Crowded;
    if (change->has_notice) {
        writer_.notice("STATE", change->reason, state_details(*change, now_));
        pressure = shared_.stream.append(writer_.take());
    }
    if (change->event == RmEvent::StreamOverflowed) record_overflow(change->reason);
    if (hooks_.state_changed) hooks_.state_changed(change->from, change->to, change->reason);
    publish(rm_state_.handle(pressure)); // the notice itself may have filled the stream
}

/// The event of I-371. It is of no partition; the brackets name the RM that it is about.
void RmOwner::record_overflow(const std::string& reason) {
    EventRecord event;
    event.type = EventType::Rm;
    event.at = now_;
    const std::string whose = "[" + rm_id() + "]";
    event.partition = whose;
    event.object = rm_id();
    event.message = reason;
    events_.record(event);
    events_.flush();
}

void RmOwner::check_liveness() {
    if (!gateway_ || detached_ || finishing_) return;
    if (rm_state_.has(SuspensionCause::Calls) && shared_.stream.status().polls != polls_at_timeouts_) {
        calls_.forgive();
        publish(rm_state_.handle(RmEvent::PollsAgain));
    }
    if (shared_.stream.status().poll_parked) shared_.last_alive.store(now_.ns, std::memory_order_relaxed);
    const Duration last_sign_ago = now_ - Instant{shared_.last_alive.load(std::memory_order_relaxed)};
    if (state() == si::CoreState::Lost) {
        if (rm_state_.take_removal(last_sign_ago) && hooks_.retired) hooks_.retired();
        return;
    }
    const auto change = rm_state_.handle_last_sign(last_sign_ago);
    publish(change);
    if (change && change->to == si::CoreState::Lost)
        shared_.stream.break_off({si::ErrorCode::ResyncRequired, change->reason});
}

// --- manual schedule, virtual clock -------------------------------------------------------------

StepOutcome RmOwner::step(std::uint32_t cycles, std::uint32_t until) {
    owner_thread_.assert_here();
    StepOutcome outcome;
    outcome.idle = true;
    std::uint32_t idle_in_row = 0;
    watch_.start();
    while (may_schedule() && outcome.cycles < cycles && idle_in_row < kIdleCycles) {
        const CycleOutcome one = cycle();
        ++outcome.cycles;
        outcome.allocations += one.allocations;
        outcome.idle = !one.progress();
        idle_in_row = outcome.idle ? idle_in_row + 1 : 0;
        if (until != 0 && outcome.allocations >= until) break;
        if (outcome.cycles % 1024 == 0) flush();
    }
    flush();
    return outcome;
}

void RmOwner::advance(Instant to, bool alive) {
    owner_thread_.assert_here();
    Instant last{};
    int repeats = 0;
    while (gateway_ && !finishing_) {
        const auto due = next_due();
        if (!due || *due > to) break;
        repeats = *due <= last ? repeats + 1 : 0;
        if (repeats > kMaxRepeats) break; // a timer that is due again at once must not keep the clock from advancing
        last = *due;
        now_ = std::max(now_, *due);
        set_now();
        if (alive) shared_.mark_alive();
        fire_timers();
        recovery_.check_timers();
        schedule();
        check_liveness();
        send_events();
        flush();
    }
    now_ = std::max(now_, to);
    set_now();
    if (alive) shared_.mark_alive();
    schedule();
    check_liveness();
    send_events();
    flush();
}

} // namespace yk
