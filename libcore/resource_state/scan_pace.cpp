// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/scan_pace.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace yk::rs {
namespace {

constexpr Duration kWindow = std::chrono::seconds{1};
constexpr Duration kLongRead = std::chrono::milliseconds{5};
constexpr Duration kShortRead = std::chrono::milliseconds{2}; // one of twice the rows is no long one
constexpr std::size_t kMostParts = 4;                         // of a page; smaller ones cost more than they spare
constexpr Duration kMostPaused = std::chrono::minutes{10};    // of a scan, where there is no period

} // namespace

void LatencyWindow::add(Duration latency, Instant now) {
    if (now - began_ >= kWindow) {
        previous_ = now - began_ < 2 * kWindow ? current_ : Counts{};
        current_ = {};
        began_ = now;
    }
    const auto microseconds = static_cast<std::uint64_t>(std::max<Duration::rep>(0, latency.count() / 1000));
    ++current_[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(microseconds)), current_.size() - 1)];
}

Duration LatencyWindow::p99(Instant now) const {
    if (now - began_ >= 2 * kWindow) return {};
    std::uint64_t all = 0, seen = 0;
    for (std::size_t at = 0; at < current_.size(); ++at) all += current_[at] + previous_[at];
    if (all == 0) return {};
    for (std::size_t at = 0; at < current_.size(); ++at) {
        seen += current_[at] + previous_[at];
        if (seen * 100 >= all * 99) return std::chrono::microseconds{std::int64_t{1} << at};
    }
    return {};
}

void PageSize::took(Duration time) {
    if (time > kLongRead && parts_ < kMostParts)
        parts_ *= 2;
    else if (time < kShortRead && parts_ > 1)
        parts_ /= 2;
}

void ScanPace::begin(Instant now) {
    next_ = now;
    paused_since_.reset();
    paused_ = {};
    is_slow_ = false;
    share_ = 1;
}

bool ScanPace::may_read(std::size_t live_keys, Duration latency, Instant now) {
    if (now < next_) return false;
    const bool is_busy = live_keys > settings_.pause_above_keys || latency > settings_.pause_above_latency;
    const bool was_paused = paused_since_.has_value();
    if (was_paused) paused_ += now - *paused_since_;
    paused_since_.reset();
    is_slow_ = is_busy && paused_ >= (settings_.period > Duration{} ? settings_.period : kMostPaused);
    if (!is_busy || is_slow_) return true;
    if (!was_paused) share_ = std::max(share_ / 2, kLeastShare);
    paused_since_ = now;
    next_ = now + kLook;
    return false;
}

void ScanPace::rows_read(std::size_t rows, Instant now) {
    if (settings_.rows_per_second == 0) return;
    const double due = static_cast<double>(rows) / static_cast<double>(settings_.rows_per_second); // at the rate
    const Duration cost{std::llround(due / (is_slow_ ? kLeastShare : share_) * 1e9)};
    next_ = std::max(next_, now - cost) + cost;
    share_ = std::min(1.0, share_ + due / kSecondsToRise);
}

} // namespace yk::rs
