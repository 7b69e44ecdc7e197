// SPDX-License-Identifier: Apache-2.0
#pragma once
// ListenerWatch: sends the daemon itself a question over each of its listeners, and compares the descriptors that the
// kernel counts with those that the servers account for. It reports what is wrong, for Degraded; while a listener does
// not answer, the service manager's watchdog is not fed, so that it restarts the daemon.
//
// Owner: Daemon.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace yk::service {

/// What the watch needs of a listener. The functions are called on the watch's thread.
struct WatchedListener {
    std::string url;
    std::function<std::string(std::string_view question)> ask; // sends it; what is wrong with the answer, or empty
    std::function<bool()> is_full;                  // then nobody can connect, and a missing answer proves nothing
    std::function<std::int64_t()> lost_descriptors; // that the server does not account for
    std::function<std::uint64_t()> accepted;        // connections, ever
    std::function<bool()> turns_away;               // connections, since the limit for all of them is reached
};

/// Thread: one of its own, from start() to the end; the questions about it from any.
class ListenerWatch {
public:
    /// Called at each look with what is wrong about `key` (`listener URL`, `places URL`, `descriptors URL`); the
    /// sentence is empty when nothing is, or nothing any more.
    using Report = std::function<void(const std::string& key, const std::string& sentence)>;

    ListenerWatch();
    ~ListenerWatch();
    ListenerWatch(const ListenerWatch&) = delete;
    ListenerWatch& operator=(const ListenerWatch&) = delete;

    void start(std::vector<WatchedListener> listeners, Report report);
    /// Makes no further looks, as the listeners are about to end. Does not wait.
    void stop();
    /// As stop(), and waits for the look under way.
    void end();
    /// Whether a message is the watch's own question; the answer to it is the question itself.
    [[nodiscard]] bool is_question(std::string_view message) const { return message == question_; }
    /// False while a listener did not answer at two looks in a row, or more.
    [[nodiscard]] bool all_answer() const { return unresponsive_.load(std::memory_order_relaxed) == 0; }

    /// Makes one look at all listeners. Public for tests.
    void look(const std::vector<WatchedListener>& listeners, const Report& report);

private:
    struct Seen { // how many looks in a row found this
        int unanswered = 0;
        int leaking = 0;
        int turning_away = 0;
        std::uint64_t accepted = 0; // connections, as of the last look
    };
    void run(const std::vector<WatchedListener>& listeners, const Report& report);

    const std::string question_;       // random: nobody else can ask it
    std::atomic<int> unresponsive_{0}; // listeners
    std::map<std::string, Seen> seen_; // by url; only the thread uses it
    std::mutex mutex_;
    std::condition_variable bell_;
    bool stopping_ = false;
    std::thread thread_;
};

} // namespace yk::service
