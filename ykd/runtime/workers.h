#pragma once
// Workers: a few threads that decode requests, run the services and encode dumps. Nothing they run waits for anything
// but a short lock.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace yk {

class Workers {
public:
    explicit Workers(unsigned threads);
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    void post(std::function<void()> work);
    /// Ends the threads after what they are running; what waits is dropped.
    void stop();

private:
    void run();

    std::mutex mutex_;
    std::condition_variable bell_;
    std::deque<std::function<void()>> queue_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

} // namespace yk
