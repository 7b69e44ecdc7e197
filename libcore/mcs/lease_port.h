// SPDX-License-Identifier: Apache-2.0
#pragma once
// LeasePort: the port to the rows by which instances agree on who writes as a service.

#include <cstdint>
#include <optional>
#include <string>

#include "libcore/base/time.h"
#include "libcore/resource_state/ports/resource_store.h"

namespace yk::mcs {

/// The row of a lease, as it was seen.
struct LeaseRow {
    std::string holder; // empty: nobody
    std::uint64_t epoch = 0;
    std::int64_t expires_ms = 0; // by the clock of the database
    Duration left{};             // by the same, when it was seen; below 0: it has run out

    /// Nobody has changed it in between.
    [[nodiscard]] bool is_same(const LeaseRow& other) const {
        return holder == other.holder && epoch == other.epoch && expires_ms == other.expires_ms;
    }
};

/// Owner: the program. Thread: one call at a time; a call may wait for the database, which nothing else may keep busy
/// for long.
class LeasePort {
public:
    using Epoch = Result<std::optional<std::uint64_t>, rs::StoreError>;
    virtual ~LeasePort() = default;

    /// The epoch under which this process leads now; nullopt: somebody else does, or there is no such lease (rs R-139).
    [[nodiscard]] virtual Epoch acquire(const std::string& name) = 0;
    /// The same for a lease that has not run out, if it is still as it was seen.
    [[nodiscard]] virtual Epoch seize(const std::string& name, const LeaseRow& seen) = 0;
    /// What is there; nullopt: no such lease.
    [[nodiscard]] virtual Result<std::optional<LeaseRow>, rs::StoreError> look(const std::string& name) = 0;
    /// False: the lease of that epoch is lost. One that ran out and that nobody took is renewed.
    [[nodiscard]] virtual Result<bool, rs::StoreError> renew(const std::string& name, std::uint64_t epoch) = 0;
    /// Whoever waits may take it at once. Nothing happens if it is lost (rs R-144).
    [[nodiscard]] virtual Result<void, rs::StoreError> release(const std::string& name, std::uint64_t epoch) = 0;
};

} // namespace yk::mcs
