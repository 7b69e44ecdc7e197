#pragma once
// Mailbox<T>: what reaches an owner thread. Bounded, many producers, one consumer, two lanes.
//
// Work is taken in the order in which it was accepted (I-100); control (dumps, questions, session news) has its own
// lane and goes before the work that waits. Work is bounded by elements and bytes (I-336): what finds no room waits in
// line until there is some or its deadline is over.
//
// It is closed when its consumer leaves, and takes nothing from then on: whoever sends learns it at once, and what was
// in it is handed back (A4: what is put into the mailbox of a thread that has ended would wait for ever).
//
// Thread: push_*() any; the rest the consumer only. Invariants: A  elements and bytes are the sums over the work lane
// B  something waits in line only while the lane is not empty  C  positions are given in lane order, without gaps
// D  when it is closed it is empty.

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

/// How large a piece of work is for the limits.
struct Load {
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;
};

struct MailboxLimits {
    std::uint64_t elements = 65'536; // inboundMaxItems
    std::uint64_t bytes = 64U << 20; // inboundMaxBytes
};

/// What became of push_work(). Closed: the consumer has left.
enum class Admission { Accepted, Waiting, Refused, Closed };

template <class T>
class Mailbox {
public:
    struct Work {
        T item;
        Load load;
        std::uint64_t position = 0;
    };
    /// Called under no lock, by whoever admits (position) or gives up (nullopt) a waiting piece.
    using Settle = void (*)(T& item, std::optional<std::uint64_t> position);
    /// Called under no lock, by close(), with each item that is handed back; `accepted`: it was in a lane already.
    using HandBack = void (*)(T& item, bool accepted);

    explicit Mailbox(MailboxLimits limits) : limits_(limits) {}

    /// Accepted: `position` is set, the item is in the lane. Waiting: settled later through take() or expire().
    /// Refused: the line itself is as large as the lane may be; then, and when it is closed, `item` is left as it was.
    Admission push_work(T& item, Load load, SteadyClock::time_point deadline, std::uint64_t& position) {
        {
            const std::lock_guard lock(mutex_);
            if (closed_) return Admission::Closed;
            if (!line_.empty() || !has_room(load)) {
                if (waiting_bytes_ + load.bytes > limits_.bytes) return Admission::Refused;
                waiting_bytes_ += load.bytes;
                line_.push_back({std::move(item), load, deadline});
                return Admission::Waiting;
            }
            position = enqueue(std::move(item), load);
        }
        bell_.notify_one();
        return Admission::Accepted;
    }

    /// False: it is closed; `item` is left as it was.
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

    void wake() {
        {
            const std::lock_guard lock(mutex_);
            awake_ = true;
        }
        bell_.notify_one();
    }

    /// Takes the control lane whole and at most `max_elements` (at least one piece) of the work lane. What was taken
    /// before counts as done from now on. Pieces admitted from the line are settled before this returns.
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

    /// Gives up what has waited in line beyond its deadline. For the housekeeping thread.
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
        for (Waiting& piece : over) settle(piece.item, std::nullopt);
    }

    /// Takes nothing more and hands back what is there, in the order in which it would have been taken.
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
        for (Work& piece : work) hand_back(piece.item, true);
        for (Waiting& piece : line) hand_back(piece.item, false);
    }

    /// Bytes in the lane and in line.
    [[nodiscard]] std::uint64_t bytes() const {
        const std::lock_guard lock(mutex_);
        return bytes_ + waiting_bytes_;
    }
    /// Elements in the lane.
    [[nodiscard]] std::uint64_t elements() const {
        const std::lock_guard lock(mutex_);
        return elements_;
    }
    /// The position of the last accepted piece.
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

    [[nodiscard]] bool has_room(Load load) const {
        if (work_.empty()) return true; // I-336: larger than the bound is taken when the queue is empty
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
    void admit_waiting() {
        while (!line_.empty() && has_room(line_.front().load)) {
            waiting_bytes_ -= line_.front().load.bytes;
            const std::uint64_t position = enqueue(std::move(line_.front().item), line_.front().load);
            admitted_.emplace_back(&work_.back().item, position); // a deque keeps its elements in place
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
    std::vector<std::pair<T*, std::uint64_t>> admitted_; // consumer's
};

} // namespace yk
