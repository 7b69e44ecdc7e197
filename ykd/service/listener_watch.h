#pragma once
// ListenerWatch: asks the daemon itself a question over each of its listeners, and compares the descriptors that the
// kernel counts with those that the servers account for. It tells what is wrong, for Degraded; while a listener does
// not answer, the service manager's watchdog is not fed.

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

/// A listener, as far as it is watched. Functions are called on the watch's thread.
struct WatchedListener {
    std::string url;
    std::function<std::string(std::string_view question)> ask; // what is wrong with the answer; empty: nothing
    std::function<bool()> is_full;                             // then nobody else gets in, and no answer proves nothing
    std::function<std::int64_t()> lost_descriptors;            // beyond what the server accounts for
    std::function<std::uint64_t()> accepted;                   // connections so far
    std::function<bool()> turns_away;                          // for want of a place, not of his alone who comes
};

/// Thread: one of its own, from start() to the end; the questions about it from any.
class ListenerWatch {
public:
    /// What is wrong under this key (`listener URL`, `places URL`, `descriptors URL`); an empty sentence: nothing any
    /// more. Told anew at each look.
    using Tell = std::function<void(const std::string& key, const std::string& sentence)>;

    ListenerWatch();
    ~ListenerWatch();
    ListenerWatch(const ListenerWatch&) = delete;
    ListenerWatch& operator=(const ListenerWatch&) = delete;

    void start(std::vector<WatchedListener> listeners, Tell tell);
    /// No further looks: the listeners are about to end. Waits for nothing.
    void stop();
    /// The same, and waits for the look under way.
    void end();
    /// Whether a message is the watch's own question, which is answered with itself.
    [[nodiscard]] bool is_question(std::string_view message) const { return message == question_; }
    /// False while a listener has not answered twice in a row.
    [[nodiscard]] bool all_answer() const { return deaf_.load(std::memory_order_relaxed) == 0; }

    /// One look at all listeners. Called by its thread; for tests.
    void look(const std::vector<WatchedListener>& listeners, const Tell& tell);

private:
    struct Seen { // in a row
        int unanswered = 0;
        int leaking = 0;
        int turning_away = 0;
        std::uint64_t accepted = 0; // at the last look; not in a row
    };
    void run(const std::vector<WatchedListener>& listeners, const Tell& tell);

    const std::string question_; // random: nobody else can ask it
    std::atomic<int> deaf_{0};
    std::map<std::string, Seen> seen_; // by url; the thread's
    std::mutex mutex_;
    std::condition_variable bell_;
    bool stopping_ = false;
    std::thread thread_;
};

} // namespace yk::service
