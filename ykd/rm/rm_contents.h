// SPDX-License-Identifier: Apache-2.0
#pragma once
// RmContents: how many objects an RM has, in all its partitions together.

#include <cstdint>
#include <optional>
#include <string>

#include "libcore/ports/budget.h"
#include "protocol/wire/value.h"
#include "ykd/owner/rm_owner.h"

namespace yk::service {

struct RmContents {
    std::int64_t nodes = 0, applications = 0, allocations = 0, pending_asks = 0;
    Holdings held;                          // as contents_of() counted them; add() leaves them out
    bool is_settled = true;                 // is_settled(); add() leaves it out
    std::optional<RecoveryStatus> recovery; // while it recovers or has failed; add() leaves it out

    void add(const RmContents& other);
    /// Whether there is any object.
    [[nodiscard]] bool any() const { return nodes != 0 || applications != 0 || allocations != 0 || pending_asks != 0; }
    /// For people: `1 node, 2 applications and 3 allocations`, without the kinds that there are none of; `nothing`.
    [[nodiscard]] std::string text() const;
    /// As a map {nodes, applications, allocations, pendingAsks}.
    [[nodiscard]] wire::Value value() const;
};

/// The contents of an RM, all 0 when it is not registered. Thread: the owner thread of the RM.
[[nodiscard]] RmContents contents_of(RmOwner& owner);

} // namespace yk::service
