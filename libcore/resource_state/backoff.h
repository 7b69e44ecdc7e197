// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long to wait before something that failed is tried again, and when a database that is away is asked again.
// Values; no clock and no source of chance of their own, so that a run can be replayed.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/base/check.h"
#include "libcore/base/time.h"

namespace yk::rs {

/// Numbers that look random and follow from the seed (splitmix64).
class Chance {
public:
    explicit Chance(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() noexcept {
        std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15U;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
        return mixed ^ (mixed >> 31);
    }
    /// Any time from `least` to `most`. REQUIRES: least <= most.
    Duration between(Duration least, Duration most) noexcept {
        YK_ASSUME(least <= most, "a span of time has its beginning before its end");
        const auto span = static_cast<std::uint64_t>((most - least).count()) + 1;
        return least + Duration{static_cast<Duration::rep>(next() % span)};
    }

private:
    std::uint64_t state_;
};

/// The first wait is about `base`, each further one twice as long, none longer than `most`.
struct BackoffRange {
    Duration base;
    Duration most;
};

/// The wait after the failure that follows on `failures` others: half of it is chance, so that what failed together
/// does not come back together (rs R-078).
[[nodiscard]] inline Duration backoff(const BackoffRange& range, unsigned failures, Chance& chance) {
    Duration wait = range.base;
    for (unsigned doubled = 0; doubled < failures && wait < range.most; ++doubled) wait *= 2;
    wait = std::min(wait, range.most);
    return chance.between(wait / 2, wait);
}

/// Breaker: whether a database or a log can be reached. While it cannot, one call at a time asks again, with growing
/// pauses, and all others wait for that instead of failing one by one (rs R-034).
///
/// Owner: StateManager. Thread: its own.
class Breaker {
public:
    Breaker(BackoffRange range, std::uint64_t seed) : range_(range), chance_(seed) {}

    [[nodiscard]] bool is_up() const { return !down_since_.has_value(); }
    [[nodiscard]] std::optional<Instant> down_since() const { return down_since_; }
    [[nodiscard]] bool may_call(Instant now) const { return is_up() || (!probing_ && now >= probe_at_); }
    /// When it can be asked again; nullopt: it is up, or is being asked.
    [[nodiscard]] std::optional<Instant> next_probe() const {
        return is_up() || probing_ ? std::nullopt : std::optional{probe_at_};
    }

    /// A call begins. REQUIRES: may_call().
    void begin() {
        YK_ASSUME(!probing_, "one call at a time asks whether it is back");
        probing_ = !is_up();
    }
    /// Whatever the call was for, it was answered. Returns whether that is news.
    bool answered() {
        probing_ = false;
        failures_ = 0;
        const bool was_down = !is_up();
        down_since_.reset();
        return was_down;
    }
    /// The call found nobody. Returns whether that, or its cause, is news.
    bool failed(Instant now, std::string_view cause = {}) {
        const bool was_up = is_up(), is_news = was_up || cause != cause_;
        cause_ = cause;
        if (was_up) down_since_ = now;
        if (was_up || probing_) probe_at_ = now + backoff(range_, failures_++, chance_);
        probing_ = false;
        return is_news;
    }

private:
    BackoffRange range_;
    Chance chance_;
    std::optional<Instant> down_since_;
    Instant probe_at_;
    std::string cause_; // of the last failure
    unsigned failures_ = 0;
    bool probing_ = false;
};

} // namespace yk::rs
