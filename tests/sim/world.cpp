// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/world.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "libcore/base/check.h"

namespace yk::sim {
namespace {

// Both clocks begin there with each seed.
constexpr auto kSteadyStart = std::chrono::hours{24};
constexpr auto kWallStart = std::chrono::seconds{1'800'000'000};

constexpr std::uint64_t kMostSteps = 3'000'000; // a run that needs more goes round in a circle

} // namespace

World::World(std::uint64_t seed, bool trace) : random_(seed), trace_(trace), now_(kSteadyStart) {
    detail::simulator_of_process.store(this);
}

World::~World() {
    detail::simulator_of_process.store(nullptr);
}

Nanoseconds World::wall() const {
    return kWallStart + (now_.time_since_epoch() - kSteadyStart);
}

// --- chance ---------------------------------------------------------------------------------------------------------
// The distributions of the standard library differ between its versions; these are ours, so that a seed means the same
// everywhere.

std::size_t World::choose(std::size_t count) {
    YK_ASSUME(count > 0, "there is something to choose from");
    return static_cast<std::size_t>(random_() % count);
}

std::int64_t World::between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
}

bool World::chance(double probability) {
    constexpr double kScale = 1U << 30U;
    return static_cast<double>(random_() % (1U << 30U)) < probability * kScale;
}

void World::fill_random(std::span<std::uint8_t> bytes) {
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_());
}

// --- loops ----------------------------------------------------------------------------------------------------------

std::uint64_t World::add_loop(const char* name, Step step) {
    Loop loop;
    loop.name = name;
    loop.step = std::move(step);
    loops_.emplace(++last_loop_, std::move(loop));
    return last_loop_;
}

void World::remove_loop(std::uint64_t loop) {
    loops_.erase(loop);
}

std::string World::stall_a_loop(Nanoseconds time) {
    if (loops_.empty()) return {};
    auto chosen = std::next(loops_.begin(), static_cast<std::ptrdiff_t>(choose(loops_.size())));
    chosen->second.stalled_until = now_ + time;
    return chosen->second.name;
}

void World::stall_all(Nanoseconds time) {
    trace("the daemon is stopped for {} ms", time / milliseconds{1});
    for (auto& [number, loop] : loops_) loop.stalled_until = now_ + time;
}

Simulator::Clock::time_point World::stalled_until() const {
    Clock::time_point last{};
    for (const auto& [number, loop] : loops_) last = std::max(last, loop.stalled_until);
    return last;
}

// --- what happens ---------------------------------------------------------------------------------------------------

void World::after(Nanoseconds delay, std::function<void()> event) {
    events_.emplace(std::pair{now_ + delay, ++last_event_}, std::move(event));
}

bool World::run_until(const std::function<bool()>& done, Clock::time_point until) {
    while (!done()) {
        if (has_failed() || now_ >= until || !do_something(until)) return done();
    }
    return true;
}

/// One event or one step of a loop. If none is due the time goes on, to `until` at most. False: nothing will happen.
bool World::do_something(Clock::time_point until) {
    if (++steps_ > kMostSteps) {
        fail(fmt::format("the run has no end: {} steps until {} s", steps_, now_.time_since_epoch() / seconds{1}));
        return false;
    }
    if (steps_between_looks_ != 0 && steps_ % steps_between_looks_ == 0) look_();
    const bool event_first = chance(0.5);
    if (event_first ? do_event() || do_step() : do_step() || do_event()) return true;
    const auto next = std::min(next_time(), until);
    if (next == Clock::time_point::max()) return false;
    now_ = std::max(now_, next);
    return true;
}

bool World::do_event() {
    if (events_.empty() || events_.begin()->first.first > now_) return false;
    const auto event = std::move(events_.begin()->second);
    events_.erase(events_.begin());
    event();
    for (auto& [number, loop] : loops_) loop.idle_until = {};
    return true;
}

/// A step of one of the loops, each of which may be first.
bool World::do_step() {
    if (loops_.empty()) return false;
    std::vector<std::uint64_t> numbers;
    numbers.reserve(loops_.size());
    for (const auto& [number, loop] : loops_)
        if (!loop.running && loop.idle_until <= now_ && loop.stalled_until <= now_) numbers.push_back(number);
    if (numbers.empty()) return false;
    const std::size_t first = choose(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::uint64_t number = numbers[(first + i) % numbers.size()];
        Loop& loop = loops_.at(number);
        loop.running = true;
        const Step step = loop.step; // the loop may be removed meanwhile
        const auto idle_until = step();
        const auto same = loops_.find(number);
        if (same != loops_.end()) same->second.running = false;
        if (!idle_until) {
            for (auto& [other, each] : loops_) each.idle_until = {};
            return true;
        }
        if (same != loops_.end()) same->second.idle_until = *idle_until;
    }
    return false;
}

Simulator::Clock::time_point World::next_time() const {
    auto next = events_.empty() ? Clock::time_point::max() : events_.begin()->first.first;
    for (const auto& [number, loop] : loops_) {
        if (loop.running) continue;
        next = std::min(next, std::max(loop.idle_until, loop.stalled_until));
    }
    return next;
}

// --- what is seen of it ---------------------------------------------------------------------------------------------

void World::fail(std::string sentence) {
    if (failure_) return;
    trace("FAILED: {}", sentence);
    failure_ = std::move(sentence);
}

void World::hash_line(const std::string& line) {
    const auto at = (now_.time_since_epoch() - kSteadyStart).count();
    for (const char c : line) digest_ = (digest_ ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    digest_ = (digest_ ^ static_cast<std::uint64_t>(at)) * 0x100000001b3U;
    if (trace_) fmt::print("{:>12.6f} {}\n", static_cast<double>(at) / 1e9, line);
}

} // namespace yk::sim
