#pragma once
// RmBooks: what an RM has been told, as scenario.md defines the RM's own books.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "protocol/wire/value.h"

namespace yk::scenario {

using wire::Value;

/// Owner: the player, one per RM. Thread: the player's. Fed with callbacks in stream order.
class RmBooks {
public:
    /// One callback item of the stream (interface.md 4.8). Returns the releases of it that need a confirmation, as
    /// entries of `allocationsToRelease`.
    std::vector<Value> apply(const std::string& kind, const Value& body);

    /// The RM has sent this `allocationsToRelease` entry: what it names has left the books.
    void release_sent(const Value& release);

    /// The value of a key of the expect table that looks at the books: `allocations`, `allocationNodes`, ...
    [[nodiscard]] Value observed(const std::string& key) const;

private:
    struct Held {
        std::string application, node;
    };

    void update_allocation(const Value& body, std::vector<Value>& to_confirm);

    std::map<std::string, Held> held_; // by allocation key
    std::map<std::string, std::string> released_;
    std::set<std::string> accepted_applications_, rejected_applications_, accepted_nodes_, rejected_nodes_,
        rejected_asks_;
};

} // namespace yk::scenario
