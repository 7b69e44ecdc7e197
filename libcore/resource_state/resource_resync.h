// SPDX-License-Identifier: Apache-2.0
#pragma once
// ResourceResync<T>: reads every row of a kind, page by page, and has each of them reconciled; afterwards looks for
// what is in the cache and was not in the database, and has that reconciled, too. So a change whose event never came is
// found after all (rs ).
//
// A resync does that now and then and also calls the handlers for what has not changed; a relist does it once after a
// gap and calls them only for differences. At most one read runs and one waits per kind (rs R-098). One that fails
// looks for no orphans and begins again after a back-off.
//
// Owner: ResourceInformer<T>. Thread: its owner's; the reads are IoCalls.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "libcore/resource_state/resource_reconciler.h"

namespace yk::rs {

enum class ScanKind : std::uint8_t { Resync, Relist };

/// A full read that ended.
struct ScanReport {
    ScanKind kind{};
    Instant began, ended;
    bool was_aborted = false;
    std::string fault; // why
    std::uint64_t rows = 0, changed = 0, same = 0, broken = 0;
    std::uint64_t queued = 0;  // rows whose keys were busy, and are read once more
    std::uint64_t orphans = 0; // in the cache and not seen in the database
    [[nodiscard]] std::string text() const {
        return (was_aborted ? "aborted (" + fault + "), " : "") + std::to_string(rows) + " rows, " +
               std::to_string(changed) + " changed, " + std::to_string(orphans) + " not seen, in " +
               std::to_string((ended - began).count() / 1'000'000) + " ms";
    }
};

template <Resource T>
class ResourceResync {
public:
    ResourceResync(ResourceCache<T>& cache, ResourceReconciler<T>& reconciler, Deliveries<T>& deliveries,
                   ResourceStore<T>& store, StoreGate& gate, const Settings& settings, NoticeSink& notices,
                   std::uint64_t seed)
        : cache_(cache),
          reconciler_(reconciler),
          deliveries_(deliveries),
          store_(store),
          gate_(gate),
          settings_(settings),
          notices_(notices),
          chance_(seed),
          pace_(settings.resync) {}

    /// A full read that begins now, or when the one that runs is over. A resync and a relist that wait become one
    /// relist.
    void request(ScanKind kind, Instant now) {
        if (!waiting_ || kind == ScanKind::Relist) waiting_ = kind;
        if (phase_ == Phase::Idle) begin(now);
    }
    [[nodiscard]] bool is_idle() const { return phase_ == Phase::Idle; }
    [[nodiscard]] bool is_reading() const { return is_reading_; }
    /// No read runs or waits any more. REQUIRES: !is_reading().
    void stop() {
        YK_ASSUME(!is_reading_, "a read that is under way is finished first");
        phase_ = Phase::Idle;
        waiting_.reset();
    }
    /// As many times the rows that the settings say are read at once.
    void set_page_factor(std::size_t factor) { page_factor_ = factor; }
    /// Rows of a page. While one takes long it is read in parts.
    [[nodiscard]] std::size_t page() const {
        return std::max<std::size_t>(settings_.resync.page * page_factor_ / page_divisor_, 1);
    }
    /// The database answers, and did not give a page: if it was too much for its limit of time, the next ones are
    /// smaller, until a scan has gone well.
    void page_failed(const StoreError& error) {
        if (error.fault == StoreFault::Transient && page() > 1) page_divisor_ *= 2;
    }
    /// Whether a relist runs or waits: the cache may lack something until then.
    [[nodiscard]] bool is_relisting() const {
        return waiting_ == ScanKind::Relist || (!is_idle() && report_.kind == ScanKind::Relist);
    }

    /// The next page; nullptr: none is to be read now.
    [[nodiscard]] std::unique_ptr<IoCall> next_call(Instant now) {
        if (phase_ != Phase::Reading || is_reading_ || !gate_.may_call(now)) return nullptr;
        if (!pace_.may_read(live_keys(), reconciler_.latency().p99(now), now)) return nullptr;
        gate_.begin();
        is_reading_ = true;
        return make_io_call(
            [this, after = after_, rows = size_.rows(page())] { return store_.read_page(after, rows); },
            [this, mark = reconciler_.read_mark(), now](const Result<Page<T>, StoreError>& page, Instant at) {
                size_.took(at - now);
                finish(page, mark, at);
            });
    }
    /// Does the next bit of what needs no database; false: there is nothing.
    bool turn(Instant now) {
        if (phase_ == Phase::Pausing && now >= pace_.next()) {
            begin_reading(now);
            return true;
        }
        if (phase_ != Phase::Comparing) return false;
        next_slot_ = reconciler_.queue_unseen(next_slot_, kSlice, step(), report_.orphans, now);
        if (next_slot_ < cache_.end()) return true;
        reconciler_.queue_unseen_broken(step(), now);
        end(now);
        return true;
    }
    /// When there is something to do without an event; nullopt: never.
    [[nodiscard]] std::optional<Instant> next_due() const {
        const bool waits = phase_ == Phase::Pausing || (phase_ == Phase::Reading && !is_reading_);
        return waits ? std::optional{pace_.next()} : std::nullopt;
    }
    /// The last ones that ended, the newest last.
    [[nodiscard]] const std::deque<ScanReport>& reports() const { return reports_; }
    /// When the last one ended that was not aborted; nullopt: none has.
    [[nodiscard]] std::optional<Instant> read_whole() const { return read_whole_; }

private:
    enum class Phase : std::uint8_t {
        Idle,
        Reading,
        Pausing,  // before it begins again
        Comparing // looking for orphans
    };
    static constexpr std::size_t kSlice = 10'000; // entries of the cache that are looked at in one go
    static constexpr std::size_t kReports = 20;

    /// What piles up if the scan goes on too fast: live keys, and what handlers have to be called for.
    [[nodiscard]] std::size_t live_keys() const {
        return reconciler_.queue().queued(Priority::Live) + deliveries_.queued();
    }
    [[nodiscard]] ScanStep step() const {
        if (report_.kind == ScanKind::Relist) return {scan_, {Priority::Low, Cause::Relist, false}};
        return {scan_, {Priority::Low, Cause::Resync, true}};
    }

    void begin(Instant now) {
        report_ = {};
        report_.kind = *std::exchange(waiting_, std::nullopt);
        report_.began = now;
        begin_reading(now);
    }
    void begin_reading(Instant now) {
        const ScanReport fresh{report_.kind, report_.began, {}, false, {}};
        report_ = fresh;
        after_.clear();
        reconciler_.begin_scan(++scan_);
        pace_.begin(now);
        phase_ = Phase::Reading;
    }

    void finish(const Result<Page<T>, StoreError>& page, const ReadMark& mark, Instant now) {
        is_reading_ = false;
        const bool is_answered = gate_.ended(error_of(page), now);
        if (!page.ok() && is_answered) page_failed(page.error());
        if (!page.ok()) return abort(page.error().message, is_answered, now);
        failures_ = 0;
        apply(page.value(), mark, now);
        pace_.rows_read(page.value().found.size(), now);
        after_ = page.value().last_id;
        if (!page.value().is_last) return;
        next_slot_ = 0;
        phase_ = Phase::Comparing;
    }
    void apply(const Page<T>& page, const ReadMark& mark, Instant now) {
        const ReconcileCounters& counters = reconciler_.counters();
        const ReconcileCounters before = counters;
        const std::uint64_t adds = reconciler_.queue().adds();
        reconciler_.apply_page(page, mark, step(), now);
        report_.rows += page.found.size();
        report_.changed += counters.changes() - before.changes();
        report_.same += counters.same - before.same;
        report_.broken += counters.broken - before.broken;
        report_.queued += reconciler_.queue().adds() - adds;
    }

    /// What was seen so far proves nothing of what was not: no orphans are looked for.
    void abort(const std::string& why, bool is_answered, Instant now) {
        if (failures_ == 0) {
            report_.was_aborted = true;
            report_.fault = why;
            report_.ended = now;
            keep(report_);
        }
        const Duration pause = backoff(settings_.reconcile.backoff, failures_++, chance_);
        if (waiting_ == ScanKind::Relist) report_.kind = ScanKind::Relist;
        waiting_.reset();
        pace_.begin(is_answered ? now + pause : now); // while the database is away, the gate says when
        phase_ = Phase::Pausing;
    }
    void end(Instant now) {
        report_.ended = now;
        keep(report_);
        deliveries_.retry_parked(now);
        if (page_divisor_ > 1) page_divisor_ /= 2;
        phase_ = Phase::Idle;
        if (waiting_) begin(now);
    }
    void keep(const ScanReport& report) {
        reports_.push_back(report);
        if (!report.was_aborted) read_whole_ = report.ended;
        if (reports_.size() > kReports) reports_.pop_front();
        notices_.notice({NoticeKind::ResyncDone, ResourceTraits<T>::kName, {}, {}, report.text()});
    }

    ResourceCache<T>& cache_;
    ResourceReconciler<T>& reconciler_;
    Deliveries<T>& deliveries_;
    ResourceStore<T>& store_;
    StoreGate& gate_;
    const Settings& settings_;
    NoticeSink& notices_;
    Chance chance_;
    ScanPace pace_;
    PageSize size_;
    Phase phase_ = Phase::Idle;
    std::optional<ScanKind> waiting_;
    ScanReport report_; // of the read that runs
    std::deque<ScanReport> reports_;
    std::optional<Instant> read_whole_;
    std::string after_; // the last id of the last page
    typename ResourceCache<T>::Slot next_slot_ = 0;
    std::uint32_t scan_ = 0;
    std::size_t page_factor_ = 1, page_divisor_ = 1;
    unsigned failures_ = 0;
    bool is_reading_ = false;
};

} // namespace yk::rs
