#pragma once
// How many requests of each kind were answered, how, and how long it took (I-515). Thread: any.

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
    static constexpr std::size_t kKinds = static_cast<std::size_t>(si::Kind::Shutdown) + 1;
    /// No error: it was carried out. No kind: an unknown one.
    using Results = std::map<std::pair<std::optional<si::Kind>, std::optional<si::ErrorCode>>, std::uint64_t>;

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
