// SPDX-License-Identifier: Apache-2.0
#pragma once
// RequestMeter: how many requests of each kind were answered, with which result, and how long that took (I-515).
//
// Owner: Daemon. Thread: any.

#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "protocol/si/errors.h"
#include "protocol/si/kinds.h"
#include "ykd/runtime/tally.h"

namespace yk::service {

class RequestMeter {
public:
    static constexpr std::size_t kKinds = si::kKindCount;
    /// Numbers by kind and error. No error: the request was carried out. No kind: the request named an unknown one.
    using Results = std::map<std::pair<std::optional<si::Kind>, std::optional<si::ErrorCode>>, std::uint64_t>;

    /// All counts since the start.
    struct Reading {
        Results results;
        std::array<Histogram, kKinds> seconds;
        std::map<si::ErrorCode, std::uint64_t> undecoded;
    };

    void answered(std::optional<si::Kind> kind, std::optional<si::ErrorCode> error, Duration took) {
        const std::lock_guard lock(mutex_);
        ++reading_.results[{kind, error}];
        if (kind) reading_.seconds[static_cast<std::size_t>(*kind)].observe(took);
    }
    void undecoded(si::ErrorCode reason) {
        const std::lock_guard lock(mutex_);
        ++reading_.undecoded[reason];
    }
    [[nodiscard]] Reading read() const {
        const std::lock_guard lock(mutex_);
        return reading_;
    }

private:
    mutable std::mutex mutex_;
    Reading reading_;
};

} // namespace yk::service
