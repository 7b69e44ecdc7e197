// SPDX-License-Identifier: Apache-2.0
#include "protocol/work/worker.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace yk::work {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience{20}; // of who asks, while commands are started
constexpr std::chrono::milliseconds kHurry{200};   // after that

/// For poll(): -1 for ever.
int wait_until(const std::optional<TimePoint>& due) {
    if (!due) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

} // namespace

Result<std::unique_ptr<Worker>> Worker::start(Commands::Options commands, AllocationWork::Options work,
                                              std::function<void()> on_news) {
    commands.most = work.most_commands + AllocationWork::kHooksAtOnce;
    YK_TRY(made, Commands::make(std::move(commands)));
    std::unique_ptr<Worker> worker{new Worker(std::move(made), std::move(work), std::move(on_news))};
    if (!worker->wakes_.is_open()) return Error::of("no eventfd");
    worker->thread_.start(
        "commands", [&worker = *worker] { worker.run(); }, [&worker = *worker] { return worker.step(); });
    return worker;
}

Worker::Worker(std::unique_ptr<Commands> commands, AllocationWork::Options work, std::function<void()> on_news)
    : on_news_(std::move(on_news)),
      wakes_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      commands_(std::move(commands)),
      work_(*commands_, std::move(work)) {}

Worker::~Worker() {
    ending_ = true;
    wake();
    thread_.end();
}

void Worker::run() {
    std::unique_lock lock(mutex_);
    while (!ending_) {
        take_tasks();
        work_.step(Clock::now());
        if (work_.is_idle()) idle_.notify_all();
        const int wait = wait_until(work_.due());
        const bool has_news = work_.has_releases() || work_.has_notes();
        lock.unlock();
        if (has_news && on_news_) on_news_();
        std::array<pollfd, 2> watched{pollfd{commands_->descriptor(), POLLIN, 0}, pollfd{wakes_.get(), POLLIN, 0}};
        static_cast<void>(::poll(watched.data(), watched.size(), wait));
        if (watched[1].revents != 0) forget_wakes();
        if (was_missed_.exchange(false)) let_others_in();
        while (waiting_ != 0) std::this_thread::yield();
        lock.lock();
    }
}

std::optional<TimePoint> Worker::step() {
    const std::lock_guard lock(mutex_);
    take_tasks();
    work_.step(Clock::now());
    if (work_.is_idle()) idle_.notify_all();
    return work_.due();
}

/// Others go first: the loop would have the mutex again at once, and start commands while nobody else gets a turn.
Worker::Turn Worker::turn() {
    ++waiting_;
    Turn lock(mutex_);
    --waiting_;
    return lock;
}

/// It may not come: owns_lock() says so. Who has waited in vain does not wait at all for a while, and so has time for
/// what else there is to do.
Worker::Turn Worker::turn_within(std::chrono::milliseconds time) {
    constexpr std::chrono::milliseconds kPause{1};
    const auto begin = Clock::now();
    const auto end = begin < hurried_until_.load() ? begin : begin + time;
    ++waiting_;
    Turn lock(mutex_, std::try_to_lock); // the thread sanitizer does not know locks with a limit of time
    while (!lock.owns_lock() && Clock::now() < end) {
        std::this_thread::sleep_for(kPause);
        static_cast<void>(lock.try_lock());
    }
    --waiting_;
    if (lock.owns_lock()) return lock;
    was_missed_ = true;
    if (end != begin) hurried_until_ = Clock::now() + kHurry;
    return lock;
}

/// For those who came in vain: they are called again, and find the mutex free for a moment.
void Worker::let_others_in() {
    constexpr std::chrono::milliseconds kFree{5};
    hurried_until_ = TimePoint{};
    if (on_news_) on_news_();
    std::this_thread::sleep_for(kFree);
}

void Worker::wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wakes_.get(), &one, sizeof one); // if not, it is awake already
}

void Worker::forget_wakes() const {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(wakes_.get(), &count, sizeof count); // nothing: forgotten already
}

void Worker::post(Task task) {
    {
        const std::lock_guard lock(inbox_mutex_);
        inbox_.push_back(std::move(task));
    }
    wake();
}

bool Worker::has_tasks() {
    const std::lock_guard lock(inbox_mutex_);
    return !inbox_.empty();
}

void Worker::take_tasks() {
    std::deque<Task> tasks;
    {
        const std::lock_guard lock(inbox_mutex_);
        tasks.swap(inbox_);
    }
    for (const Task& task : tasks)
        if (!ending_) task(work_, Clock::now());
}

void Worker::placed(Announced<si::Allocation> allocation) {
    post([allocation = std::move(allocation)](AllocationWork& work, TimePoint /*now*/) { work.placed(allocation); });
}

void Worker::had(si::Allocation allocation) {
    post([allocation = std::move(allocation)](AllocationWork& work, TimePoint /*now*/) { work.had(allocation); });
}

void Worker::let_go() {
    post([](AllocationWork& work, TimePoint /*now*/) { work.let_go(); });
}

void Worker::released(Announced<si::AllocationRelease> release, bool confirms) {
    post([release = std::move(release), confirms](AllocationWork& work, TimePoint now) {
        work.released(release, confirms, now);
    });
}

void Worker::refused(Announced<si::AllocationRelease> release) {
    post([release = std::move(release)](AllocationWork& work, TimePoint now) { work.refused(release, now); });
}

void Worker::lost(const std::string& why, const AllocationWork::JsonOf& json_of) {
    post([why, json_of](AllocationWork& work, TimePoint now) { work.lost(why, json_of, now); });
}

void Worker::stop() {
    post([](AllocationWork& work, TimePoint now) { work.stop(now); });
}

bool Worker::wait_until_idle(std::chrono::milliseconds time) {
    const auto end = Clock::now() + time;
    hurried_until_ = TimePoint{};
    auto lock = turn_within(time);
    return lock.owns_lock() && idle_.wait_until(lock, end, [this] { return !has_tasks() && work_.is_idle(); });
}

bool Worker::is_busy() {
    const auto lock = turn_within(kPatience);
    return !lock.owns_lock() || has_tasks() || !work_.is_idle() || work_.has_releases() || work_.due();
}

std::vector<si::AllocationRelease> Worker::take_releases(std::size_t most) {
    const auto lock = turn_within(kPatience);
    return lock.owns_lock() ? work_.take_releases(most) : std::vector<si::AllocationRelease>{};
}

void Worker::put_back(std::vector<si::AllocationRelease> releases) {
    const auto lock = turn();
    work_.put_back(std::move(releases));
}

std::vector<std::string> Worker::take_notes() {
    const auto lock = turn_within(kPatience);
    return lock.owns_lock() ? work_.take_notes() : std::vector<std::string>{};
}

std::size_t Worker::running() {
    const auto lock = turn_within(kPatience);
    if (lock.owns_lock()) running_ = commands_->size();
    return running_;
}

std::optional<std::vector<std::optional<WorkState>>> Worker::states_of(const std::vector<AllocationName>& names) {
    const auto lock = turn_within(kPatience);
    if (!lock.owns_lock()) return std::nullopt;
    std::vector<std::optional<WorkState>> states;
    states.reserve(names.size());
    for (const AllocationName& each : names) states.push_back(work_.state_of(each));
    return states;
}

} // namespace yk::work
