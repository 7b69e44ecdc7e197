// SPDX-License-Identifier: Apache-2.0
#pragma once
// SeqTable<Call, Answer>: the sequence numbers of one session (I-330 to I-334): each mutating request is executed once,
// in order, and the last answers are remembered. A Call is a movable handle of a request that waits for its answer.
//
// Owner: Session. Thread: any, under the session's lock. Invariants:
//   A  executed_ is the highest number that was executed
//   B  at most one call executes
//   C  held_ holds only numbers above executed_, and above the one that executes

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "libcore/base/check.h"
#include "ykd/runtime/clock.h"

namespace yk {

template <class Call, class Answer>
class SeqTable {
public:
    static constexpr std::size_t kHeld = 16; // calls that may wait for an earlier number (I-332)
    /// Bytes of remembered answers, about; the oldest are forgotten first.
    static constexpr std::size_t kKeptBytes = 256U << 10;

    explicit SeqTable(std::size_t remembered = 16) : kept_replies_(remembered) {}

    enum class Verdict {
        Execute,    // run it, then finish()
        Held,       // kept here until its turn comes or expire() gives it up
        Replay,     // it was executed: `reply` is its answer
        Superseded, // it executes already, for an older copy of the request, which is to answer this copy instead
        Old,        // it was executed, and its answer is not remembered any more
        Conflict,   // another request had this number
        Gap         // too many calls wait for an earlier number; `expected` is the one that should come
    };
    struct Decision {
        Verdict verdict = Verdict::Gap;
        Answer reply{};
        std::uint64_t expected = 0;
        std::optional<Call> dropped; // an older copy that was held: to be dropped without an answer
    };

    /// Decides what to do with a request. `fingerprint`: a hash of its kind and body. `call` is moved from only for
    /// Held.
    Decision admit(std::uint64_t seq, std::uint64_t fingerprint, Call& call, SteadyClock::time_point gap_deadline) {
        if (seq == 0) return {Verdict::Old, {}, 0, {}};
        if (seq <= executed_) return recall(seq, fingerprint);
        if (executing_ && seq == executing_->seq)
            return {executing_->fingerprint == fingerprint ? Verdict::Superseded : Verdict::Conflict, {}, 0, {}};
        if (!executing_ && seq == executed_ + 1) {
            executing_ = Executing{seq, fingerprint};
            return {Verdict::Execute, {}, 0, {}};
        }
        return hold(seq, fingerprint, call, gap_deadline);
    }

    /// The executing call ended. `consumed`: its number is used up, and `reply`, which has about `bytes` bytes, is
    /// remembered; else the number may come again (I-333). Returns the next call to execute, if that is held.
    /// REQUIRES: a call executes.
    std::optional<Call> finish(bool consumed, Answer reply, std::size_t bytes = 0) {
        YK_ASSUME(executing_, "a call executes");
        const Executing done = *executing_;
        executing_.reset();
        if (!consumed) return std::nullopt;
        executed_ = done.seq;
        replies_.push_back({done.seq, done.fingerprint, bytes, std::move(reply)});
        kept_bytes_ += bytes;
        while (replies_.size() > kept_replies_ || kept_bytes_ > kKeptBytes) {
            kept_bytes_ -= replies_.front().bytes;
            replies_.pop_front();
        }
        const auto next = held_.find(executed_ + 1);
        if (next == held_.end()) return std::nullopt;
        Call call = std::move(next->second.call);
        executing_ = Executing{next->first, next->second.fingerprint};
        held_.erase(next);
        return call;
    }

    /// Takes out the held calls for which the number before did not come in time; they are to be answered with
    /// E_SEQ_GAP. While a call executes none is given up: the number that is missing may be the one that executes.
    std::vector<Call> expire(SteadyClock::time_point now) {
        std::vector<Call> over;
        if (executing_) return over;
        for (auto it = held_.begin(); it != held_.end();) {
            if (it->second.deadline > now) {
                ++it;
                continue;
            }
            over.push_back(std::move(it->second.call));
            it = held_.erase(it);
        }
        return over;
    }

    /// The earliest deadline of the held calls; nullopt: none is held.
    [[nodiscard]] std::optional<SteadyClock::time_point> first_end() const {
        std::optional<SteadyClock::time_point> first;
        for (const auto& [seq, held] : held_)
            if (!first || held.deadline < *first) first = held.deadline;
        return first;
    }
    [[nodiscard]] std::uint64_t last_executed() const { return executed_; }
    [[nodiscard]] std::uint64_t expected() const { return executed_ + 1; }

private:
    struct Executing {
        std::uint64_t seq = 0;
        std::uint64_t fingerprint = 0;
    };
    struct Held {
        Call call;
        std::uint64_t fingerprint = 0;
        SteadyClock::time_point deadline;
    };
    struct Reply {
        std::uint64_t seq = 0;
        std::uint64_t fingerprint = 0;
        std::size_t bytes = 0;
        Answer answer;
    };

    Decision recall(std::uint64_t seq, std::uint64_t fingerprint) const {
        for (const Reply& reply : replies_) {
            if (reply.seq != seq) continue;
            if (reply.fingerprint != fingerprint) return {Verdict::Conflict, {}, 0, {}};
            return {Verdict::Replay, reply.answer, 0, {}};
        }
        return {Verdict::Old, {}, 0, {}};
    }
    Decision hold(std::uint64_t seq, std::uint64_t fingerprint, Call& call, SteadyClock::time_point deadline) {
        const auto same = held_.find(seq);
        if (same != held_.end()) {
            if (same->second.fingerprint != fingerprint) return {Verdict::Conflict, {}, 0, {}};
            Decision decision{Verdict::Held, {}, 0, std::move(same->second.call)};
            same->second.call = std::move(call);
            same->second.deadline = deadline;
            return decision;
        }
        if (held_.size() >= kHeld) return {Verdict::Gap, {}, expected(), {}};
        held_.emplace(seq, Held{std::move(call), fingerprint, deadline});
        return {Verdict::Held, {}, 0, {}};
    }

    std::size_t kept_replies_; // so many are remembered
    std::uint64_t executed_ = 0;
    std::optional<Executing> executing_;
    std::map<std::uint64_t, Held> held_;
    std::deque<Reply> replies_;
    std::size_t kept_bytes_ = 0; // of replies_
};

} // namespace yk
