// SPDX-License-Identifier: Apache-2.0
#pragma once
// How fast a full read goes on beside the daily work, in which parts, and how long that takes meanwhile. Values with
// the time as a parameter. Owner: one kind's informer. Thread: its owner's.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "libcore/base/time.h"
#include "libcore/resource_state/settings.h"

namespace yk::rs {

/// How long live changes waited, over the last one to two seconds; exact to a factor of two.
class LatencyWindow {
public:
    void add(Duration latency, Instant now);
    /// 99 of 100 were not longer; 0 if there were none.
    [[nodiscard]] Duration p99(Instant now) const;

private:
    using Counts = std::array<std::uint32_t, 48>; // by the logarithm of the microseconds

    Counts current_{}, previous_{};
    Instant began_;
};

/// How many rows of a page are read at once: all, or a part of them down to a quarter, while a read takes longer than
/// the live work of the same thread should wait (rs R-094, rs P-09).
class PageSize {
public:
    [[nodiscard]] std::size_t rows(std::size_t page) const { return std::max<std::size_t>(page / parts_, 1); }
    /// How long the last read took.
    void took(Duration time);

private:
    std::size_t parts_ = 1;
};

/// From page to page passes as much time as the rate says, the reading itself included; what was lost by one that took
/// longer is made up for by no more than the time of a page. While live work piles up a scan pauses, but in all no
/// longer than one period: then it goes on at a tenth of the rate, so that it cannot be starved for ever (rs R-097).
/// After a pause it goes on at half its pace and becomes faster little by little, since what made it pause is mostly
/// still there: so it finds the pace at which live work does not pile up (rs F-49).
class ScanPace {
public:
    explicit ScanPace(const ResyncSettings& settings) : settings_(settings) {}

    void begin(Instant now);
    /// Whether the next page may be read now, with so many live keys waiting, and their latency.
    [[nodiscard]] bool may_read(std::size_t live_keys, Duration latency, Instant now);
    void rows_read(std::size_t rows, Instant now);
    /// When to ask again.
    [[nodiscard]] Instant next() const { return next_; }

private:
    static constexpr Duration kLook = std::chrono::milliseconds{50}; // how often it looks whether the pause is over
    static constexpr double kLeastShare = 0.1;   // of the rate; also when it has paused for too long
    static constexpr double kSecondsToRise = 10; // of rows at the full rate, from nothing to all of it

    const ResyncSettings& settings_;
    Instant next_;
    std::optional<Instant> paused_since_;
    Duration paused_{};
    bool is_slow_ = false;
    double share_ = 1; // of the rate
};

} // namespace yk::rs
