// SPDX-License-Identifier: Apache-2.0
#pragma once
// RmBooks: the state of an RM according to its callbacks, as scenario.md defines the RM's own books.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "protocol/si/messages.h"
#include "protocol/wire/value.h"

namespace yk::scenario {

using wire::Value;

/// Owner: the player, one per RM. Thread: the player's. Fed with callbacks in stream order.
class RmBooks {
public:
    /// Applies one callback item of the stream (interface.md 4.8). Returns the confirmations of those of its releases
    /// that need one.
    std::vector<si::AllocationRelease> apply(const std::string& kind, const Value& body);

    /// Removes the allocations that an `allocationsToRelease` entry names, which the RM has sent.
    void release_sent(const Value& release);

    /// The value of a key of the expect table that is about the books: `allocations`, `allocationNodes`, ...
    [[nodiscard]] Value observed(const std::string& key) const;

private:
    struct Held {
        std::string application, node;
    };

    void update_allocation(const Value& body, std::vector<si::AllocationRelease>& to_confirm);

    std::map<std::string, Held> held_; // by allocation key
    std::map<std::string, std::string> released_;
    std::set<std::string> accepted_applications_, rejected_applications_, accepted_nodes_, rejected_nodes_,
        rejected_asks_;
};

} // namespace yk::scenario
