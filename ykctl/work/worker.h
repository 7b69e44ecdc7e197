// SPDX-License-Identifier: Apache-2.0
#pragma once
// Worker: the thread on which `rm serve` runs commands and hooks, so that a daemon that does not answer holds up
// neither their output nor their end.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "protocol/work/allocation_work.h"
#include "protocol/work/commands.h"

namespace yk::cli {

/// Owner: serve(). Thread: any.
class Worker {
public:
    [[nodiscard]] static Result<std::unique_ptr<Worker>> start(work::Commands::Options commands,
                                                               work::AllocationWork::Options work);
    /// Ends what runs at once.
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    void placed(work::Announced<si::Allocation> allocation);
    void had(si::Allocation allocation);
    void let_go();
    void released(work::Announced<si::AllocationRelease> release, bool confirms);
    void refused(work::Announced<si::AllocationRelease> release);
    void lost(const std::string& why, const work::AllocationWork::JsonOf& json_of);
    /// Has all commands end; returns at once.
    void stop();
    /// Waits until nothing runs any more, at most so long. Whether that came.
    bool wait_until_idle(std::chrono::milliseconds time);

    /// Whether something runs or is to be sent, so that one should look again soon.
    [[nodiscard]] bool is_busy();
    [[nodiscard]] std::vector<si::AllocationRelease> take_releases(std::size_t most);
    void put_back(std::vector<si::AllocationRelease> releases);
    [[nodiscard]] std::vector<std::string> take_notes();

    /// How commands are run: what was left of an earlier process, and whether limits hold.
    [[nodiscard]] const work::Commands& commands() const { return *commands_; }

private:
    explicit Worker(std::unique_ptr<work::Commands> commands, work::AllocationWork::Options work);
    void run();
    void wake() const;
    [[nodiscard]] std::unique_lock<std::mutex> turn();

    work::Descriptor wakes_;      // an eventfd
    std::atomic<int> waiting_{0}; // for the mutex, beside the loop
    std::mutex mutex_;            // guards what follows
    std::condition_variable idle_;
    std::unique_ptr<work::Commands> commands_;
    work::AllocationWork work_;
    bool ending_ = false;
    std::thread thread_;
};

} // namespace yk::cli
