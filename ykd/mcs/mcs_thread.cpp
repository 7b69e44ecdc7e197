// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/mcs_thread.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/base/fault_point.h"
#include "protocol/databases/mcs_leases.h"
#include "ykd/mcs/application_numbers.h"
#include "ykd/process/log.h"
#include "ykd/process/random_bytes.h"

namespace yk::service {
namespace {

constexpr Duration kTryAgain = std::chrono::seconds{1}; // to open the database
constexpr Duration kLeastPause = std::chrono::milliseconds{1};
constexpr const char* kFault = "mcs database"; // in Degraded

std::uint64_t random_seed() {
    const Bytes16 bytes = random_bytes();
    std::uint64_t seed = 0;
    for (std::size_t at = 0; at < sizeof seed; ++at) seed = seed << 8U | bytes[at];
    return seed;
}

} // namespace

Result<void> McsThread::start() {
    if (!parts_.settings.enabled || is_started()) return {};
    const DatabaseSettings& database = parts_.settings.db;
    DatabasePlace place = database_place(database, parts_.state_directory);
    if (parts_.state_directory.empty() && place.where != database_place(database, ".").where)
        return Error::at("mcs", "a state directory is needed for the database (--state DIR, or stateDir)");
    if (place.kind == DatabasePlace::Kind::Sqlite) {
        using How = rs::DatabaseLock::How;
        const bool is_alone = !parts_.settings.lease_enabled || parts_.settings.local.enabled;
        YK_TRY(lock, rs::DatabaseLock::take(place.where, is_alone ? How::Exclusive : How::Shared));
        lock_.emplace(std::move(lock));
    }
    if (!lock_ && !parts_.settings.lease_enabled)
        return Error::at("mcs", "mcs.lease.enabled: false is for SQLite alone; nobody keeps others out of PostgreSQL");
    if (!lock_ && parts_.settings.local.enabled)
        return Error::at("mcs",
                         "mcs.local.enabled: true is for SQLite alone: with PostgreSQL another daemon could lead, "
                         "and start the commands again that still run here");
    if (parts_.settings.events.transport != EventTransportKind::Embedded) {
        YK_TRY(broker, open_broker(parts_.settings.events, random_seed()));
        broker_ = std::move(broker);
    }
    if (parts_.settings.framework.resync.period == Duration{})
        log("mcs").warn("mcs.resync.period is 0: what no event announces is found by `ykctl mcs resync` alone");
    place.idle_limit = std::min(place.idle_limit, parts_.settings.lease_ttl);
    place_ = std::move(place);
    thread_.start(
        "mcs", [this] { run(); }, [this] { return step(); });
    return {};
}

void McsThread::post(Question question) {
    {
        const std::lock_guard lock(mutex_);
        if (stopping_ != Stopping::No) return;
        questions_.push_back(std::move(question));
    }
    bell_.ring();
}

void McsThread::queues_changed(const std::string& rm_id) {
    if (!is_started() || rm_id != parts_.settings.rm_id) return;
    post([](McsApplication* application, Instant now) {
        if (application != nullptr) application->scheduling().queues_changed(now);
    });
}

void McsThread::ask_numbers(std::function<void(std::optional<McsNumbers>)> take) {
    if (!is_started()) return take(std::nullopt);
    post([take = std::move(take)](McsApplication* application, Instant now) {
        take(application == nullptr ? std::nullopt : std::optional{numbers_of(*application, now)});
    });
}

McsThread::State McsThread::state() const {
    const std::lock_guard lock(mutex_);
    return state_;
}

void McsThread::stop() {
    end_thread(Stopping::Orderly);
    end();
}

/// Questions that were not asked go, and with them the calls that wait for an answer.
void McsThread::end() {
    end_thread(Stopping::AtOnce);
    application_.reset();
    parts_.degraded.clear(kFault);
    const std::lock_guard lock(mutex_);
    questions_.clear();
}

void McsThread::end_thread(Stopping how) {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = how;
    }
    bell_.ring();
    thread_.end();
}

// --- the thread ------------------------------------------------------------------------------------------------------

void McsThread::run() {
    Stopping how = Stopping::No;
    while (how == Stopping::No) {
        const auto due = step();
        CommitNews* const commits = news();
        if (due && bell_.wait_until(*due, commits == nullptr ? -1 : commits->socket())) commits->hear();
        const std::lock_guard lock(mutex_);
        how = stopping_;
    }
    if (application_ && how == Stopping::Orderly) application_->stop();
}

/// nullptr: nobody says when there was a commit.
CommitNews* McsThread::news() const {
    return application_ ? application_->connections().news.get() : nullptr;
}

/// At most one question and one bit of work, so that neither keeps the other waiting; nullopt: there may be more. Else
/// when to look again, if nobody rings.
std::optional<McsThread::TimePoint> McsThread::step() {
    const Instant now = steady_instant();
    const Question question = next_question();
    if (question) question(application_.get(), now);
    if (!application_) return question ? std::nullopt : std::optional{open_or_wait(now)};
    const bool has_worked = application_->work(now);
    if (end_damaged(now) || has_worked || question) return std::nullopt;
    return TimePoint{SteadyClock::duration{std::max(application_->next_due(now), now + kLeastPause).ns}};
}

McsThread::Question McsThread::next_question() {
    const std::lock_guard lock(mutex_);
    if (questions_.empty()) return {};
    Question question = std::move(questions_.front());
    questions_.pop_front();
    return question;
}

McsThread::TimePoint McsThread::open_or_wait(Instant now) {
    if (state().phase == State::Phase::Failed) return TimePoint::max();
    if (now >= next_try_) {
        auto connections = McsConnections::open(*place_, broker_.has_value());
        if (connections.ok())
            opened(std::move(connections).value(), now);
        else
            not_opened(connections.error(), now);
    }
    return TimePoint{SteadyClock::duration{application_ ? now.ns : next_try_.ns}};
}

/// A process that was killed has its leases still, but not its lock of the database.
void McsThread::free_leases(McsConnections& connections) const {
    if (!lock_) return; // nobody knows who uses it from elsewhere
    lock_->while_alone([&] {
        const auto freed = mcs::release_all(*connections.leases);
        if (!freed.ok()) log("mcs").warn("leases are waited for until they run out: {}", freed.error().message);
    });
}

void McsThread::opened(McsConnections connections, Instant now) {
    log("mcs").info("database {} is open, {}", place_->shown, connections.identity.uid);
    YK_FAULT(DatabaseOpened);
    if (broker_) log("mcs").info("changes are read from {} at {}", broker_->name, broker_->place);
    if (parts_.settings.lease_enabled) free_leases(connections);
    const auto ring = [this] { bell_.ring(); };
    const auto call_here = [this](std::function<void()> call) {
        post([call = std::move(call)](McsApplication*, Instant) { call(); });
    };
    application_ = std::make_unique<McsApplication>(
        McsApplication::Parts{parts_.settings, parts_.degraded, parts_.holder, random_seed(), ring, give_, call_here,
                              parts_.event, local_worker(), parts_.ask_names},
        std::move(connections), std::exchange(broker_, std::nullopt), now);
    parts_.degraded.clear(kFault);
    const std::lock_guard lock(mutex_);
    state_ = {State::Phase::Open, {}};
}

/// Deployments without commands go on where commands cannot be run.
std::shared_ptr<work::Worker> McsThread::local_worker() {
    constexpr const char* kCommands = "mcs commands"; // in Degraded
    if (!parts_.settings.local.enabled) return nullptr;
    auto started = start_local_worker(parts_.settings.local, parts_.settings.rm_id, parts_.state_directory,
                                      [this] { bell_.ring(); });
    if (started.ok()) return *std::move(started);
    const std::string sentence =
        fmt::format("commands of deployments are not run: {}; mend that and restart ykd", started.error().text());
    parts_.degraded.set(kCommands, sentence);
    log("mcs").error("{}", sentence);
    return nullptr;
}

/// A database that is damaged is one that cannot be opened, if only its rows say so: before the first read of them all
/// nothing of MCS is of use. No handler has begun by then, so that nothing is under way that would come back to it: it
/// ends at once, and its leases run out (rs F-33).
bool McsThread::end_damaged(Instant now) {
    const std::string damage = application_->manager().start_trouble().damage;
    if (damage.empty()) return false;
    const std::string place = application_->connections().place;
    application_.reset();
    not_opened({rs::StoreFault::Fatal, fmt::format("{}: {}", place, damage)}, now);
    return true;
}

/// What no other try can mend needs a person, and a restart; the daemon's other RMs go on (rs F-33).
void McsThread::not_opened(const rs::StoreError& error, Instant now) {
    next_try_ = now + kTryAgain;
    const bool is_final = error.fault == rs::StoreFault::Fatal;
    const std::string sentence = is_final ? fmt::format("MCS has failed: {}; mend that and restart ykd", error.message)
                                          : fmt::format("MCS waits for its database: {}", error.message);
    if (parts_.degraded.set(kFault, sentence)) log("mcs").error("{}", sentence);
    const std::lock_guard lock(mutex_);
    state_ = {is_final ? State::Phase::Failed : State::Phase::Opening, sentence};
}

} // namespace yk::service
