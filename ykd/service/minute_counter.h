#pragma once
// MinuteCounter: how often something happened within the last minute, by a key such as a peer's address. It counts to
// kMost and remembers kKeys keys: who sends a million does not fill the memory.
//
// Thread: the owner's lock.

#include <cstddef>
#include <deque>
#include <map>
#include <string>

#include "ykd/runtime/clock.h"

namespace yk::service {

class MinuteCounter {
public:
    static constexpr std::size_t kMost = 16;
    static constexpr std::size_t kKeys = 10'000;

    /// Notes one at `now`; how many there were within the minute before, this one included.
    std::size_t note(const std::string& key, SteadyClock::time_point now = SteadyClock::now()) {
        if (times_.size() >= kKeys && times_.count(key) == 0) make_room(now);
        std::deque<SteadyClock::time_point>& times = times_[key];
        times.push_back(now);
        if (times.size() > kMost) times.pop_front();
        return recent(times, now);
    }
    [[nodiscard]] std::size_t count(const std::string& key, SteadyClock::time_point now = SteadyClock::now()) {
        const auto found = times_.find(key);
        return found == times_.end() ? 0 : recent(found->second, now);
    }

private:
    static std::size_t recent(std::deque<SteadyClock::time_point>& times, SteadyClock::time_point now) {
        while (!times.empty() && now - times.front() > std::chrono::minutes{1}) times.pop_front();
        return times.size();
    }
    void make_room(SteadyClock::time_point now) {
        for (auto it = times_.begin(); it != times_.end();) it = recent(it->second, now) == 0 ? times_.erase(it) : ++it;
        if (times_.size() >= kKeys) times_.clear();
    }

    std::map<std::string, std::deque<SteadyClock::time_point>> times_;
};

} // namespace yk::service
