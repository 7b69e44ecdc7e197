// SPDX-License-Identifier: Apache-2.0
#pragma once
// Deliveries<T>: every handler of a kind, each with its own queue, so that one that fails does not hold up another
// (rs R-082). Calls are spread over the handlers in turn.
//
// Owner: ResourceInformer<T>. Thread: its owner's.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/resource_state/handler_queue.h"

namespace yk::rs {

template <Resource T>
class Deliveries {
public:
    Deliveries(const ResourceCache<T>& cache, const HandlerSettings& settings, NoticeSink& notices, std::uint64_t seed)
        : cache_(cache), settings_(settings), notices_(notices), chance_(seed) {}

    HandlerQueue<T>& add(ResourceEventHandler<T>& handler, HandlerOptions options) {
        for (const auto& each : handlers_)
            YK_CHECK(each->name() != handler.name(), "two handlers of a kind have the same name");
        handlers_.push_back(std::make_unique<HandlerQueue<T>>(handler, std::move(options), cache_, settings_, notices_,
                                                              chance_.next()));
        return *handlers_.back();
    }

    void changed(std::string_view id, const Ptr<T>& before, const Reason& reason, bool version_only, Instant now) {
        for (const auto& each : handlers_) each->changed(id, before, reason, version_only, now);
    }
    void force(std::string_view id, const Ptr<T>& current, Cause cause, Instant now) {
        for (const auto& each : handlers_) each->force(id, current, cause, now);
    }
    void poke(std::string_view id, const Reason& reason, Instant now) {
        for (const auto& each : handlers_) each->poke(id, reason, now);
    }
    void retry_parked(Instant now) {
        for (const auto& each : handlers_) each->retry_parked(now);
    }
    std::size_t retry_dead_letters(std::string_view id, Instant now) {
        std::size_t count = 0;
        for (const auto& each : handlers_) count += each->retry_dead_letters(id, now);
        return count;
    }

    /// Makes one call; false: none is due.
    bool run_one(Instant now) {
        for (std::size_t tried = 0; tried < handlers_.size(); ++tried)
            if (handlers_[next_++ % handlers_.size()]->run_one(now)) return true;
        return false;
    }
    bool finish(std::string_view handler, CallId call, const HandlerResult& result, Instant now) {
        for (const auto& each : handlers_)
            if (each->name() == handler) return each->finish(call, result, now);
        return false;
    }
    void announce_stalled(Instant now) {
        for (const auto& each : handlers_) each->announce_stalled(now);
    }
    [[nodiscard]] std::size_t queued() const {
        std::size_t keys = 0;
        for (const auto& each : handlers_) keys += each->queued();
        return keys;
    }
    [[nodiscard]] std::optional<Instant> next_due() const {
        std::optional<Instant> due;
        for (const auto& each : handlers_)
            if (const auto mine = each->next_due()) due = std::min(due.value_or(*mine), *mine);
        return due;
    }
    [[nodiscard]] const std::vector<std::unique_ptr<HandlerQueue<T>>>& handlers() const { return handlers_; }

private:
    const ResourceCache<T>& cache_;
    const HandlerSettings& settings_;
    NoticeSink& notices_;
    Chance chance_;
    std::vector<std::unique_ptr<HandlerQueue<T>>> handlers_;
    std::size_t next_ = 0; // whose turn it is
};

} // namespace yk::rs
