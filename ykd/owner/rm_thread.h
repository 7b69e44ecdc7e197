// SPDX-License-Identifier: Apache-2.0
#pragma once
// RmThread: the owner thread of an RM as all other threads see it. It starts and ends the thread, hands it work, and
// reads what it publishes. What only the owner thread may use is RmOwner's, which every task gets as its argument.
//
//   workers --submit()/control()--> Mailbox --> owner thread --append()--> OutboundStream <--poll()-- workers
//
// Owner: Rm. Thread: any, but for what is marked otherwise.

#include <functional>
#include <string>

#include "protocol/simulation/loop_thread.h"
#include "ykd/owner/rm_owner.h"
#include "ykd/owner/rm_shared.h"

namespace yk {

class RmThread {
public:
    RmThread(std::string rm_id, const OwnerOptions& options, Instant now, EventRing& ring, TallyBoard& tally,
             RmOwner::Hooks hooks);
    ~RmThread();
    RmThread(const RmThread&) = delete;
    RmThread& operator=(const RmThread&) = delete;

    /// Queues a task in the order of the RM's inputs (I-100). See Mailbox::push_work.
    PushOutcome submit(OwnerTaskPtr& task, Load load, SteadyClock::time_point deadline, std::uint64_t& position) {
        return shared_.mailbox.push_work(task, load, deadline, position);
    }
    /// Called instead of a closure when the owner is closed, on the thread that sends or on the one that closes it.
    using Gone = std::function<void()>;
    /// Has `call` run on the owner thread, between commands and cycles and before the work that waits. Either `call` or
    /// `on_closed` is called, once.
    void control(std::function<void(RmOwner&)> call, Gone on_closed);
    /// As control(), but in the order of the inputs. When the mailbox is full it waits in line, without a deadline.
    void in_order(std::function<void(RmOwner&)> call, Gone on_closed);
    /// As in_order(), but `call` runs only when there is nothing more to schedule, or when `most` is over.
    void at_rest(Duration most, std::function<void(RmOwner&)> call, Gone on_closed);
    void expire_waiting(SteadyClock::time_point now) { shared_.mailbox.expire(now, RmShared::settle); }

    [[nodiscard]] const std::string& rm_id() const { return shared_.rm_id; }
    [[nodiscard]] si::CoreState state() const { return shared_.state.load(std::memory_order_relaxed); }
    /// The state, since when and why it is in it, and its transitions.
    [[nodiscard]] StateRecord::Reading state_record() const { return shared_.state_record.read(); }
    [[nodiscard]] OutboundStream& stream() { return shared_.stream; }
    [[nodiscard]] const OutboundStream& stream() const { return shared_.stream; }
    [[nodiscard]] std::uint64_t inbound_elements() const { return shared_.mailbox.elements(); }
    [[nodiscard]] std::uint64_t inbound_bytes() const { return shared_.mailbox.bytes(); }
    [[nodiscard]] std::uint64_t last_position() const { return shared_.mailbox.last_position(); }
    /// Whether so much waits to be written to its books that it should send nothing more.
    [[nodiscard]] bool books_full() const { return shared_.books_full.load(std::memory_order_relaxed); }
    /// Whether the RM wants its updates back, for its books (I-269).
    [[nodiscard]] bool echoes() const { return shared_.echoes.load(std::memory_order_relaxed); }
    /// About how many bytes the RM's core has, as of the last turn.
    [[nodiscard]] std::uint64_t memory() const { return shared_.memory.load(std::memory_order_relaxed); }
    [[nodiscard]] CallTally call_tally() const { return owner_.calls_.read(); }
    /// When the last turn began, in real time; for the watchdog and health check 13.
    [[nodiscard]] Instant last_turn() const { return Instant{shared_.last_turn.load(std::memory_order_relaxed)}; }
    /// How many turns there were.
    [[nodiscard]] std::uint64_t turns() const { return shared_.turns.load(std::memory_order_relaxed); }

    /// Notes a sign of life of the session that owns the RM (I-385).
    void mark_alive() { shared_.mark_alive(); }
    /// Begins a graceful stop: there are no further cycles, and the stream ends with a Notice SHUTDOWN (I-263).
    void begin_shutdown();
    /// After begin_shutdown(): whether everything queued was delivered.
    [[nodiscard]] bool is_finished() const { return shared_.ended.load() && shared_.stream.drained(); }
    /// Ends the thread after the turn under way and waits for that; gone() is called for tasks that wait. Not on the
    /// owner thread.
    void stop();

private:
    void look_for_rest(SteadyClock::time_point until, std::function<void(RmOwner&)> call, Gone on_closed);

    RmShared shared_;
    RmOwner owner_; // the owner thread's, but for the tally of the calls
    LoopThread thread_;
};

} // namespace yk
