// SPDX-License-Identifier: Apache-2.0
#pragma once
// WorkQueue: the keys of one kind that somebody has to look at, each at most once, however often it was added.
//
// A key is queued, being processed, waiting for a later try, or not here. One that is added while it is processed comes
// again when that is done, so that at most one worker has it and no change is lost (rs R-072). What is kept does not
// depend on the number of events, but on that of different keys (rs R-073): about 150 bytes and the id for each.
//
// Order: by priority, first come, first served. Every eighth key comes from the least urgent class that has any, and
// one that waits for 5 s counts as of the next class, so that nothing waits for ever (rs R-074).
//
// Owner: the reconciler of a kind, or one handler of it. Thread: its owner's. Cost: O(1); O(log n) where a key waits
// for a time. Invariants, checked by check():
//  A  a key is in the list of its priority iff it is queued, and has a time in `timers_` iff it waits
//  B  `unsettled_` counts the keys with is_marked

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/hash_index.h"
#include "libcore/base/slab.h"
#include "libcore/base/time.h"
#include "libcore/resource_state/backoff.h"

namespace yk::rs {

enum class Priority : std::uint8_t {
    High, // own writes, people
    Live, // change events
    Low   // full reads, and what is delivered at the start
};

/// What a key is looked at for. Of several reasons that of the most urgent counts.
enum class Cause : std::uint8_t { Live, Initial, Resync, Relist, Retry, Takeover };
[[nodiscard]] std::string_view name_of(Cause cause);

struct Reason {
    Priority priority = Priority::Live;
    Cause cause = Cause::Live;
    bool forced = false; // handlers are called even without a change
};

class WorkQueue {
public:
    struct Item {
        std::string id;
        Reason reason;
        unsigned failures = 0; // so far, in a row
        Instant since;         // when it was queued
    };

    WorkQueue(BackoffRange range, std::uint64_t seed) : range_(range), chance_(seed) {}
    WorkQueue(const WorkQueue&) = delete;
    WorkQueue& operator=(const WorkQueue&) = delete;

    /// The key is to be looked at. One that waits after a failure comes at once, but no sooner than the shortest
    /// back-off after that failure: a key that changes all the time and always fails is not tried all the time (rs
    ///
    void add(std::string_view id, const Reason& reason, Instant now);

    /// The next key, which is now being processed; nullopt: none. Each taken key is given back by one of the next four.
    [[nodiscard]] std::optional<Item> take(Instant now);
    /// It was processed.
    void done(std::string_view id);
    /// It failed and comes again after a back-off that doubles with each failure in a row.
    void failed(std::string_view id, Instant now);
    /// It did not fail, but is to come again after the delay.
    void again_after(std::string_view id, Duration delay, Instant now);
    /// It was not tried: queued again, before all others of its priority.
    void put_back(std::string_view id);
    /// Forgets every key. Keys being processed must not be given back afterwards.
    void clear();

    /// Queued, being processed, or waiting: its row is going to be looked at.
    [[nodiscard]] bool contains(std::string_view id) const { return find(id).valid(); }
    /// It is being processed, and was added since it was taken.
    [[nodiscard]] bool is_added_again(std::string_view id) const;
    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    /// Keys that take() would give.
    [[nodiscard]] std::size_t queued() const { return lists_[0].size + lists_[1].size + lists_[2].size; }
    [[nodiscard]] std::size_t queued(Priority priority) const { return list(priority).size; }
    /// When the oldest key of the class was queued.
    [[nodiscard]] std::optional<Instant> oldest(Priority priority) const;
    /// Every key that was added before this was processed since, and has not failed. Cost: O(size()).
    [[nodiscard]] Instant done_before() const;
    /// When the next waiting key comes; nullopt: none waits.
    [[nodiscard]] std::optional<Instant> next_due() const;
    [[nodiscard]] std::uint64_t adds() const { return adds_; }
    /// Adds of a key that was queued already.
    [[nodiscard]] std::uint64_t coalesced() const { return coalesced_; }

    /// From now on settled() says whether every key that is queued or processed now was tried once. Cost O(size()).
    void mark();
    [[nodiscard]] bool settled() const { return unsettled_ == 0; }

    /// What is broken of the invariants; empty: nothing.
    [[nodiscard]] std::vector<std::string> check() const;

private:
    enum class State : std::uint8_t { Queued, Processing, Waiting };
    struct Entry;
    using EntryId = Id<Entry>;
    using TimerKey = std::pair<Instant, std::uint64_t>; // the second: in the order of their making
    struct Entry {
        std::string id;
        Reason reason; // of the next look; while it is processed: of the one after, if is_dirty
        State state = State::Queued;
        bool is_dirty = false; // added while it is processed
        unsigned failures = 0;
        Instant since; // it was queued, or became dirty
        Instant added; // the first time since it was done last
        Instant failed_at;
        bool is_marked = false; // it was there at the last mark() and was not tried since
        EntryId previous, next; // in the list of its priority
        TimerKey timer;
    };
    struct List {
        EntryId first, last;
        std::size_t size = 0;
    };

    [[nodiscard]] EntryId find(std::string_view id) const;
    [[nodiscard]] EntryId get_processed(std::string_view id) const;
    [[nodiscard]] List& list(Priority priority) { return lists_[static_cast<std::size_t>(priority)]; }
    [[nodiscard]] const List& list(Priority priority) const { return lists_[static_cast<std::size_t>(priority)]; }
    void merge(EntryId at, const Reason& reason);
    void enqueue(EntryId at);
    void unlink(EntryId at);
    void wait(EntryId at, Instant until);
    void stop_waiting(EntryId at);
    void hurry(EntryId at, Instant now);
    void release_due(Instant now);
    void settle(Entry& entry);
    void erase(EntryId at);
    [[nodiscard]] EntryId pick(Instant now) const;

    BackoffRange range_;
    Chance chance_;
    Slab<Entry> entries_;
    HashIndex<EntryId> by_id_;
    std::array<List, 3> lists_;
    std::map<TimerKey, EntryId> timers_;
    std::uint64_t timers_made_ = 0, takes_ = 0, adds_ = 0, coalesced_ = 0;
    std::size_t unsettled_ = 0;
};

} // namespace yk::rs
