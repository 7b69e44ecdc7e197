#pragma once
// OwnerEvents: the event records of one RM on their way from the core to the ring, and those of interest to the RM
// itself (I-191, I-620). Owner: RmOwner. Thread: the owner thread.

#include <functional>
#include <utility>
#include <vector>

#include "protocol/wire/packer.h"
#include "ykd/runtime/callback_writer.h"
#include "ykd/runtime/event_ring.h"
#include "ykd/runtime/tally.h"

namespace yk {

class OwnerEvents final : public EventSink {
public:
    explicit OwnerEvents(EventRing& ring) : ring_(ring) {}

    /// Which records the RM is sent: none, those of requests and nodes, or all.
    enum class Interest { None, RequestsAndNodes, All };
    void set_interest(Interest interest) { interest_ = interest; }
    void set_request_capacity(std::uint64_t capacity) { capacity_ = capacity; }

    /// Hands on what was recorded, and forgets what waits to be sent: another epoch begins (I-125).
    void end_epoch() {
        flush();
        forget_batch();
    }

    /// Told of applications that completed or failed.
    void set_end_listener(std::function<void(const ApplicationView&)> listener) { ended_ = std::move(listener); }

    void application_ended(const ApplicationView& application) override {
        if (ended_) ended_(application);
    }
    void record(const EventRecord& event) override {
        ++tally_.created;
        chunk_.append(event);
        if (chunk_.full()) flush();
    }
    /// Hands what was recorded to the ring.
    void flush();
    /// What was collected since the last call as SendEvent items of limited size, with what `stream_lost` dropped;
    /// nothing when empty.
    void send(CallbackWriter& writer, const EventSpan& stream_lost);
    /// What happened since the last call.
    [[nodiscard]] EventTally take_tally() { return std::exchange(tally_, {}); }
    [[nodiscard]] bool has_batch() const { return records_ + lost_.records != 0; }

private:
    struct Part {
        wire::Buffer records;
        EventSpan span;
    };

    void collect(const EventChunk& chunk);
    void keep(const StoredEvent& event);
    void forget_batch() {
        parts_.clear();
        records_ = 0;
        lost_ = {};
    }

    EventRing& ring_;
    EventChunk chunk_;
    Interest interest_ = Interest::None;
    std::uint64_t capacity_ = 1000; // event.requestCapacity
    std::vector<Part> parts_;       // each one item
    std::uint64_t records_ = 0;     // in all parts
    EventSpan lost_;
    EventTally tally_;
    std::function<void(const ApplicationView&)> ended_;
};

} // namespace yk
