// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/health_keeper.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/base/text.h"
#include "libcore/reports/health.h"
#include "ykd/request/gather.h"

namespace yk::service {
namespace {

constexpr auto kErrorWindow = std::chrono::minutes{5};
constexpr std::size_t kLongestReason = 1000; // bytes of why an RM has failed

/// The checks of one RM in the making.
struct RmHealth {
    std::vector<HealthCheckView> checks;
    CoreCounters counters;
    HealthCursor cursor;
    bool is_paged = false;                              // the checks in pages are done
    std::optional<std::vector<std::string>> invariants; // those that are broken; nothing: not checked
};

/// Which of checks 3 to 11 failed, but for the one that only informs, and what they found (I-245); empty: none.
std::string inconsistencies(const std::vector<HealthCheckView>& checks) {
    std::string found;
    for (const HealthCheckView& check : checks)
        if (!check.succeeded) found += fmt::format("{}{}: {}", found.empty() ? "" : "; ", check.name, check.diagnosis);
    return shortened(found, kLongestReason);
}

/// Whether checking every invariant takes no longer than a chunk of other work.
bool is_small(const Holdings& held) {
    return held.of(Held::Nodes) + held.of(Held::Applications) + held.of(Held::Asks) + held.of(Held::Queues) <= kChunk;
}

/// Whether the sums of the RM's partitions must be those of their objects.
bool is_comparable(RmOwner& owner) {
    for (const std::string& name : owner.context()->partition_names())
        if (const PartitionState* state = owner.read(name); state != nullptr && has_huge_amounts(*state)) return false;
    return true;
}

std::string broken_text(const std::vector<std::string>& broken) {
    const std::size_t shown = std::min<std::size_t>(broken.size(), 5);
    std::string text =
        fmt::format("{}", fmt::join(broken.begin(), broken.begin() + static_cast<std::ptrdiff_t>(shown), "; "));
    if (broken.size() > shown) text += fmt::format("; and {} more", broken.size() - shown);
    return shortened(text, kLongestReason);
}

/// Checks the next chunk of objects, so that cycles run in between (docs/adr/0008), and then, all at once, the
/// invariants. True: it was the last.
bool check_more(RmOwner& owner, RmHealth& health, HealthKeeper::Thorough thorough) {
    if (owner.context() == nullptr) return true;
    if (!health.is_paged) {
        std::size_t budget = kChunk;
        owner.context()->health_page(health.cursor, budget, health.checks);
        health.counters = owner.context()->counters();
        health.is_paged = budget > 0;
        if (!health.is_paged) return false;
        owner.recovery().note_consistency(inconsistencies(health.checks));
        return thorough == HealthKeeper::Thorough::Small && !is_small(owner.context()->holdings());
    }
    if (!is_comparable(owner)) return true;
    health.invariants = owner.gateway().check();
    owner.recovery().note_invariants(broken_text(*health.invariants));
    return true;
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

/// Listed when the invariants of any RM were checked.
void add_invariants(std::vector<HealthCheckView>& checks, const std::vector<Gathered<RmHealth>>& all) {
    for (const auto& one : all)
        if (one.answer.invariants)
            merge(checks,
                  {"Invariants", one.answer.invariants->empty(), "Checks every sum and every index with the objects",
                   broken_text(*one.answer.invariants)},
                  one.rm->id);
}

constexpr const char* kDaemonCheck = "Daemon";

/// What is wrong with the daemon itself, as a check. It is listed only when it fails, as interface.md 5.6 has only the
/// other checks.
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
    // When an RM has left, its counters are missing from the total: the comparison starts anew.
    if (!seen_.empty() && total < seen_.back().second) seen_.clear();
    seen_.emplace_back(now, total);
    return total - seen_.front().second;
}

HealthCheckView HealthKeeper::main_loop(const std::vector<RmPtr>& rms, bool idle) const {
    std::string wrong;
    for (const RmPtr& rm : rms) {
        const Duration since_turn = real_now() - rm->owner.last_turn();
        if ((idle || rm->owner.state() == si::CoreState::Running) && since_turn > parts_.loop_limit)
            wrong += fmt::format("{}RM {} for {} s", wrong.empty() ? "no turn of " : ", ", rm->id,
                                 std::chrono::duration_cast<std::chrono::seconds>(since_turn).count());
    }
    return {"Main loop", wrong.empty(), "Checks that the scheduling loop came round in the last 10 s", wrong};
}

/// One run of the checks. It ends once: with the answers of all RMs, or when an owner thread is stuck. Owner: the
/// closures of both. Thread: any.
class HealthKeeper::Run {
public:
    explicit Run(Done done) : done_(std::move(done)) {}
    /// Ends the run and returns what is to be called with the result. Empty: it had ended before.
    [[nodiscard]] Done end(Deadlines& deadlines) {
        const std::lock_guard lock(mutex_);
        if (look_) deadlines.cancel(*std::exchange(look_, std::nullopt));
        return std::exchange(done_, nullptr);
    }
    /// Calls `look` after `wait`, unless the run ends before.
    void look_later(Deadlines& deadlines, Duration wait, std::function<void()> look) {
        const std::lock_guard lock(mutex_);
        if (done_) look_ = deadlines.call_after(wait, std::move(look));
    }

private:
    std::mutex mutex_;
    Done done_;
    std::optional<Deadlines::Key> look_;
};

/// Looks for stuck owner threads as long as the run lasts: one that is stuck answers no question, so that the checks
/// would never end.
void HealthKeeper::watch(const std::shared_ptr<Run>& run) {
    const auto look = [this, run] {
        const HealthCheckView loop = main_loop(parts_.rms.all(), true);
        if (loop.succeeded) return watch(run);
        if (const Done done = run->end(parts_.deadlines)) done(keep({loop}));
    };
    run->look_later(parts_.deadlines, parts_.loop_limit, [this, look] { parts_.workers.post(look); });
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

wire::Value HealthKeeper::keep(const std::vector<HealthCheckView>& checks) {
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
        if (check.name != kDaemonCheck) // Status lists its sentences already
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
             {"DaemonState", static_cast<int>(core_state(parts_.rms))}};
    return *last_;
}

void HealthKeeper::run(Thorough thorough, std::function<void(const wire::Value&)> done) {
    std::vector<RmPtr> rms = parts_.rms.all();
    const auto run = std::make_shared<Run>(std::move(done));
    if (!rms.empty()) watch(run);
    const auto ask = [thorough](RmOwner& owner, RmHealth& health) { return check_more(owner, health, thorough); };
    gather_in_chunks<RmHealth>(parts_.workers, rms, ask, [this, rms, run](const std::vector<Gathered<RmHealth>>& all) {
        const Done report = run->end(parts_.deadlines);
        if (!report) return;
        CoreCounters total;
        for (const auto& one : all) total.add(one.answer.counters);
        std::vector<HealthCheckView> checks = recent_failures(total);
        for (HealthCheckView& check : health_checks())
            checks.push_back(std::move(check)); // so that all are listed without an RM, too
        for (const auto& one : all)
            for (const HealthCheckView& check : one.answer.checks) merge(checks, check, one.rm->id);
        add_invariants(checks, all);
        checks.push_back(streams(rms));
        checks.push_back(main_loop(rms, false));
        if (auto failed = daemon_itself(parts_.degraded)) checks.push_back(*std::move(failed));
        report(keep(checks));
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
