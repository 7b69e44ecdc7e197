// SPDX-License-Identifier: Apache-2.0
#pragma once
// ResourceInformer<T>: everything of one kind: the cache, the reconciler that keeps it, the deliveries to the handlers,
// and the full reads. However many services watch a kind, it is read once (rs R-005).
//
// Owner: StateManager, which makes it. Thread: the owner's.

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "libcore/base/fault_point.h"
#include "libcore/resource_state/informer.h"

namespace yk::rs {

template <Resource T>
class ResourceInformer final : public Informer {
public:
    ResourceInformer(ResourceStore<T>& store, StoreGate& gate, const Settings& settings, NoticeSink& notices,
                     std::uint64_t seed)
        : store_(store),
          gate_(gate),
          settings_(settings),
          deliveries_(cache_, settings.handlers, notices, seed),
          reconciler_(cache_, deliveries_, store, gate, settings, notices, seed + 1),
          resync_(cache_, reconciler_, deliveries_, store, gate, settings, notices, seed + 2) {}

    [[nodiscard]] const ResourceCache<T>& cache() const { return cache_; }
    template <class Key>
    const CacheIndex<T, Key>& add_index(typename CacheIndex<T, Key>::KeyOf key_of) {
        return cache_.template add_index<Key>(std::move(key_of));
    }
    /// The handler must outlive the informer. One that is added after the start gets what is there (rs R-058).
    void add_handler(ResourceEventHandler<T>& handler, HandlerOptions options, Instant now) {
        HandlerQueue<T>& made = deliveries_.add(handler, std::move(options));
        if (has_begun_) activate(made, Cause::Initial, true, now);
    }
    /// How a call that answered HandlerResult::later() went. False: nobody waits for it any more.
    bool finish(std::string_view handler, CallId call, const HandlerResult& result, Instant now) {
        return deliveries_.finish(handler, call, result, now);
    }
    [[nodiscard]] const ResourceReconciler<T>& reconciler() const { return reconciler_; }
    [[nodiscard]] const ResourceResync<T>& resync() const { return resync_; }
    [[nodiscard]] const Deliveries<T>& deliveries() const { return deliveries_; }

private:
    [[nodiscard]] Kind kind() const override { return ResourceTraits<T>::kKind; }
    [[nodiscard]] std::string_view name() const override { return ResourceTraits<T>::kName; }

    [[nodiscard]] std::unique_ptr<IoCall> next_call(Instant now) override {
        if (load_ == Load::Reading) return next_page(now);
        if (load_ != Load::Done) return nullptr;
        auto call = reconciler_.next_call(now);
        return call ? std::move(call) : resync_.next_call(now);
    }
    bool turn(Instant now) override { return resync_.turn(now) || deliveries_.run_one(now); }
    [[nodiscard]] std::optional<Instant> next_due() const override {
        std::optional<Instant> due = deliveries_.next_due();
        if (!gate_.is_up()) return due; // the gate says when the database is asked again
        for (const auto& each : {reconciler_.queue().next_due(), resync_.next_due()})
            if (each) due = std::min(due.value_or(*each), *each);
        return due;
    }
    [[nodiscard]] bool is_calling() const override {
        return is_loading_page_ || reconciler_.is_reading() || resync_.is_reading();
    }

    void begin_load(const CapturedCursor& /*captured*/) override { // it must be there before anything is read
        YK_CHECK(!is_calling() && !has_begun_, "a start begins anew only before anybody relies on it");
        resync_.stop();
        reconciler_.forget_everything();
        cache_.begin_load();
        load_after_.clear();
        load_ = Load::Reading;
    }
    [[nodiscard]] Load load() const override { return load_; }
    [[nodiscard]] const std::string& load_fault() const override { return load_fault_; }
    void mark() override { reconciler_.queue().mark(); }
    [[nodiscard]] bool is_settled() const override { return reconciler_.queue().settled() && !resync_.is_relisting(); }
    void begin_handlers(Instant now) override {
        cache_.set_synced(true);
        has_begun_ = true;
        for (const auto& each : deliveries_.handlers())
            activate(*each, Cause::Initial, settings_.start.initial_add || each->options().needs_initial, now);
    }
    void set_page_factor(std::size_t factor) override { resync_.set_page_factor(factor); }

    void enqueue(std::string_view id, const Reason& reason, Instant now) override {
        reconciler_.enqueue(id, reason, now);
    }
    void on_event(const ChangeEvent& event, Instant now) override { reconciler_.on_event(event, now); }
    void on_consumed(const Cursor& position, Instant now) override { reconciler_.on_consumed(position, now); }
    void request_scan(ScanKind scan, Instant now) override { resync_.request(scan, now); }
    [[nodiscard]] bool is_scanning() const override { return !resync_.is_idle(); }
    void begin_era() override { reconciler_.begin_era(); }
    [[nodiscard]] bool take_older_found() override { return reconciler_.take_older_found(); }
    void set_lease(std::string_view service, const std::optional<Lease>& lease, Instant now) override {
        if (lease)
            leases_.insert_or_assign(std::string{service}, *lease);
        else
            leases_.erase(std::string{service});
        for (const auto& each : deliveries_.handlers()) {
            if (each->options().service != service || !has_begun_) continue;
            if (!lease)
                each->deactivate();
            else if (each->is_active())
                each->set_lease(*lease);
            else
                activate(*each, Cause::Takeover, true, now);
        }
    }
    void announce_stalled(Instant now) override { deliveries_.announce_stalled(now); }
    std::size_t retry_dead_letters(std::string_view id, Instant now) override {
        return deliveries_.retry_dead_letters(id, now);
    }

    [[nodiscard]] KindStatus status() const override {
        const WorkQueue& queue = reconciler_.queue();
        KindStatus status;
        status.name = name();
        status.is_synced = cache_.is_synced();
        status.size = cache_.size();
        status.queued = queue.queued();
        status.waiting = queue.size() - status.queued;
        for (const Priority each : {Priority::High, Priority::Live, Priority::Low})
            if (const auto since = queue.oldest(each); since && (!status.oldest || *since < *status.oldest))
                status.oldest = since;
        status.broken_rows = reconciler_.broken_rows().size();
        for (const auto& [id, why] : reconciler_.broken_rows()) {
            if (status.broken.size() == KindStatus::kMostBroken) break;
            status.broken.push_back({id, why});
        }
        status.counters = reconciler_.counters();
        for (const auto& each : deliveries_.handlers())
            status.handlers.push_back({std::string{each->name()}, each->is_active(), each->backlog(),
                                       each->dead_letters(), each->counters()});
        if (!resync_.reports().empty()) status.last_scan = resync_.reports().back();
        status.read_whole = resync_.read_whole();
        return status;
    }

    [[nodiscard]] KeyStatus inspect(std::string_view id) const override {
        KeyStatus status;
        if (const auto object = cache_.get(id)) status.cached = image_of(*object);
        status.is_queued = reconciler_.queue().contains(id);
        const auto broken = reconciler_.broken_rows().find(id);
        if (broken != reconciler_.broken_rows().end()) status.broken = broken->second;
        for (const auto& each : deliveries_.handlers()) status.handlers.push_back(each->inspect(id));
        return status;
    }

    void activate(HandlerQueue<T>& handler, Cause cause, bool wanted, Instant now) {
        const bool initial = wanted && handler.options().wants_initial;
        const auto lease = leases_.find(handler.options().service);
        if (handler.options().service.empty())
            handler.activate(cause, {}, initial, now);
        else if (lease != leases_.end())
            handler.activate(cause, lease->second, initial, now);
    }

    [[nodiscard]] std::unique_ptr<IoCall> next_page(Instant now) {
        if (is_loading_page_ || !gate_.may_call(now)) return nullptr;
        gate_.begin();
        is_loading_page_ = true;
        return make_io_call(
            [this, after = load_after_, rows = resync_.page()] { return store_.read_page(after, rows); },
            [this](const Result<Page<T>, StoreError>& page, Instant at) { take_page(page, at); });
    }
    void take_page(const Result<Page<T>, StoreError>& page, Instant now) {
        is_loading_page_ = false;
        const bool is_answered = gate_.ended(error_of(page), now);
        if (!page.ok()) {
            if (is_answered) resync_.page_failed(page.error());
            load_fault_ = page.error().message;
            load_ = Load::Failed;
            return;
        }
        for (const Found<T>& found : page.value().found) reconciler_.load(found);
        YK_FAULT(PageLoaded);
        load_after_ = page.value().last_id;
        if (!page.value().is_last) return;
        cache_.end_load();
        load_ = Load::Done;
    }

    ResourceStore<T>& store_;
    StoreGate& gate_;
    const Settings& settings_;
    ResourceCache<T> cache_;
    Deliveries<T> deliveries_;
    ResourceReconciler<T> reconciler_;
    ResourceResync<T> resync_;
    std::map<std::string, Lease, std::less<>> leases_; // of the services that this process writes as
    std::string load_after_;                           // the last id of the last page of the first full read
    Load load_ = Load::None;
    std::string load_fault_;
    bool is_loading_page_ = false;
    bool has_begun_ = false; // the handlers have
};

} // namespace yk::rs
