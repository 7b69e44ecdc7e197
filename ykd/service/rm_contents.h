#pragma once
// What an RM has: how many objects of all its partitions together.

#include <cstdint>
#include <string>

#include "libcore/scheduler/budget.h"
#include "protocol/wire/value.h"

namespace yk {
class RmOwner;
}

namespace yk::service {

struct RmContents {
    std::int64_t nodes = 0, applications = 0, allocations = 0, pending_asks = 0;
    Holdings held; // of one RM, not added up

    void add(const RmContents& other);
    [[nodiscard]] bool any() const { return nodes != 0 || applications != 0 || allocations != 0 || pending_asks != 0; }
    /// `1 node, 2 applications and 3 allocations`, without what there is none of; `nothing`.
    [[nodiscard]] std::string text() const;
    /// {nodes, applications, allocations, pendingAsks}
    [[nodiscard]] wire::Value value() const;
};

/// Thread: the owner's. Nothing when the RM is not registered.
[[nodiscard]] RmContents contents_of(const RmOwner& owner);

} // namespace yk::service
