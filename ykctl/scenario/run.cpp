// SPDX-License-Identifier: Apache-2.0
#include "ykctl/scenario/run.h"

#include "ykctl/scenario/player.h"
#include "ykctl/scenario/scenario.h"
#include "ykctl/scenario/spawn.h"
#include "ykctl/scenario/value_at.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <ostream>
#include <thread>

namespace yk::scenario {
namespace {

constexpr int kPass = 0, kFail = 1, kBroken = 2;

/// The result of one file.
struct Verdict {
    int status = kPass;
    std::vector<StepFailure> failures;
    std::string error; // of a broken one
};

Verdict broken(std::string error) {
    return {kBroken, {}, std::move(error)};
}

/// Why the daemon cannot play the scenario; empty when it can.
std::string mismatch(const Scenario& scenario, const Value& hello) {
    const bool manual = has_feature(hello, "manual-schedule"), is_virtual = has_feature(hello, "virtual-clock");
    if (manual != scenario.manual_schedule)
        return fmt::format("the file wants schedule: {}; start ykd {} --manual-schedule, or use --spawn",
                           scenario.manual_schedule ? "manual" : "auto", scenario.manual_schedule ? "with" : "without");
    if (is_virtual != scenario.virtual_clock)
        return fmt::format("the file wants clock: {}; start ykd with --clock {}, or use --spawn",
                           scenario.virtual_clock ? "virtual" : "real", scenario.virtual_clock ? "virtual" : "real");
    return {};
}

Duration liveness_of(const Value& hello) {
    const std::int64_t ms = integer_at(map_at(hello, "limits"), "livenessTimeoutMs");
    return std::chrono::milliseconds{ms > 0 ? ms : 30'000};
}

/// `keep`: the RMs and the session stay, so that somebody can look at what came of it.
Verdict play_at(const Scenario& scenario, const wire::ClientOptions& options, bool keep) {
    auto connected = wire::Client::connect(options);
    if (!connected) return broken(fmt::format("cannot reach ykd at {}: {}", options.url, connected.error().message));
    wire::Client& client = **connected;
    if (std::string reason = mismatch(scenario, client.hello()); !reason.empty()) return broken(std::move(reason));
    rm::ClientLink link{client};
    Player player{scenario, link, liveness_of(client.hello())};
    auto played = player.play();
    if (!keep) player.unregister_all();
    if (!keep) client.bye();
    if (!played) return broken(fmt::format("lost ykd at {}: {}", options.url, played.error().message));
    const int status = played->empty() ? kPass : kFail;
    return {status, std::move(*played), {}};
}

Verdict play_spawned(const Scenario& scenario, wire::ClientOptions options) {
    SpawnOptions spawn;
    spawn.manual_schedule = scenario.manual_schedule;
    spawn.virtual_clock = scenario.virtual_clock;
    auto daemon = PrivateDaemon::start(spawn);
    if (!daemon) return broken(daemon.error().text());
    options.url = (*daemon)->url();
    Verdict verdict = play_at(scenario, options, false);
    if (verdict.status == kBroken)
        for (const std::string& text : {(*daemon)->how_it_ended(), (*daemon)->log()})
            if (!text.empty()) verdict.error += "\n  " + text;
    return verdict;
}

Verdict play_file(const std::string& file, const ScenarioOptions& options) {
    const auto scenario = load_scenario(file);
    if (!scenario) return broken(scenario.error().text());
    Verdict verdict =
        options.spawn ? play_spawned(*scenario, options.client) : play_at(*scenario, options.client, options.keep);
    if (verdict.status == kBroken) verdict.error = file + ": " + verdict.error;
    return verdict;
}

void print(const std::string& file, const Verdict& verdict, std::ostream& out, std::ostream& err) {
    if (verdict.status == kBroken) {
        out.flush();
        err << "ykctl: " << verdict.error << '\n';
        return;
    }
    out << (verdict.status == kPass ? "PASS " : "FAIL ") << file << '\n';
    for (const StepFailure& failure : verdict.failures) out << "  " << failure.text() << '\n';
    out.flush();
}

/// The verdicts of all files, which several threads make and one takes in file order.
class Results {
public:
    explicit Results(std::size_t count) : verdicts_(count) {}

    void put(std::size_t index, Verdict verdict) {
        const std::lock_guard lock{mutex_};
        verdicts_[index] = std::move(verdict);
        ready_.notify_all();
    }
    Verdict take(std::size_t index) {
        std::unique_lock lock{mutex_};
        ready_.wait(lock, [&] { return verdicts_[index].has_value(); });
        return *std::exchange(verdicts_[index], std::nullopt);
    }

private:
    std::mutex mutex_;
    std::condition_variable ready_;
    std::vector<std::optional<Verdict>> verdicts_;
};

} // namespace

bool has_feature(const Value& hello, std::string_view name) {
    const Value& features = list_at(hello, "features");
    return std::find(features.begin(), features.end(), name) != features.end();
}

int run_scenarios(const ScenarioOptions& options, std::ostream& out, std::ostream& err) {
    // Files that are played at the same time on one running daemon would take over each other's RM.
    const auto most = options.spawn ? static_cast<std::size_t>(std::max(options.parallel, 1)) : std::size_t{1};
    Results results{options.files.size()};
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t i = next++; i < options.files.size(); i = next++)
            results.put(i, play_file(options.files[i], options));
    };
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < std::min(most, options.files.size()); ++i) workers.emplace_back(work);
    int status = kPass;
    for (std::size_t i = 0; i < options.files.size(); ++i) {
        const Verdict verdict = results.take(i);
        print(options.files[i], verdict, out, err);
        status = std::max(status, verdict.status);
    }
    for (std::thread& worker : workers) worker.join();
    return status;
}

} // namespace yk::scenario
