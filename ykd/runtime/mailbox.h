// SPDX-License-Identifier: Apache-2.0
#pragma once
// Mailbox<T>: the queue of an owner thread. Bounded, many producers, one consumer, two lanes.
//
// Work is taken in the order in which it was accepted (I-100); control (dumps, questions, changes of sessions) has a
// lane of its own and is taken before the work that waits. The work lane is bounded by elements and bytes (I-336): work
// that exceeds the bounds waits in line until it fits or its deadline is over.
//
// It is closed when its consumer leaves, and accepts nothing from then on: a push reports it at once, and what was
// queued is handed back, as it would otherwise wait for a thread that has ended.
//
// Thread: push_*(), wake() and the numbers any; expire() the housekeeping thread; the rest the consumer. Invariants:
//   A  elements_ and bytes_ are the sums over the work lane
//   B  something waits in line only while the work lane is not empty
//   C  positions are assigned in lane order, without gaps
//   D  when it is closed it is empty

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "ykd/runtime/clock.h"

namespace yk {

/// How much a work item counts for the limits.
struct Load {
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;
};

struct MailboxLimits {
    std::uint64_t elements = 65'536; // inboundMaxItems
    std::uint64_t bytes = 64U << 20; // inboundMaxBytes
};

/// The result of push_work(). Closed: the consumer has left.
enum class PushOutcome { Accepted, Waiting, Refused, Closed };

template <class T>
class Mailbox {
public:
    struct Work {
        T item;
        Load load;
        std::uint64_t position = 0;
    };
    /// Called under no lock for an item that waited in line, when it is accepted (`position`) or given up (nullopt).
    using Settle = void (*)(T& item, std::optional<std::uint64_t> position);
    /// Called under no lock, by close(), with each item that is handed back. `accepted`: it was in a lane, not in line.
    using HandBack = void (*)(T& item, bool accepted);

    explicit Mailbox(MailboxLimits limits) : limits_(limits) {}

    /// Accepted: the item is in the lane at `position`. Waiting: it is in line, and settled later by take() or
    /// expire(). Refused: the line itself has as many bytes as the lane may have. When refused or closed, `item` is
    /// unchanged.
    PushOutcome push_work(T& item, Load load, SteadyClock::time_point deadline, std::uint64_t& position) {
        {
            const std::lock_guard lock(mutex_);
            if (closed_) return PushOutcome::Closed;
            if (!line_.empty() || !fits(load)) {
                if (waiting_bytes_ + load.bytes > limits_.bytes) return PushOutcome::Refused;
                waiting_bytes_ += load.bytes;
                line_.push_back({std::move(item), load, deadline});
                return PushOutcome::Waiting;
            }
            position = enqueue(std::move(item), load);
        }
        bell_.notify_one();
        return PushOutcome::Accepted;
    }

    /// False: the mailbox is closed; `item` is unchanged.
    [[nodiscard]] bool push_control(T& item) {
        {
            const std::lock_guard lock(mutex_);
            if (closed_) return false;
            control_.push_back(std::move(item));
        }
        bell_.notify_one();
        return true;
    }

    /// Waits until there is something to take, wake() was called or `until` is reached.
    void wait_until(SteadyClock::time_point until) {
        std::unique_lock lock(mutex_);
        bell_.wait_until(lock, until, [this] { return awake_ || !control_.empty() || !work_.empty(); });
        awake_ = false;
    }

    /// As wait_until(), for a loop that must not wait: whether it would have returned before its time.
    [[nodiscard]] bool take_wake() {
        const std::lock_guard lock(mutex_);
        return std::exchange(awake_, false) || !control_.empty() || !work_.empty();
    }

    /// Ends the wait under way, or the next one at once.
    void wake() {
        {
            const std::lock_guard lock(mutex_);
            awake_ = true;
        }
        bell_.notify_one();
    }

    /// Takes the whole control lane and at most `max_elements` of the work lane, but at least one item. Items in line
    /// that fit now are accepted, and `settle` is called for them before this returns.
    void take(std::uint64_t max_elements, std::vector<T>& control, std::vector<Work>& work, Settle settle) {
        control.clear();
        work.clear();
        admitted_.clear();
        {
            const std::lock_guard lock(mutex_);
            std::swap(control, control_);
            std::uint64_t taken = 0;
            while (!work_.empty() && (taken == 0 || taken + work_.front().load.elements <= max_elements)) {
                taken += std::max<std::uint64_t>(1, work_.front().load.elements);
                release(work_.front().load);
                work.push_back(std::move(work_.front()));
                work_.pop_front();
            }
            admit_waiting();
        }
        for (auto& [item, position] : admitted_) settle(*item, position);
    }

    /// Gives up the items that have waited in line beyond their deadline. For the housekeeping thread.
    void expire(SteadyClock::time_point now, Settle settle) {
        std::deque<Waiting> over;
        {
            const std::lock_guard lock(mutex_);
            for (auto it = line_.begin(); it != line_.end();) {
                if (it->deadline > now) {
                    ++it;
                    continue;
                }
                waiting_bytes_ -= it->load.bytes;
                over.push_back(std::move(*it));
                it = line_.erase(it);
            }
        }
        for (Waiting& late : over) settle(late.item, std::nullopt);
    }

    /// Accepts nothing more and hands back what is queued, in the order in which it would have been taken.
    void close(HandBack hand_back) {
        std::vector<T> control;
        std::deque<Work> work;
        std::deque<Waiting> line;
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
            std::swap(control, control_);
            std::swap(work, work_);
            std::swap(line, line_);
            elements_ = bytes_ = waiting_bytes_ = 0;
        }
        for (T& item : control) hand_back(item, true);
        for (Work& each : work) hand_back(each.item, true);
        for (Waiting& each : line) hand_back(each.item, false);
    }

    /// Bytes in the work lane and in line.
    [[nodiscard]] std::uint64_t bytes() const {
        const std::lock_guard lock(mutex_);
        return bytes_ + waiting_bytes_;
    }
    /// Elements in the work lane.
    [[nodiscard]] std::uint64_t elements() const {
        const std::lock_guard lock(mutex_);
        return elements_;
    }
    /// The position of the work item that was accepted last; 0: none was.
    [[nodiscard]] std::uint64_t last_position() const {
        const std::lock_guard lock(mutex_);
        return last_position_;
    }

private:
    struct Waiting {
        T item;
        Load load;
        SteadyClock::time_point deadline;
    };

    [[nodiscard]] bool fits(Load load) const {
        if (work_.empty()) return true; // also what exceeds the bounds by itself (I-336)
        return elements_ + load.elements <= limits_.elements && bytes_ + load.bytes <= limits_.bytes;
    }
    std::uint64_t enqueue(T item, Load load) {
        elements_ += load.elements;
        bytes_ += load.bytes;
        work_.push_back({std::move(item), load, ++last_position_});
        return last_position_;
    }
    void release(Load load) {
        elements_ -= load.elements;
        bytes_ -= load.bytes;
    }
    /// Moves items from the line to the work lane while they fit. REQUIRES: mutex_ held.
    void admit_waiting() {
        while (!line_.empty() && fits(line_.front().load)) {
            waiting_bytes_ -= line_.front().load.bytes;
            const std::uint64_t position = enqueue(std::move(line_.front().item), line_.front().load);
            admitted_.emplace_back(&work_.back().item, position); // a deque never moves its elements
            line_.pop_front();
        }
    }

    const MailboxLimits limits_;
    mutable std::mutex mutex_;
    std::condition_variable bell_;
    bool awake_ = false, closed_ = false;
    std::vector<T> control_;
    std::deque<Work> work_;
    std::deque<Waiting> line_;
    std::uint64_t elements_ = 0, bytes_ = 0, waiting_bytes_ = 0;
    std::uint64_t last_position_ = 0;
    std::vector<std::pair<T*, std::uint64_t>> admitted_; // the consumer's, by take()
};

} // namespace yk
