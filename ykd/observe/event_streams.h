// SPDX-License-Identifier: Apache-2.0
#pragma once
// EventStreams: long polls over the event ring with one cursor each (interface.md 7.5).
//
// Owner: Daemon. Thread: any.

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "ykd/configuration/effective_settings.h"
#include "ykd/observe/event_replies.h"
#include "ykd/process/identity.h"
#include "ykd/runtime/deadlines.h"
#include "ykd/session/session.h"

namespace yk::service {

class EventStreams {
public:
    EventStreams(const EventRing& ring, const EffectiveSettings& effective, const Identity& identity,
                 Deadlines& deadlines)
        : ring_(ring), effective_(effective), identity_(identity), deadlines_(deadlines) {}

    /// What is shown of a stream.
    struct Info {
        std::string id, client;
        std::uint64_t next = 0;
        Instant since;
    };

    /// Opens a stream whose first record is `next` and returns its id; empty: the limits of I-633 are reached. A tenth
    /// of `max_all` is for sessions of role admin only (A8). At the limit, streams whose reader's connection closed are
    /// dropped first.
    [[nodiscard]] std::string open(const Session& session, std::uint64_t next, std::uint64_t max_all,
                                   std::uint64_t max_per_client);
    /// Drops the streams of a session that ended, unless a call is parked on them.
    void session_ended(const wire::Sid& session);
    /// Answers `call` with the records from `after` (or the stream's cursor) on, now or within `wait`. A stream that is
    /// unknown or was idle for 60 s is answered with E_NOT_FOUND.
    void read(const CallPtr& call, const std::string& id, std::optional<std::uint64_t> after, EventFilter filter,
              SteadyClock::duration wait);
    /// To be called when records were appended. True: a call waits for them, and a worker is to call deliver().
    [[nodiscard]] bool wants_delivery() { return parked_.load() != 0 && !delivery_posted_.exchange(true); }
    /// Answers the parked calls for which there are records.
    void deliver();
    /// Drops the parked calls of a connection that closed.
    void disconnected(std::uint32_t connection);
    /// Drops the streams that were idle for too long.
    void sweep();
    /// The daemon stops: parked calls, and all later ones, are answered with E_SHUTTING_DOWN.
    void finish();
    [[nodiscard]] std::vector<Info> all() const;
    /// Drops all streams, and parked calls without an answer.
    void clear();

private:
    struct Stream {
        std::string client;
        wire::Sid session; // that opened it
        std::uint64_t next = 0;
        Instant since;
        SteadyClock::time_point last_used;
        bool left = false; // the connection of its last reader closed
        CallPtr parked;
        Deadlines::Key end_of_wait; // of the parked call
        EventFilter filter;
    };
    /// Answers with the records from the stream's cursor on. False: there are none, and `even_empty` is false.
    /// REQUIRES: mutex_ held.
    bool answer(const std::string& id, Stream& stream, const CallPtr& call, bool even_empty);
    /// Whether the session may open one more stream. REQUIRES: mutex_ held.
    [[nodiscard]] bool has_capacity(const Session& session, std::uint64_t max_all, std::uint64_t max_per_client) const;
    /// Answers the parked call although there are no records, unless another one is parked by now.
    void wait_over(const std::string& id, const Call* call);
    /// Takes the parked call out of the stream and cancels its timer. nullptr: none is parked. REQUIRES: mutex_ held.
    CallPtr take_parked(Stream& stream);

    const EventRing& ring_;
    const EffectiveSettings& effective_;
    const Identity& identity_;
    Deadlines& deadlines_;
    mutable std::mutex mutex_;
    std::map<std::string, Stream> streams_;
    std::uint64_t last_id_ = 0;
    std::atomic<std::size_t> parked_{0}; // how many calls are parked, or are about to be
    bool finished_ = false;              // guarded by mutex_
    std::atomic<bool> delivery_posted_{false};
};

/// Answers {streamID, InstanceUUID, records, nextID, lost}.
void answer_event_stream(const CallPtr& call, const Bytes16& boot_id, const std::string& id,
                         const EncodedEvents& events, std::uint64_t lost);

} // namespace yk::service
