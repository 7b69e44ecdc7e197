// SPDX-License-Identifier: Apache-2.0
#pragma once
// DrivenLoops: a simulator that runs a whole daemon on one thread, its loops in turns, with a time of its own. It makes
// no faults: the same program makes the same run again. (tests/sim is where a seed decides the order.)

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "protocol/simulation/simulator.h"

namespace yk::testing {

class DrivenLoops final : public Simulator {
public:
    /// `life`: another one has other random numbers, and begins an hour later.
    explicit DrivenLoops(std::uint64_t life)
        : random_(life * 0x9e3779b97f4a7c15ULL + 1), time_(kHour * static_cast<std::int64_t>(life)) {
        detail::simulator_of_process.store(this);
    }
    ~DrivenLoops() override { detail::simulator_of_process.store(nullptr); }
    DrivenLoops(const DrivenLoops&) = delete;
    DrivenLoops& operator=(const DrivenLoops&) = delete;

    bool run_until(const std::function<bool()>& done, Clock::time_point until) override {
        while (!done())
            if (time_ >= until || !advance(until)) return done();
        return true;
    }
    /// Somebody beside the loops has given them something to do.
    void wake() {
        for (auto& [number, each] : loops_) each.idle_until = {};
    }
    void run_for(Clock::duration time) {
        const auto end = time_ + time;
        run_until([] { return false; }, end);
        time_ = std::max(time_, end);
    }

    [[nodiscard]] Clock::time_point now() const override { return time_; }
    [[nodiscard]] std::chrono::nanoseconds wall() const override {
        return kBeginOfTime + time_.time_since_epoch() + wall_ahead;
    }
    std::chrono::nanoseconds wall_ahead{}; // by which somebody has set the machine's clock
    void fill_random(std::span<std::uint8_t> bytes) override {
        for (std::uint8_t& each : bytes) {
            random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;
            each = static_cast<std::uint8_t>(random_ >> 56U);
        }
    }
    [[nodiscard]] int before(FileStep /*step*/, const std::string& /*path*/, const std::string& /*to*/) override {
        return 0;
    }
    [[nodiscard]] std::size_t choose(std::size_t count) override { return turns_++ % count; }
    std::uint64_t add_loop(const char* /*name*/, Step step) override {
        loops_.emplace(++last_, Loop{std::move(step), {}, false});
        return last_;
    }
    void remove_loop(std::uint64_t loop) override { loops_.erase(loop); }

private:
    struct Loop {
        Step step;
        Clock::time_point idle_until;
        bool is_running = false; // it waits for others within its step
    };
    static constexpr std::chrono::hours kHour{1};
    static constexpr std::chrono::seconds kBeginOfTime{1'700'000'000};

    /// One step of a loop; if none has anything to do, the time goes on. False: nothing will ever happen.
    bool advance(Clock::time_point until) {
        std::vector<std::uint64_t> due;
        auto next = Clock::time_point::max();
        for (const auto& [number, loop] : loops_) {
            if (loop.is_running) continue;
            if (loop.idle_until <= time_) due.push_back(number);
            next = std::min(next, loop.idle_until);
        }
        if (!due.empty()) {
            run_step(due[choose(due.size())]);
            return true;
        }
        if (next == Clock::time_point::max() && until == Clock::time_point::max()) return false;
        time_ = std::max(time_, std::min(next, until));
        return true;
    }
    void run_step(std::uint64_t number) {
        Loop& loop = loops_.at(number);
        loop.is_running = true;
        const Step step = loop.step; // the loop may be removed meanwhile
        const auto idle_until = step();
        const auto same = loops_.find(number);
        if (same != loops_.end()) {
            same->second.is_running = false;
            same->second.idle_until = idle_until.value_or(Clock::time_point{});
        }
        if (!idle_until) wake();
    }

    std::map<std::uint64_t, Loop> loops_;
    std::uint64_t last_ = 0, random_;
    std::size_t turns_ = 0;
    Clock::time_point time_;
};

} // namespace yk::testing
