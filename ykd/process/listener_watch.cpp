// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/listener_watch.h"

#include <fmt/format.h>

#include <utility>

#include "ykd/process/random_bytes.h"

namespace yk::service {
namespace {

constexpr auto kInterval = std::chrono::seconds{5};
constexpr int kInARow = 2;                    // looks that have to agree: a machine under load may be slow once
constexpr std::int64_t kLostDescriptors = 16; // more are reported

std::string random_question() {
    std::string question;
    for (int part = 0; part < 2; ++part) {
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

void ListenerWatch::start(std::vector<WatchedListener> listeners, Report report) {
    if (listeners.empty()) return;
    thread_ =
        std::thread([this, listeners = std::move(listeners), report = std::move(report)] { run(listeners, report); });
}

void ListenerWatch::run(const std::vector<WatchedListener>& listeners, const Report& report) {
    std::unique_lock lock(mutex_);
    while (!bell_.wait_for(lock, kInterval, [this] { return stopping_; })) {
        lock.unlock();
        look(listeners, report);
        lock.lock();
    }
}

void ListenerWatch::look(const std::vector<WatchedListener>& listeners, const Report& report) {
    int unresponsive = 0;
    for (const WatchedListener& listener : listeners) {
        Seen& seen = seen_[listener.url];
        const std::string wrong = listener.ask(question_);
        const bool unanswered = !wrong.empty() && !listener.is_full();
        seen.unanswered = unanswered ? seen.unanswered + 1 : 0;
        const bool is_unresponsive = seen.unanswered >= kInARow;
        if (is_unresponsive) ++unresponsive;
        report("listener " + listener.url, is_unresponsive ? wrong + "; a restart helps" : std::string{});
        seen.turning_away = listener.turns_away() ? seen.turning_away + 1 : 0;
        report("places " + listener.url,
               seen.turning_away >= kInARow
                   ? fmt::format(
                         "{}: connections are turned away, as all places are taken (maxConnections); the log names "
                         "whose",
                         listener.url)
                   : std::string{});
        const std::int64_t lost = listener.lost_descriptors();
        // Connections made since the last look may just be opened or closed, and not be accounted for.
        const std::uint64_t accepted = listener.accepted();
        const auto came = static_cast<std::int64_t>(accepted - std::exchange(seen.accepted, accepted));
        seen.leaking = lost > came + kLostDescriptors ? seen.leaking + 1 : 0;
        report("descriptors " + listener.url,
               seen.leaking >= kInARow
                   ? fmt::format("{}: {} descriptors belong to no connection; only a restart gives them back",
                                 listener.url, lost)
                   : std::string{});
    }
    unresponsive_.store(unresponsive, std::memory_order_relaxed);
}

} // namespace yk::service
