// SPDX-License-Identifier: Apache-2.0
#pragma once
// HandlerQueue<T>: what one handler still has to be called for.
//
// For each key with something to do there is one record: the object that the handler was given last, or none. What to
// call is decided when the call is made, from the record to what the cache has then, so a thousand changes cost one
// record and mostly one call (rs ). A call that fails leaves the record as it was, with the last object of
// one that is gone.
//
// What came and went before the handler was called for it has no call. A handler that reads the cache may have found it
// there all the same; it says so (HandlerOptions::reads_cache), and is called with on_delete then.
//
// Owner: Deliveries<T>. Thread: its owner's.
// Invariant, checked by check(): every key in the queue has a record.

#include <exception>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/by_text.h"
#include "libcore/base/fault_point.h"
#include "libcore/resource_state/event_handler.h"
#include "libcore/resource_state/ports/notices.h"
#include "libcore/resource_state/resource_cache.h"
#include "libcore/resource_state/settings.h"
#include "libcore/resource_state/work_queue.h"

namespace yk::rs {

/// One handler, and what it still has to do for one key. A copy.
struct HandlerKeyStatus {
    std::string name;
    bool is_active = false;
    bool is_pending = false; // it is to be called
    bool is_dead_letter = false;
    unsigned attempts = 0; // that failed, since the last change
};

/// What happened with a handler since the start.
struct HandlerCounters {
    std::uint64_t calls = 0, failures = 0;
    std::uint64_t coalesced = 0; // changes that had cancelled each other before the call
    std::uint64_t stalled = 0;   // calls that took longer than they may
};

template <Resource T>
class HandlerQueue {
public:
    HandlerQueue(ResourceEventHandler<T>& handler, HandlerOptions options, const ResourceCache<T>& cache,
                 const HandlerSettings& settings, NoticeSink& notices, std::uint64_t seed)
        : handler_(handler),
          options_(std::move(options)),
          cache_(cache),
          settings_(settings),
          notices_(notices),
          queue_(settings.backoff, seed) {}

    [[nodiscard]] std::string_view name() const { return handler_.name(); }
    [[nodiscard]] const HandlerOptions& options() const { return options_; }
    [[nodiscard]] bool is_active() const { return is_active_; }
    [[nodiscard]] const HandlerCounters& counters() const { return counters_; }
    [[nodiscard]] std::size_t backlog() const { return records_.size(); }
    [[nodiscard]] std::size_t dead_letters() const { return dead_letters_; }
    [[nodiscard]] bool has_record(std::string_view id) const { return records_.find(id) != records_.end(); }
    [[nodiscard]] HandlerKeyStatus inspect(std::string_view id) const {
        HandlerKeyStatus status{std::string{name()}, is_active_};
        const auto found = records_.find(id);
        if (found == records_.end()) return status;
        status.is_pending = true;
        status.is_dead_letter = found->second.is_dead_letter;
        status.attempts = found->second.attempts;
        return status;
    }
    /// Keys that it could be called for now.
    [[nodiscard]] std::size_t queued() const { return queue_.queued(); }
    [[nodiscard]] std::optional<Instant> next_due() const { return must_wait() ? std::nullopt : queue_.next_due(); }

    /// The handler begins: its chain of calls starts anew. `initial`: it is called with on_add for all that is there.
    void activate(Cause cause, const Lease& lease, bool initial, Instant now) {
        forget_everything();
        is_active_ = true;
        lease_ = lease;
        if (!initial) return;
        cache_.for_each([&](const Ptr<T>& object) {
            const std::string& id = meta_of(*object).id;
            records_.emplace(id, Record{nullptr, nullptr, cause});
            queue_.add(id, {Priority::Low, cause}, now);
        });
    }
    /// No call any more, and nothing is remembered: another instance leads (rs R-092).
    void deactivate() {
        forget_everything();
        is_active_ = false;
    }
    void set_lease(const Lease& lease) { lease_ = lease; }

    /// The cache had `before` for the id (nullptr: nothing) and has something else now.
    void changed(std::string_view id, const Ptr<T>& before, const Reason& reason, bool version_only, Instant now) {
        if (!is_active_) return;
        if (version_only && !options_.wants_every_version && !has_record(id)) return;
        Record& record = records_.try_emplace(std::string{id}, Record{before, nullptr, reason.cause}).first->second;
        const bool may_have_seen = !record.last && before && options_.reads_cache;
        if (may_have_seen && (!record.seen || is_same_life(record.seen, before))) record.seen = before;
        record.cause = reason.cause;
        record.attempts = record.conflicts = 0;
        queue_.add(id, reason, now);
    }
    /// The handler is called for the object even without a change; `current`: what the cache has.
    void force(std::string_view id, const Ptr<T>& current, Cause cause, Instant now) {
        if (!is_active_) return;
        Record& record = records_.try_emplace(std::string{id}, Record{current, nullptr, cause}).first->second;
        record.is_forced = true;
        queue_.add(id, {Priority::Low, cause, true}, now);
    }
    /// What waits for the key, if anything does, is tried now (a new event of an object that is gone; rs R-085).
    void poke(std::string_view id, const Reason& reason, Instant now) {
        if (has_record(id)) queue_.add(id, reason, now);
    }
    /// Those that failed for good are tried again (rs R-087).
    void retry_parked(Instant now) {
        for (auto& [id, record] : records_)
            if (record.is_parked) queue_.add(id, {Priority::Low, Cause::Resync}, now);
    }
    /// Dead letters are tried now, and their failures counted anew: of one key, or of all (empty). Returns how many
    /// (rs R-086).
    std::size_t retry_dead_letters(std::string_view id, Instant now) {
        std::size_t count = 0;
        for (auto& [key, record] : records_) {
            if (!record.is_dead_letter || (!id.empty() && key != id)) continue;
            record.attempts = record.conflicts = 0;
            queue_.add(key, {Priority::High, Cause::Retry}, now);
            ++count;
        }
        return count;
    }

    /// Makes the next call that is due; false: none is.
    bool run_one(Instant now) {
        if (must_wait()) return false;
        const auto item = queue_.take(now);
        if (!item) return false;
        Record& record = records_.find(item->id)->second;
        record.is_parked = false;
        const Ptr<T> to = cache_.get(item->id);
        if (is_nothing_to_do(record, to)) {
            ++counters_.coalesced;
            forget(item->id);
        } else {
            call(item->id, record, to, now);
        }
        return true;
    }
    /// How a call that answered later() went. False: it is none of this handler's, or nobody waits for it any more.
    bool finish(CallId id, const HandlerResult& result, Instant now) {
        const auto found = calls_.find(id);
        if (found == calls_.end()) return false;
        const Call finished = std::move(found->second);
        calls_.erase(found);
        settle(finished, result, now);
        return true;
    }
    /// Announces calls that take longer than they may. Cost: O(those that are not finished).
    void announce_stalled(Instant now) {
        for (auto& [id, call] : calls_) {
            if (call.is_announced || now - call.began < settings_.deadline) continue;
            call.is_announced = true;
            ++counters_.stalled;
            announce(NoticeKind::Stalled, call.id, {}, 0);
        }
    }

    [[nodiscard]] std::vector<std::string> check() const {
        std::vector<std::string> broken = queue_.check();
        for (const auto& [id, record] : records_)
            if (!queue_.contains(id) && !record.is_parked) broken.push_back("a record that nobody calls for: " + id);
        if (queue_.size() > records_.size()) broken.emplace_back("a key without a record");
        return broken;
    }

private:
    struct Record {
        Ptr<T> last; // what the handler was given last; nullptr: nothing
        Ptr<T> seen; // what it may have found in the cache meanwhile, where it was given nothing
        Cause cause{};
        bool is_forced = false;
        bool is_parked = false;      // failed for good
        bool is_dead_letter = false; // and was announced
        unsigned attempts = 0;       // that failed, since the last change
        unsigned conflicts = 0;
    };
    struct Call {
        std::string id;
        Ptr<T> to;
        Instant began;
        bool is_announced = false;
    };

    /// A call that is not finished keeps the others back.
    [[nodiscard]] bool must_wait() const { return options_.is_serial && !calls_.empty(); }
    [[nodiscard]] static bool is_nothing_to_do(const Record& record, const Ptr<T>& to) {
        return record.last == to && (to == nullptr ? record.seen == nullptr : !record.is_forced);
    }
    [[nodiscard]] static bool is_same_life(const Ptr<T>& one, const Ptr<T>& other) {
        return one && other && meta_of(*one).uid == meta_of(*other).uid;
    }

    void call(const std::string& id, Record& record, const Ptr<T>& to, Instant now) {
        const Ptr<T> from = record.last || is_same_life(record.seen, to) ? record.last : record.seen;
        // Of two lives of an id, the first one is deleted by this call, and the next call adds the second.
        const Ptr<T> target = !from || is_same_life(from, to) ? to : nullptr;
        const EventContext context{record.attempts > 0 ? Cause::Retry : record.cause,
                                   record.is_forced,
                                   record.attempts + 1,
                                   lease_,
                                   now,
                                   ++last_call_};
        const CallId number = last_call_;
        record.is_forced = false;
        ++counters_.calls;
        calls_.emplace(number, Call{id, target, now});
        YK_FAULT(HandlerCalled);
        const HandlerResult result = invoke(context, from, target);
        YK_FAULT(HandlerReturned);
        if (result.what() != HandlerResult::What::Later) static_cast<void>(finish(number, result, now));
    }

    [[nodiscard]] HandlerResult invoke(const EventContext& context, const Ptr<T>& from, const Ptr<T>& to) {
        try {
            if (!from) return handler_.on_add(context, to);
            return to ? handler_.on_update(context, from, to) : handler_.on_delete(context, from);
        } catch (const std::exception& thrown) {
            return HandlerResult::retry(thrown.what()); // costs this call alone (rs R-065)
        }
    }

    void settle(const Call& call, const HandlerResult& result, Instant now) {
        Record& record = records_.find(call.id)->second;
        switch (result.what()) {
        case HandlerResult::What::Ok: return succeed(call, record, now);
        case HandlerResult::What::RetryAfter: return look_again(call, record, result.delay(), now);
        case HandlerResult::What::Conflict:
            if (++record.conflicts <= settings_.free_conflicts) return queue_.failed(call.id, now);
            return fail(call, record, result, now);
        default: return fail(call, record, result, now);
        }
    }

    void succeed(const Call& call, Record& record, Instant now) {
        record.last = call.to;
        record.seen = nullptr;
        unbury(call.id, record);
        if (cache_.get(call.id) == record.last && !record.is_forced) return forget(call.id);
        queue_.add(call.id, {Priority::Live, record.cause}, now); // the cache has moved on meanwhile
        queue_.done(call.id);
    }

    void look_again(const Call& call, Record& record, Duration delay, Instant now) {
        record.last = call.to;
        record.seen = nullptr;
        unbury(call.id, record);
        record.is_forced = true;
        record.cause = Cause::Retry;
        queue_.again_after(call.id, delay, now);
    }

    void fail(const Call& call, Record& record, const HandlerResult& result, Instant now) {
        const bool is_for_good = result.what() == HandlerResult::What::Permanent;
        ++counters_.failures;
        ++record.attempts;
        record.is_forced = record.is_forced || (record.last && record.last == call.to); // it is still owed
        if (is_for_good || record.attempts >= settings_.dead_letter_after) bury(call.id, record, result.error());
        record.is_parked = is_for_good;
        if (!is_for_good) return queue_.failed(call.id, now);
        queue_.done(call.id);
        record.is_parked = !queue_.contains(call.id); // it changed while the call ran
    }

    /// Everything goes on, but an operator gets to see it (rs R-086).
    void bury(const std::string& id, Record& record, std::string_view error) {
        if (record.is_dead_letter) return;
        record.is_dead_letter = true;
        ++dead_letters_;
        announce(NoticeKind::DeadLetter, id, error, record.attempts);
    }
    void unbury(const std::string& id, Record& record) {
        record.attempts = record.conflicts = 0;
        if (!record.is_dead_letter) return;
        record.is_dead_letter = false;
        --dead_letters_;
        announce(NoticeKind::DeadLetterGone, id, {}, 0);
    }

    /// The handler has everything of the key.
    void forget(const std::string& id) {
        unbury(id, records_.find(id)->second);
        queue_.done(id);
        if (!queue_.contains(id)) records_.erase(records_.find(id));
    }

    void forget_everything() {
        records_.clear();
        calls_.clear();
        queue_.clear();
        dead_letters_ = 0;
    }

    void announce(NoticeKind what, std::string_view id, std::string_view text, std::uint64_t attempts) {
        notices_.notice({what, ResourceTraits<T>::kName, id, handler_.name(), text, attempts});
    }

    ResourceEventHandler<T>& handler_;
    const HandlerOptions options_;
    const ResourceCache<T>& cache_;
    const HandlerSettings& settings_;
    NoticeSink& notices_;
    WorkQueue queue_;
    ByText<Record> records_;
    std::map<CallId, Call> calls_; // that are not finished
    HandlerCounters counters_;
    Lease lease_;
    CallId last_call_ = 0;
    std::size_t dead_letters_ = 0; // records that are
    bool is_active_ = false;
};

} // namespace yk::rs
