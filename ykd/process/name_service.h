// SPDX-License-Identifier: Apache-2.0
#pragma once
// NameService: a thread that asks the system's name service (who is in which group). A question may take seconds, and
// must block neither an owner thread nor a worker. Those who ask take turns, one question each, so that many questions
// of one do not delay those of the others.
//
// Owner: Daemon. Thread: any.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "protocol/simulation/loop_thread.h"
#include "ykd/runtime/fair_queue.h"

namespace yk::service {

class NameService {
public:
    /// `fault` is called with what a question threw, on this thread.
    explicit NameService(std::function<void(const char* what)> fault);
    ~NameService();
    NameService(const NameService&) = delete;
    NameService& operator=(const NameService&) = delete;

    /// Calls `ask`, which may block, on this thread when the turn of `who` comes.
    void post(const std::string& who, std::function<void()> ask);
    /// Ends the thread after the question under way; questions that wait are dropped.
    void stop();

private:
    void run();
    std::optional<Simulator::Clock::time_point> step();
    void call(std::function<void()>& ask) const;

    const std::function<void(const char*)> fault_;
    std::mutex mutex_;
    std::condition_variable bell_;
    FairQueue<std::function<void()>> waiting_;
    bool stopping_ = false;
    LoopThread thread_;
};

} // namespace yk::service
