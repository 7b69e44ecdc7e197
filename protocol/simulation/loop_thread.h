// SPDX-License-Identifier: Apache-2.0
#pragma once
// LoopThread: the thread of a loop, or, in a simulation, its place among the loops that the simulator drives.
//
// Owner: the object whose loop it is. Thread: one.

#include <pthread.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "protocol/simulation/simulator.h"

namespace yk {

class LoopThread {
public:
    /// Low: where both want the same processor it gets about a tenth of what a thread of normal priority gets, which
    /// goes first whenever it wakes.
    enum class Priority { Normal, Low };

    LoopThread() = default;
    ~LoopThread() { end(); }
    LoopThread(LoopThread&& other) noexcept
        : thread_(std::move(other.thread_)), loop_(std::exchange(other.loop_, std::nullopt)) {}
    LoopThread& operator=(LoopThread&&) = delete;
    LoopThread(const LoopThread&) = delete;
    LoopThread& operator=(const LoopThread&) = delete;

    /// Has `run` called on a thread of its own or, in a simulation, `step` again and again. `name`: a literal of at
    /// most 15 characters, by which tools such as top name the thread.
    void start(const char* name, std::function<void()> run, Simulator::Step step,
               Priority priority = Priority::Normal) {
        if (Simulator* const simulated = simulator()) {
            loop_ = simulated->add_loop(name, std::move(step));
        } else {
            thread_ = std::thread([run = std::move(run), priority] {
                if (priority == Priority::Low) yield_to_others();
                run();
            });
            pthread_setname_np(thread_.native_handle(), name);
        }
    }
    /// Waits for the end of `run`, which must have been asked for; in a simulation no step follows.
    void end() {
        if (loop_) simulator()->remove_loop(*std::exchange(loop_, std::nullopt));
        if (thread_.joinable()) thread_.join();
    }
    [[nodiscard]] bool is_started() const { return loop_.has_value() || thread_.joinable(); }

private:
    /// nice() concerns the calling thread alone, as Linux has it. Where it is forbidden the thread stays as it is: its
    /// work is done all the same.
    static void yield_to_others() {
        constexpr int kNicer = 10;
        [[maybe_unused]] const int priority = ::nice(kNicer);
    }

    std::thread thread_;
    std::optional<std::uint64_t> loop_; // the number that the simulator gave it
};

} // namespace yk
