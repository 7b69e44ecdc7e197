// SPDX-License-Identifier: Apache-2.0
#pragma once
// RmClient: the side of a resource manager that keeps it registered with its daemon, whatever happens to either
// (docs/spec/interface.md 3.1, 3.7, 4.7): it polls and acknowledges, dials again when the daemon is gone, registers
// again when the daemon knows nothing of the RM any more, and, if the RM keeps books, reports what it has.
//
// Owner: the program that serves the RM. Thread: one; it waits for answers. Invariants:
//   A  an item is acknowledged only after the program handled it, and after it is in the books if there are any
//   B  with books, nothing is dropped that they do not know: a registration that drops comes only after the daemon
//      named the epoch that is in the books, or when the program asked for it

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/rm/daemon_link.h"
#include "protocol/rm/stream_books.h"
#include "protocol/si/messages.h"
#include "protocol/si/recovery_messages.h"

namespace yk::rm {

/// The states of the RM side (I-203).
enum class State : std::uint8_t { New, Registered, Recovering, Running, Failed };
[[nodiscard]] std::string_view text(State state) noexcept;
[[nodiscard]] bool may_follow(State from, State to) noexcept;

/// How often a state followed another.
struct Transition {
    State from, to;
    std::uint64_t times = 0;
};

/// What the program made of an item.
enum class Handled : std::uint8_t {
    Done,
    Stop, // done, and the program wants to end
    Again // not done, because a request failed: the item is to come again
};

/// A registration that was accepted.
struct Registered {
    si::RegisterResourceManagerResponse reply;
    bool again = false; // not the first one of this client
    std::string why;    // again: what had happened
};

/// The program around an RmClient: what it does with items, and what it says of what happens.
class RmProgram {
public:
    RmProgram() = default;
    virtual ~RmProgram() = default;
    RmProgram(const RmProgram&) = delete;
    RmProgram& operator=(const RmProgram&) = delete;

    virtual Handled handle(const si::StreamItem& item) = 0;
    /// Waits. False: the program wants to end.
    virtual bool pause(std::chrono::milliseconds time);

    /// The configuration to register with, when that is done again; nullopt: that of the first time.
    virtual std::optional<std::string> configuration() { return std::nullopt; }

    virtual void state_changed(State /*from*/, State /*to*/, const std::string& /*why*/) {}
    virtual void daemon_is_gone(const std::string& /*why*/) {} // it is dialled again and again
    virtual void daemon_answers() {}                           // again, and still knows the RM
    virtual void registered(const Registered& /*registered*/) {}
    virtual void reports(const si::RecoveryCounts& /*counts*/, const std::string& /*why*/) {} // a replay begins
    virtual void corrects(const Differences& /*what*/) {}           // the core does not have what the books say
    virtual void recovered(const si::RecoveryReport& /*report*/) {} // or not: its result says so
    virtual void books_fault(const std::string& /*fault*/) {}       // nothing is acknowledged; empty: it is over
};

/// What one step came to.
enum class Went : std::uint8_t { On, Stopped };

class RmClient {
public:
    struct Options {
        si::RegisterResourceManagerRequest registration; // the first; later ones go on with what the RM has
        std::chrono::milliseconds patience{30'000};      // for the answer to a change
        std::chrono::milliseconds poll_patience{2000};   // for that to a poll, beyond what it waits
    };

    /// For an RM that its program registers itself: the id, and the time-outs of the link.
    [[nodiscard]] static Options of_stream(std::string rm_id);

    /// `books`: nullptr when the RM keeps none. All of them outlive this.
    RmClient(DaemonLink& link, RmProgram& program, StreamBooks* books, Options options);

    /// Registers for the first time. An error is final.
    [[nodiscard]] wire::CallResult<Registered> begin();
    /// Goes on with a registration that the program made itself, in the session of the link.
    void begin(si::RegisterResourceManagerResponse reply);
    /// One step: reports what the RM has, or polls, for at most `wait`; after a loss it dials or registers again. An
    /// error is final: the RM cannot be served any more.
    [[nodiscard]] wire::CallResult<Went> step(std::chrono::milliseconds wait);
    /// Takes what is in the stream by now, without waiting for more. An error is that of the poll that failed: nothing
    /// is done about it here.
    [[nodiscard]] wire::CallResult<Went> drain();
    /// A request of the RM in its session, for handle(), which returns Again when it fails.
    [[nodiscard]] wire::CallResult<std::string> send(const wire::EncodedRequest& request);
    /// Acknowledges what was handled, so that the next process which serves the RM does not get it.
    [[nodiscard]] wire::CallResult<Went> end();

    [[nodiscard]] State state() const { return state_; }
    /// All changes of the state since it was made, counted, in order of the states.
    [[nodiscard]] std::vector<Transition> transitions() const;
    /// Whether nobody has answered lately.
    [[nodiscard]] bool is_alone() const { return is_gone_; }
    [[nodiscard]] const std::string& rm_id() const { return options_.registration.rm_id; }
    [[nodiscard]] std::uint64_t epoch() const { return at_.epoch; }

private:
    using Reply = wire::CallResult<si::RegisterResourceManagerResponse>;

    [[nodiscard]] Reply ask_to_register(const si::RegisterResourceManagerRequest& request);
    [[nodiscard]] si::RegisterResourceManagerRequest registration();
    [[nodiscard]] Reply register_without_books();
    [[nodiscard]] Reply register_with_books();
    [[nodiscard]] wire::CallResult<Registered> enroll();
    Registered take(si::RegisterResourceManagerResponse reply);
    [[nodiscard]] wire::CallResult<Went> report();
    [[nodiscard]] wire::CallResult<Replay> everything();
    [[nodiscard]] wire::CallResult<Replay> differences();
    [[nodiscard]] Result<void, wire::CallError> list(RecoveryKind kind, std::optional<std::uint32_t> bucket,
                                                     Correction& correction);
    [[nodiscard]] Result<void, wire::CallError> list_quarantine(Correction& correction);
    [[nodiscard]] wire::CallResult<Went> send_all(const std::vector<wire::EncodedRequest>& requests);
    [[nodiscard]] wire::CallResult<si::CoreState> ask_state();
    [[nodiscard]] wire::CallResult<Went> take_report(const wire::CallResult<std::string>& answer);
    [[nodiscard]] wire::CallResult<Went> poll(std::chrono::milliseconds wait);
    [[nodiscard]] wire::CallResult<Went> take(std::span<const si::StreamItem> items);
    [[nodiscard]] Handled take_group(std::span<const si::StreamItem> group);
    [[nodiscard]] wire::CallResult<Went> after(const wire::CallError& error);
    [[nodiscard]] bool keep();
    [[nodiscard]] bool is_ours(const wire::CallError& refused) const;
    /// Whether the stream of the registration is the one in which this client was.
    [[nodiscard]] bool is_same_stream(const si::RegisterResourceManagerResponse& reply) const;
    void follow(const si::StreamItem& item);
    void follow(si::CoreState core, const std::string& why);
    void set_state(State state, const std::string& why);
    void lose_registration(const std::string& why);

    DaemonLink& link_;
    RmProgram& program_;
    StreamBooks* const books_;
    const Options options_;

    static constexpr std::size_t kStates = 5;
    State state_ = State::New;
    std::array<std::array<std::uint64_t, kStates>, kStates> times_{}; // from and to
    bool is_registered_ = false;
    bool was_registered_ = false; // ever
    std::string session_;         // in which it was registered
    std::string why_;             // why it is to be registered again
    Position at_;                 // what is acknowledged next
    std::uint64_t backlog_ = 0;
    std::uint32_t poll_items_ = 0; // what the next poll asks for

    bool is_to_report_ = false; // books: the core waits for a replay
    bool is_replaying_ = false; // books: answers in the stream are those to it
    bool corrects_ = false;     // books: the core has something already, so only what differs is reported
    std::optional<si::RecoveryReport> refused_; // what it said of the last claim
    RecoveryDigests claimed_;                   // by that
    std::uint32_t attempt_ = 1;

    bool is_gone_ = false; // the daemon
    std::chrono::milliseconds back_off_;
    std::string books_fault_;
    std::optional<wire::CallError> failed_;     // by send()
    std::optional<wire::CallError> superseded_; // how the last poll was refused
};

} // namespace yk::rm
