#pragma once
// OutboundStream: the callbacks of one RM on their way out (interface.md 4.8). The owner thread appends once per turn;
// polls acknowledge and take. A parked poll is answered by whoever makes it answerable.
//
// Thread: any, under one lock that is held for copies only. Invariants: A  delivered_ holds the numbered, not
// acknowledged items, numbers acked_ + 1 to last_number_ without gaps  B  waiting_ holds what has no number yet  C
// bytes_ and live_ count both  D  a poll is parked only while there is nothing to answer it with.

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "protocol/si/errors.h"
#include "ykd/runtime/clock.h"
#include "ykd/runtime/out_item.h"

namespace yk {

struct StreamLimits {
    std::uint64_t items = 65'536; // outboundMaxItems
    std::uint64_t bytes = 64U << 20;
};

/// How full the stream is (I-370, I-371). Easing: below 50 %; Crowded: 50 to 75 %, nothing changes.
enum class Pressure { Easing, Crowded, Congested, Broken };

struct StreamStatus {
    std::uint64_t epoch = 0;
    std::uint64_t next = 1; // number of the next new item
    std::uint64_t ack = 0;
    std::uint64_t backlog = 0;          // not delivered yet
    std::uint64_t items = 0, bytes = 0; // not acknowledged
    bool congested = false;
    bool broken = false;
    bool poll_parked = false;
    std::uint64_t polls = 0;       // taken, ever
    std::uint64_t overflows = 0;   // I-371, ever
    std::uint64_t redelivered = 0; // items delivered once more, ever
};

/// The answer to a poll: pieces that together are the `items` list, and what stands beside it.
struct PollAnswer {
    std::uint64_t epoch = 0;
    std::uint64_t items = 0;
    std::uint64_t backlog = 0, backlog_bytes = 0;
    bool congested = false;
    wire::Buffer list; // the encoded elements
};

struct PollRefusal {
    si::ErrorCode code{};
    std::string message;
    std::optional<std::uint64_t> epoch{}; // the stream's, when the poll had another
};

/// A poll that waits for its answer. Each is called at most once, without a lock, from any thread.
class Poller {
public:
    virtual ~Poller() = default;
    virtual void answer(PollAnswer answer) = 0;
    virtual void refuse(PollRefusal refusal) = 0;
    /// The connection the poll came on.
    [[nodiscard]] virtual std::uint32_t connection() const = 0;
    /// Whether that connection has ended: disconnected() is on its way, or was.
    [[nodiscard]] virtual bool is_gone() const = 0;

    std::uint64_t epoch = 0; // of the stream that it means
    std::uint64_t ack = 0;
    std::uint32_t max_items = 1000;
    std::uint32_t max_bytes = 1U << 20;
};

class OutboundStream {
public:
    explicit OutboundStream(StreamLimits limits) : limits_(limits) {}

    /// A new epoch: what is queued is dropped, numbers start at 1 (I-125). With `keep` the stream is a detached one:
    /// items are numbered and acknowledged at once and the last `keep` stay readable (I-387).
    void open(std::uint64_t epoch, std::optional<std::uint32_t> keep);
    /// The RM is lost or gone: drops everything, refuses the parked poll and all later ones with `refusal`.
    void break_off(PollRefusal refusal);
    /// I-263: a poll that finds nothing more to deliver is refused with E_SHUTTING_DOWN from now on.
    void finish();
    /// What is parked is refused with E_SUPERSEDED: another session took over (I-127).
    void supersede(const std::string& message);

    /// Queues items in order. Returns the pressure afterwards; Broken was caused by this call. What comes at once (one
    /// request can remove a million allocations) breaks no stream that was not congested before: the RM is first told.
    Pressure append(std::vector<OutItem> items);
    /// The call's time is over: it goes, unless it was delivered already (4.8, expiring).
    void expire(std::uint64_t call);
    [[nodiscard]] Pressure pressure() const;
    /// Event records dropped since the last call (counted loss).
    [[nodiscard]] EventSpan take_lost();

    /// Acknowledges and answers at once, parks (until `wait_over` is called with the poller) or refuses.
    void poll(std::shared_ptr<Poller> poller, bool may_wait);
    /// Answers the poller with nothing, if it is still parked.
    void wait_over(const Poller* poller);
    /// Forgets a parked poll of that connection.
    void disconnected(std::uint32_t connection);

    [[nodiscard]] StreamStatus status() const;
    /// Everything queued was delivered, or nobody is there to fetch it: the connection that polled last is gone.
    [[nodiscard]] bool drained() const;

    struct Log {
        std::uint64_t items = 0;
        std::uint64_t next = 0; // `after` of the next call
        wire::Buffer list;
    };
    /// Kept items of a detached stream with numbers above `after`, at most `count` and about `max_bytes`.
    [[nodiscard]] Log read_log(std::uint64_t after, std::uint32_t count, std::size_t max_bytes) const;

    /// The next poll that is taken calls the listener.
    void watch_next_poll();
    /// Called, under no lock, when an acknowledgement relieved the stream, and by a poll that was watched for.
    void set_listener(std::function<void()> listener) { listener_ = std::move(listener); }

private:
    struct Outcome { // what to do when the lock is released
        std::shared_ptr<Poller> poller;
        std::optional<PollAnswer> answer;
        std::optional<PollRefusal> refusal;
        void deliver();
    };

    void enqueue(OutItem item);
    void replace_or_queue(OutItem item);
    void drop_events();
    void number_for_log();
    void clear();
    void make_room_beyond_limits();
    [[nodiscard]] Pressure pressure_locked() const;
    [[nodiscard]] bool answerable() const { return !delivered_.empty() || live_waiting_ != 0; }
    [[nodiscard]] std::optional<PollRefusal> check_epoch(const Poller& poller) const;
    [[nodiscard]] std::optional<PollRefusal> check_poll(const Poller& poller) const;
    [[nodiscard]] Outcome take(std::shared_ptr<Poller> poller, bool may_wait, bool& tell);
    void acknowledge(std::uint64_t ack);
    [[nodiscard]] PollAnswer make_answer(const Poller& poller);
    [[nodiscard]] Outcome answer_parked();

    const StreamLimits limits_;
    mutable std::mutex mutex_;
    std::uint64_t epoch_ = 0;
    std::optional<std::uint32_t> keep_;
    std::deque<OutItem> delivered_;  // detached: the kept log
    std::deque<OutItem> waiting_;    // an item with an empty kind was dropped and is skipped
    std::uint64_t waiting_base_ = 0; // serial number of waiting_.front()
    std::uint64_t live_waiting_ = 0;
    std::uint64_t waiting_bytes_ = 0, delivered_bytes_ = 0;
    std::uint64_t event_batches_ = 0; // in waiting_
    std::uint64_t acked_ = 0, last_number_ = 0;
    std::unordered_map<std::string, std::uint64_t> latest_;  // key -> serial in waiting_
    std::unordered_map<std::uint64_t, std::uint64_t> calls_; // call -> serial in waiting_
    EventSpan lost_;
    std::uint64_t polls_ = 0;
    bool congested_ = false;    // with the hysteresis of I-370
    StreamLimits beyond_{0, 0}; // what the limits are exceeded by until it is not congested any more
    bool finishing_ = false;
    bool watches_poll_ = false;
    std::optional<PollRefusal> broken_;
    std::uint64_t overflows_ = 0, redelivered_ = 0;
    std::shared_ptr<Poller> parked_;
    std::optional<std::uint32_t> reader_; // the connection that polled last, while it lives
    std::function<void()> listener_;
};

} // namespace yk
