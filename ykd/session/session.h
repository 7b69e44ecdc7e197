// SPDX-License-Identifier: Apache-2.0
#pragma once
// Session, SessionTable: who sends requests, with which role, and the sequence numbers of their mutating requests
// (docs/spec/interface.md 4.3 and 4.4).

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "protocol/wire/envelope.h"
#include "ykd/runtime/seq_table.h"
#include "ykd/session/access.h"
#include "ykd/session/fair_limit.h"

namespace yk::service {

class Call;
using CallPtr = std::shared_ptr<Call>;

/// The answer to a mutating request, as it is remembered for repetitions of the request.
struct RememberedReply {
    bool ok = true;
    std::string body;       // when ok: an encoded map
    wire::ErrorReply error; // when not ok
};

/// One session. Owner: SessionTable, and the calls under way. Thread: any; `mutex` guards seq, executing and
/// is_watched, `client` and `max_message` are set by Hello before anybody else knows the id.
class Session {
public:
    Session(const wire::Sid& id, Grant granted, si::Role asked, std::size_t remembered)
        : sid(id), grant(std::move(granted)), role(asked), seq(remembered) {
        heartbeat();
    }

    const wire::Sid sid;
    const Grant grant;
    const si::Role role; // the one that was asked for, at most the granted one
    std::string client;
    std::uint32_t max_message = 0; // bytes of a message that the peer accepts; 0: it named no limit

    /// Does not count `pause` as idle time: nobody could use the session then, as the process was stopped.
    void forgive(SteadyClock::duration pause) {
        const auto now = SteadyClock::now().time_since_epoch().count();
        last_seen_.store(std::min(now, last_seen_.load(std::memory_order_relaxed) + pause.count()),
                         std::memory_order_relaxed);
    }
    /// Notes that the session is used now.
    void heartbeat() { last_seen_.store(SteadyClock::now().time_since_epoch().count(), std::memory_order_relaxed); }
    /// The time since the last heartbeat().
    [[nodiscard]] SteadyClock::duration idle() const {
        return SteadyClock::now().time_since_epoch() -
               SteadyClock::duration{last_seen_.load(std::memory_order_relaxed)};
    }
    /// Notes that it was used over the peer's connection.
    void used_over(const std::shared_ptr<const wire::Peer>& peer);
    /// Whether a connection that it was used over is open.
    [[nodiscard]] bool is_connected() const;
    /// Whom the session counts for, in limits.
    [[nodiscard]] Claimant claimant() const { return {grant.name, role == si::Role::Admin}; }
    /// Whether it may register or update this RM as its owner (I-343).
    [[nodiscard]] bool may_own(const std::string& rm_id) const {
        return role == si::Role::Admin || (role == si::Role::Rm && matches(grant.rms, rm_id));
    }

    /// Whether it sees the objects of this RM; if not, only its names and totals (I-412).
    [[nodiscard]] bool may_see(const std::string& rm_id) const { return role != si::Role::Rm || may_own(rm_id); }

    std::mutex mutex;
    SeqTable<CallPtr, RememberedReply> seq;
    std::weak_ptr<Call> executing;
    bool is_watched = false; // the one timer that gives up held calls is set

private:
    std::atomic<SteadyClock::rep> last_seen_{0};
    std::atomic<std::uint32_t> last_connection_{0};
    mutable std::mutex connections_mutex_;
    std::vector<std::weak_ptr<const wire::Peer>> connections_; // each expires when its connection is closed
};
using SessionPtr = std::shared_ptr<Session>;

/// How many bytes a reply to the session may have; `most`: a reply to anybody. nullptr: there is no session yet.
[[nodiscard]] inline std::size_t reply_limit(const Session* session, std::size_t most) {
    return session == nullptr || session->max_message == 0 ? most : std::min<std::size_t>(session->max_message, most);
}

/// All sessions. Owner: Daemon. Thread: any.
class SessionTable {
public:
    SessionTable(std::size_t limit, SteadyClock::duration ttl) : limit_(limit), ttl_(ttl) {}

    /// The session with this id; nullptr: it is unknown or expired.
    [[nodiscard]] SessionPtr find(const wire::Sid& sid);
    /// Makes a session that is used over the peer's connection. When the limit is reached (FairLimit), another session
    /// is ended for it that owns no RM: one whose connections are closed if there is any, else the one that is idle
    /// longest (I-322). An error says that all are in use, and who holds them. `owners` returns the sessions that own
    /// RMs.
    [[nodiscard]] Result<SessionPtr> create(const Grant& grant, si::Role role, std::size_t remembered,
                                            const std::shared_ptr<const wire::Peer>& peer,
                                            const std::function<std::set<wire::Sid>()>& owners);
    void end(const wire::Sid& sid);
    /// Ends the expired sessions.
    void sweep();
    struct Count {
        std::size_t connected = 0; // sessions with an open connection
        std::size_t kept = 0;      // the others, which are kept until they expire
    };
    [[nodiscard]] Count count() const;
    [[nodiscard]] std::size_t limit() const { return limit_.limit(); }
    void clear();

private:
    // All of these REQUIRE: mutex_ held.
    [[nodiscard]] FairLimit::Shortage shortage_for(const Claimant& claimant) const;
    /// Ends one session so that the claimant can have one; false: none may be ended.
    [[nodiscard]] bool evict(const Claimant& claimant, FairLimit::Shortage shortage, const std::set<wire::Sid>& owners);
    [[nodiscard]] ClaimsHeld held() const;
    void sweep_locked();
    void forgive_pause_locked();

    const FairLimit limit_;
    const SteadyClock::duration ttl_;
    mutable std::mutex mutex_;
    SteadyClock::time_point last_look_ = SteadyClock::now(); // for forgive_pause_locked()
    std::map<wire::Sid, SessionPtr> sessions_;
};

} // namespace yk::service
