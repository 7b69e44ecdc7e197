// SPDX-License-Identifier: Apache-2.0
#pragma once
// McsWriter: the one thread of a process that writes rows of services. It takes their writes from a WriteQueue, carries
// them out in groups (GroupCommit), and gives them back with what came of each. So no service waits for the disk, and
// no two writes of a process wait for each other's locks (rs R-025).
//
// Owner: the program. Thread: take(), answered() and stop() that of the services. The port belongs to this thread.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "libcore/mcs/group_commit.h"
#include "protocol/simulation/loop_thread.h"

namespace yk::mcs {

class McsWriter {
public:
    using Calls = GroupCommit::Calls;
    /// `on_answered` is called when answered() has more, on the writer's thread: it passes that on and returns. The log
    /// has something new then, too (rs R-039).
    McsWriter(WritePort& port, const GroupCommitSettings& settings, std::uint64_t seed,
              std::function<void()> on_answered);
    /// What was not stopped is given up.
    ~McsWriter();
    McsWriter(const McsWriter&) = delete;
    McsWriter& operator=(const McsWriter&) = delete;

    /// Takes as many writes as may wait here, and leaves the others in the queue: look again when something was
    /// answered.
    void take(WriteQueue& queue);
    /// The writes that have an outcome and were not given back yet, in the order in which they were taken. The owner
    /// finishes them.
    [[nodiscard]] Calls answered();

    enum class Stop : std::uint8_t {
        Flush, // what was taken is carried out, unless the database is away
        Now    // only what is under way
    };
    /// Ends the thread. Each write that was taken has an outcome afterwards: what it came to, or that it was not
    /// carried out. Nothing is taken any more, and on_answered is not called for these.
    void stop(Stop how);

    struct Status {
        std::size_t waiting = 0; // writes that have no outcome
        std::string fault;       // why the database cannot be asked; empty: it can, or nothing waits for it
        std::uint64_t groups = 0, grouped = 0; // transactions so far, and the writes that were in them
    };
    [[nodiscard]] Status status();

private:
    void run();
    std::optional<Simulator::Clock::time_point> step();
    /// One group.
    void carry_out(std::unique_lock<std::mutex>& lock);

    WritePort& port_;
    const std::function<void()> on_answered_;
    std::mutex mutex_; // guards what follows, up to the next comment
    std::condition_variable bell_;
    GroupCommit commit_;
    Calls answered_;
    std::uint64_t groups_ = 0, grouped_ = 0;
    bool is_stopping_ = false;

    LoopThread thread_; // the last one: it begins when everything else is there
};

} // namespace yk::mcs
