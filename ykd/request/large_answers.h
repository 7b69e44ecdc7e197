// SPDX-License-Identifier: Apache-2.0
#pragma once
// LargeAnswers: takes turns among requests whose answers are large (dumps, metrics, explanations), or that bring large
// configurations. The data of an answer is gathered much faster than it is encoded, so without turns a few thousand
// such requests would hold gigabytes, and keep the workers from everybody's small requests. A limited number is at work
// at once, of each identity and in all; the others wait, and the identities take turns.
//
// Owner: Daemon. Thread: any.

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "ykd/runtime/clock.h"
#include "ykd/session/session.h"

namespace yk::service {

class LargeAnswers {
public:
    /// How many may be at work at once.
    struct Limits {
        std::size_t in_all = 16, of_identity = 8;
    };
    static constexpr std::size_t kMostWaiting = 512; // of an identity
    /// A call that takes longer probably waits for the thread of an RM. It is overdue, and others begin in its stead.
    static constexpr auto kTurn = std::chrono::seconds{2};
    static constexpr std::size_t kMostOverdue = 32; // of an identity; with more it begins nothing

    enum class Entry { Begins, Waits, Refused };

    /// `start` is called for a call that waited, when its turn has come.
    explicit LargeAnswers(std::function<void(const CallPtr&)> start) : LargeAnswers(Limits{}, std::move(start)) {}
    LargeAnswers(Limits limits, std::function<void(const CallPtr&)> start)
        : limits_(limits), start_(std::move(start)) {}

    /// Begins: the call has its turn now, until leave(). Waits: `start` is called when its turn has come. Refused: too
    /// many calls of the identity wait already.
    [[nodiscard]] Entry enter(const CallPtr& call, const std::string& identity);
    /// Ends the turn of a call. Does nothing for a call that has none.
    void leave(const Call& call);
    /// Marks calls that took longer than kTurn as overdue, and fails those that have waited beyond their deadline. To
    /// be called now and then.
    void sweep(SteadyClock::time_point now);
    /// Drops the calls that wait, and forgets the others.
    void clear();

private:
    struct Turn {
        std::string identity;
        SteadyClock::time_point since;
        bool is_overdue = false;
    };
    struct Identity {
        std::size_t at_work = 0, overdue = 0;
        std::deque<CallPtr> waiting;

        [[nodiscard]] bool may_begin(const Limits& limits) const {
            return at_work < limits.of_identity && overdue < kMostOverdue;
        }
        [[nodiscard]] bool is_empty() const { return at_work == 0 && overdue == 0 && waiting.empty(); }
    };
    // All of these but start() REQUIRE: mutex_ held.
    void begin(const CallPtr& call, Identity& of, const std::string& name);
    void end(std::map<const Call*, Turn>::iterator turn);
    /// Takes out the calls whose turn has come; they are to be started without the lock.
    [[nodiscard]] std::vector<CallPtr> take_next();
    void start(const std::vector<CallPtr>& calls) const;

    const Limits limits_;
    const std::function<void(const CallPtr&)> start_;
    std::mutex mutex_;
    std::map<const Call*, Turn> turns_;
    std::size_t at_work_ = 0;                    // calls that are not overdue
    std::map<std::string, Identity> identities_; // none of them is_empty()
    std::string last_;                           // the identity whose waiting call began last
};

} // namespace yk::service
