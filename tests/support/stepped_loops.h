// SPDX-License-Identifier: Apache-2.0
#pragma once
// SteppedLoops: a simulator of the smallest kind. While it is there, loops that are started have no thread: the test
// runs their steps, and says what time it is.

#include <map>

#include "protocol/simulation/simulator.h"

namespace yk::testing {

class SteppedLoops final : public Simulator {
public:
    SteppedLoops() { detail::simulator_of_process.store(this); }
    ~SteppedLoops() override { detail::simulator_of_process.store(nullptr); }
    SteppedLoops(const SteppedLoops&) = delete;
    SteppedLoops& operator=(const SteppedLoops&) = delete;

    /// One step of the only loop: nullopt, or when to look again.
    std::optional<Clock::time_point> step() { return loops_.at(last_)(); }
    [[nodiscard]] std::size_t size() const { return loops_.size(); }
    Clock::time_point time{std::chrono::hours{1}};

    [[nodiscard]] Clock::time_point now() const override { return time; }
    [[nodiscard]] std::chrono::nanoseconds wall() const override { return time.time_since_epoch(); }
    void fill_random(std::span<std::uint8_t> bytes) override {
        for (std::uint8_t& each : bytes) each = 0;
    }
    [[nodiscard]] int before(FileStep /*step*/, const std::string& /*path*/, const std::string& /*to*/) override {
        return 0;
    }
    [[nodiscard]] std::size_t choose(std::size_t /*count*/) override { return 0; }
    std::uint64_t add_loop(const char* /*name*/, Step step) override {
        loops_.emplace(++last_, std::move(step));
        return last_;
    }
    void remove_loop(std::uint64_t loop) override { loops_.erase(loop); }
    bool run_until(const std::function<bool()>& done, Clock::time_point /*until*/) override { return done(); }

private:
    std::map<std::uint64_t, Step> loops_;
    std::uint64_t last_ = 0;
};

} // namespace yk::testing
