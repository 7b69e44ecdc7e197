// SPDX-License-Identifier: Apache-2.0
#pragma once
// Worker: the thread on which commands and hooks of allocations run, so that nobody who is slow, such as a daemon that
// does not answer or a database, holds up their output or their end.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "protocol/simulation/loop_thread.h"
#include "protocol/work/allocation_work.h"
#include "protocol/work/commands.h"

namespace yk::work {

/// Owner: whoever serves the resource manager. Thread: any. Starting a command may take seconds, as in a home that
/// hangs: who asks meanwhile gets nothing, and asks again later; put_back() waits.
class Worker {
public:
    /// `on_news`: called on the thread when there are releases or notes to take; may be empty.
    [[nodiscard]] static Result<std::unique_ptr<Worker>> start(Commands::Options commands, AllocationWork::Options work,
                                                               std::function<void()> on_news = {});
    /// Ends what runs at once.
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    void placed(Announced<si::Allocation> allocation);
    void had(si::Allocation allocation);
    void let_go();
    void released(Announced<si::AllocationRelease> release, bool confirms);
    void refused(Announced<si::AllocationRelease> release);
    void lost(const std::string& why, const AllocationWork::JsonOf& json_of);
    /// Has all commands end; returns at once.
    void stop();
    /// Waits until nothing runs any more, at most so long. Whether that came.
    bool wait_until_idle(std::chrono::milliseconds time);

    /// Whether something runs or is to be sent, so that one should look again soon.
    [[nodiscard]] bool is_busy();
    /// What is not given now is, once `on_news` was called again; so are notes.
    [[nodiscard]] std::vector<si::AllocationRelease> take_releases(std::size_t most);
    void put_back(std::vector<si::AllocationRelease> releases);
    [[nodiscard]] std::vector<std::string> take_notes();
    /// How many commands and hooks run, or did when somebody could last ask.
    [[nodiscard]] std::size_t running();
    /// What has become of the commands of these allocations, in their order; nullopt of one: nothing was started.
    /// Nullopt of all: it cannot be known now.
    [[nodiscard]] std::optional<std::vector<std::optional<WorkState>>>
    states_of(const std::vector<AllocationName>& names);

    /// How commands are run: what was left of an earlier process, and whether limits hold.
    [[nodiscard]] const Commands& commands() const { return *commands_; }

private:
    Worker(std::unique_ptr<Commands> commands, AllocationWork::Options work, std::function<void()> on_news);
    using Task = std::function<void(AllocationWork& work, TimePoint now)>;
    void post(Task task);
    [[nodiscard]] bool has_tasks();
    void take_tasks();
    void run();
    std::optional<TimePoint> step();
    void wake() const;
    void forget_wakes() const;
    using Turn = std::unique_lock<std::mutex>;
    [[nodiscard]] Turn turn();
    [[nodiscard]] Turn turn_within(std::chrono::milliseconds time);
    void let_others_in();

    const std::function<void()> on_news_;
    Descriptor wakes_;            // an eventfd
    std::mutex inbox_mutex_;      // guards the next one; whoever posts waits for nothing else
    std::deque<Task> inbox_;      // what the thread is to do
    std::atomic<int> waiting_{0}; // for the mutex, beside the loop
    std::mutex mutex_;            // guards what follows; the thread has it while it starts commands, some at a time
    std::condition_variable idle_;
    std::unique_ptr<Commands> commands_;
    AllocationWork work_;
    std::atomic<bool> ending_{false};
    std::atomic<std::size_t> running_{0};               // when it was last asked
    std::atomic<bool> was_missed_{false};               // somebody has waited in vain since they were let in
    std::atomic<TimePoint> hurried_until_{TimePoint{}}; // somebody has waited in vain: others do not wait as long
    LoopThread thread_;                                 // the last one: it ends first
};

} // namespace yk::work
