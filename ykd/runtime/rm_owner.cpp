#include "ykd/runtime/rm_owner.h"

#include <algorithm>
#include <utility>

#include "protocol/wire/packer.h"
#include "ykd/runtime/clock.h"

namespace yk {
namespace {

// Budgets of one turn: a flood of updates and a long backlog may not starve each other, and callbacks leave at least
// this often while the core is busy.
constexpr std::uint64_t kMaxElementsPerTurn = 4096;
constexpr auto kScheduleBudget = std::chrono::milliseconds{2};
constexpr int kCyclesPerLook = 32; // between two looks at the clock
constexpr auto kHeartbeat = std::chrono::seconds{2};
constexpr Duration kEventInterval = std::chrono::seconds{2}; // I-620
constexpr std::uint32_t kIdleCycles = 1000; // Step ends after so many cycles in a row that changed nothing
constexpr std::size_t kMostConfirmed = 10'000;
constexpr int kMaxRepeats = 1000; // timers fired at one instant of virtual time

class Closure final : public OwnerTask {
public:
    Closure(std::function<void(RmOwner&)> call, RmOwner::Gone gone) : call_(std::move(call)), gone_(std::move(gone)) {}
    void run(RmOwner& owner) override { call_(owner); }
    void gone(bool /*accepted*/) override { gone_(); }

private:
    std::function<void(RmOwner&)> call_;
    RmOwner::Gone gone_;
};

std::string state_details(si::CoreState from, si::CoreState to, const std::string& reason, Instant at) {
    wire::Buffer buffer;
    wire::Packer packer(buffer);
    packer.map(4);
    packer.key("old");
    packer.natural(static_cast<std::uint64_t>(from));
    packer.key("new");
    packer.natural(static_cast<std::uint64_t>(to));
    packer.field("reason", reason);
    packer.key("at");
    packer.integer(at.ns);
    return buffer.str();
}

} // namespace

RmOwner::RmOwner(std::string rm_id, const OwnerOptions& options, Instant now, EventRing& ring, TallyBoard& tally,
                 Hooks hooks)
    : rm_id_(std::move(rm_id)),
      options_(options),
      hooks_(std::move(hooks)),
      mailbox_(options.inbound),
      stream_(options.outbound),
      events_(ring),
      tally_(tally),
      now_(now) {
    published_now_ = now.ns;
    last_heard_ = now.ns;
    last_turn_ = real_now().ns;
    next_event_batch_ = now + kEventInterval;
    events_.set_end_listener(hooks_.application_ended);
    stream_.set_listener([this] { mailbox_.wake(); });
    thread_ = std::thread([this] { run(); });
}

RmOwner::~RmOwner() {
    stop();
}

void RmOwner::stop() {
    stopping_.store(true);
    mailbox_.wake();
    if (thread_.joinable()) thread_.join();
    mailbox_.close(hand_back);
}

void RmOwner::close() {
    closed_ = true;
    mailbox_.close(hand_back);
}

void RmOwner::control(std::function<void(RmOwner&)> call, Gone gone) {
    OwnerTaskPtr task = std::make_unique<Closure>(std::move(call), std::move(gone));
    if (!mailbox_.push_control(task)) task->gone(false);
}

void RmOwner::in_order(std::function<void(RmOwner&)> call, Gone gone) {
    OwnerTaskPtr task = std::make_unique<Closure>(std::move(call), std::move(gone));
    std::uint64_t position = 0;
    // Never refused: a load without bytes always fits the line.
    if (mailbox_.push_work(task, Load{1, 0}, SteadyClock::time_point::max(), position) == Admission::Closed)
        task->gone(false);
}

void RmOwner::at_rest(Duration most, std::function<void(RmOwner&)> call, Gone gone) {
    const auto until = SteadyClock::now() + most;
    // Not in the turn of the inputs: its cycles come after them.
    in_order([until, call = std::move(call), gone](RmOwner& owner) { owner.look_for_rest(until, call, gone); }, gone);
}

void RmOwner::look_for_rest(SteadyClock::time_point until, std::function<void(RmOwner&)> call, Gone gone) {
    control(
        [until, call = std::move(call), gone](RmOwner& owner) {
            if (owner.more_to_schedule_ && SteadyClock::now() < until) return owner.look_for_rest(until, call, gone);
            call(owner);
        },
        gone);
}

void RmOwner::heard() {
    heard_at(published_now_.load(std::memory_order_relaxed));
    if (state() == si::CoreState::Suspended) mailbox_.wake(); // it may go on at once
}

void RmOwner::begin_shutdown() {
    const Gone nothing = [] {}; // it has left by itself
    control([](RmOwner& owner) { owner.finishing_ = true; }, nothing);
    in_order(
        [](RmOwner& owner) { // after what was accepted before
            owner.writer_.notice("SHUTDOWN", "the daemon is stopping", {});
            owner.flush();
            owner.stream_.finish();
            owner.ended_.store(true);
        },
        nothing);
}

// --- the loop -----------------------------------------------------------------------------------

void RmOwner::run() {
    at_work().whose = &rm_id_;
    while (!stopping_.load(std::memory_order_relaxed)) {
        mailbox_.wait_until(next_wake());
        turn();
    }
}

SteadyClock::time_point RmOwner::next_wake() const {
    const auto now = SteadyClock::now();
    if (more_to_schedule_) return now;
    auto wake = now + kHeartbeat;
    if (const auto call = calls_.next()) wake = std::min(wake, *call);
    if (!door_ || options_.virtual_clock) return wake;
    Instant next = events_.has_batch() ? next_event_batch_ : Instant{real_now() + Duration{kHeartbeat}};
    const auto timer =
        finishing_ ? std::nullopt : context()->next_timer(); // none fires any more, however long it is due
    if (timer) next = std::min(next, *timer);
    return std::min(wake, now + std::max(Duration{0}, next - real_now()));
}

void RmOwner::set_now() {
    if (!options_.virtual_clock) now_ = std::max(now_, real_now());
    published_now_.store(now_.ns, std::memory_order_relaxed);
    writer_.set_time(now_);
}

void RmOwner::turn() {
    begin_turn();
    turns_.fetch_add(1, std::memory_order_relaxed);
    mailbox_.take(kMaxElementsPerTurn, control_, work_, settle);
    run_control();
    run_work();
    at_work().what = "its timers";
    if (!options_.virtual_clock) fire_timers();
    expire_calls();
    at_work().what = "a scheduling cycle";
    schedule();
    at_work().what = "what is to be told";
    check_liveness();
    send_events();
    flush();
    publish_tally();
    memory_.store(door_ ? memory_of(context()->holdings()) : 0, std::memory_order_relaxed);
}

/// Turns come at least with the heartbeat: while there was none for longer, the process was stopped or the thread at
/// work, and the RM could not be heard.
void RmOwner::begin_turn() {
    const Instant before = last_turn();
    set_now();
    const Instant real = options_.virtual_clock ? real_now() : now_;
    last_turn_.store(real.ns, std::memory_order_relaxed);
    const Duration pause = real - before - Duration{kHeartbeat};
    if (pause <= Duration{0} || options_.virtual_clock) return;
    heard_at(std::min(now_.ns, last_heard_.load(std::memory_order_relaxed) + pause.count()));
}

/// Never earlier than is known.
void RmOwner::heard_at(std::int64_t at) {
    std::int64_t known = last_heard_.load(std::memory_order_relaxed);
    while (known < at && !last_heard_.compare_exchange_weak(known, at, std::memory_order_relaxed)) {
    }
}

/// What the metrics count since the last turn.
void RmOwner::publish_tally() {
    Tally turn;
    if (door_) {
        const CoreCounters now = context()->counters();
        turn.core = now;
        turn.core.subtract(counted_);
        counted_ = now;
    }
    turn.events = events_.take_tally();
    watch_.take(turn);
    tally_.add(turn);
}

/// Before the context goes: its counters go with it.
void RmOwner::drop_context() {
    if (door_) door_->drop_everything(now_);
    publish_tally(); // with what was released by that
    events_.end_epoch();
    writer_.discard(); // not a word of it to the RM (I-124)
    door_.reset();
    counted_ = {};
    calls_.clear();
    daemon_calls_.drop();
    mute_.reset();
}

void RmOwner::run_control() {
    for (const OwnerTaskPtr& task : control_) run_task(*task);
    control_.clear();
}

void RmOwner::run_work() {
    for (auto& piece : work_) {
        run_task(*piece.item);
        piece.item.reset();
    }
    work_.clear();
}

void RmOwner::fire_timers() {
    if (!door_ || finishing_) return;
    const auto due = context()->next_timer();
    if (!due || *due > now_) return;
    door_->fire_timers(now_);
    settle_releases();
}

CycleOutcome RmOwner::cycle() {
    const CycleOutcome outcome = door_->cycle(now_, &watch_);
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
    for (auto pending = writer_.take_confirmations(); !pending.empty(); pending = writer_.take_confirmations()) {
        for (std::size_t i = 0; i < pending.size(); i += kMostConfirmed) { // a recording takes no longer lists
            const auto begin = std::make_move_iterator(pending.begin() + static_cast<std::ptrdiff_t>(i));
            si::AllocationRequest request;
            request.rm_id = rm_id_;
            request.releases.allocations_to_release.assign(
                begin, begin + static_cast<std::ptrdiff_t>(std::min(kMostConfirmed, pending.size() - i)));
            door_->apply(request, now_);
        }
    }
}

// --- calls to the RM ----------------------------------------------------------------------------

bool RmOwner::take_answer(std::uint64_t epoch, std::uint64_t call, CallReply reply) {
    if (!door_ || epoch != stream_.status().epoch) {
        calls_.late();
        return false;
    }
    const bool failed = reply.outcome == CallReply::Outcome::Failed;
    const auto now = SteadyClock::now();
    const bool in_time =
        DaemonCalls::is_mine(call) ? daemon_calls_.end(call, std::move(reply)) : door_->apply(call, reply, now_);
    calls_.answered(call, failed, in_time, now);
    return in_time;
}

void RmOwner::watch_calls() {
    for (const StartedCall& each : writer_.take_calls()) calls_.started(each.call, each.kind, SteadyClock::now());
}

/// I-379.
void RmOwner::expire_calls() {
    if (!door_) return;
    for (const std::uint64_t call : calls_.take_expired(SteadyClock::now())) {
        stream_.expire(call);
        if (daemon_calls_.end(call, {CallReply::Outcome::TimedOut, {}, {}})) continue;
        static_cast<void>(door_->apply(call, {CallReply::Outcome::TimedOut, {}, {}}, now_));
    }
    if (mute_ || !calls_.unanswered()) return;
    mute_ = stream_.status().polls;
    stream_.watch_next_poll();
    settle_state("it let ten calls in a row time out");
}

void RmOwner::send_events() {
    if (now_ < next_event_batch_) return;
    next_event_batch_ = now_ + kEventInterval;
    events_.send(writer_, stream_.take_lost());
}

void RmOwner::flush() {
    events_.flush();
    watch_calls();
    if (door_) door_->flush_recording();
    if (writer_.empty()) {
        if (crowded_) follow_pressure(stream_.pressure());
        return;
    }
    follow_pressure(stream_.append(writer_.take()));
}

// --- registration -------------------------------------------------------------------------------

Result<void> RmOwner::install(const Installation& installation) {
    drop_context();
    events_.set_interest(installation.events);
    set_now();
    auto recording = options_.recordings
                         ? options_.recordings->begin({{}, rm_id_, installation.epoch, now_, installation.settings})
                         : nullptr;
    auto door =
        std::make_unique<CoreDoor>(rm_id_, installation.settings, writer_, events_, hooks_.warn, std::move(recording));
    auto done = door->configure(installation.configuration, now_);
    writer_.discard();
    if (!done.ok()) {
        uninstall("registration failed");
        return done;
    }
    door_ = std::move(door);
    set_wishes(installation);
    detached_ = installation.keep.has_value();
    crowded_ = silent_ = retired_ = false;
    last_heard_ = now_.ns;
    stream_.open(installation.epoch, installation.keep);
    const si::CoreState before = state_.exchange(si::CoreState::Running);
    if (before != si::CoreState::Running && hooks_.state_changed)
        hooks_.state_changed(before, si::CoreState::Running, "registered");
    return {};
}

void RmOwner::set_wishes(const Installation& wishes) {
    events_.set_interest(wishes.events);
    writer_.set_interest(wishes.interest);
    door_->set_rm_calls(wishes.calls, now_);
    calls_.set_limits(wishes.interest.predicate_ttl, wishes.interest.preemption_ttl);
}

void RmOwner::change_wishes(const Installation& wishes) {
    stream_.supersede("another session goes on with the resource manager");
    set_wishes(wishes);
    heard();
}

void RmOwner::uninstall(const std::string& reason) {
    drop_context();
    crowded_ = silent_ = false;
    const si::CoreState before = state_.exchange(si::CoreState::New);
    stream_.break_off({si::ErrorCode::RmUnknown, "the resource manager is not registered: " + reason});
    if (before != si::CoreState::New && hooks_.state_changed) hooks_.state_changed(before, si::CoreState::New, reason);
}

// --- states (interface.md 3.1) ------------------------------------------------------------------

void RmOwner::change_state(si::CoreState to, const std::string& reason) {
    const si::CoreState from = state_.load();
    if (from == to) return;
    state_.store(to);
    Pressure pressure = Pressure::Easing;
    if (to != si::CoreState::Lost) {
        writer_.notice("STATE", reason, state_details(from, to, reason, now_));
        pressure = stream_.append(writer_.take());
    }
    if (hooks_.state_changed) hooks_.state_changed(from, to, reason);
    if (to != si::CoreState::Lost) follow_pressure(pressure); // the notice may have been the item too many
}

void RmOwner::settle_state(const std::string& reason) {
    const si::CoreState now = state();
    if (!door_ || (now != si::CoreState::Running && now != si::CoreState::Suspended)) return;
    change_state(crowded_ || silent_ || mute_ ? si::CoreState::Suspended : si::CoreState::Running, reason);
}

void RmOwner::follow_pressure(Pressure pressure) {
    if (pressure == Pressure::Broken) return change_state(si::CoreState::Lost, "stream overflow");
    if (pressure == Pressure::Congested && !crowded_) {
        crowded_ = true;
        settle_state("back-pressure: the callback stream is three quarters full");
    } else if (pressure == Pressure::Easing && crowded_) {
        crowded_ = false;
        more_to_schedule_ = true;
        settle_state("the callback stream is below half of its limits");
    }
}

void RmOwner::check_liveness() {
    if (!door_ || detached_ || finishing_) return;
    if (mute_ && stream_.status().polls != *mute_) { // I-379
        mute_.reset();
        calls_.forgive();
        more_to_schedule_ = true;
        settle_state("it polls again");
    }
    if (stream_.status().poll_parked) last_heard_.store(now_.ns, std::memory_order_relaxed);
    const Duration silence = now_ - Instant{last_heard_.load(std::memory_order_relaxed)};
    if (state() == si::CoreState::Lost) {
        if (silence >= options_.rm_retention && !std::exchange(retired_, true) && hooks_.retired) hooks_.retired();
        return;
    }
    if (silence >= options_.session_ttl) {
        change_state(si::CoreState::Lost, "silent for too long");
        stream_.break_off({si::ErrorCode::ResyncRequired, "the resource manager was silent for too long"});
        return;
    }
    const bool silent = silence >= options_.liveness_timeout;
    if (silent == silent_) return;
    silent_ = silent;
    if (!silent) more_to_schedule_ = true;
    settle_state(silent ? "not heard of for the liveness timeout" : "heard again");
}

// --- manual schedule, virtual clock -------------------------------------------------------------

StepOutcome RmOwner::step(std::uint32_t cycles, std::uint32_t until) {
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
    Instant last{};
    int repeats = 0;
    while (door_ && !finishing_) {
        const auto due = context()->next_timer();
        if (!due || *due > to) break;
        repeats = *due <= last ? repeats + 1 : 0;
        if (repeats > kMaxRepeats) break; // a timer that is due again at once may not stop the clock
        last = *due;
        now_ = std::max(now_, *due);
        set_now();
        if (alive) heard();
        fire_timers();
        schedule();
        check_liveness();
        send_events();
        flush();
    }
    now_ = std::max(now_, to);
    set_now();
    if (alive) heard();
    schedule();
    check_liveness();
    send_events();
    flush();
}

} // namespace yk
