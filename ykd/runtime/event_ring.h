#pragma once
// EventRing: the last records of all RMs, with ids (I-610 to I-613). Owner threads append whole chunks; readers take
// references to chunks and decode outside the lock.

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "ykd/runtime/event_chunk.h"

namespace yk {

class EventRing {
public:
    static constexpr std::uint64_t kDefaultCapacity = 100'000;

    /// Gives the records of `chunk` the next ids and keeps them. Takes the chunk; leaves an empty one. nullptr: it was
    /// empty, or tracking is off.
    std::shared_ptr<const EventChunk> append(EventChunk& chunk);
    /// I-612: keeps the newest records that fit. 0 means the default.
    void set_capacity(std::uint64_t capacity);
    /// I-613. Switching off keeps what is there.
    void set_enabled(bool enabled);
    [[nodiscard]] bool enabled() const;

    /// A piece of the ring: `first` to `end` (exclusive) of the ids asked for, out of chunks that it keeps alive.
    struct Slice {
        std::uint64_t lowest = 0, next = 0; // of the ring: lowest kept id, next id to be given
        std::uint64_t first = 0, end = 0;   // of the slice
        std::uint64_t lost = 0;             // ids asked for that are gone
        bool empty = true;                  // the ring holds nothing
        std::vector<std::shared_ptr<const EventChunk>> chunks;

        /// f(const StoredEvent&) for each record of the slice, by id.
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
    /// Records from id `start` on, at most `count` (I-611).
    [[nodiscard]] Slice slice(std::uint64_t start, std::uint64_t count) const;
    [[nodiscard]] std::uint64_t next_id() const;

    /// Called, without a lock, after something was appended. Set once, before the first owner thread starts.
    void set_listener(std::function<void()> listener) { listener_ = std::move(listener); }

private:
    [[nodiscard]] std::uint64_t lowest() const; // REQUIRES: mutex_ held
    void trim();

    mutable std::mutex mutex_;
    std::deque<std::shared_ptr<const EventChunk>> chunks_; // INVARIANT: none empty, ids ascending without gaps
    std::uint64_t next_id_ = 0;
    std::uint64_t capacity_ = kDefaultCapacity;
    bool enabled_ = true;
    std::function<void()> listener_;
};

} // namespace yk
