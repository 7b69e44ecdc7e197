// SPDX-License-Identifier: Apache-2.0
#include "ykctl/scenario/run.h"

#include "ykctl/scenario/player.h"
#include "ykctl/scenario/scenario.h"
#include "ykctl/scenario/spawn.h"
#include "ykctl/scenario/value_at.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

namespace yk::scenario {
namespace {

FileResult broken(std::string error) {
    FileResult result;
    result.verdict = Verdict::Broken;
    result.error = std::move(error);
    return result;
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
FileResult play_at(const Scenario& scenario, const wire::ClientOptions& options, bool keep) {
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
    FileResult result;
    if (!played->empty()) result.verdict = Verdict::Fail;
    for (const StepFailure& failure : *played) result.failures.push_back(failure.text());
    return result;
}

FileResult play_spawned(const Scenario& scenario, wire::ClientOptions options) {
    SpawnOptions spawn;
    spawn.manual_schedule = scenario.manual_schedule;
    spawn.virtual_clock = scenario.virtual_clock;
    auto daemon = PrivateDaemon::start(spawn);
    if (!daemon) return broken(daemon.error().text());
    options.url = (*daemon)->url();
    FileResult result = play_at(scenario, options, false);
    if (result.verdict == Verdict::Broken)
        for (const std::string& text : {(*daemon)->how_it_ended(), (*daemon)->log()})
            if (!text.empty()) result.error += "\n  " + text;
    return result;
}

FileResult play_file(const std::string& file, const ScenarioOptions& options) {
    const auto began = std::chrono::steady_clock::now();
    auto scenario = load_scenario(file);
    FileResult result;
    if (!scenario) {
        result = broken(scenario.error().text());
    } else {
        if (!scenario->config && !options.config.empty()) scenario->config = options.config;
        result =
            options.spawn ? play_spawned(*scenario, options.client) : play_at(*scenario, options.client, options.keep);
        if (result.verdict == Verdict::Broken) result.error = file + ": " + result.error;
    }
    result.file = file;
    result.took = std::chrono::steady_clock::now() - began;
    return result;
}

/// The results of all files, which several threads make and one takes in file order.
class Results {
public:
    explicit Results(std::size_t count) : results_(count) {}

    void put(std::size_t index, FileResult result) {
        const std::lock_guard lock{mutex_};
        results_[index] = std::move(result);
        ready_.notify_all();
    }
    FileResult take(std::size_t index) {
        std::unique_lock lock{mutex_};
        ready_.wait(lock, [&] { return results_[index].has_value(); });
        return *std::exchange(results_[index], std::nullopt);
    }

private:
    std::mutex mutex_;
    std::condition_variable ready_;
    std::vector<std::optional<FileResult>> results_;
};

} // namespace

bool has_feature(const Value& hello, std::string_view name) {
    const Value& features = list_at(hello, "features");
    return std::find(features.begin(), features.end(), name) != features.end();
}

Result<std::vector<std::string>> files_in(const std::vector<std::string>& files_and_folders) {
    namespace fs = std::filesystem;
    std::vector<std::string> files;
    for (const std::string& each : files_and_folders) {
        std::error_code fault;
        if (!fs::is_directory(each, fault)) {
            files.push_back(each);
            continue;
        }
        std::vector<std::string> found;
        fs::recursive_directory_iterator at{each, fault};
        for (; !fault && at != fs::recursive_directory_iterator{}; at.increment(fault)) {
            const std::string extension = at->path().extension();
            if (extension == ".yaml" || extension == ".yml") found.push_back(at->path().string());
        }
        if (fault) return Error::of(fmt::format("{}: {}", each, fault.message()));
        if (found.empty()) return Error::of(fmt::format("{}: there is no *.yaml or *.yml in it", each));
        std::sort(found.begin(), found.end());
        files.insert(files.end(), found.begin(), found.end());
    }
    return files;
}

void run_scenarios(const ScenarioOptions& options, const std::function<void(FileResult)>& take) {
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
    for (std::size_t i = 0; i < options.files.size(); ++i) take(results.take(i));
    for (std::thread& worker : workers) worker.join();
}

} // namespace yk::scenario
