// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lasting: the requests of a detached RM, which go on when the connection or the daemon is lost and comes back.
//
// A cut connection: what had no answer is sent again with its number, so it is carried out once. Another session: it is
// sent again in that. A restarted daemon: when it has the RM back (ykd --state), all changes since the last answered
// Sync are sent again in order, since the daemon may have lost them, and nothing before that (I-267); when it has not,
// the replay has ended. So changes must be such that one which was carried out before does no harm: nodes and
// applications are refused as existing, asks and releases that came already change nothing (I-144, I-155).

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "protocol/client/client.h"
#include "protocol/wire/encoded_request.h"

namespace yk::replay {

/// How the daemon is reached. Tests have their own. `wait_for_daemon` may be empty: what is lost stays lost.
struct Reach {
    /// Sends a request in the session that there is. `again`: that which had no answer the last time, with its number.
    std::function<wire::CallResult<wire::Value>(const wire::EncodedRequest& request, bool again)> send;
    /// Which run of the daemon, and which session with it, the last answer came from.
    std::function<std::string()> boot_id, session_id;
    /// Returns when the daemon answers again, or after a while when it was busy; an error ends the replay.
    std::function<Result<void, wire::CallError>(const wire::CallError& why)> wait_for_daemon;
    std::function<void(const std::string& text)> note; // for a person
};

/// Owner: the Session. Thread: the replay's. Costs: the encoded changes since the last Sync, of which there are at most
/// kMostUnconfirmed.
class Lasting {
public:
    static constexpr std::size_t kMostUnconfirmed = 50; // before it asks for a Sync itself

    Lasting(Reach reach, std::string rm_id);

    using Done = Result<void, wire::CallError>;
    using Make = std::function<wire::EncodedRequest()>;

    /// Sends what changes nothing. It is made anew each time that it is sent.
    [[nodiscard]] wire::CallResult<wire::Value> ask(const Make& make);
    [[nodiscard]] Done change(wire::EncodedRequest request);
    /// Returns when the daemon has processed, and keeps if it keeps books, all that was sent.
    [[nodiscard]] Done sync();

    /// How often the daemon was found restarted: each time the stream of the RM begins anew.
    [[nodiscard]] std::uint32_t restarts() const { return restarts_; }
    /// Whether the last error is that the daemon, or the RM with it, is gone.
    [[nodiscard]] bool is_lost() const { return is_lost_; }

private:
    [[nodiscard]] Done catch_up();
    [[nodiscard]] Done find_rm();
    /// What becomes of a request.
    enum class Settled : std::uint8_t {
        Answered,
        Again, // it had no answer, or the daemon was busy; it answers again, in the same session
        Anew   // in another session
    };
    [[nodiscard]] wire::CallResult<Settled> settle(const wire::CallResult<wire::Value>& answer);
    void note_restart();

    const Reach reach_;
    const std::string rm_id_;
    std::vector<wire::EncodedRequest> changes_; // since the last answered Sync
    std::size_t sent_ = 0;                      // of them; answered
    bool is_registered_ = false;                // as a Sync said; before that the changes begin with the registration
    bool is_to_find_ = false;                   // it is not known yet whether a restarted daemon has the RM
    bool is_lost_ = false;
    std::uint32_t restarts_ = 0;
    std::string boot_id_, session_id_;
};

} // namespace yk::replay
