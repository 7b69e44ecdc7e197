// SPDX-License-Identifier: Apache-2.0
#pragma once
// EventRing: the newest event records of all RMs, with ids (I-610 to I-613). Owner threads append whole chunks; readers
// take references to chunks and decode them outside the lock.
//
// Thread: any.

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "ykd/runtime/event_chunk.h"

namespace yk {

class EventRing {
public:
    static constexpr std::uint64_t kDefaultCapacity = 100'000;

    /// Assigns the next ids to the records of `chunk` and keeps them. Copies the chunk's contents and leaves it empty.
    /// Returns what is kept; nullptr: the chunk was empty, or tracking is off.
    std::shared_ptr<const EventChunk> append(EventChunk& chunk);
    /// Sets how many records are kept, of which the newest stay; 0: the default (I-612).
    void set_capacity(std::uint64_t capacity);
    /// Switches tracking on or off; switching it off keeps the records that are there (I-613).
    void set_enabled(bool enabled);
    [[nodiscard]] bool enabled() const;

    /// The records of the ring from id `first` to `end` (exclusive), in chunks that the slice keeps alive.
    struct Slice {
        std::uint64_t lowest = 0, next = 0; // of the ring: lowest kept id, next id to be assigned
        std::uint64_t first = 0, end = 0;   // of the slice
        std::uint64_t lost = 0;             // ids asked for whose records are not kept any more
        bool empty = true;                  // the ring holds nothing
        std::vector<std::shared_ptr<const EventChunk>> chunks;

        /// Calls f(const StoredEvent&) for each record of the slice, by id.
        template <class F>
        void for_each(F&& f) const {
            StoredEvent event;
            for (const auto& chunk : chunks)
                for (std::size_t i = 0; i < chunk->size(); ++i) {
                    const std::uint64_t id = chunk->first_id + i;
                    if (id < first || id >= end) continue;
                    chunk->read(i, event);
                    f(event);
                }
        }
    };
    /// The records from id `start` on, at most `count` (I-611). Costs O(chunks), copies no record.
    [[nodiscard]] Slice slice(std::uint64_t start, std::uint64_t count) const;
    [[nodiscard]] std::uint64_t next_id() const;

    /// Sets what is called, under no lock, after something was appended. Once, before the first owner thread starts.
    void set_listener(std::function<void()> listener) { listener_ = std::move(listener); }

private:
    [[nodiscard]] std::uint64_t lowest() const; // REQUIRES: mutex_ held
    void trim();                                // REQUIRES: mutex_ held

    mutable std::mutex mutex_;
    std::deque<std::shared_ptr<const EventChunk>> chunks_; // INVARIANT: none empty, ids ascending without gaps
    std::uint64_t next_id_ = 0;
    std::uint64_t capacity_ = kDefaultCapacity;
    bool enabled_ = true;
    std::function<void()> listener_;
};

/// Appends an event of the type RM. Any thread.
void add_rm_event(EventRing& ring, std::string_view rm_id, std::string_view message, Instant now);

} // namespace yk
