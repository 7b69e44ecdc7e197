#include "ykd/service/health_keeper.h"

#include <fmt/format.h>

#include <algorithm>

#include "ykd/service/daemon.h"
#include "ykd/service/gather.h"

namespace yk::service {
namespace {

constexpr auto kErrorWindow = std::chrono::minutes{5};

struct RmHealth {
    std::vector<HealthCheckView> checks;
    CoreCounters counters;
    HealthPlace place;
};

/// The next piece (adr 0008); true: it was the last.
bool check_more(RmOwner& owner, RmHealth& health) {
    if (owner.context() == nullptr) return true;
    std::size_t room = kPiece;
    owner.context()->health_piece(health.place, room, health.checks);
    health.counters = owner.context()->counters();
    return room > 0;
}

/// The same check of several RMs becomes one.
void merge(std::vector<HealthCheckView>& all, const HealthCheckView& one, const std::string& rm_id) {
    auto same =
        std::find_if(all.begin(), all.end(), [&](const HealthCheckView& known) { return known.name == one.name; });
    if (same == all.end()) same = all.insert(all.end(), {one.name, true, one.description, {}});
    same->succeeded = same->succeeded && one.succeeded;
    if (!one.diagnosis.empty())
        same->diagnosis += (same->diagnosis.empty() ? "" : "; ") + fmt::format("RM {}: {}", rm_id, one.diagnosis);
}

HealthCheckView streams(const std::vector<RmPtr>& rms) {
    std::string wrong;
    for (const RmPtr& rm : rms) {
        const si::CoreState state = rm->owner.state();
        const bool bad =
            state == si::CoreState::Lost || state == si::CoreState::Failed || rm->owner.stream().status().congested;
        if (bad) wrong += fmt::format("{}RM {} is {}", wrong.empty() ? "" : ", ", rm->id, si::text(state));
    }
    return {"Streams", wrong.empty(), "Checks that no RM is lost, failed or congested", wrong};
}

constexpr const char* kDaemonCheck = "Daemon";

/// Only listed when it fails: the others are those of interface.md 5.6.
std::optional<HealthCheckView> daemon_itself(const Degraded& degraded) {
    const auto reasons = degraded.list();
    if (reasons.empty()) return std::nullopt;
    return HealthCheckView{kDaemonCheck, false, "Checks that nothing is wrong with the daemon itself",
                           fmt::format("{}", fmt::join(reasons, "; "))};
}

} // namespace

std::uint64_t RecentGrowth::note(std::uint64_t total) {
    const auto now = SteadyClock::now();
    while (!seen_.empty() && now - seen_.front().first > kErrorWindow) seen_.pop_front();
    // The counters of an RM that is gone are missing from the total, which then starts anew.
    if (!seen_.empty() && total < seen_.back().second) seen_.clear();
    seen_.emplace_back(now, total);
    return total - seen_.front().second;
}

HealthCheckView HealthKeeper::main_loop(const std::vector<RmPtr>& rms, bool idle) const {
    std::string wrong;
    for (const RmPtr& rm : rms) {
        const Duration silence = real_now() - rm->owner.last_turn();
        if ((idle || rm->owner.state() == si::CoreState::Running) && silence > loop_limit_)
            wrong += fmt::format("{}RM {} for {} s", wrong.empty() ? "no turn of " : ", ", rm->id,
                                 std::chrono::duration_cast<std::chrono::seconds>(silence).count());
    }
    return {"Main loop", wrong.empty(), "Checks that the scheduling loop came round in the last 10 s", wrong};
}

/// One run of the checks: who ends it first tells the result.
class HealthKeeper::Run {
public:
    explicit Run(Done done) : done_(std::move(done)) {}
    /// Nothing: it has ended.
    [[nodiscard]] Done end(Deadlines& deadlines) {
        const std::lock_guard lock(mutex_);
        if (look_) deadlines.cancel(*std::exchange(look_, std::nullopt));
        return std::exchange(done_, nullptr);
    }
    /// Calls `look` in a while, if it has not ended by then.
    void look_later(Deadlines& deadlines, Duration wait, std::function<void()> look) {
        const std::lock_guard lock(mutex_);
        if (done_) look_ = deadlines.call_after(wait, std::move(look));
    }

private:
    std::mutex mutex_;
    Done done_;
    std::optional<Deadlines::Key> look_;
};

/// Whoever is stuck does not answer, so the checks would not end.
void HealthKeeper::watch(Daemon& daemon, const std::shared_ptr<Run>& run) {
    const auto look = [this, &daemon, run] {
        const HealthCheckView loop = main_loop(daemon.rms().all(), true);
        if (loop.succeeded) return watch(daemon, run);
        if (const Done done = run->end(daemon.deadlines())) done(keep(daemon, {loop}));
    };
    run->look_later(daemon.deadlines(), loop_limit_, [&daemon, look] { daemon.workers().post(look); });
}

std::vector<HealthCheckView> HealthKeeper::recent_failures(const CoreCounters& total) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t errors = errors_.note(total.scheduling_errors);
    const std::uint64_t nodes = failed_nodes_.note(total.nodes_failed);
    return {{"Scheduling errors", errors == 0, "Checks for scheduling errors in the last 5 minutes",
             errors == 0 ? "" : fmt::format("{} scheduling errors", errors)},
            {"Failed nodes", nodes == 0, "Checks for nodes of unknown partitions in the last 5 minutes",
             nodes == 0 ? "" : fmt::format("{} nodes of unknown partitions", nodes)}};
}

wire::Value HealthKeeper::keep(Daemon& daemon, const std::vector<HealthCheckView>& checks) {
    wire::Value list = wire::Value::array();
    std::vector<std::string> failures;
    bool healthy = true;
    for (const HealthCheckView& check : checks) {
        list.push_back({{"Name", check.name},
                        {"Succeeded", check.succeeded},
                        {"Description", check.description},
                        {"DiagnosisMessage", check.diagnosis}});
        if (check.succeeded) continue;
        healthy = false;
        if (check.name != kDaemonCheck) // Status has its sentences by itself
            failures.push_back(fmt::format("health check \"{}\" failed: {}", check.name, check.diagnosis));
    }
    const std::lock_guard lock(mutex_);
    const Instant now = real_now();
    if (healthy != healthy_) since_ = now;
    healthy_ = healthy;
    failures_ = std::move(failures);
    last_ = {{"Healthy", healthy_},
             {"HealthChecks", std::move(list)},
             {"At", now.ns},
             {"Since", since_.ns},
             {"DaemonState", static_cast<int>(daemon.state())}};
    return *last_;
}

void HealthKeeper::run(Daemon& daemon, Done done) {
    std::vector<RmPtr> rms = daemon.rms().all();
    const auto run = std::make_shared<Run>(std::move(done));
    if (!rms.empty()) watch(daemon, run);
    gather_in_pieces<RmHealth>(daemon.workers(), rms, check_more,
                               [this, &daemon, rms, run](const std::vector<Gathered<RmHealth>>& all) {
                                   const Done tell = run->end(daemon.deadlines());
                                   if (!tell) return;
                                   CoreCounters total;
                                   for (const auto& one : all) total.add(one.answer.counters);
                                   std::vector<HealthCheckView> checks = recent_failures(total);
                                   for (HealthCheckView& check : health_checks())
                                       checks.push_back(std::move(check)); // also without an RM
                                   for (const auto& one : all)
                                       for (const HealthCheckView& check : one.answer.checks)
                                           merge(checks, check, one.rm->id);
                                   checks.push_back(streams(rms));
                                   checks.push_back(main_loop(rms, false));
                                   if (auto failed = daemon_itself(daemon.degraded()))
                                       checks.push_back(*std::move(failed));
                                   tell(keep(daemon, checks));
                               });
}

std::optional<wire::Value> HealthKeeper::last() const {
    const std::lock_guard lock(mutex_);
    return last_;
}

std::vector<std::string> HealthKeeper::failures() const {
    const std::lock_guard lock(mutex_);
    return failures_;
}

} // namespace yk::service
