// SPDX-License-Identifier: Apache-2.0
#pragma once
// RefusedLease: the lease that the database refused last. With it nothing more needs to be tried, since another
// instance leads (rs R-090).
//
// Owner: whoever hands out writes. Thread: its owner's.

#include <cstdint>
#include <optional>
#include <variant>

#include "libcore/mcs/write_port.h"

namespace yk::mcs {

class RefusedLease {
public:
    [[nodiscard]] bool is(std::uint64_t epoch) const { return epoch_ == epoch; }

    /// What a write with the lease of this number came to. A lease of another number that was not refused clears the
    /// memory: a database that was restored from a copy counts from there, and gives a number a second time.
    void see(const WriteOutcome& outcome, std::uint64_t epoch) {
        if (std::holds_alternative<Fenced>(outcome))
            epoch_ = epoch;
        else if (!is(epoch))
            epoch_.reset();
    }

private:
    std::optional<std::uint64_t> epoch_;
};

} // namespace yk::mcs
