// SPDX-License-Identifier: Apache-2.0
#pragma once
// OwnerEvents: takes the event records of one RM from the core to the ring, and collects those that the RM itself wants
// to be sent (I-191, I-620).
//
// Owner: RmOwner. Thread: the owner thread of the RM, which owner_thread() checks when it is bound.

#include <functional>
#include <utility>
#include <vector>

#include "libcore/base/owner_thread.h"
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
    void set_interest(Interest interest) {
        thread_.assert_here();
        interest_ = interest;
    }
    /// At most so many records are collected for the RM until the next send().
    void set_request_capacity(std::uint64_t capacity) {
        thread_.assert_here();
        capacity_ = capacity;
    }

    /// Hands what was recorded to the ring, and forgets what was collected for the RM: another epoch begins (I-125).
    void end_epoch() {
        flush();
        forget_batch();
    }

    /// Sets what is called with each application that completed or failed. Once, before the owner thread starts.
    void set_end_listener(std::function<void(const ApplicationView&)> listener) { ended_ = std::move(listener); }

    void application_ended(const ApplicationView& application) noexcept override {
        thread_.assert_here();
        if (ended_) ended_(application);
    }
    void record(const EventRecord& event) noexcept override {
        thread_.assert_here();
        ++tally_.created;
        chunk_.append(event);
        if (chunk_.full()) flush();
    }
    /// Hands what was recorded to the ring, and collects from it what the RM wants.
    void flush();
    /// Writes what was collected since the last call as SendEvent items of limited size, with the number of records
    /// that were lost here or in the stream (`stream_lost`); nothing when there are none.
    void send(CallbackWriter& writer, const EventSpan& stream_lost);
    /// Takes the counts since the last call.
    [[nodiscard]] EventTally take_tally() {
        thread_.assert_here();
        return std::exchange(tally_, {});
    }
    /// Whether send() would write an item.
    [[nodiscard]] bool has_batch() const { return records_ + lost_.records != 0; }
    /// For the owner thread to bind.
    [[nodiscard]] OwnerThread& owner_thread() { return thread_; }

private:
    struct Part { // becomes one item
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

    [[no_unique_address]] OwnerThread thread_;
    EventRing& ring_;
    EventChunk chunk_;        // recorded and not in the ring yet
    std::uint32_t quiet_ = 0; // turns since the last record
    Interest interest_ = Interest::None;
    std::uint64_t capacity_ = 1000; // event.requestCapacity
    std::vector<Part> parts_;       // collected for the RM
    std::uint64_t records_ = 0;     // in all parts
    EventSpan lost_;                // since the last send()
    EventTally tally_;
    std::function<void(const ApplicationView&)> ended_;
};

} // namespace yk
