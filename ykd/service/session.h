#pragma once
// Sessions (interface.md 4.3): who speaks, with which role, and the sequence numbers of what was asked (4.4).

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
#include "ykd/service/access.h"
#include "ykd/service/places.h"

namespace yk::service {

class Call;
using CallPtr = std::shared_ptr<Call>;

/// What is remembered of an answered mutating request.
struct RememberedReply {
    bool ok = true;
    std::string body;       // encoded map, when ok
    wire::ErrorReply error; // else
};

/// One session. Thread: any; `mutex` guards seq, executing and is_watched.
class Session {
public:
    Session(const wire::Sid& id, Grant granted, si::Role asked, std::size_t remembered)
        : sid(id), grant(std::move(granted)), role(asked), seq(remembered) {
        touch();
    }

    const wire::Sid sid;
    const Grant grant;
    const si::Role role; // at most the granted one
    std::string client;
    std::uint32_t max_message = 0; // of the peer; 0: not told

    /// That long nobody could use it.
    void forgive(SteadyClock::duration pause) {
        const auto now = SteadyClock::now().time_since_epoch().count();
        last_seen_.store(std::min(now, last_seen_.load(std::memory_order_relaxed) + pause.count()),
                         std::memory_order_relaxed);
    }
    void touch() { last_seen_.store(SteadyClock::now().time_since_epoch().count(), std::memory_order_relaxed); }
    [[nodiscard]] SteadyClock::duration idle() const {
        return SteadyClock::now().time_since_epoch() -
               SteadyClock::duration{last_seen_.load(std::memory_order_relaxed)};
    }
    /// It was used over the peer's connection.
    void used_over(const std::shared_ptr<const wire::Peer>& peer);
    /// A connection that it was used over is open.
    [[nodiscard]] bool is_connected() const;
    [[nodiscard]] PlaceTaker taker() const { return {grant.name, role == si::Role::Admin}; }
    /// Whether it may register or update this RM as its owner (I-343).
    [[nodiscard]] bool may_own(const std::string& rm_id) const {
        return role == si::Role::Admin || (role == si::Role::Rm && matches(grant.rms, rm_id));
    }

    /// Whether it sees the objects of this RM; if not, only its names and totals (I-412).
    [[nodiscard]] bool may_see(const std::string& rm_id) const { return role != si::Role::Rm || may_own(rm_id); }

    std::mutex mutex;
    SeqTable<CallPtr, RememberedReply> seq;
    std::weak_ptr<Call> executing;
    bool is_watched = false; // a timer looks after the held calls, one whatever their number

private:
    std::atomic<SteadyClock::rep> last_seen_{0};
    std::atomic<std::uint32_t> last_connection_{0};
    mutable std::mutex connections_mutex_;
    std::vector<std::weak_ptr<const wire::Peer>> connections_; // each goes with its connection
};
using SessionPtr = std::shared_ptr<Session>;

/// All sessions. Thread: any.
class SessionTable {
public:
    SessionTable(std::size_t limit, SteadyClock::duration ttl) : places_(limit), ttl_(ttl) {}

    /// nullptr: unknown or expired.
    [[nodiscard]] SessionPtr find(const wire::Sid& sid);
    /// A session that is used over the peer's connection. When there is no place (Places) another one ends for it that
    /// owns no RM: first one whose connections are closed, else the one that is idle longest (I-322). An error: all are
    /// in use, and who has them. `owners` are the sessions that own RMs.
    [[nodiscard]] Result<SessionPtr> create(const Grant& grant, si::Role role, std::size_t remembered,
                                            const std::shared_ptr<const wire::Peer>& peer,
                                            const std::function<std::set<wire::Sid>()>& owners);
    void end(const wire::Sid& sid);
    /// Ends the expired ones.
    void sweep();
    struct Count {
        std::size_t connected = 0; // those whose client is there
        std::size_t kept = 0;      // the others, until their time is over
    };
    [[nodiscard]] Count count() const;
    [[nodiscard]] std::size_t limit() const { return places_.limit(); }
    void clear();

private:
    // REQUIRES: mutex_ held
    [[nodiscard]] Places::Shortage look(const PlaceTaker& taker) const;
    [[nodiscard]] bool make_room(const PlaceTaker& taker, Places::Shortage shortage, const std::set<wire::Sid>& owners);
    [[nodiscard]] PlacesTaken taken() const;
    void sweep_locked();
    void forgive_pause_locked();

    const Places places_;
    const SteadyClock::duration ttl_;
    mutable std::mutex mutex_;
    SteadyClock::time_point last_look_ = SteadyClock::now();
    std::map<wire::Sid, SessionPtr> sessions_;
};

} // namespace yk::service
