// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/resource_state/follower.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/bench/measure/measure.h"
#include "ykd/mcs/take_turns.h"

namespace yk::bench {
namespace {

using service::steady_instant;

constexpr Duration kLeastPause = std::chrono::milliseconds{1}; // as McsThread
constexpr Duration kStartLimit = std::chrono::minutes{5};
constexpr std::uint64_t kSeed = 7;

/// The cache has all rows of its kind as they are, and no others.
template <rs::Resource T>
Result<void> check_cache(const rs::ResourceCache<T>& cache, rs::ResourceStore<T>& store) {
    YK_TRY(wanted, digest_of(store));
    std::vector<const T*> rows;
    rows.reserve(cache.size());
    cache.for_each([&](const rs::Ptr<T>& row) { rows.push_back(row.get()); });
    std::sort(rows.begin(), rows.end(), [](const T* a, const T* b) { return rs::meta_of(*a).id < rs::meta_of(*b).id; });
    Digest digest;
    for (const T* const row : rows) digest.add(*row);
    if (digest == wanted) return {};
    return Error::of(fmt::format("the cache of the kind {} has {} rows, the database {}, and they differ",
                                 std::string_view{rs::ResourceTraits<T>::kName}, digest.rows, wanted.rows));
}

} // namespace

Result<std::unique_ptr<Follower>> Follower::open(const BenchDatabase& database, const FollowerOptions& options) {
    auto connections = service::McsConnections::open(database.place(), false);
    if (!connections.ok()) return to_error(connections.error());
    return std::unique_ptr<Follower>{new Follower{std::move(connections).value(), options}};
}

Follower::Follower(service::McsConnections connections, const FollowerOptions& options)
    : connections_(std::move(connections)),
      house_(std::move(connections_.upkeep), {}),
      manager_(*connections_.log, notices_, options.settings, kSeed),
      store_(*connections_.deployments),
      deployments_(manager_.add(store_)) {
    if (connections_.on_commit) connections_.on_commit([this](std::int64_t pages) { house_.committed(pages); });
    deployments_.add_index<std::string>([](const mcs::Deployment& row) { return &row.name; });
    if (options.has_children) {
        scales_ = &manager_.add(*connections_.scales);
        schedules_ = &manager_.add(*connections_.schedules);
        nodes_ = &manager_.add(*connections_.nodes);
    }
    const Instant now = steady_instant();
    if (options.has_handler) deployments_.add_handler(handler_, {}, now);
    manager_.start(now);
}

/// As McsApplication::work() does.
bool Follower::step() {
    const Instant now = steady_instant();
    bool any = take_answered(now);
    any = service::take_turns(manager_, now) || any;
    if (const auto call = manager_.next_call(now)) {
        any = true;
        store_.keeps_rows = on_cached != nullptr;
        call->run();
        call->finish(steady_instant());
        note_cached();
    }
    if (writer_) writer_->hand_out();
    longest_step_ = std::max(longest_step_, static_cast<double>((steady_instant() - now).count()) * 1e-9);
    return any;
}

/// The rows that the call has read: those that the cache has now are new in it, or were there before.
void Follower::note_cached() {
    for (const auto& row : std::exchange(store_.rows, {}))
        if (on_cached && cache().get(row->meta.id) == row) on_cached(*row);
}

bool Follower::take_answered(Instant now) {
    if (!writer_) return false;
    const auto calls = writer_->take_answered();
    if (calls.empty()) return false;
    for (const auto& call : calls) {
        const mcs::WriteCommand& command = call->request().command;
        manager_.enqueue(mcs::kind_of(command), mcs::id_of(command), now);
        call->finish(now);
    }
    manager_.wake();
    return true;
}

void Follower::wait(Instant latest) {
    const Instant now = steady_instant();
    const auto due = manager_.next_due(now);
    const Instant until = std::min(latest, due ? std::max(*due, now + kLeastPause) : latest);
    const int socket = connections_.news ? connections_.news->socket() : -1;
    if (!bell_.wait_until(SteadyClock::time_point{SteadyClock::duration{until.ns}}, socket)) return;
    connections_.news->hear();
    manager_.wake();
}

Result<void> Follower::run_until(const std::function<bool()>& is_done, Duration limit) {
    const Instant end = steady_instant() + limit;
    while (!is_done()) {
        if (step()) continue;
        const Instant now = steady_instant();
        if (now > end) return Error::of(fmt::format("not done within {} s", limit.count() / 1'000'000'000));
        if (!is_done()) wait(std::min(end, now + std::chrono::milliseconds{100}));
    }
    return {};
}

Result<void> Follower::start() {
    YK_CHECKED(run_until([this] { return manager_.is_running(); }, kStartLimit));
    const auto has_delivered = [this] { return deployments_.deliveries().queued() == 0; };
    return run_until(has_delivered, kStartLimit); // handlers get what is there
}

bool Follower::is_quiet() {
    if (writer().is_busy()) return false;
    for (const rs::KindStatus& kind : manager_.status())
        if (kind.queued + kind.waiting != 0) return false;
    return true;
}

ChangeWriter& Follower::writer() {
    if (!writer_) writer_ = std::make_unique<ChangeWriter>(*connections_.writes, [this] { bell_.ring(); });
    return *writer_;
}

Result<void> Follower::check_caches(const BenchDatabase& database) const {
    const auto fresh = service::McsConnections::open(database.place(), false);
    if (!fresh.ok()) return to_error(fresh.error());
    YK_CHECKED(check_cache(deployments_.cache(), *fresh->deployments));
    if (scales_ == nullptr) return {};
    YK_CHECKED(check_cache(scales_->cache(), *fresh->scales));
    YK_CHECKED(check_cache(schedules_->cache(), *fresh->schedules));
    return check_cache(nodes_->cache(), *fresh->nodes);
}

Result<void> Follower::check(const BenchDatabase& database) {
    YK_CHECKED(check_caches(database));
    for (const rs::KindStatus& kind : manager_.status())
        if (kind.counters.repairs != 0 || kind.broken_rows != 0)
            return Error::of(fmt::format("{} repairs and {} broken rows of the kind {}", kind.counters.repairs,
                                         kind.broken_rows, kind.name));
    if (writer_ && (writer_->failed() != 0 || writer_->answered() != writer_->sent()))
        return Error::of(fmt::format("of {} writes {} were answered and {} failed", writer_->sent(),
                                     writer_->answered(), writer_->failed()));
    const auto bad = notices_.count(rs::NoticeKind::Gap) + notices_.count(rs::NoticeKind::Broken) +
                     notices_.count(rs::NoticeKind::StaleRead) + notices_.count(rs::NoticeKind::StartAgain);
    if (bad != 0) return Error::of(fmt::format("{} notices of gaps, broken or old rows, or starts anew", bad));
    return {};
}

} // namespace yk::bench
