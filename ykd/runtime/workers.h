// SPDX-License-Identifier: Apache-2.0
#pragma once
// Workers: a few threads that decode requests, run the services and encode their answers. Nothing they run waits for
// anything but a short lock. Clients take turns (FairQueue): a flood of one delays the first request of another by what
// is at work, and never takes all threads. What one of them throws (no memory for a large answer) ends that request
// alone: it owns nothing that lasts, and a call that is dropped without an answer is answered all the same (call.h).
//
// The thread that received a short request may do it itself (run_here), as one more worker that is there already: to
// wake another takes longer than the work. The same rules hold for it as for work that is posted.
//
// The daemon has two sets of them. Those for long work (dumps, metrics, pages of events) have threads of low priority:
// the system gives threads that wake for a short request the processor before those, which would else keep it for
// milliseconds, as the threads of both would have used as much of it before.
//
// Thread: any.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/simulation/loop_thread.h"
#include "ykd/runtime/fair_queue.h"

namespace yk {

class Workers {
public:
    /// `fault` is called with what a work item threw, on its worker.
    Workers(unsigned threads, std::function<void(const char* what)> fault,
            LoopThread::Priority priority = LoopThread::Priority::Normal);
    /// With so many threads one identity leaves one free, and one client two, if there are as many; the long items of
    /// an identity leave two free, so that one is left for its short ones.
    [[nodiscard]] static FairQueue<std::function<void()>>::Limits limits_of(unsigned threads);
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    /// Runs `work` on some worker, after what was posted before for the same source has begun. The source of the first
    /// form is the daemon itself.
    void post(std::function<void()> work) { post({}, std::move(work)); }
    void post(const ItemSource& source, std::function<void()> work);
    /// Does `work` on the calling thread. False, and nothing is done: it has to be posted, because other work waits or
    /// the source has enough at work, or because so many threads have come to do theirs here that others might miss
    /// them.
    [[nodiscard]] bool run_here(const ItemSource& source, std::function<void()> work);
    /// The source of the work that the calling thread is at; on other threads that of the daemon.
    [[nodiscard]] static ItemSource source_at_work();
    /// Whether the work that the calling thread frees ended because there was no memory.
    [[nodiscard]] static bool lacked_memory();
    /// Ends the threads after the work that they are running, and waits for what runs on other threads; work that waits
    /// is dropped.
    void stop();

private:
    using Work = FairQueue<std::function<void()>>::Taken;

    void run();
    std::optional<Simulator::Clock::time_point> step();
    void carry_out(const ItemSource& source, std::function<void()> work) const;

    const std::function<void(const char*)> fault_;
    const std::size_t most_here_;
    std::mutex mutex_;
    std::condition_variable bell_;
    FairQueue<std::function<void()>> queue_;
    std::size_t here_ = 0; // calls of run_here() that are at their work
    bool stopping_ = false;
    std::vector<Work> begun_; // in a simulation: what workers have taken
    std::vector<LoopThread> threads_;
};

} // namespace yk
