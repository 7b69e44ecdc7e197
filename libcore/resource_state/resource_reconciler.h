// SPDX-License-Identifier: Apache-2.0
#pragma once
// ResourceReconciler<T>: brings one key after the other from the database into the cache, and leaves to the handlers
// what changed by that.
//
// A key is taken from the queue, then its row is read, then the two are compared (verdict.h). Since nobody else has the
// key meanwhile, the last read is the newest, whatever else happens (rs R-077). Up to 256 keys are read together. What
// the database did not answer stays in the queue for as long as that takes.
//
// Owner: ResourceInformer<T>. Thread: its owner's; the reads are IoCalls.

#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/fault_point.h"
#include "libcore/base/text.h"
#include "libcore/resource_state/deliveries.h"
#include "libcore/resource_state/io_call.h"
#include "libcore/resource_state/scan_pace.h"
#include "libcore/resource_state/store_gate.h"
#include "libcore/resource_state/suspects.h"
#include "libcore/resource_state/verdict.h"

namespace yk::rs {

/// How often a reconcile ended in which way.
struct ReconcileCounters {
    std::uint64_t nothing = 0, added = 0, removed = 0, updated = 0, reborn = 0;
    std::uint64_t version_only = 0, same = 0, same_version = 0, stale = 0, broken = 0;
    std::uint64_t known = 0;   // events that said what the cache had, and cost no read
    std::uint64_t failed = 0;  // keys that the database refused to read
    std::uint64_t repairs = 0; // what no event had announced; 0 in a healthy system

    [[nodiscard]] std::uint64_t changes() const { return added + removed + updated + reborn + same_version; }
};

/// A full read as its pages are applied.
struct ScanStep {
    std::uint32_t scan = 0; // its number
    Reason reason;
};

/// What is noted before rows are read, to judge them by afterwards.
struct ReadMark {
    std::uint64_t changes = 0; // of the cache, so far
    std::uint32_t era = 0;
};

template <Resource T>
class ResourceReconciler {
public:
    ResourceReconciler(ResourceCache<T>& cache, Deliveries<T>& deliveries, ResourceStore<T>& store, StoreGate& gate,
                       const Settings& settings, NoticeSink& notices, std::uint64_t seed)
        : cache_(cache),
          deliveries_(deliveries),
          store_(store),
          gate_(gate),
          settings_(settings.reconcile),
          notices_(notices),
          queue_(settings.reconcile.backoff, seed),
          suspects_(settings.resync.unproven_after) {}

    void enqueue(std::string_view id, const Reason& reason, Instant now) { queue_.add(id, reason, now); }

    /// An event of a key: queues it, unless the event says exactly what the cache has and nothing is under way. That of
    /// a delete always equals the cache, and is never left out (rs R-037).
    void on_event(const ChangeEvent& event, Instant now) {
        suspects_.clear(event.id, event.lane, event.at);
        if (settings_.skip_known && is_known(event)) {
            ++counters_.known;
            return;
        }
        queue_.add(event.id, {}, now);
    }
    /// The log was consumed up to here: what was changed and not announced until now has to be admitted.
    void on_consumed(const Cursor& position, Instant now) {
        if (suspects_.size() == 0) return;
        std::size_t announced = 0;
        for (const std::string& id : suspects_.take_repairs(position, now)) {
            ++counters_.repairs;
            if (announced++ < kMostAnnounced) announce(NoticeKind::Repair, id, {});
        }
    }

    /// The next read; nullptr: nothing is to be read, or the database is away.
    [[nodiscard]] std::unique_ptr<IoCall> next_call(Instant now) {
        if (!gate_.may_call(now)) return nullptr;
        auto items = take_batch(now);
        if (items.empty()) return nullptr;
        YK_FAULT(KeysTaken);
        gate_.begin();
        ++reading_;
        std::vector<std::string> ids;
        ids.reserve(items.size());
        for (const WorkQueue::Item& item : items) ids.push_back(item.id);
        return make_io_call(
            [this, asked = std::move(ids)] { return store_.read_many(asked); },
            [this, taken = std::move(items), mark = read_mark()](Result<Rows<T>, StoreError> rows, Instant at) mutable {
                --reading_;
                finish(std::move(taken), rows, mark, at);
            });
    }

    /// To be taken before a page is read.
    [[nodiscard]] ReadMark read_mark() const { return {changes_, era_}; }
    /// Applies the rows of a page. A row may stand for the read of its key if nothing is under way for the key and the
    /// cache has not changed there since before the page was read; other keys are queued (rs R-095).
    void apply_page(const Page<T>& page, const ReadMark& mark, const ScanStep& step, Instant now) {
        scan_ = step.scan;
        for (const Found<T>& found : page.found) {
            const std::string& id = id_of(found);
            const bool is_fresh = !queue_.contains(id) && changed_at(id) <= mark.changes;
            if (!is_fresh || !apply(id, step.reason, found, mark, page.head, now)) queue_.add(id, step.reason, now);
        }
    }
    /// Queues what is in the cache and was not seen by the scan, from a place in the cache on; returns where to go on,
    /// or the cache's end(). Only reading the key's row removes anything (rs R-096).
    typename ResourceCache<T>::Slot queue_unseen(typename ResourceCache<T>::Slot first, std::size_t most,
                                                 const ScanStep& step, std::uint64_t& unseen, Instant now) {
        return cache_.for_each_entry_from(first, most, [&](const Entry& entry) {
            if (entry.scan >= step.scan) return;
            ++unseen;
            queue_.add(meta_of(*entry.object).id, step.reason, now);
        });
    }
    /// Queues the broken rows that the scan has not seen: they may have gone.
    void queue_unseen_broken(const ScanStep& step, Instant now) {
        for (const auto& [id, why] : broken_)
            if (!broken_seen_.contains(id)) queue_.add(id, step.reason, now);
    }
    /// What is applied from now on counts as seen by the scan of this number.
    void begin_scan(std::uint32_t scan) {
        scan_ = scan;
        broken_seen_.clear();
    }

    /// A row of the first full read.
    void load(const Found<T>& found) {
        if (const auto* broken = std::get_if<BrokenRow>(&found)) return keep_broken(*broken);
        const auto& object = std::get<Ptr<T>>(found);
        cache_.load({object, ResourceTraits<T>::content_hash(*object), scan_, era_});
    }
    /// Everything is forgotten that a full read makes anew.
    void forget_everything() {
        YK_CHECK(reading_ == 0, "nothing is forgotten while a read is under way");
        queue_.clear();
        halves_.clear();
        stale_.clear();
        broken_.clear();
        broken_seen_.clear();
        suspects_.forget_all();
        ++changes_;
        for (std::uint64_t& at : changed_at_) at = changes_;
    }
    /// The database begins another life: its versions say nothing about those of the cache (rs R-031).
    void begin_era() { ++era_; }

    [[nodiscard]] bool is_reading() const { return reading_ != 0; }
    [[nodiscard]] WorkQueue& queue() { return queue_; }
    [[nodiscard]] const WorkQueue& queue() const { return queue_; }
    [[nodiscard]] const ReconcileCounters& counters() const { return counters_; }
    [[nodiscard]] const LatencyWindow& latency() const { return latency_; }
    /// Rows that cannot be understood, with the reason.
    [[nodiscard]] const std::map<std::string, std::string, std::less<>>& broken_rows() const { return broken_; }
    /// Whether the database was found to be older than it was; asked once.
    [[nodiscard]] bool take_older_found() { return std::exchange(older_found_, false); }

private:
    using Entry = typename ResourceCache<T>::Entry;
    static constexpr std::size_t kMostAnnounced = 10; // repairs at once
    static constexpr unsigned kStaleReads = 3;        // in a row, then the database is believed
    static constexpr std::size_t kBuckets = 4096;
    static constexpr std::size_t kMostMessage = 200; // bytes kept of why a row is broken

    [[nodiscard]] static const std::string& id_of(const Found<T>& found) {
        if (const auto* broken = std::get_if<BrokenRow>(&found)) return broken->id;
        return meta_of(*std::get<Ptr<T>>(found)).id;
    }
    /// When the cache changed last at this key, or at another one of its bucket. Also knows of keys that are gone.
    [[nodiscard]] std::uint64_t& changed_at(std::string_view id) { return changed_at_[mix_hash(1, id) % kBuckets]; }

    [[nodiscard]] bool is_known(const ChangeEvent& event) const {
        if (event.op != Op::Insert && event.op != Op::Update) return false;
        if (event.version == 0 || queue_.contains(event.id)) return false;
        const auto* const cached = cache_.find(event.id);
        if (cached == nullptr || broken_.contains(event.id)) return false;
        const ResourceMeta& meta = meta_of(*cached->object);
        return meta.uid == event.uid && meta.version == event.version;
    }

    [[nodiscard]] std::vector<WorkQueue::Item> take_batch(Instant now) {
        std::vector<WorkQueue::Item> items;
        if (!halves_.empty()) {
            items = std::move(halves_.front());
            halves_.pop_front();
            return items;
        }
        while (items.size() < settings_.batch) {
            auto item = queue_.take(now);
            if (!item) break;
            items.push_back(*std::move(item));
        }
        return items;
    }

    void finish(std::vector<WorkQueue::Item> items, const Result<Rows<T>, StoreError>& rows, const ReadMark& mark,
                Instant now) {
        if (!gate_.ended(error_of(rows), now)) {
            for (auto item = items.rbegin(); item != items.rend(); ++item) queue_.put_back(item->id);
            return;
        }
        if (!rows.ok()) return split(std::move(items), now);
        YK_FAULT(RowsRead);
        YK_CHECK(rows.value().found.size() == items.size(), "a store answers for each key that it was asked for");
        for (std::size_t at = 0; at < items.size(); ++at)
            end(items[at], apply(items[at].id, items[at].reason, rows.value().found[at], mark, rows.value().head, now),
                now);
    }
    void end(const WorkQueue::Item& item, bool applied, Instant now) {
        if (item.reason.priority == Priority::Live) latency_.add(now - item.since, now);
        if (applied)
            queue_.done(item.id);
        else
            queue_.failed(item.id, now);
        YK_FAULT(KeyDone);
    }
    /// The read of several keys was refused: perhaps for one of them only (rs R-076).
    void split(std::vector<WorkQueue::Item> items, Instant now) {
        if (items.size() == 1) {
            ++counters_.failed;
            return queue_.failed(items[0].id, now);
        }
        const auto middle = items.begin() + static_cast<std::ptrdiff_t>(items.size() / 2);
        halves_.emplace_back(std::make_move_iterator(items.begin()), std::make_move_iterator(middle));
        halves_.emplace_back(std::make_move_iterator(middle), std::make_move_iterator(items.end()));
    }

    // --- one key --------------------------------------------------------------------------------
    /// False: it has to be read again.
    bool apply(const std::string& id, const Reason& reason, const Found<T>& found, const ReadMark& mark,
               const std::optional<Cursor>& head, Instant now) {
        const auto* const cached = cache_.find(id);
        if (const auto* broken = std::get_if<BrokenRow>(&found)) {
            if (cached != nullptr) cache_.confirm(id, scan_, cached->era);
            keep_broken(*broken);
            return true;
        }
        mend(id);
        const auto* const row = std::get_if<Ptr<T>>(&found);
        const std::uint64_t content = row == nullptr ? 0 : ResourceTraits<T>::content_hash(**row);
        Verdict verdict = compare(
            row == nullptr ? std::nullopt : std::optional{sight(**row, content, mark.era)},
            cached == nullptr ? std::nullopt : std::optional{sight(*cached->object, cached->content, cached->era)});
        count(verdict);
        if (verdict == Verdict::Stale && !is_believed(id, reason)) return false;
        if (verdict == Verdict::Stale) verdict = Verdict::Update;
        stale_.erase(id);
        if (verdict == Verdict::SameVersion) announce(NoticeKind::SameVersion, id, {});
        carry_out(verdict, id, reason, row == nullptr ? Entry{} : Entry{*row, content, scan_, mark.era}, now);
        // An event that came between the read and now explains the difference as well as one that is still to come.
        const bool is_unexplained = reason.cause == Cause::Resync && !queue_.is_added_again(id);
        if (is_unexplained && is_change(verdict)) suspects_.add(id, head, now);
        return true;
    }

    void carry_out(Verdict verdict, const std::string& id, const Reason& reason, Entry entry, Instant now) {
        if (verdict == Verdict::Nothing) return deliveries_.poke(id, reason, now);
        const Ptr<T> before = cache_.get(id);
        if (verdict == Verdict::Same) {
            cache_.confirm(id, entry.scan, entry.era);
        } else {
            changed_at(id) = ++changes_;
            if (verdict == Verdict::Remove)
                cache_.erase(id);
            else
                cache_.put(std::move(entry));
            YK_FAULT(RowApplied);
            deliveries_.changed(id, before, reason, verdict == Verdict::VersionOnly, now);
            YK_FAULT(DeliveryQueued);
        }
        if (reason.forced && (verdict == Verdict::Same || verdict == Verdict::VersionOnly))
            deliveries_.force(id, cache_.get(id), Cause::Resync, now);
    }

    [[nodiscard]] static bool is_change(Verdict verdict) {
        return verdict != Verdict::Nothing && verdict != Verdict::Same;
    }
    [[nodiscard]] static Sight sight(const T& object, std::uint64_t content, std::uint32_t era) {
        const ResourceMeta& meta = meta_of(object);
        return {meta.uid, meta.version, meta.generation, content, era};
    }

    /// A row that is older than the cached one is read again, later; after three times it is the truth (rs trap 10).
    bool is_believed(const std::string& id, const Reason& reason) {
        const unsigned reads = ++stale_[id];
        if (reads < kStaleReads) return false;
        announce(NoticeKind::StaleRead, id, name_of(reason.cause));
        older_found_ = true;
        return true;
    }

    void keep_broken(const BrokenRow& row) {
        ++counters_.broken;
        broken_seen_.insert(row.id);
        const bool is_news = broken_.insert_or_assign(row.id, std::string{cut(row.message, kMostMessage)}).second;
        if (is_news) announce(NoticeKind::Broken, row.id, row.message);
    }
    void mend(std::string_view id) {
        const auto found = broken_.find(id);
        if (found == broken_.end()) return;
        if (const auto seen = broken_seen_.find(id); seen != broken_seen_.end()) broken_seen_.erase(seen);
        broken_.erase(found);
        announce(NoticeKind::Mended, id, {});
    }

    void count(Verdict verdict) {
        switch (verdict) {
        case Verdict::Nothing: ++counters_.nothing; break;
        case Verdict::Insert: ++counters_.added; break;
        case Verdict::Remove: ++counters_.removed; break;
        case Verdict::Update: ++counters_.updated; break;
        case Verdict::VersionOnly: ++counters_.version_only; break;
        case Verdict::Same: ++counters_.same; break;
        case Verdict::SameVersion: ++counters_.same_version; break;
        case Verdict::Stale: ++counters_.stale; break;
        case Verdict::Reborn: ++counters_.reborn; break;
        }
    }
    void announce(NoticeKind what, std::string_view id, std::string_view text) {
        notices_.notice({what, ResourceTraits<T>::kName, id, {}, text});
    }

    ResourceCache<T>& cache_;
    Deliveries<T>& deliveries_;
    ResourceStore<T>& store_;
    StoreGate& gate_;
    const ReconcileSettings& settings_;
    NoticeSink& notices_;
    WorkQueue queue_;
    std::deque<std::vector<WorkQueue::Item>> halves_; // taken, and to be read in smaller batches
    Suspects suspects_;
    std::map<std::string, unsigned, std::less<>> stale_;     // reads in a row, by id
    std::map<std::string, std::string, std::less<>> broken_; // why, by id
    std::set<std::string, std::less<>> broken_seen_;         // of them by the scan that runs, or ran last
    std::vector<std::uint64_t> changed_at_ = std::vector<std::uint64_t>(kBuckets, 0); // `changes_` then, by bucket
    LatencyWindow latency_;
    ReconcileCounters counters_;
    std::uint64_t changes_ = 0;
    std::size_t reading_ = 0; // reads under way
    std::uint32_t scan_ = 0, era_ = 0;
    bool older_found_ = false;
};

} // namespace yk::rs
