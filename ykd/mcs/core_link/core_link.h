// SPDX-License-Identifier: Apache-2.0
#pragma once
// CoreLink: MCS as a resource manager of its own daemon. It keeps the RM registered, sends what the Scheduler asks the
// core for, in its order, and reports what the core answers, by the requests that any RM sends over a socket and
// nothing else (rs R-122); but without a socket, and without ever waiting.
//
// Owner: McsApplication. Thread: that of MCS. Invariants:
//   A  one update is under way at a time, so that the core gets them in their order
//   B  while it is registered one poll waits, which acknowledges what was reported before
//   C  of a registration that was lost nothing is sent and nothing is reported

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/base/time.h"
#include "libcore/resource_state/backoff.h"
#include "ykd/mcs/core_link/command_gate.h"
#include "ykd/mcs/core_link/core_answers.h"
#include "ykd/mcs/core_link/core_batches.h"
#include "ykd/mcs/core_link/core_listing.h"
#include "ykd/mcs/core_link/core_session.h"

namespace yk::service {

class CoreLink {
public:
    struct Parts {
        std::function<void(wire::Request)> give;         // to the daemon, as a server does
        std::function<void(std::function<void()>)> post; // has it called on the thread of MCS; any thread
        std::string rm_id;
        std::uint64_t seed = 0;      // of pauses
        CommandGate* gate = nullptr; // outlives the link; nullptr: replicas have no commands here
    };
    /// Called by turn() alone; a listener may begin and stop the link.
    struct Listener {
        /// Asked before each registration: is there anything that the core has to recover (rs R-123)?
        std::function<bool()> recovers;
        /// The core knows nothing yet. While it recovers, until RecoveryAnswered says Running, it places nothing.
        std::function<void(bool recovering, Instant now)> registered;
        std::function<void(const mcs::CoreNotice& notice, Instant now)> notice;
        /// The registration, and with it all that the core had and what was in the queue. It registers again by itself.
        std::function<void(const std::string& why, Instant now)> lost;
    };

    /// `requests` outlives it.
    CoreLink(Parts parts, mcs::CoreRequests& requests, Listener listener);
    CoreLink(const CoreLink&) = delete;
    CoreLink& operator=(const CoreLink&) = delete;

    /// Registers, again and again until it succeeds, and whenever the registration is lost.
    void begin() { wants_ = true; }
    /// Unregisters, with all that the core has of the RM. Nothing is reported any more, and the queue is emptied.
    void stop();
    /// What the gate held is confirmed.
    void confirm(si::AllocationRelease release) { answers_.add(std::move(release)); }
    [[nodiscard]] bool is_stopped() const { return !wants_ && state_ == State::Stopped; }

    /// Takes what the daemon has answered and sends what is due. Returns whether there was any.
    bool turn(Instant now);
    /// When turn() has something to do, unless an answer comes or the queue is filled; nullopt: nothing.
    [[nodiscard]] std::optional<Instant> next_due() const;

    enum class State : std::uint8_t { Stopped, Registering, Registered, Unregistering };
    [[nodiscard]] State state() const { return state_; }
    /// The state of the RM in the core, as far as it was reported. New: it is not registered.
    [[nodiscard]] si::CoreState core_state() const { return core_; }
    /// What it waits for, in words: why it is not registered, or why the daemon takes nothing now; empty: all is well.
    [[nodiscard]] std::string trouble() const { return refusal_.empty() ? session_.trouble() : refusal_; }

private:
    using Answer = CoreSession::Answer;
    /// A call that does nothing once the registration has gone that it belongs to.
    [[nodiscard]] CoreSession::Done in_this_life(CoreSession::Done call) const;

    [[nodiscard]] bool advance(Instant now);
    void enroll();
    void on_enrolled(const Answer& answer, bool recovers, Instant now);
    void refused(const wire::CallError& why, Instant now);
    void lose(const std::string& why, Instant now);
    void forget();
    [[nodiscard]] bool give_up();
    [[nodiscard]] bool unregister();
    void rest();

    [[nodiscard]] bool update();
    void split_next();
    void confirm();
    void on_updated(CoreBatch batch, const Answer& answer, Instant now);
    void poll();
    void on_polled(const Answer& answer, Instant now);
    void take(const si::StreamItem& item, Instant now);
    void take_notice(const si::StreamItem& item, Instant now);
    void follow(si::CoreState from, si::CoreState to, const std::string& why, Instant now);
    void report(const mcs::CoreNotice& notice, Instant now);

    const std::string rm_id_;
    mcs::CoreRequests& requests_;
    CommandGate* const gate_;
    const Listener listener_;
    rs::Chance chance_;
    CoreSession session_;
    CoreListing listing_;

    bool wants_ = false;
    State state_ = State::Stopped;
    std::string refusal_;        // why it is not registered
    Instant try_at_{};           // Registering: not before
    unsigned failures_ = 0;      // to be registered, or to stay so, since the last poll that was answered
    bool must_recover_ = false;  // the daemon takes no other registration
    bool drops_ = false;         // what the daemon has of the RM is of the registration that was lost
    std::uint64_t recovery_ = 0; // counts them

    std::uint64_t life_ = 0;    // another number after each loss
    std::uint64_t epoch_ = 0;   // of the stream; 0: there was none
    std::uint64_t handled_ = 0; // the last item of it
    si::CoreState core_ = si::CoreState::New;
    std::optional<mcs::RecoveryAnswered> recovery_answer_; // while it recovers: the last one, which is not Running
    bool is_recovering_ = false;
    std::deque<CoreBatch> split_; // messages that were refused, in parts
    CoreAnswers answers_;
};

[[nodiscard]] std::string_view text(CoreLink::State state) noexcept;

} // namespace yk::service
