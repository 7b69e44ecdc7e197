// SPDX-License-Identifier: Apache-2.0
#pragma once
// EndSignals: SIGINT and SIGTERM of a command that serves until one of them comes.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "ykctl/client/watch.h"

namespace yk::cli {

/// Holds the signals back and notices them on a thread of its own, so that the command ends where nothing is left half
/// done. A command that has not ended a second later, or when a second signal comes, waits for a daemon that does not
/// answer or for a disk: then the process ends at once, with the exit code that the signal gives.
class EndSignals {
public:
    EndSignals();
    ~EndSignals();
    EndSignals(const EndSignals&) = delete;
    EndSignals& operator=(const EndSignals&) = delete;

    /// For a command that has something to end first: `call` is called when a signal comes, on the thread of this, and
    /// the process ends at once only after `patience`. A second signal does not wait for that.
    void on_signal(std::function<void()> call, std::chrono::milliseconds patience);

    /// Waits for at most `time`; returns the signal that came, or 0.
    [[nodiscard]] int wait(std::chrono::milliseconds time);

private:
    void run();

    const HeldSignals held_; // before the thread, which inherits what is held back
    std::mutex mutex_;       // guards what follows
    std::condition_variable changed_;
    int signal_ = 0;
    bool ending_ = false;
    std::function<void()> call_;
    std::chrono::milliseconds patience_{1000};
    std::thread thread_;
};

} // namespace yk::cli
