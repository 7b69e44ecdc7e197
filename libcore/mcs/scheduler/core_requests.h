// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the Scheduler asks the scheduler core for, as values: the same that any resource manager may ask for, and
// nothing else (rs R-122). Whoever drives the Scheduler turns them into requests of the interface.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libcore/mcs/kinds.h"

namespace yk::mcs {

struct AddApplication {
    std::string application_id;
    std::string partition;
    std::string queue;
    std::string user;
    std::vector<std::string> groups;
    Texts tags;

    friend bool operator==(const AddApplication&, const AddApplication&) = default;
};

/// A key that is there already is no second ask, so the same ask may be repeated.
struct AskReplica {
    std::string application_id;
    std::string partition;
    std::string allocation_key;
    Amounts resource;
    std::int32_t priority = 0;

    friend bool operator==(const AskReplica&, const AskReplica&) = default;
};

enum class NodeAction : std::uint8_t {
    Create,
    CreateDrain, // as Create, but nothing is placed there
    Update,
    Drain,       // nothing more is placed there; what is there stays
    Schedulable, // the end of Drain
    Decommission // it goes, with what is placed there
};

/// Nothing but the id matters unless a node is created or updated: then all of `content` replaces what the core has.
struct ChangeNode {
    struct Content {
        Texts attributes;
        Amounts capacity;
        Amounts occupied;
        friend bool operator==(const Content&, const Content&) = default;
    };

    std::string node_id;
    NodeAction action = NodeAction::Create;
    std::optional<Content> content;

    friend bool operator==(const ChangeNode&, const ChangeNode&) = default;
};

} // namespace yk::mcs
