#include "ykd/service/listener_watch.h"

#include <fmt/format.h>

#include <utility>

#include "ykd/service/random_bytes.h"

namespace yk::service {
namespace {

constexpr auto kInterval = std::chrono::seconds{5};
constexpr int kInARow = 2; // looks that have to agree: a machine under load is slow once
constexpr std::int64_t kLostDescriptors = 16;

std::string random_question() {
    std::string question;
    for (int piece = 0; piece < 2; ++piece) {
        const Bytes16 bytes = random_bytes();
        question.append(bytes.begin(), bytes.end());
    }
    return question;
}

} // namespace

ListenerWatch::ListenerWatch() : question_(random_question()) {}

ListenerWatch::~ListenerWatch() {
    end();
}

void ListenerWatch::end() {
    stop();
    if (thread_.joinable()) thread_.join();
}

void ListenerWatch::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    bell_.notify_all();
}

void ListenerWatch::start(std::vector<WatchedListener> listeners, Tell tell) {
    thread_ = std::thread([this, listeners = std::move(listeners), tell = std::move(tell)] { run(listeners, tell); });
}

void ListenerWatch::run(const std::vector<WatchedListener>& listeners, const Tell& tell) {
    std::unique_lock lock(mutex_);
    while (!bell_.wait_for(lock, kInterval, [this] { return stopping_; })) {
        lock.unlock();
        look(listeners, tell);
        lock.lock();
    }
}

void ListenerWatch::look(const std::vector<WatchedListener>& listeners, const Tell& tell) {
    int deaf = 0;
    for (const WatchedListener& listener : listeners) {
        Seen& seen = seen_[listener.url];
        const std::string wrong = listener.ask(question_);
        const bool unanswered = !wrong.empty() && !listener.is_full();
        seen.unanswered = unanswered ? seen.unanswered + 1 : 0;
        const bool is_deaf = seen.unanswered >= kInARow;
        if (is_deaf) ++deaf;
        tell("listener " + listener.url, is_deaf ? wrong + "; a restart helps" : std::string{});
        seen.turning_away = listener.turns_away() ? seen.turning_away + 1 : 0;
        tell("places " + listener.url,
             seen.turning_away >= kInARow
                 ? fmt::format(
                       "{}: connections are turned away, as all places are taken (maxConnections); the log names "
                       "whose",
                       listener.url)
                 : std::string{});
        const std::int64_t lost = listener.lost_descriptors();
        // Those that came since the last look may be on their way in or out.
        const std::uint64_t accepted = listener.accepted();
        const auto came = static_cast<std::int64_t>(accepted - std::exchange(seen.accepted, accepted));
        seen.leaking = lost > came + kLostDescriptors ? seen.leaking + 1 : 0;
        tell("descriptors " + listener.url,
             seen.leaking >= kInARow
                 ? fmt::format("{}: {} descriptors belong to no connection; only a restart gives them back",
                               listener.url, lost)
                 : std::string{});
    }
    deaf_.store(deaf, std::memory_order_relaxed);
}

} // namespace yk::service
