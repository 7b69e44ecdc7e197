// SPDX-License-Identifier: Apache-2.0
// ykd_sim: runs the daemon in simulated worlds, one for each seed, and says which promise it broke.

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/mcs_runs.h"
#include "tests/sim/run_seed.h"
#include "tests/support/resource_state/random_run.h"

namespace {

using namespace yk::sim;

struct Options {
    std::uint64_t first = 1, last = 100;
    bool trace = false, twice = false, paths = false, sabotages = false, framework = false, mcs = false;
    double minutes = 0;
    std::string write_paths, must;
    std::vector<std::string> read_paths;
};

/// Each line of such a file: a number, and a path.
void read_paths(const std::string& file, Coverage& coverage) {
    std::ifstream in(file);
    std::uint64_t count = 0;
    for (std::string path; in >> count >> std::ws && std::getline(in, path);) coverage[path] += count;
}

void write_paths(const std::string& file, const Coverage& coverage) {
    std::ofstream out(file);
    for (const auto& [path, count] : coverage) out << count << ' ' << path << '\n';
}

/// Says which of the paths in the file were not taken, and returns their number.
std::size_t missing_paths(const std::string& file, const Coverage& coverage) {
    std::ifstream in(file);
    std::size_t missing = 0;
    for (std::string path; std::getline(in, path);) {
        if (path.empty() || path.front() == '#' || coverage.count(path) != 0) continue;
        fmt::print("not one seed came to: {}\n", path);
        ++missing;
    }
    return missing;
}

/// Runs a seed. Returns whether all was well.
bool run_one(std::uint64_t seed, Disk& disk, const Options& options, Coverage& coverage, std::uint64_t& steps) {
    const RunOutcome outcome = run_seed(seed, disk, options.trace);
    steps += outcome.steps;
    for (const auto& [path, count] : outcome.coverage) coverage[path] += count;
    if (outcome.failure) {
        fmt::print("seed {}: {}\n  ykd_sim --seed {} --trace shows how\n", seed, *outcome.failure, seed);
        std::fflush(stdout);
        return false;
    }
    if (options.twice && run_seed(seed, disk, false).digest != outcome.digest) {
        fmt::print("seed {}: the same seed made another run\n", seed);
        return false;
    }
    return true;
}

/// Plays the framework of resource states, by itself, in each kind of trouble.
int run_framework(const Options& options) {
    using namespace yk::testing;
    const std::array kinds{no_troubles(),   log_troubles(false), log_troubles(true),
                           call_troubles(), all_troubles(false), all_troubles(true)};
    const std::array has_every_event{true, false, false, true, false, false};
    std::uint64_t runs = 0, failed = 0, losses = 0, repairs = 0;
    for (std::uint64_t seed = options.first; seed <= options.last; ++seed) {
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            RandomRun run{kinds.at(kind), seed};
            std::string fault = run.play();
            if (fault.empty() && has_every_event.at(kind) && run.repairs() != 0)
                fault = "rows were repaired, though no event was lost";
            ++runs;
            losses += run.losses();
            repairs += run.repairs();
            for (const std::string& line : run.notices())
                if (options.trace) fmt::print("    {}\n", line);
            if (fault.empty()) continue;
            ++failed;
            fmt::print("seed {}, troubles {}: {}\n  ykd_sim --framework --seed {} --trace shows how\n", seed, kind,
                       fault, seed);
        }
    }
    // Of this process's processor time: what else the machine does counts little.
    const double seconds = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    const double rate = static_cast<double>(runs) / seconds;
    fmt::print("the framework: {} runs, {} failed; {} events lost, {} rows repaired; {:.0f} runs a second\n", runs,
               failed, losses, repairs, rate);
    return failed == 0 ? 0 : 1;
}

/// Makes each deliberate fault of the world until a seed fails with it. One that none notices is a fault of the
/// simulation.
int run_sabotages(const Options& options) {
    Disk disk;
    int unnoticed = 0;
    for (const std::string_view sabotage : kSabotages) {
        std::optional<std::string> noticed;
        std::uint64_t seed = options.first;
        for (; !noticed && seed <= options.last; ++seed) noticed = run_seed(seed, disk, false, sabotage).failure;
        if (noticed) {
            fmt::print("{}: seed {}: {}\n", sabotage, seed - 1, *noticed);
            continue;
        }
        fmt::print("{}: none of {} seeds notices it\n", sabotage, seed - options.first);
        ++unnoticed;
    }
    return unnoticed == 0 ? 0 : 1;
}

int run_all(const Options& options) {
    Disk disk;
    Coverage coverage;
    std::uint64_t steps = 0, run = 0, failed = 0;
    const auto begin = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    for (std::uint64_t seed = options.first; seed <= options.last; ++seed) {
        if (options.minutes > 0 && elapsed() > options.minutes * 60) break;
        ++run;
        if (!run_one(seed, disk, options, coverage, steps)) ++failed;
    }
    for (const std::string& file : options.read_paths) read_paths(file, coverage);
    if (!options.write_paths.empty()) write_paths(options.write_paths, coverage);
    if (!options.must.empty()) failed += missing_paths(options.must, coverage);
    if (options.paths)
        for (const auto& [path, count] : coverage) fmt::print("{:>10}  {}\n", count, path);
    if (run != 0)
        fmt::print("{} seeds, {} failed, {:.1f} s, {:.1f} ms and {} steps a seed\n", run, failed, elapsed(),
                   1000 * elapsed() / static_cast<double>(run == 0 ? 1 : run), run == 0 ? 0 : steps / run);
    return failed == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app{"Runs ykd in simulated worlds", "ykd_sim"};
    Options options;
    std::string range;
    std::uint64_t seed = 0;
    app.add_option("--seeds", range, "the seeds to run: A..B")->capture_default_str();
    auto* const one = app.add_option("--seed", seed, "run this seed");
    app.add_flag("--trace", options.trace, "show what happens");
    app.add_flag("--twice", options.twice, "run each seed twice, and compare");
    app.add_flag("--paths", options.paths, "show how often each path was taken");
    app.add_option("--write-paths", options.write_paths, "write these numbers to a file");
    app.add_option("--read-paths", options.read_paths, "add the numbers of such files");
    app.add_option("--must", options.must, "fail if a path that this file names was never taken");
    app.add_flag("--framework", options.framework,
                 "play libcore/resource_state by itself, in six kinds of trouble for each seed");
    app.add_flag(
        "--mcs", options.mcs,
        "play the services of MCS by themselves: for each seed the Scheduler, the Autoscaler, and two instances "
        "of the Autoscaler that share a lease, with faults and without");
    app.add_flag("--sabotages", options.sabotages, "make deliberate faults: each must be noticed by one of the seeds");
    app.add_option("--minutes", options.minutes, "end after so many minutes");
    CLI11_PARSE(app, argc, argv);
    // NOLINTNEXTLINE(cert-err34-c): a number that is too large makes no harm here
    if (!range.empty() && std::sscanf(range.c_str(), "%lu..%lu", &options.first, &options.last) != 2) {
        fmt::print(stderr, "ykd_sim: --seeds takes A..B\n");
        return 2;
    }
    if (one->count() != 0) options.first = options.last = seed;
    if (options.trace) std::setvbuf(stdout, nullptr, _IOLBF, 1U << 12U); // also of a run that the daemon aborts
    if (options.framework) return run_framework(options);
    if (options.mcs) return run_mcs(options.first, options.last, options.trace) == 0 ? 0 : 1;
    return options.sabotages ? run_sabotages(options) : run_all(options);
}
