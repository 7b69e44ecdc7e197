// SPDX-License-Identifier: Apache-2.0
#include "ykctl/work/worker.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace yk::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// For poll(): -1 for ever.
int wait_until(const std::optional<work::TimePoint>& due) {
    if (!due) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

} // namespace

Result<std::unique_ptr<Worker>> Worker::start(work::Commands::Options commands, work::AllocationWork::Options work) {
    commands.most = work.most_commands + work::AllocationWork::kHooksAtOnce;
    YK_TRY(made, work::Commands::make(std::move(commands)));
    std::unique_ptr<Worker> worker{new Worker(std::move(made), std::move(work))};
    if (!worker->wakes_.is_open()) return Error::of("no eventfd");
    worker->thread_ = std::thread([&worker = *worker] { worker.run(); });
    return worker;
}

Worker::Worker(std::unique_ptr<work::Commands> commands, work::AllocationWork::Options work)
    : wakes_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      commands_(std::move(commands)),
      work_(*commands_, std::move(work)) {}

Worker::~Worker() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    wake();
    if (thread_.joinable()) thread_.join();
}

void Worker::run() {
    std::unique_lock lock(mutex_);
    while (!ending_) {
        work_.step(Clock::now());
        if (work_.is_idle()) idle_.notify_all();
        const int wait = wait_until(work_.due());
        lock.unlock();
        std::array<pollfd, 2> watched{pollfd{commands_->descriptor(), POLLIN, 0}, pollfd{wakes_.get(), POLLIN, 0}};
        static_cast<void>(::poll(watched.data(), watched.size(), wait));
        std::uint64_t count = 0;
        if (watched[1].revents != 0) static_cast<void>(::read(wakes_.get(), &count, sizeof count));
        while (waiting_ != 0) std::this_thread::yield();
        lock.lock();
    }
}

/// Others go first: the loop would have the mutex again at once, and start commands while nobody else gets a turn.
std::unique_lock<std::mutex> Worker::turn() {
    ++waiting_;
    std::unique_lock lock(mutex_);
    --waiting_;
    return lock;
}

void Worker::wake() const {
    const std::uint64_t one = 1;
    static_cast<void>(::write(wakes_.get(), &one, sizeof one));
}

void Worker::placed(work::Announced<si::Allocation> allocation) {
    {
        const auto lock = turn();
        work_.placed(std::move(allocation), Clock::now());
    }
    wake();
}

void Worker::had(si::Allocation allocation) {
    {
        const auto lock = turn();
        work_.had(std::move(allocation), Clock::now());
    }
    wake();
}

void Worker::let_go() {
    {
        const auto lock = turn();
        work_.let_go(Clock::now());
    }
    wake();
}

void Worker::released(work::Announced<si::AllocationRelease> release, bool confirms) {
    {
        const auto lock = turn();
        work_.released(std::move(release), confirms, Clock::now());
    }
    wake();
}

void Worker::refused(work::Announced<si::AllocationRelease> release) {
    {
        const auto lock = turn();
        work_.refused(std::move(release), Clock::now());
    }
    wake();
}

void Worker::lost(const std::string& why, const work::AllocationWork::JsonOf& json_of) {
    {
        const auto lock = turn();
        work_.lost(why, json_of, Clock::now());
    }
    wake();
}

void Worker::stop() {
    {
        const auto lock = turn();
        work_.stop(Clock::now());
    }
    wake();
}

bool Worker::wait_until_idle(std::chrono::milliseconds time) {
    auto lock = turn();
    return idle_.wait_for(lock, time, [this] { return work_.is_idle(); });
}

bool Worker::is_busy() {
    const auto lock = turn();
    return !work_.is_idle() || work_.has_releases() || work_.due();
}

std::vector<si::AllocationRelease> Worker::take_releases(std::size_t most) {
    const auto lock = turn();
    return work_.take_releases(most);
}

void Worker::put_back(std::vector<si::AllocationRelease> releases) {
    const auto lock = turn();
    work_.put_back(std::move(releases));
}

std::vector<std::string> Worker::take_notes() {
    const auto lock = turn();
    return work_.take_notes();
}

} // namespace yk::cli
