#pragma once
// Event streams: long polls over the event ring with one cursor each (interface.md 7.5). Thread: any.

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "ykd/runtime/deadlines.h"
#include "ykd/service/event_replies.h"
#include "ykd/service/session.h"

namespace yk::service {

class EventStreams {
public:
    struct Info {
        std::string id, client;
        std::uint64_t next = 0;
        Instant since;
    };

    /// A new stream whose first record is `next`; empty: the limits of I-633 are reached. A tenth of all is kept for
    /// sessions of role admin (A8); streams whose reader's connection closed make room first.
    [[nodiscard]] std::string open(const Session& session, std::uint64_t next, std::uint64_t max_all,
                                   std::uint64_t max_per_client);
    /// The session said Bye: its streams need not wait for their idle time.
    void session_ended(const wire::Sid& session);
    /// Answers `call` from record `after` (or the stream's cursor) on, now or within `wait`. Unknown or idle for 60 s:
    /// E_NOT_FOUND.
    void read(const CallPtr& call, const std::string& id, std::optional<std::uint64_t> after, EventFilter filter,
              SteadyClock::duration wait);
    /// Records were appended: to be followed by deliver() on a worker when true.
    [[nodiscard]] bool wants_delivery() { return parked_.load() != 0 && !delivery_posted_.exchange(true); }
    void deliver();
    void disconnected(std::uint32_t connection);
    void sweep();
    /// The daemon stops: parked calls are answered with nothing.
    void finish();
    [[nodiscard]] std::vector<Info> all() const;
    /// Drops everything; parked calls are dropped unanswered.
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
    /// Answers with what there is from the stream's cursor on; false: nothing, and `even_empty` is off.
    bool answer(const std::string& id, Stream& stream, const CallPtr& call, bool even_empty); // REQUIRES: mutex_ held
    [[nodiscard]] bool has_room(const Session& session, std::uint64_t max_all,
                                std::uint64_t max_per_client) const; // REQUIRES: mutex_ held
    void wait_over(const std::string& id, const Call* call);
    /// The parked call, which is nobody's then, and whose timer is gone. nullptr: none. REQUIRES: mutex_ held
    CallPtr take_parked(Stream& stream);

    mutable std::mutex mutex_;
    std::map<std::string, Stream> streams_;
    std::uint64_t last_id_ = 0;
    std::atomic<std::size_t> parked_{0};
    bool finished_ = false; // guarded by mutex_
    std::atomic<bool> delivery_posted_{false};
};

/// {streamID, InstanceUUID, records, nextID, lost}
void answer_event_stream(const CallPtr& call, const std::string& id, const EncodedEvents& events, std::uint64_t lost);

} // namespace yk::service
