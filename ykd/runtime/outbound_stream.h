// SPDX-License-Identifier: Apache-2.0
#pragma once
// OutboundStream: the callbacks of one RM on their way out (docs/spec/interface.md 4.8). The owner thread appends once
// per turn; polls acknowledge items and take new ones. A parked poll is answered by the thread that makes it
// answerable.
//
// Thread: any, under one lock that is held for copies only. Invariants:
//   A  delivered_ holds the items that are numbered and not acknowledged, acked_ + 1 to last_number_ without gaps
//   B  waiting_ holds the items that have no number yet, live_waiting_ of which were not dropped
//   C  delivered_bytes_ and waiting_bytes_ are the sums over the two
//   D  a poll is parked only while there is nothing to answer it with

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
    std::uint64_t items = 65'536;    // outboundMaxItems
    std::uint64_t bytes = 64U << 20; // outboundMaxBytes
};

/// How full the stream is (I-370, I-371). Easing: at most 50 % of its limits; Crowded: below 75 %, nothing changes;
/// Congested: 75 % or more, the RM is suspended; Broken: above its limits, the RM is lost.
enum class Pressure { Easing, Crowded, Congested, Broken };

struct StreamStatus {
    std::uint64_t epoch = 0;
    std::uint64_t next = 1;             // number that the next new item will get
    std::uint64_t ack = 0;              // number of the last item that was acknowledged
    std::uint64_t backlog = 0;          // items not delivered yet
    std::uint64_t items = 0, bytes = 0; // not acknowledged
    bool congested = false;
    bool broken = false;
    bool poll_parked = false;
    std::uint64_t polls = 0;       // accepted, ever
    std::uint64_t overflows = 0;   // times that the stream broke (I-371), ever
    std::uint64_t redelivered = 0; // items delivered once more, ever
};

/// The answer to a poll: the elements of its `items` list, encoded, and the fields beside it.
struct PollAnswer {
    std::uint64_t epoch = 0;
    std::uint64_t items = 0;
    std::uint64_t backlog = 0, backlog_bytes = 0; // that are left in the stream
    bool congested = false;
    wire::Buffer list; // the encoded elements
};

/// Why a poll is refused.
struct PollRefusal {
    si::ErrorCode code{};
    std::string message;
    std::optional<std::uint64_t> epoch{}; // of the stream, when the poll named another
};

/// A poll that waits for its answer. Either answer() or refuse() is called, at most once, under no lock, on any thread.
class Poller {
public:
    virtual ~Poller() = default;
    virtual void answer(PollAnswer answer) = 0;
    virtual void refuse(PollRefusal refusal) = 0;
    /// The connection the poll came on.
    [[nodiscard]] virtual std::uint32_t connection() const = 0;
    /// Whether that connection has ended: disconnected() was called or will be soon.
    [[nodiscard]] virtual bool is_gone() const = 0;

    std::uint64_t epoch = 0; // of the stream that the poll expects
    std::uint64_t ack = 0;   // items up to this number are acknowledged
    std::uint32_t max_items = 1000;
    std::uint32_t max_bytes = 1U << 20;
};

class OutboundStream {
public:
    explicit OutboundStream(StreamLimits limits) : normal_limits_(limits), limits_(limits) {}

    /// Begins a new epoch: queued items are dropped, numbers start at 1 (I-125). With `keep` it is the stream of a
    /// detached RM: items are numbered and acknowledged at once, and the last `keep` stay readable (I-387).
    void open(std::uint64_t epoch, std::optional<std::uint32_t> keep);
    /// The RM is lost or unregistered: drops everything, refuses the parked poll and all later ones with `refusal`.
    void break_off(PollRefusal refusal);
    /// From now on a poll that finds nothing more to deliver is refused with E_SHUTTING_DOWN (I-263).
    void finish();
    /// Refuses the parked poll with E_SUPERSEDED: another session took over (I-127).
    void supersede(const std::string& message);

    /// Queues items in order and returns the pressure afterwards; Broken is caused by this call. A stream that was not
    /// congested before does not break, however much one call appends (one request can remove a million allocations):
    /// its limits are raised for a while, and it becomes congested.
    Pressure append(std::vector<OutItem> items);
    /// The call's time limit is over: drops its item, unless that was delivered already (interface.md 4.8, expiring).
    void expire(std::uint64_t call);
    [[nodiscard]] Pressure pressure() const;
    /// While the RM recovers its limits are eight times as high, so that one replay fits (I-373). What is queued when
    /// they become normal again stays, and the stream is congested.
    void set_wide(bool wide);
    /// Takes the span of the event records that were dropped since the last call (counted loss).
    [[nodiscard]] EventSpan take_lost();

    /// Acknowledges, then answers the poll at once, parks it until wait_over() is called with it, or refuses it.
    void poll(std::shared_ptr<Poller> poller, bool may_wait);
    /// Answers the poll without items, if it is still parked.
    void wait_over(const Poller* poller);
    /// Forgets a parked poll of that connection.
    void disconnected(std::uint32_t connection);

    [[nodiscard]] StreamStatus status() const;
    /// Whether everything queued was delivered, or nobody fetches it any more: the connection that polled last is
    /// closed.
    [[nodiscard]] bool drained() const;

    /// A page of a detached stream.
    struct Log {
        std::uint64_t items = 0;
        std::uint64_t next = 0; // `after` of the next call
        wire::Buffer list;      // the encoded items
    };
    /// Kept items of a detached stream with numbers above `after`, at most `count` and about `max_bytes`.
    [[nodiscard]] Log read_log(std::uint64_t after, std::uint32_t count, std::size_t max_bytes) const;

    /// Makes the next poll that is accepted call the listener.
    void watch_next_poll();
    /// Sets what is called, under no lock, when an acknowledgement ended the congestion, and by a poll watched for.
    /// Once, before the stream is used.
    void set_listener(std::function<void()> listener) { listener_ = std::move(listener); }

private:
    struct Outcome { // the answer to a poll, to be given when the lock is released
        std::shared_ptr<Poller> poller;
        std::optional<PollAnswer> answer;
        std::optional<PollRefusal> refusal;
        void deliver();
    };

    // All of these REQUIRE: mutex_ held.
    void enqueue(OutItem item);
    void replace_or_queue(OutItem item);
    void drop_events();
    void number_for_log();
    void clear();
    void raise_limits();
    [[nodiscard]] Pressure pressure_locked() const;
    [[nodiscard]] bool answerable() const { return !delivered_.empty() || live_waiting_ != 0; }
    [[nodiscard]] std::optional<PollRefusal> check_epoch(const Poller& poller) const;
    [[nodiscard]] std::optional<PollRefusal> check_poll(const Poller& poller) const;
    [[nodiscard]] Outcome take(std::shared_ptr<Poller> poller, bool may_wait, bool& notify);
    void acknowledge(std::uint64_t ack);
    [[nodiscard]] PollAnswer make_answer(const Poller& poller);
    [[nodiscard]] Outcome answer_parked();

    const StreamLimits normal_limits_;
    mutable std::mutex mutex_;
    StreamLimits limits_; // those in force
    std::uint64_t epoch_ = 0;
    std::optional<std::uint32_t> keep_;
    std::deque<OutItem> delivered_;  // of a detached RM: the kept log
    std::deque<OutItem> waiting_;    // an item with an empty kind was dropped and is skipped
    std::uint64_t waiting_base_ = 0; // serial number of waiting_.front(), counted over all epochs
    std::uint64_t live_waiting_ = 0;
    std::uint64_t waiting_bytes_ = 0, delivered_bytes_ = 0;
    std::uint64_t event_batches_ = 0; // in waiting_
    std::uint64_t acked_ = 0, last_number_ = 0;
    std::unordered_map<std::string, std::uint64_t> latest_;  // key -> serial in waiting_
    std::unordered_map<std::uint64_t, std::uint64_t> calls_; // call -> serial in waiting_
    EventSpan lost_;
    std::uint64_t polls_ = 0;
    bool congested_ = false;    // with the hysteresis of I-370
    StreamLimits beyond_{0, 0}; // added to the limits until it is not congested any more
    bool finishing_ = false;
    bool watches_poll_ = false;
    std::optional<PollRefusal> broken_; // how all polls are refused
    std::uint64_t overflows_ = 0, redelivered_ = 0;
    std::shared_ptr<Poller> parked_;
    std::optional<std::uint32_t> reader_; // the connection that polled last, while it lives
    std::function<void()> listener_;
};

} // namespace yk
