// SPDX-License-Identifier: Apache-2.0
#pragma once
// World: time, chance and order of one simulated run. Everything that happens in it is an event at a time, or the step
// of a loop that the daemon would have a thread for; the seed decides which comes first. The same seed makes the same
// run on every machine.
//
// Owner: run_seed(). Thread: one.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "protocol/simulation/simulator.h"

namespace yk::sim {

using Nanoseconds = std::chrono::nanoseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// What `--sabotages` breaks, of which each stands for a fault that the daemon could have.
namespace sabotage {
inline constexpr std::string_view kLostWrite = "a write to the disk is lost";
inline constexpr std::string_view kForgottenSync = "what was synced is lost with the power";
inline constexpr std::string_view kOtherRequest = "a request arrives as another one";
inline constexpr std::string_view kTwice = "a request that was sent again is executed twice";
inline constexpr std::string_view kLostItem = "an item of the stream is left out";
inline constexpr std::string_view kLostRelease = "the end of an allocation is not told";
inline constexpr std::string_view kLostAllocation = "the books of an RM forget an allocation";
inline constexpr std::string_view kSmallNode = "a node has less than was told";
inline constexpr std::string_view kHalfGang = "a member of a gang is missing";
} // namespace sabotage
inline constexpr std::array kSabotages{sabotage::kLostWrite,      sabotage::kForgottenSync, sabotage::kOtherRequest,
                                       sabotage::kTwice,          sabotage::kLostItem,      sabotage::kLostRelease,
                                       sabotage::kLostAllocation, sabotage::kSmallNode,     sabotage::kHalfGang};

/// Which paths were taken, and how often.
using Coverage = std::map<std::string, std::uint64_t>;

class World final : public Simulator {
public:
    World(std::uint64_t seed, bool trace);
    ~World() override;
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    // --- Simulator ------------------------------------------------------------------------------
    [[nodiscard]] Clock::time_point now() const override { return now_; }
    [[nodiscard]] Nanoseconds wall() const override;
    void fill_random(std::span<std::uint8_t> bytes) override;
    [[nodiscard]] int before(FileStep step, const std::string& path, const std::string& to) override {
        return files_ ? files_(step, path, to) : 0;
    }
    [[nodiscard]] std::size_t choose(std::size_t count) override;
    std::uint64_t add_loop(const char* name, Step step) override;
    void remove_loop(std::uint64_t loop) override;
    bool run_until(const std::function<bool()>& done, Clock::time_point until) override;

    // --- what happens ---------------------------------------------------------------------------
    /// Who has the disk says what comes of a step of a file.
    using Files = std::function<int(FileStep step, const std::string& path, const std::string& to)>;
    void set_files(Files files) { files_ = std::move(files); }
    /// Calls `event` after `delay`.
    void after(Nanoseconds delay, std::function<void()> event);
    /// Lets it happen for so long.
    void run_for(Nanoseconds time) {
        run_until([] { return false; }, now_ + time);
    }
    /// Calls `look` after each so many events and steps.
    void watch(std::uint64_t steps, std::function<void()> look) {
        steps_between_looks_ = steps;
        look_ = std::move(look);
    }
    /// A loop that is chosen does nothing for `time`. Returns its name; empty: there is none.
    std::string stall_a_loop(Nanoseconds time);
    /// No loop does anything for `time`: the process is stopped.
    void stall_all(Nanoseconds time);
    /// Until when a loop is, or was.
    [[nodiscard]] Clock::time_point stalled_until() const;
    /// Whether a loop is.
    [[nodiscard]] bool is_stalled() const { return stalled_until() > now_; }

    // --- chance ---------------------------------------------------------------------------------
    /// Between both, which it may be.
    [[nodiscard]] std::int64_t between(std::int64_t least, std::int64_t most);
    [[nodiscard]] bool chance(double probability);
    [[nodiscard]] Nanoseconds between(Nanoseconds least, Nanoseconds most) {
        return Nanoseconds{between(least.count(), most.count())};
    }
    template <class T>
    [[nodiscard]] const T& one_of(const std::vector<T>& list) {
        return list[choose(list.size())];
    }

    // --- faults that the run has to notice -------------------------------------------------------
    /// Makes a deliberate fault of the simulated world, one of kSabotages: a run that does not fail then sees nothing.
    void sabotage(std::string_view name) { sabotage_ = name; }
    /// Whether the fault happens now. Draws no number when it is not wanted.
    [[nodiscard]] bool sabotages(std::string_view name, double probability) {
        return sabotage_ == name && chance(probability);
    }

    // --- what is seen of it ---------------------------------------------------------------------
    void cover(std::string_view path) { ++coverage_[std::string{path}]; }
    [[nodiscard]] const Coverage& coverage() const { return coverage_; }
    /// Notes that the product broke a promise. The run ends.
    void fail(std::string sentence);
    [[nodiscard]] bool has_failed() const { return failure_.has_value(); }
    [[nodiscard]] const std::string& failure() const { return *failure_; }
    template <class... Args>
    void trace(fmt::format_string<Args...> format, Args&&... args) {
        hash_line(fmt::format(format, std::forward<Args>(args)...));
    }
    /// Of all that was traced: equal for equal runs.
    [[nodiscard]] std::uint64_t digest() const { return digest_; }
    [[nodiscard]] std::uint64_t steps() const { return steps_; }

private:
    struct Loop {
        const char* name = "";
        Step step;
        Clock::time_point idle_until{};    // nothing is to do before
        Clock::time_point stalled_until{}; // nothing is done before
        bool running = false;              // one of its steps is under way
    };

    bool do_something(Clock::time_point until);
    bool do_event();
    bool do_step();
    [[nodiscard]] Clock::time_point next_time() const;
    void hash_line(const std::string& line);

    std::mt19937_64 random_;
    const bool trace_;
    Clock::time_point now_;
    std::map<std::pair<Clock::time_point, std::uint64_t>, std::function<void()>> events_;
    std::map<std::uint64_t, Loop> loops_;
    Files files_;
    std::string_view sabotage_;
    std::function<void()> look_;
    std::uint64_t steps_between_looks_ = 0; // 0: nobody looks
    std::uint64_t last_event_ = 0, last_loop_ = 0, steps_ = 0;
    std::uint64_t digest_ = 0xcbf29ce484222325U;
    Coverage coverage_;
    std::optional<std::string> failure_;
};

} // namespace yk::sim
