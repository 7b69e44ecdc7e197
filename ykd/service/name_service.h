#pragma once
// NameService: the thread that asks the system's name service (who is in which group), which may take seconds each
// time, and must keep neither an owner thread nor a worker. Those who ask take turns, one question each, so that nobody
// who asks much keeps the others.
//
// Owner: Daemon. Thread: any.

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace yk::service {

class NameService {
public:
    /// `fault` is told what a question threw.
    explicit NameService(std::function<void(const char* what)> fault);
    ~NameService();
    NameService(const NameService&) = delete;
    NameService& operator=(const NameService&) = delete;

    /// `ask` may block. `who`: whose turn it is.
    void post(const std::string& who, std::function<void()> ask);
    /// Ends the thread after what it is asking; what waits is dropped.
    void stop();

private:
    void run();
    [[nodiscard]] std::function<void()> take_next();

    const std::function<void(const char*)> fault_;
    std::mutex mutex_;
    std::condition_variable bell_;
    std::map<std::string, std::deque<std::function<void()>>> waiting_; // no empty ones
    std::string last_;                                                 // whose turn it was
    bool stopping_ = false;
    std::thread thread_;
};

} // namespace yk::service
