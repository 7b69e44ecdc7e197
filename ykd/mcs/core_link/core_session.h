// SPDX-License-Identifier: Apache-2.0
#pragma once
// CoreSession: a session with the daemon over a CoreConnection, for one who must not wait: Hello, sequence numbers, and
// sending again, with the same number, what the daemon was too busy for or has dropped (interface.md 4.3, 4.4). What
// wire::Client does for those who may wait.
//
// One change and one question are under way at a time. Owner: CoreLink. Thread: that of MCS.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "libcore/base/time.h"
#include "libcore/resource_state/backoff.h"
#include "protocol/client/client.h"
#include "protocol/wire/envelope.h"
#include "ykd/mcs/core_link/core_connection.h"

namespace yk::service {

/// For people: `E_INVALID: nodes[0]: ...`.
[[nodiscard]] std::string text_of(const wire::CallError& error);

class CoreSession {
public:
    using Answer = wire::CallResult<std::string>; // the encoded body, or why there is none
    /// Called by turn(), once. It may begin the next one.
    using Done = std::function<void(const Answer& answer, Instant now)>;

    CoreSession(CoreConnection::Parts parts, std::uint64_t seed) : connection_(std::move(parts)), chance_(seed) {}

    /// Sends a kind that changes something. A refusal that is not retryable is its answer; when the session is lost
    /// before, E_SESSION_UNKNOWN, and nobody knows whether it was carried out. REQUIRES: !is_changing().
    void change(wire::EncodedRequest request, Done done);
    /// Sends another kind. REQUIRES: !is_asking().
    void ask(wire::EncodedRequest request, Done done);
    [[nodiscard]] bool is_changing() const { return change_.has_value(); }
    [[nodiscard]] bool is_asking() const { return question_.has_value(); }
    /// Takes back a change that is not sent, or is to be sent again.
    void withdraw();
    /// No answer to what is under way is wanted any more. A change that was sent is waited for all the same: the next
    /// one needs the number after its own.
    void forget();
    /// Ends the session, with what is under way in it. The next request makes another.
    void end();

    /// Takes the answers that have come and sends what is due. Returns whether there was any.
    bool turn(Instant now);
    /// When turn() has something to send; nullopt: nothing waits, but for answers.
    [[nodiscard]] std::optional<Instant> next_due() const;

    /// Why something under way has to be sent again; empty: nothing has.
    [[nodiscard]] std::string trouble() const;
    /// Whether the daemon is stopping: it takes no changes any more.
    [[nodiscard]] bool is_daemon_stopping() const { return is_daemon_stopping_; }

private:
    struct Pending {
        wire::EncodedRequest request;
        Done done;                // empty: nobody waits for it
        std::uint64_t number = 0; // under which it was sent; 0: it was not, or is to be sent again
        Instant due{};            // when it is to be sent
        std::string trouble{};    // why it is to be sent again
        unsigned failures = 0;    // how often it had to wait
    };
    using Slot = std::optional<Pending>;

    bool send_due(Instant now);
    bool send(Slot& slot, bool with_seq, Instant now);
    void take(const CoreConnection::Reply& reply, Instant now);
    void take_hello(const Answer& answer, Instant now);
    void take_change(const Answer& answer, Instant now);
    void take_answer(const Answer& answer, Instant now);
    void send_again(Slot& slot, const wire::CallError& why, Instant now);
    void lose_session(const wire::CallError& why, Instant now);
    [[nodiscard]] bool needs_hello() const;
    [[nodiscard]] Pending hello() const;

    CoreConnection connection_;
    rs::Chance chance_;
    Slot hello_, change_, question_;
    std::uint64_t last_number_ = 0;
    std::optional<wire::Sid> sid_;
    std::string boot_id_;
    std::uint64_t next_seq_ = 1;
    bool is_seq_certain_ = true; // false: the reply to the next Hello has the last one that was used
    bool is_daemon_stopping_ = false;
};

} // namespace yk::service
