// SPDX-License-Identifier: Apache-2.0
// rs-15 and rs-16: the Autoscaler when there is nothing to repair, and when there is a metric for every Deployment.

#include <algorithm>
#include <chrono>
#include <ctime>
#include <string>

#include <fmt/format.h>

#include "libcore/mcs/autoscaler/autoscaler_handlers.h"
#include "libcore/mcs/autoscaler/autoscaler_reconciler.h"
#include "libcore/mcs/autoscaler/evaluation_rounds.h"
#include "libcore/mcs/autoscaler/scale_decision.h"
#include "protocol/mcs/policy_text.h"
#include "protocol/mcs/status_text.h"
#include "tests/bench/resource_state/follower.h"
#include "tests/bench/resource_state/workloads.h"

namespace yk::bench {
namespace {

constexpr Duration kLimit = std::chrono::minutes{5};
constexpr Duration kPeriod = std::chrono::seconds{15};
constexpr const char* kPolicy = R"({"metrics":[{"name":"load","target":1000,"type":"value"}]})";

double cpu_seconds(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// The Autoscaler on the caches of a follower, as McsApplication has it.
struct ScalerWorld {
    explicit ScalerWorld(Follower& on) : follower(on) {}

    mcs::AutoscalerPorts ports() {
        return {follower.cache(),
                follower.scales(),
                follower.schedules(),
                metrics,
                texts,
                follower.writer().queue(),
                [this](std::string_view id, Instant at) { follower.manager().enqueue(mcs::kScaleKind, id, at); }};
    }
    /// Writes that were handed out are in the database and in the cache.
    Result<void> settle() {
        const auto is_settled = [this] {
            if (follower.writer().queue().size() != 0) follower.writer().hand_out();
            return follower.is_quiet();
        };
        return follower.run_until(is_settled, kLimit);
    }

    Follower& follower;
    mcs::MetricBoard metrics;
    const mcs::JsonScaleTexts texts;
    mcs::Autoscaler autoscaler{ports()};
};

/// One second of the rounds: its share of samples comes, and its share of Deployments is looked at.
class Rounds {
public:
    Rounds(ScalerWorld& world, const Rows& rows)
        : world_(world), rows_(rows), rounds_(world.autoscaler, world.follower.cache(), kPeriod) {}

    Result<void> push(std::size_t from, std::size_t to, Instant now) {
        for (std::size_t at = from; at < to; ++at) {
            const auto row = world_.follower.cache().get(deployment_of(static_cast<std::uint32_t>(at), rows_).meta.id);
            YK_TRY(policy, mcs::parse_policy(*row->policy)); // as McsApplication::push_metric()
            YK_CHECKED(world_.metrics.push(row->meta.uid, policy, mcs::bounds_of(*row), {"load", {}, 1000}, now));
        }
        return {};
    }
    Result<void> look(Instant now) {
        const double before = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
        YK_TRY(report, rounds_.run_once({now, {}, true}));
        looking_ += cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - before;
        found_ += report.found;
        return {};
    }
    [[nodiscard]] double looking() const { return looking_; } // processor seconds
    [[nodiscard]] std::uint64_t found() const { return found_; }

private:
    ScalerWorld& world_;
    const Rows& rows_;
    mcs::EvaluationRounds rounds_;
    double looking_ = 0;
    std::uint64_t found_ = 0;
};

} // namespace

Result<Figures> run_reconciler(const RunPlace& place) {
    Rows rows{place.rows};
    rows.has_scales = true;
    YK_TRY(database, place.databases.make(place.engine, rows));
    return figures_apart([&]() -> Result<Figures> {
        YK_TRY(follower, Follower::open(*database, {{}, true, false}));
        YK_CHECKED(follower->start());
        if (follower->scales().size() != place.rows) return Error::of("not every Deployment has a scale");
        ScalerWorld world{*follower};
        mcs::AutoscalerReconciler reconciler{world.autoscaler, follower->cache(), follower->scales()};
        const std::uint64_t reads = follower->store().reads;
        const std::int64_t began = steady_ns();
        double longest = 0;
        for (bool has_more = true; has_more;) {
            const std::int64_t start = steady_ns();
            YK_TRY(report, reconciler.run_once({service::steady_instant(), {}, true}));
            longest = std::max(longest, static_cast<double>(steady_ns() - start) * 1e-6);
            if (report.found != 0) return Error::of(fmt::format("{} findings", report.found));
            has_more = report.has_more;
        }
        const double took = static_cast<double>(steady_ns() - began) * 1e-9;
        if (follower->store().reads != reads || follower->writer().queue().size() != 0)
            return Error::of("it read the database, or wrote");
        YK_CHECKED(follower->check(*database));
        return Figures{{"seconds for a pass", took}, {"longest run, ms", longest}};
    });
}

/// Four periods of 15 s, after a first one in which conditions are written; so what is written once a minute counts.
/// The time of the rounds is not that of a clock, so that nobody waits for it.
Result<Figures> run_evaluation(const RunPlace& place) {
    const std::size_t count = place.scaled(100'000);
    const Rows rows{count, 0, true, true, kPolicy};
    YK_TRY(database, place.databases.make(place.engine, rows));
    return figures_apart([&]() -> Result<Figures> {
        YK_TRY(follower, Follower::open(*database, {{}, true, false}));
        YK_CHECKED(follower->start());
        ScalerWorld world{*follower};
        Rounds rounds{world, rows};
        constexpr int kFirst = 15, kAll = 75; // seconds
        const Instant began = service::steady_instant();
        double cpu = 0, looking = 0, pushing = 0;
        std::uint64_t written = 0;
        for (int second = 0; second <= kAll; ++second) {
            if (second == kFirst + 1) {
                cpu = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
                looking = rounds.looking();
                written = rounds.found();
                pushing = 0;
            }
            const Instant now = began + std::chrono::seconds{second};
            const auto part = static_cast<std::size_t>(second % 15);
            const double before = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
            const bool is_first = second == 0; // everything has a value before it is looked at
            YK_CHECKED(rounds.push(is_first ? 0 : count * part / 15, is_first ? count : count * (part + 1) / 15, now));
            pushing += cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - before;
            YK_CHECKED(rounds.look(now));
            YK_CHECKED(world.settle());
        }
        constexpr double kMeasured = kAll - kFirst;
        cpu = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        YK_CHECKED(follower->check(*database));
        for (std::uint32_t at = 0; at < count; ++at)
            if (const auto scale = follower->scales().get(deployment_of(at, rows).meta.id);
                !scale || scale->desired != 2 || scale->status == "{}")
                return Error::of("a Deployment whose metric is at its target was scaled, or not looked at");
        return Figures{{"percent of a core, evaluation", 100 * (rounds.looking() - looking) / kMeasured},
                       {"percent of a core, taking samples", 100 * pushing / kMeasured},
                       {"percent of a core, all threads, with writes", 100 * cpu / kMeasured},
                       {"writes per second", static_cast<double>(rounds.found() - written) / kMeasured}};
    });
}

} // namespace yk::bench
