// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/wire/load.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/bench/cases/churn.h"
#include "tests/bench/measure/isolate.h"
#include "tests/bench/wire/daemon_process.h"
#include "tests/bench/wire/wire_client.h"

namespace yk::bench {

namespace {

constexpr std::uint32_t kMostInRequest = 1000;
constexpr auto kNap = std::chrono::microseconds{50}; // how late a request may be sent when none is due

/// Sends what is due. Owner: measure(). Thread: the caller's.
class OpenLoop {
public:
    /// The asks of the workload from `first` on come at the rate; those before it are placed.
    OpenLoop(WireClient& client, std::uint32_t first, std::uint32_t per_second)
        : client_(client), first_(first), per_second_(per_second) {}

    /// Sends `count` asks, and returns when the last of them has arrived as an allocation.
    [[nodiscard]] Result<void> run(std::uint32_t count);
    [[nodiscard]] double due(std::uint32_t ask) const {
        return start_ + static_cast<double>(ask - first_) / static_cast<double>(per_second_);
    }

private:
    WireClient& client_;
    const std::uint32_t first_, per_second_;
    double start_ = 0;
};

Result<void> OpenLoop::run(std::uint32_t count) {
    start_ = wall_seconds();
    for (std::uint32_t sent = 0; sent < count;) {
        const double passed = (wall_seconds() - start_) * per_second_;
        const std::uint32_t until = std::min({count, static_cast<std::uint32_t>(passed) + 1, sent + kMostInRequest});
        if (until == sent) {
            std::this_thread::sleep_for(kNap);
            continue;
        }
        // Ask number n gives back what ask n - first_ got, which was placed before the first was due.
        YK_CHECKED(client_.send(client_.exchange(first_ + sent, first_ + until, sent)));
        sent = until;
    }
    const auto all = client_.wait_for(first_ + count);
    if (!all.ok()) return all.error();
    return {};
}

Result<Sample> measure(const DaemonProcess& daemon, const LoadParameters& parameters) {
    const std::uint32_t filling = asks_to_fill(parameters.tree, parameters.percent_full);
    const std::uint32_t count =
        std::min(filling, static_cast<std::uint32_t>(parameters.per_second * parameters.seconds));
    TreeParameters tree = parameters.tree;
    tree.asks = filling + count;
    const Workload workload = make_tree(tree);
    YK_TRY(client, WireClient::open(parameters.over_tcp ? daemon.tcp_address() : daemon.address(), workload));
    const std::vector<double>& arrivals = client->note_arrivals(filling + count);
    YK_CHECKED(client->place_first(filling));
    OpenLoop loop{*client, filling, parameters.per_second};
    Sample sample;
    const double daemon_before = daemon.cpu_seconds();
    const double start = wall_seconds();
    YK_CHECKED(loop.run(count));
    sample.seconds = wall_seconds() - start;
    sample.cpu_seconds = daemon.cpu_seconds() - daemon_before;
    sample.placed = sample.asked = count;
    sample.peak_rss = daemon.peak_rss();
    std::vector<float> latencies;
    latencies.reserve(count);
    for (std::uint32_t ask = filling; ask < filling + count; ++ask)
        latencies.push_back(static_cast<float>(arrivals[ask] - loop.due(ask)));
    set_latencies(sample, latencies);
    return sample;
}

} // namespace

Result<Sample> run_load(const std::string& ykd, const LoadParameters& parameters) {
    return isolated_client([&]() -> Result<Sample> {
        YK_TRY(daemon, DaemonProcess::start(ykd, {.has_tcp = parameters.over_tcp}));
        return measure(*daemon, parameters);
    });
}

} // namespace yk::bench
