// SPDX-License-Identifier: Apache-2.0
#pragma once
// Workers: a few threads that decode requests, run the services and encode dumps. Nothing they run waits for anything
// but a short lock. What one of them throws (no memory for a large answer) ends that request alone: it owns nothing
// that lasts, and a call that is dropped without an answer is answered with E_INTERNAL.
//
// Thread: any.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "protocol/simulation/loop_thread.h"

namespace yk {

class Workers {
public:
    /// `fault` is called with what a work item threw, on its worker.
    Workers(unsigned threads, std::function<void(const char* what)> fault);
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    /// Runs `work` on some worker, after what was posted before has begun.
    void post(std::function<void()> work);
    /// Ends the threads after the work that they are running; work that waits is dropped.
    void stop();

private:
    void run();
    std::optional<Simulator::Clock::time_point> step();
    void call(std::function<void()>& work) const;

    const std::function<void(const char*)> fault_;
    std::mutex mutex_;
    std::condition_variable bell_;
    std::deque<std::function<void()>> queue_;
    bool stopping_ = false;
    std::vector<LoopThread> threads_;
};

} // namespace yk
