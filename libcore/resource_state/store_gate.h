// SPDX-License-Identifier: Apache-2.0
#pragma once
// StoreGate: whether a database may be asked now. All kinds of a database share one, so that an outage is noticed once,
// announced once, and ended by a single call that asks again (rs R-034).
//
// Owner: StateManager. Thread: its owner's.

#include <optional>
#include <string>

#include "libcore/resource_state/backoff.h"
#include "libcore/resource_state/ports/notices.h"
#include "libcore/resource_state/ports/resource_store.h"

namespace yk::rs {

class StoreGate {
public:
    StoreGate(const BackoffRange& probe, NoticeSink& notices, std::uint64_t seed)
        : breaker_(probe, seed), notices_(notices) {}

    [[nodiscard]] bool may_call(Instant now) const { return breaker_.may_call(now); }
    [[nodiscard]] std::optional<Instant> next_probe() const { return breaker_.next_probe(); }
    [[nodiscard]] bool is_up() const { return breaker_.is_up(); }
    /// What the last call said that met damage; empty: none has.
    [[nodiscard]] const std::string& damage() const { return damage_; }
    /// A call begins. REQUIRES: may_call().
    void begin() { breaker_.begin(); }
    /// The call was answered, or (Down) found nobody. Returns whether it was answered. That it is away is announced
    /// when that begins, and when it has another cause.
    bool ended(const std::optional<StoreError>& error, Instant now) {
        if (error && error->damage != Damage::None) damage_ = error->message;
        const bool is_down = error && error->fault == StoreFault::Down;
        const bool is_news = is_down ? breaker_.failed(now, error->message) : breaker_.answered();
        if (is_news)
            notices_.notice({is_down ? NoticeKind::StoreDown : NoticeKind::StoreUp,
                             {},
                             {},
                             {},
                             is_down ? std::string_view{error->message} : std::string_view{}});
        return !is_down;
    }

private:
    Breaker breaker_;
    NoticeSink& notices_;
    std::string damage_;
};

/// The error of a result, if it is one.
template <class T>
[[nodiscard]] std::optional<StoreError> error_of(const Result<T, StoreError>& result) {
    return result.ok() ? std::nullopt : std::optional{result.error()};
}

} // namespace yk::rs
