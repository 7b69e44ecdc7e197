// SPDX-License-Identifier: Apache-2.0
#pragma once
// Simulator: what takes the place of threads, time and chance while a simulation runs (tests/sim). In a process without
// one, which is every daemon and every client, nothing here costs more than the look whether there is one.
//
// With a simulator no loop has a thread: the simulator calls its steps one by one, in an order of its own. So all that
// happens depends on the simulator alone, and can be made to happen again.
//
// Owner: the simulation, which sets it before it makes what it simulates. Thread: one.

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <thread>

namespace yk {

/// What is done to a file that is not written by SQLite, which has a seam of its own.
enum class FileStep { Read, Write, Sync, Rename, Remove, SyncFolder };

class Simulator {
public:
    using Clock = std::chrono::steady_clock;
    /// Does the next unit of a loop's work, and returns nullopt; or, if there is none now, when to look again.
    using Step = std::function<std::optional<Clock::time_point>()>;

    virtual ~Simulator() = default;
    /// What the steady clock says.
    [[nodiscard]] virtual Clock::time_point now() const = 0;
    /// What the machine's clock says, since 1970.
    [[nodiscard]] virtual std::chrono::nanoseconds wall() const = 0;
    virtual void fill_random(std::span<std::uint8_t> bytes) = 0;
    /// `step` is about to be done to the file or folder `path`, a rename to the name `to`. Returns the errno with which
    /// it fails instead; 0: it goes on.
    [[nodiscard]] virtual int before(FileStep step, const std::string& path, const std::string& to) = 0;
    /// Which of `count` things that could be next is next. REQUIRES: count > 0.
    [[nodiscard]] virtual std::size_t choose(std::size_t count) = 0;
    /// From now on `step` is called. `name`: a literal.
    virtual std::uint64_t add_loop(const char* name, Step step) = 0;
    virtual void remove_loop(std::uint64_t loop) = 0;
    /// Runs the other loops until `done()` or the time `until`; returns done().
    virtual bool run_until(const std::function<bool()>& done, Clock::time_point until) = 0;
};

namespace detail {
inline std::atomic<Simulator*> simulator_of_process{nullptr};
} // namespace detail

/// nullptr: this is no simulation.
[[nodiscard]] inline Simulator* simulator() noexcept {
    return detail::simulator_of_process.load(std::memory_order_relaxed);
}

/// Whether a step of a file may go on. False: errno says why not, as after the call of the system that it stands
/// before.
[[nodiscard]] inline bool may(FileStep step, const std::string& path, const std::string& to = {}) {
    Simulator* const simulated = simulator();
    if (simulated == nullptr) return true;
    const int fault = simulated->before(step, path, to);
    if (fault != 0) errno = fault;
    return fault == 0;
}

/// Waits until `done()`, looking every `interval`, or until the time `until`.
inline void wait_until(const std::function<bool()>& done, Simulator::Clock::time_point until,
                       Simulator::Clock::duration interval) {
    if (Simulator* const simulated = simulator()) return static_cast<void>(simulated->run_until(done, until));
    while (!done() && Simulator::Clock::now() < until) std::this_thread::sleep_for(interval);
}

/// As future.wait_until().
template <class T>
std::future_status wait_until(std::future<T>& future, Simulator::Clock::time_point until) {
    Simulator* const simulated = simulator();
    if (simulated == nullptr) return future.wait_until(until);
    const auto status = [&future] { return future.wait_for(std::chrono::seconds{0}); };
    simulated->run_until([&] { return status() == std::future_status::ready; }, until);
    return status();
}

/// As future.get().
template <class T>
T get(std::future<T>& future) {
    if (simulator() != nullptr) wait_until(future, Simulator::Clock::time_point::max());
    return future.get();
}

} // namespace yk
