// SPDX-License-Identifier: Apache-2.0
// rs-04, rs-07, rs-08, rs-09, rs-10: changes while they are made, and full reads beside them.

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/bench/resource_state/live_load.h"
#include "tests/bench/resource_state/workloads.h"

namespace yk::bench {
namespace {

using Writer = LiveLoad::Writer;

constexpr Duration kScanLimit = std::chrono::minutes{10};
constexpr std::size_t kUnthrottled = 1'000'000'000; // rows per second

bool never() {
    return false;
}

/// A follower that has everything, and the load on it; the load first, since it divides the process.
struct LiveRun {
    LiveRun(const BenchDatabase& database, const LiveLoad::Plan& plan) : load(database, plan) {}

    Result<void> open(const BenchDatabase& database, const rs::Settings& settings = {}) {
        YK_TRY(opened, Follower::open(database, {settings, false, true}));
        follower = std::move(opened);
        YK_CHECKED(follower->start());
        static_cast<void>(follower->take_longest_step());
        return {};
    }
    Result<void> play(const BenchDatabase& database) {
        YK_CHECKED(open(database));
        YK_CHECKED(load.run(*follower, never));
        return follower->check(database);
    }

    LiveLoad load;
    std::unique_ptr<Follower> follower;
};

/// `target`: of the p99, for its name; empty: none.
void add_times(Figures& figures, const std::string& what, std::vector<double> times, const std::string& target = {}) {
    figures.emplace_back(what + " p50, ms", percentile_of(times, 50));
    figures.emplace_back(what + " p99, ms" + target, percentile_of(times, 99));
    figures.emplace_back(what + " worst, ms", percentile_of(times, 100));
}

void append(Figures& figures, Figures&& more) {
    for (auto& each : more) figures.push_back(std::move(each));
}

Result<Figures> measure_latency(const RunPlace& place, Writer writer, const std::string& what) {
    const Rows rows{place.rows};
    YK_TRY(database, place.databases.make(place.engine, rows));
    return figures_apart([&]() -> Result<Figures> {
        LiveRun run{*database, {1000, std::min<std::size_t>(place.rows, 15'000), writer, rows}};
        YK_CHECKED(run.play(*database));
        Figures figures;
        add_times(figures, what, run.load.to_cache());
        return figures;
    });
}

/// A full read that the follower makes while something else goes on, or nothing does.
class WatchedScan {
public:
    explicit WatchedScan(Follower& follower) : follower_(follower) {}

    void begin() {
        pages_ = most_pages_ = sqlite_bytes();
        heap_ = heap_bytes();
        most_apart_ = heap_ - pages_;
        static_cast<void>(follower_.take_longest_step());
        began_ = steady_ns();
        follower_.manager().request_resync(mcs::kDeploymentKind, service::steady_instant());
    }
    /// To be asked after each step.
    bool is_over() {
        const std::int64_t now = steady_ns();
        if (now >= next_look_) { // not too often: it takes a while
            next_look_ = now + 100'000'000;
            const double pages = sqlite_bytes();
            most_pages_ = std::max(most_pages_, pages);
            most_apart_ = std::max(most_apart_, heap_bytes() - pages);
        }
        if (began_ == 0 || ended_ != 0 || follower_.deployments().resync().reports().empty()) return ended_ != 0;
        ended_ = now;
        longest_ = follower_.take_longest_step();
        return true;
    }
    [[nodiscard]] std::int64_t began() const { return began_; }
    [[nodiscard]] std::int64_t ended() const { return ended_; }

    [[nodiscard]] Result<void> check(std::size_t rows) const {
        if (ended_ == 0) return Error::of("the full read did not end");
        const rs::ScanReport& report = follower_.deployments().resync().reports().back();
        if (report.was_aborted || report.rows != rows) return Error::of("the full read: " + report.text());
        return {};
    }
    [[nodiscard]] Figures figures(const std::string& what) const {
        return {{what + ", seconds", static_cast<double>(ended_ - began_) * 1e-9},
                {what + ", longest step, ms", longest_ * 1e3},
                {what + ", most memory above that before, percent", 100 * (most_apart_ - heap_ + pages_) / heap_},
                {what + ", and SQLite's pages, MiB", (most_pages_ - pages_) / (1 << 20)}};
    }

private:
    Follower& follower_;
    std::int64_t began_ = 0, ended_ = 0, next_look_ = 0;
    // Bytes before the read; the most seen: without SQLite's pages, of which a database keeps more and more until they
    // are 64 MiB, whoever reads or writes; these pages.
    double heap_ = 0, pages_ = 0, most_apart_ = 0, most_pages_ = 0;
    double longest_ = 0;
};

rs::Settings settings_of_scan(bool is_throttled) {
    rs::Settings settings;
    settings.resync.period = {};
    if (!is_throttled) settings.resync.rows_per_second = kUnthrottled;
    return settings;
}

Result<Figures> measure_scan_alone(const RunPlace& place) {
    YK_TRY(database, place.databases.make(place.engine, Rows{place.rows}));
    return figures_apart([&]() -> Result<Figures> {
        YK_TRY(follower, Follower::open(*database, {settings_of_scan(false), false, true}));
        YK_CHECKED(follower->start());
        WatchedScan scan{*follower};
        scan.begin();
        YK_CHECKED(follower->run_until([&] { return scan.is_over(); }, kScanLimit));
        YK_CHECKED(scan.check(place.rows));
        YK_CHECKED(follower->check(*database));
        return scan.figures("unthrottled, alone");
    });
}

struct LoadedScan {
    std::string what; // in the names of its figures
    bool is_throttled = true;
    double rate = 10'000; // changes per second
    std::string target;   // of the p99, in the name of that figure; empty: none
};

/// The scan begins when the load has run for two seconds (less where that has fewer changes), and the load ends with
/// the scan.
Result<Figures> measure_scan_beside_load(const RunPlace& place, const LoadedScan& plan) {
    const Rows rows{place.rows};
    YK_TRY(database, place.databases.make(place.engine, rows));
    return figures_apart([&]() -> Result<Figures> {
        LiveRun run{*database, {plan.rate, place.rows, Writer::Here, rows}};
        YK_CHECKED(run.open(*database, settings_of_scan(plan.is_throttled)));
        WatchedScan scan{*run.follower};
        const double before = std::min(2.0, static_cast<double>(place.rows) / plan.rate / 4); // seconds
        const std::int64_t begin_at = steady_ns() + static_cast<std::int64_t>(before * 1e9);
        std::uint64_t most_waiting = 0; // each is a copy of its row, which counts as memory beside the scan
        YK_CHECKED(run.load.run(*run.follower, [&] {
            if (scan.began() == 0 && steady_ns() > begin_at) scan.begin();
            const ChangeWriter& writer = run.follower->writer();
            most_waiting = std::max(most_waiting, writer.sent() - writer.answered());
            return scan.is_over();
        }));
        YK_CHECKED(run.follower->run_until([&] { return scan.is_over(); }, kScanLimit));
        YK_CHECKED(scan.check(place.rows));
        YK_CHECKED(run.follower->check(*database));
        Figures figures = scan.figures(plan.what + ", beside changes");
        figures.emplace_back(plan.what + ", most writes that wait for the disk", static_cast<double>(most_waiting));
        add_times(figures, plan.what + ", commit to cache beside it", run.load.to_cache(scan.began(), scan.ended()),
                  plan.target);
        figures.emplace_back(plan.what + ", changes per second beside it", run.load.per_second());
        return figures;
    });
}

} // namespace

Result<Figures> run_live_writers(const RunPlace& place) {
    const Rows rows{place.rows};
    YK_TRY(database, place.databases.make(place.engine, rows));
    return figures_apart([&]() -> Result<Figures> {
        LiveRun run{*database, {20'000, place.scaled(300'000), Writer::Here, rows}};
        YK_CHECKED(run.play(*database));
        Figures figures{{"changes per second, written and applied", run.load.per_second()}};
        add_times(figures, "commit to cache", run.load.to_cache());
        return figures;
    });
}

Result<Figures> run_latency(const RunPlace& place) {
    YK_TRY(figures, measure_latency(place, Writer::Here, "commit to cache, same process"));
    YK_TRY(apart, measure_latency(place, Writer::Apart, "commit to cache, another process"));
    append(figures, std::move(apart));
    return figures;
}

Result<Figures> run_handlers(const RunPlace& place) {
    const Rows rows{place.rows};
    YK_TRY(database, place.databases.make(place.engine, rows));
    return figures_apart([&]() -> Result<Figures> {
        LiveRun run{*database, {1000, std::min<std::size_t>(place.rows, 15'000), Writer::Here, rows}};
        YK_CHECKED(run.play(*database));
        Figures figures;
        add_times(figures, "commit to handler's return", run.load.to_handler());
        return figures;
    });
}

Result<Figures> run_resync(const RunPlace& place) {
    YK_TRY(figures, measure_scan_alone(place));
    const std::array<LoadedScan, 3> plans{{{"unthrottled", false, 10'000, {}},
                                           {"default rate", true, 10'000, {}},
                                           {"F-49, 20,000 changes/s", true, 20'000, " (target: below 100)"}}};
    for (const LoadedScan& plan : plans) {
        YK_TRY(beside, measure_scan_beside_load(place, plan));
        append(figures, std::move(beside));
    }
    return figures;
}

/// When the last page of a full read was applied the cache is looked through, slice by slice; each slice is one step.
Result<Figures> run_orphan_diff(const RunPlace& place) {
    YK_TRY(database, place.databases.make(place.engine, Rows{place.rows}));
    return figures_apart([&]() -> Result<Figures> {
        YK_TRY(follower, Follower::open(*database, {settings_of_scan(false), false, true}));
        YK_CHECKED(follower->start());
        const auto& reports = follower->deployments().resync().reports();
        const std::uint64_t pages = place.rows / rs::Settings{}.resync.page + 1; // the last one has none or few
        const std::uint64_t before = follower->store().reads;
        follower->manager().request_relist(mcs::kDeploymentKind, rs::RelistReason::Announced,
                                           service::steady_instant());
        YK_CHECKED(follower->run_until([&] { return follower->store().reads >= before + pages; }, kScanLimit));
        static_cast<void>(follower->take_longest_step());
        const std::int64_t began = steady_ns();
        YK_CHECKED(follower->run_until([&] { return !reports.empty(); }, kScanLimit));
        const double took = static_cast<double>(steady_ns() - began) * 1e-6, longest = follower->take_longest_step();
        if (reports.back().rows != place.rows || reports.back().orphans != 0)
            return Error::of("the full read: " + reports.back().text());
        YK_CHECKED(follower->check(*database));
        return Figures{{"ms in all", took}, {"longest step, ms", longest * 1e3}};
    });
}

} // namespace yk::bench
