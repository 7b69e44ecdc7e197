// SPDX-License-Identifier: Apache-2.0
#pragma once
// How often something happened within the last minute: LastMinute of one thing, MinuteCounter by a key such as a peer's
// address. They count to kMost at most, and MinuteCounter remembers kKeys keys, so that their memory is limited.
//
// Thread: any, under the owner's lock.

#include <cstddef>
#include <deque>
#include <map>
#include <string>

#include "ykd/runtime/clock.h"

namespace yk::service {

class LastMinute {
public:
    static constexpr std::size_t kMost = 16;

    /// Notes that it happened at `now`. Returns how often it did within the minute before, this time included.
    std::size_t note(SteadyClock::time_point now = SteadyClock::now()) {
        times_.push_back(now);
        if (times_.size() > kMost) times_.pop_front();
        return count(now);
    }
    [[nodiscard]] std::size_t count(SteadyClock::time_point now = SteadyClock::now()) {
        while (!times_.empty() && now - times_.front() > std::chrono::minutes{1}) times_.pop_front();
        return times_.size();
    }

private:
    std::deque<SteadyClock::time_point> times_;
};

class MinuteCounter {
public:
    static constexpr std::size_t kKeys = 10'000;

    std::size_t note(const std::string& key, SteadyClock::time_point now = SteadyClock::now()) {
        if (by_key_.size() >= kKeys && by_key_.count(key) == 0) forget_idle(now);
        return by_key_[key].note(now);
    }
    [[nodiscard]] std::size_t count(const std::string& key, SteadyClock::time_point now = SteadyClock::now()) {
        const auto found = by_key_.find(key);
        return found == by_key_.end() ? 0 : found->second.count(now);
    }

private:
    /// Forgets the keys of which nothing happened within the last minute; if that is not enough, all.
    void forget_idle(SteadyClock::time_point now) {
        for (auto it = by_key_.begin(); it != by_key_.end();)
            it = it->second.count(now) == 0 ? by_key_.erase(it) : std::next(it);
        if (by_key_.size() >= kKeys) by_key_.clear();
    }

    std::map<std::string, LastMinute> by_key_;
};

} // namespace yk::service
