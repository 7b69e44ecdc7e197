// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/state_manager.h"

#include <algorithm>
#include <utility>

#include "libcore/base/fault_point.h"

namespace yk::rs {
namespace {

constexpr Duration kLookForStalled = std::chrono::seconds{1};
constexpr unsigned kMostDoublings = 5; // of the page, when the log is purged during each full read

void earliest(std::optional<Instant>& due, const std::optional<Instant>& other) {
    if (other) due = std::min(due.value_or(*other), *other);
}

} // namespace

StateManager::StateManager(ChangeLog& log, NoticeSink& notices, const Settings& settings, std::uint64_t seed)
    : settings_(settings),
      notices_(notices),
      chance_(seed),
      gate_(settings.probe, notices, chance_.next()),
      log_(log, settings.probe, chance_.next()),
      consumer_(settings_, notices) {}

StateManager::~StateManager() = default;

void StateManager::add_informer(std::unique_ptr<Informer> informer) {
    YK_CHECK(phase_ == Phase::New, "kinds are added before the start");
    YK_CHECK(find(informer->kind()) == nullptr, "a kind is added once");
    consumer_.add(*informer);
    informers_.push_back(std::move(informer));
}

void StateManager::add(PeriodicReconciler& reconciler, PeriodicOptions options) {
    periodic_.push_back(std::make_unique<PeriodicRuns>(reconciler, std::move(options), chance_.next()));
}

Informer* StateManager::find(Kind kind) const {
    for (const auto& each : informers_)
        if (each->kind() == kind) return each.get();
    return nullptr;
}

void StateManager::start(Instant now) {
    YK_CHECK(phase_ == Phase::New, "a manager is started once");
    phase_ = Phase::Capturing;
    started_ = stale_since_.emplace(now);
    retry_ = next_look_for_stalled_ = now;
}

// --- work ------------------------------------------------------------------------------------------------------------

/// The log and the kinds by turns, so that neither a log that always has more nor full reads keep the others waiting.
std::unique_ptr<IoCall> StateManager::next_call(Instant now) {
    owner_thread_.claim();
    const bool may_read = phase_ != Phase::New && phase_ != Phase::Capturing; // what is there is thrown away by then
    if (must_start_again_ || !may_read) return next_log_call(now);
    const std::size_t callers = informers_.size() + 1;
    for (std::size_t tried = 0; tried < callers; ++tried) {
        const std::size_t at = next_caller_++ % callers;
        std::unique_ptr<IoCall> call;
        if (at < informers_.size())
            call = informers_[at]->next_call(now);
        else
            call = next_log_call(now);
        if (call) return call;
    }
    return nullptr;
}

bool StateManager::turn(Instant now) {
    owner_thread_.claim();
    if (phase_ == Phase::New) return false;
    if (now >= next_look_for_stalled_) {
        next_look_for_stalled_ = now + kLookForStalled;
        for (const auto& each : informers_) each->announce_stalled(now);
        announce_slow_start(now);
    }
    if (advance(now)) return true;
    for (std::size_t tried = 0; tried < informers_.size(); ++tried)
        if (informers_[next_informer_++ % informers_.size()]->turn(now)) return true;
    return consumer_.turn(now) || turn_older(now) || turn_resync(now) || turn_periodic(now);
}

std::optional<Instant> StateManager::next_due(Instant now) const {
    owner_thread_.assert_here();
    std::optional<Instant> due;
    if (phase_ == Phase::New) return due;
    earliest(due, log_.breaker.is_up() ? next_log_time() : log_.breaker.next_probe());
    earliest(due, gate_.next_probe());
    earliest(due, consumer_.next_due());
    for (const auto& each : informers_) earliest(due, each->next_due());
    if (is_running()) {
        if (settings_.resync.period > Duration{}) earliest(due, next_resync_);
        for (const auto& each : periodic_) earliest(due, each->next());
    }
    return due ? std::optional{std::max(*due, now)} : due;
}

/// When the log is to be asked next, if it is there; nullopt: something else has to happen first.
std::optional<Instant> StateManager::next_log_time() const {
    if (log_.is_calling || must_start_again_) return std::nullopt;
    switch (phase_) {
    case Phase::Capturing: return retry_;
    case Phase::Opening: return Instant{};
    case Phase::CatchingUp: return pace_.next();
    case Phase::Running: return must_reopen_ ? retry_ : pace_.next();
    default: return std::nullopt;
    }
}

bool drive(StateManager& manager, Instant now) {
    const bool has_turned = manager.turn(now);
    const auto call = manager.next_call(now);
    if (!call) return has_turned;
    call->run();
    call->finish(now);
    return true;
}

// --- the log ---------------------------------------------------------------------------------------------------------

std::unique_ptr<IoCall> StateManager::next_log_call(Instant now) {
    const auto due = next_log_time();
    if (!due || now < *due || !log_.breaker.may_call(now)) return nullptr;
    log_.breaker.begin();
    log_.is_calling = true;
    if (phase_ == Phase::Capturing) return capture_call();
    if (phase_ == Phase::Opening) return open_call();
    if (must_reopen_) return reopen_call();
    return poll_call();
}

std::unique_ptr<IoCall> StateManager::capture_call() {
    return make_io_call([this] { return log_.log.capture(); },
                        [this](Opened cursor, Instant now) { captured(std::move(cursor), now); });
}

/// What is the latest now is what has to be consumed before the caches count as synced.
std::unique_ptr<IoCall> StateManager::open_call() {
    return make_io_call(
        [this]() -> Opened {
            YK_TRY(target, log_.log.capture());
            YK_CHECKED(log_.log.open(*captured_));
            return target;
        },
        [this](Opened target, Instant now) { opened(std::move(target), now); });
}

std::unique_ptr<IoCall> StateManager::reopen_call() {
    return make_io_call(
        [this]() -> Opened {
            YK_TRY(latest, log_.log.capture());
            YK_CHECKED(log_.log.open(latest));
            return latest;
        },
        [this](Opened cursor, Instant now) { reopened(std::move(cursor), now); });
}

std::unique_ptr<IoCall> StateManager::poll_call() {
    pace_.begin();
    return make_io_call([this] { return log_.log.poll(settings_.poll_batch); },
                        [this](const Result<EventBatch, LogFault>& batch, Instant now) { polled(batch, now); });
}

/// A call of the log has ended. False: the log is away.
bool StateManager::log_answered(const LogFault* fault, Instant now) {
    owner_thread_.claim();
    log_.is_calling = false;
    if (fault != nullptr && fault->is_damage) start_trouble_.damage = fault->message;
    if (fault == nullptr || fault->what != LogFault::What::Down) {
        if (log_.breaker.answered()) announce(NoticeKind::LogUp, {});
        return true;
    }
    if (log_.breaker.failed(now, fault->message)) announce(NoticeKind::LogDown, fault->message);
    if (!stale_since_) stale_since_ = now;
    return false;
}

void StateManager::captured(Opened cursor, Instant now) {
    if (!log_answered(cursor.ok() ? nullptr : &cursor.error(), now)) return;
    if (!cursor.ok()) return start_again(cursor.error().message, now);
    captured_.emplace(std::move(cursor).value());
    for (const auto& each : informers_) each->begin_load(*captured_);
    phase_ = Phase::Loading;
    YK_FAULT(LogCaptured);
}

void StateManager::opened(Opened target, Instant now) {
    if (!log_answered(target.ok() ? nullptr : &target.error(), now)) return;
    if (!target.ok()) return on_gap(target.error(), now);
    if (target.value().cursor().epoch != captured_->cursor().epoch) return start_again("the log began anew", now);
    target_ = target.value().cursor();
    position_ = captured_->cursor();
    captured_.reset();
    is_marked_ = false;
    consumer_.begin_chain();
    pace_.wake();
    phase_ = Phase::CatchingUp;
    YK_FAULT(LogOpened);
}

/// A database that is of an older state than before is believed at once, also where its log has the same name.
void StateManager::reopened(Opened cursor, Instant now) {
    if (!log_answered(cursor.ok() ? nullptr : &cursor.error(), now)) return;
    if (!cursor.ok()) return on_gap(cursor.error(), now);
    const Cursor& latest = cursor.value().cursor();
    if (latest.epoch != position_.epoch) gap_ = RelistReason::Epoch;
    if (gap_ == RelistReason::Epoch)
        for (const auto& each : informers_) each->begin_era();
    position_ = latest;
    must_reopen_ = false;
    consumer_.begin_chain();
    consumer_.relist(std::nullopt, gap_, now);
    pace_.wake();
}

void StateManager::polled(const Result<EventBatch, LogFault>& batch, Instant now) {
    if (!log_answered(batch.ok() ? nullptr : &batch.error(), now)) return;
    if (!batch.ok()) return on_gap(batch.error(), now);
    if (batch.value().position.epoch != position_.epoch)
        return on_gap({LogFault::What::Gap, RelistReason::Epoch, "the log began anew"}, now);
    position_ = batch.value().position;
    consumer_.on_events(batch.value(), now);
    pace_.ended(!batch.value().events.empty(), batch.value().may_have_more, now);
    if (is_running()) stale_since_.reset();
}

void StateManager::on_gap(const LogFault& gap, Instant now) {
    announce(NoticeKind::Gap, name_of(gap.reason));
    if (!is_running()) {
        if (++gaps_at_start_ >= settings_.start.full_reads)
            for (const auto& each : informers_)
                each->set_page_factor(std::size_t{1}
                                      << std::min(kMostDoublings, gaps_at_start_ - settings_.start.full_reads + 1));
        return start_again(name_of(gap.reason), now);
    }
    if (!stale_since_) stale_since_ = now;
    retry_ = must_reopen_ ? now + backoff(settings_.probe, 0, chance_) : now;
    must_reopen_ = true;
    gap_ = gap.reason;
}

// --- the start -------------------------------------------------------------------------------------------------------

bool StateManager::advance(Instant now) {
    if (must_start_again_) {
        for (const auto& each : informers_)
            if (each->is_calling()) return false;
        must_start_again_ = false;
        phase_ = Phase::Capturing;
        return true;
    }
    if (phase_ == Phase::Loading) return advance_loading(now);
    return phase_ == Phase::CatchingUp && advance_catching_up(now);
}

bool StateManager::advance_loading(Instant now) {
    bool all = true;
    for (const auto& each : informers_) {
        if (each->load() == Informer::Load::Failed) {
            start_again("a read of " + std::string{each->name()} + " failed: " + each->load_fault(), now);
            return true;
        }
        all = all && each->load() == Informer::Load::Done;
    }
    if (!all) return false;
    phase_ = Phase::Opening;
    YK_FAULT(CachesFilled);
    return true;
}

bool StateManager::advance_catching_up(Instant now) {
    if (!is_marked_) {
        if (!reaches(position_, target_)) return false;
        for (const auto& each : informers_) each->mark();
        return is_marked_ = true;
    }
    for (const auto& each : informers_)
        if (!each->is_settled()) return false;
    begin_running(now);
    return true;
}

/// Throws away what was read; from the capture on, when the calls that are under way have ended.
void StateManager::start_again(std::string_view why, Instant now) {
    ++start_trouble_.restarts;
    start_trouble_.reason = why;
    announce(NoticeKind::StartAgain, why);
    captured_.reset();
    must_start_again_ = true;
    retry_ = now + backoff(settings_.probe, std::min(start_trouble_.restarts - 1, 4U), chance_);
}

StateManager::StartTrouble StateManager::start_trouble() const {
    if (is_running()) return {};
    StartTrouble trouble = start_trouble_;
    if (!gate_.damage().empty()) trouble.damage = gate_.damage();
    return trouble;
}

void StateManager::begin_running(Instant now) {
    YK_FAULT(CaughtUp);
    phase_ = Phase::Running;
    stale_since_.reset();
    announce(NoticeKind::Synced, position_.text());
    for (const auto& each : informers_) each->begin_handlers(now);
    for (const auto& each : periodic_) each->run_at(now); // all that was missed
    if (settings_.resync.period > Duration{}) next_resync_ = now + chance_.between({}, settings_.resync.period);
    YK_FAULT(HandlersBegun);
}

void StateManager::announce_slow_start(Instant now) {
    if (is_running() || slow_start_announced_ || now - started_ < settings_.start.timeout) return;
    slow_start_announced_ = true;
    announce(NoticeKind::StartSlow, {});
}

// --- now and then ----------------------------------------------------------------------------------------------------

bool StateManager::turn_older(Instant now) {
    bool any = false;
    for (const auto& each : informers_) {
        if (!each->take_older_found()) continue;
        any = true;
        each->begin_era();
        consumer_.relist(each->kind(), RelistReason::OlderVersions, now);
    }
    return any;
}

/// One kind after the other is read, so that a resync costs the database no more than one scan at a time (rs R-093).
bool StateManager::turn_resync(Instant now) {
    if (!is_running()) return false;
    if (settings_.resync.period > Duration{} && now >= next_resync_) {
        next_resync_ = now + jittered(settings_.resync.period, settings_.resync.jitter_permille, chance_);
        for (const auto& each : informers_)
            if (std::find(resyncs_.begin(), resyncs_.end(), each.get()) == resyncs_.end())
                resyncs_.push_back(each.get());
    }
    if (resyncs_.empty()) return false;
    for (const auto& each : informers_)
        if (each->is_scanning()) return false;
    Informer* const next = resyncs_.front();
    resyncs_.pop_front();
    next->request_scan(ScanKind::Resync, now);
    return true;
}

bool StateManager::turn_periodic(Instant now) {
    if (!is_running()) return false;
    for (const auto& each : periodic_) {
        if (each->next() > now) continue;
        run(*each, now);
        return true;
    }
    return false;
}

void StateManager::run(PeriodicRuns& runs, Instant now) {
    const PeriodicOptions& options = runs.options();
    const auto lease = leases_.find(options.service);
    if (!options.service.empty() && lease == leases_.end()) return runs.run_at(now + options.period);
    const PeriodicContext context{now, lease == leases_.end() ? Lease{} : lease->second,
                                  may_conclude(options.period, now)};
    YK_FAULT(PeriodicBegun);
    const auto report = runs.run(context);
    YK_FAULT(PeriodicEnded);
    if (!report.ok()) announce(NoticeKind::ReconcilerFailed, report.error().message, runs.name());
}

bool StateManager::may_conclude(Duration period, Instant now) const {
    return is_running() && staleness(now) <= 2 * period;
}

// --- what the program wants ------------------------------------------------------------------------------------------

void StateManager::enqueue(Kind kind, std::string_view id, Instant now, Call call) {
    owner_thread_.claim();
    const bool is_forced = call == Call::Anyway;
    const Cause cause = is_forced ? Cause::Resync : Cause::Live;
    if (Informer* const informer = find(kind)) informer->enqueue(id, {Priority::High, cause, is_forced}, now);
}

std::size_t StateManager::retry_dead_letters(Kind kind, std::string_view id, Instant now) {
    owner_thread_.claim();
    Informer* const informer = find(kind);
    return informer == nullptr ? 0 : informer->retry_dead_letters(id, now);
}

void StateManager::request_resync(Kind kind, Instant now) {
    owner_thread_.claim();
    if (Informer* const informer = find(kind); informer != nullptr && is_running())
        informer->request_scan(ScanKind::Resync, now);
}

void StateManager::set_lease(std::string_view service, const std::optional<Lease>& lease, Instant now) {
    owner_thread_.claim();
    const bool had = leases_.contains(service);
    if (lease)
        leases_.insert_or_assign(std::string{service}, *lease);
    else if (had)
        leases_.erase(leases_.find(service));
    for (const auto& each : informers_) each->set_lease(service, lease, now);
    if (lease && !had) YK_FAULT(LeaseTaken);
    if (!lease || had || !is_running()) return;
    for (const auto& each : periodic_)
        if (each->options().service == service) each->run_at(now);
}

void StateManager::run_periodic(std::string_view name, Instant now) {
    owner_thread_.claim();
    for (const auto& each : periodic_)
        if (each->name() == name) each->run_at(now);
}

// --- questions -------------------------------------------------------------------------------------------------------

Duration StateManager::staleness(Instant now) const {
    owner_thread_.assert_here();
    return stale_since_ ? now - *stale_since_ : Duration{};
}

std::vector<KindStatus> StateManager::status() const {
    owner_thread_.assert_here();
    std::vector<KindStatus> all;
    all.reserve(informers_.size());
    for (const auto& each : informers_) all.push_back(each->status());
    return all;
}

void StateManager::announce(NoticeKind what, std::string_view text, std::string_view name) {
    notices_.notice({what, {}, {}, name, text});
}

} // namespace yk::rs
