// SPDX-License-Identifier: Apache-2.0
#pragma once
// Deadlines: makes calls later, on one housekeeping thread, in real time (I-353): ends of polls and waits, sweeps of
// sessions, health checks. A call must be short: it posts work, answers a request or hands it on.
//
// Thread: any; the calls are made on the thread of this object.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "protocol/simulation/loop_thread.h"
#include "ykd/runtime/clock.h"

namespace yk {

class Deadlines {
public:
    /// Identifies a call until it was made.
    struct Key {
        SteadyClock::time_point at;
        std::uint64_t number = 0; // 0: none
        friend bool operator<(const Key& a, const Key& b) { return a.at != b.at ? a.at < b.at : a.number < b.number; }
    };

    Deadlines();
    ~Deadlines();
    Deadlines(const Deadlines&) = delete;
    Deadlines& operator=(const Deadlines&) = delete;

    /// Makes the call at `at`, or as soon as possible after. Costs O(log n) with n pending calls.
    Key call_at(SteadyClock::time_point at, std::function<void()> call);
    Key call_after(SteadyClock::duration delay, std::function<void()> call) {
        return call_at(SteadyClock::now() + delay, std::move(call));
    }
    /// False when the call was made, is being made or was cancelled before.
    bool cancel(const Key& key);
    /// Calls `call` every `period` until the end.
    void every(SteadyClock::duration period, std::function<void()> call);
    /// Ends the thread after the call under way; pending calls are dropped.
    void stop();

private:
    void run();
    std::optional<SteadyClock::time_point> step();

    std::mutex mutex_;
    std::condition_variable bell_;
    std::map<Key, std::function<void()>> calls_;
    std::uint64_t last_number_ = 0;
    bool stopping_ = false;
    LoopThread thread_;
};

} // namespace yk
