// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/work_queue.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace yk::rs {
namespace {

constexpr std::uint64_t kLeastUrgentEvery = 8; // takes
constexpr Duration kAging = std::chrono::seconds{5};

} // namespace

std::string_view name_of(Cause cause) {
    switch (cause) {
    case Cause::Live: return "live";
    case Cause::Initial: return "initial";
    case Cause::Resync: return "resync";
    case Cause::Relist: return "relist";
    case Cause::Retry: return "retry";
    case Cause::Takeover: return "takeover";
    }
    YK_UNREACHABLE("a cause without a name");
}

// --- what comes in ---------------------------------------------------------------------------------------------------

void WorkQueue::add(std::string_view id, const Reason& reason, Instant now) {
    ++adds_;
    EntryId at = find(id);
    if (!at) {
        at = entries_.make();
        Entry& made = entries_[at];
        made.id = id;
        made.reason = reason;
        made.since = made.added = now;
        by_id_.insert(mix_hash(0, id), at);
        enqueue(at);
        return;
    }
    Entry& entry = entries_[at];
    if (entry.state == State::Processing && !entry.is_dirty) {
        entry.is_dirty = true;
        entry.reason = reason;
        entry.since = now;
        return;
    }
    ++coalesced_;
    merge(at, reason);
    if (entry.state == State::Waiting) hurry(at, now);
}

void WorkQueue::merge(EntryId at, const Reason& reason) {
    Entry& entry = entries_[at];
    entry.reason.forced = entry.reason.forced || reason.forced;
    if (reason.priority >= entry.reason.priority) return;
    const bool is_queued = entry.state == State::Queued;
    if (is_queued) unlink(at);
    entry.reason.priority = reason.priority;
    entry.reason.cause = reason.cause;
    if (is_queued) enqueue(at);
}

/// A waiting key was added: it comes now, or when the shortest back-off after its failure is over.
void WorkQueue::hurry(EntryId at, Instant now) {
    const Entry& entry = entries_[at];
    const Instant soonest = entry.failures == 0 ? now : std::max(now, entry.failed_at + range_.base);
    const Instant planned = entry.timer.first;
    stop_waiting(at);
    if (soonest <= now)
        enqueue(at);
    else
        wait(at, std::min(soonest, planned));
}

// --- what goes out ---------------------------------------------------------------------------------------------------

std::optional<WorkQueue::Item> WorkQueue::take(Instant now) {
    release_due(now);
    if (queued() == 0) return std::nullopt;
    const EntryId at = pick(now);
    ++takes_;
    unlink(at);
    Entry& entry = entries_[at];
    entry.state = State::Processing;
    entry.is_dirty = false;
    return Item{entry.id, entry.reason, entry.failures, entry.since};
}

WorkQueue::EntryId WorkQueue::pick(Instant now) const {
    if (takes_ % kLeastUrgentEvery == kLeastUrgentEvery - 1)
        for (std::size_t lowest = lists_.size(); lowest-- > 0;)
            if (lists_[lowest].size != 0) return lists_[lowest].first;
    EntryId best;
    std::size_t best_class = lists_.size();
    for (std::size_t each = 0; each < lists_.size(); ++each) {
        if (lists_[each].size == 0) continue;
        const Entry& first = entries_[lists_[each].first];
        const std::size_t counts_as = each > 0 && now - first.since >= kAging ? each - 1 : each;
        if (counts_as < best_class || (counts_as == best_class && first.since < entries_[best].since)) {
            best = lists_[each].first;
            best_class = counts_as;
        }
    }
    return best;
}

void WorkQueue::done(std::string_view id) {
    const EntryId at = get_processed(id);
    Entry& entry = entries_[at];
    settle(entry);
    if (!entry.is_dirty) return erase(at);
    entry.added = entry.since;
    entry.failures = 0;
    enqueue(at);
}

void WorkQueue::failed(std::string_view id, Instant now) {
    const EntryId at = get_processed(id);
    Entry& entry = entries_[at];
    settle(entry);
    Duration delay = backoff(range_, entry.failures, chance_);
    if (entry.is_dirty) delay = std::min(delay, range_.base);
    ++entry.failures;
    entry.failed_at = now;
    wait(at, now + delay);
}

void WorkQueue::again_after(std::string_view id, Duration delay, Instant now) {
    const EntryId at = get_processed(id);
    Entry& entry = entries_[at];
    settle(entry);
    entry.failures = 0;
    if (entry.is_dirty) return enqueue(at);
    wait(at, now + delay);
}

void WorkQueue::put_back(std::string_view id) {
    const EntryId at = get_processed(id);
    Entry& entry = entries_[at];
    List& to = list(entry.reason.priority);
    entry.state = State::Queued;
    entry.is_dirty = false;
    entry.previous = {};
    entry.next = to.first;
    (to.first ? entries_[to.first].previous : to.last) = at;
    to.first = at;
    ++to.size;
}

void WorkQueue::clear() {
    std::vector<EntryId> all;
    entries_.for_each([&all](EntryId at) { all.push_back(at); });
    for (const EntryId at : all) erase(at);
    timers_.clear();
    lists_ = {};
    unsettled_ = 0;
}

// --- lists and times -------------------------------------------------------------------------------------------------

void WorkQueue::enqueue(EntryId at) {
    Entry& entry = entries_[at];
    List& to = list(entry.reason.priority);
    entry.state = State::Queued;
    entry.is_dirty = false;
    entry.previous = to.last;
    entry.next = {};
    if (to.last)
        entries_[to.last].next = at;
    else
        to.first = at;
    to.last = at;
    ++to.size;
}

void WorkQueue::unlink(EntryId at) {
    const Entry& entry = entries_[at];
    List& from = list(entry.reason.priority);
    if (entry.previous)
        entries_[entry.previous].next = entry.next;
    else
        from.first = entry.next;
    if (entry.next)
        entries_[entry.next].previous = entry.previous;
    else
        from.last = entry.previous;
    --from.size;
}

void WorkQueue::wait(EntryId at, Instant until) {
    Entry& entry = entries_[at];
    entry.state = State::Waiting;
    entry.is_dirty = false;
    entry.timer = {until, timers_made_++};
    timers_.emplace(entry.timer, at);
}

void WorkQueue::stop_waiting(EntryId at) {
    timers_.erase(entries_[at].timer);
}

void WorkQueue::release_due(Instant now) {
    while (!timers_.empty() && timers_.begin()->first.first <= now) {
        const EntryId at = timers_.begin()->second;
        stop_waiting(at);
        entries_[at].since = now;
        enqueue(at);
    }
}

void WorkQueue::erase(EntryId at) {
    by_id_.erase(mix_hash(0, entries_[at].id), at);
    entries_.destroy(at);
    entries_.give_back();
    by_id_.give_back();
}

// --- questions -------------------------------------------------------------------------------------------------------

WorkQueue::EntryId WorkQueue::find(std::string_view id) const {
    return by_id_.find(mix_hash(0, id), [&](EntryId at) { return entries_[at].id == id; });
}

WorkQueue::EntryId WorkQueue::get_processed(std::string_view id) const {
    const EntryId at = find(id);
    YK_CHECK(at && entries_[at].state == State::Processing, "only a key that was taken can be given back");
    return at;
}

bool WorkQueue::is_added_again(std::string_view id) const {
    const EntryId at = find(id);
    return at && entries_[at].state == State::Processing && entries_[at].is_dirty;
}

std::optional<Instant> WorkQueue::oldest(Priority priority) const {
    const List& from = list(priority);
    return from.size == 0 ? std::nullopt : std::optional{entries_[from.first].since};
}

Instant WorkQueue::done_before() const {
    Instant oldest{std::numeric_limits<std::int64_t>::max()};
    entries_.for_each([&](EntryId at) { oldest = std::min(oldest, entries_[at].added); });
    return oldest;
}

std::optional<Instant> WorkQueue::next_due() const {
    return timers_.empty() ? std::nullopt : std::optional{timers_.begin()->first.first};
}

void WorkQueue::mark() {
    unsettled_ = 0;
    entries_.for_each([this](EntryId at) {
        entries_[at].is_marked = entries_[at].state != State::Waiting;
        unsettled_ += entries_[at].is_marked ? 1U : 0U;
    });
}

/// The key was tried: it does not count for the mark any more.
void WorkQueue::settle(Entry& entry) {
    unsettled_ -= entry.is_marked ? 1U : 0U;
    entry.is_marked = false;
}

std::vector<std::string> WorkQueue::check() const {
    std::vector<std::string> broken;
    std::size_t queued = 0, waiting = 0, marked = 0;
    entries_.for_each([&](EntryId at) {
        const Entry& entry = entries_[at];
        queued += entry.state == State::Queued ? 1U : 0U;
        waiting += entry.state == State::Waiting ? 1U : 0U;
        marked += entry.is_marked ? 1U : 0U;
        if (entry.state == State::Waiting && !timers_.contains(entry.timer))
            broken.push_back("A: no time: " + entry.id);
    });
    std::size_t listed = 0;
    for (std::size_t each = 0; each < lists_.size(); ++each)
        for (EntryId at = lists_[each].first; at; at = entries_[at].next, ++listed)
            if (entries_[at].reason.priority != static_cast<Priority>(each))
                broken.emplace_back("A: in the wrong list");
    if (listed != queued) broken.emplace_back("A: queued keys are missing in the lists");
    if (marked != unsettled_) broken.emplace_back("B: the marked keys are counted wrongly");
    if (waiting != timers_.size()) broken.emplace_back("A: times without a key");
    return broken;
}

} // namespace yk::rs
