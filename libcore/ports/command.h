// SPDX-License-Identifier: Apache-2.0
#pragma once
// What comes into the core, in domain terms: plain structs that view texts owned by the caller for the duration of
// the call. The core copies what it keeps. Partition names may be short, empty or full (I-111); the caller has
// already refused a full name of another RM.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "libcore/base/tag.h"
#include "libcore/resources/node_devices.h"

namespace yk {

struct Quantity {
    std::string_view name;
    std::int64_t value = 0;
};
using Quantities = std::vector<Quantity>; // a name at most once

/// What an ask wants of the devices of a resource: `count` of them, and `each` of each (F-003); or, with `on`, which
/// ones a placement that the RM reports has, and how much of each (F-006).
struct DevicesSpec {
    std::string_view name; // of the resource
    std::uint32_t count = 0;
    std::int64_t each = 0;
    std::vector<DeviceAmount> on;
};

/// The devices of a resource on a node: the size of each (F-001).
struct DeviceListSpec {
    std::string_view name;
    std::vector<std::int64_t> sizes;
};

/// Why an allocation ends, with the integers of the wire (I-032).
enum class TerminationType : std::uint8_t {
    Unknown = 0,
    StoppedByRm = 1,
    Timeout = 2,
    PreemptedByScheduler = 3,
    PlaceholderReplaced = 4
};

/// What a node request does, with the integers of the wire; unknown ones arrive as Unset (I-045).
enum class NodeAction : std::uint8_t {
    Unset = 0,
    Create = 1,
    Update = 2,
    Drain = 3,
    Decommission = 4,
    Schedulable = 5,
    CreateDrain = 6
};

/// An ask, or, with `node`, a placement that the RM reports (S-451). A `foreign` tag makes it foreign (S-500).
struct AskSpec {
    std::string_view partition;
    std::string_view application;
    std::string_view key;
    Quantities resource;
    std::int32_t priority = 0;
    std::int32_t max_allocations = 0; // more than 1 is refused (S-112)
    std::string_view task_group;
    std::string_view node;
    Tags tags;
    std::vector<DevicesSpec> devices; // a resource at most once
    bool placeholder = false;
    bool originator = false;
    bool allow_preempt_self = false;
    bool allow_preempt_other = false;
};

struct ReleaseSpec {
    std::string_view partition;
    std::string_view application; // empty: a foreign allocation
    std::string_view key;         // empty: everything of the application
    TerminationType type = TerminationType::Unknown;
    std::string_view message;
    bool keep_asks = false; // without a key: the asks of the application stay
};

/// Processed in the order of the members, each list in order (S-441).
struct AllocationRequest {
    std::vector<AskSpec> allocations;
    std::vector<AskSpec> asks;
    std::vector<ReleaseSpec> ask_releases;
    std::vector<ReleaseSpec> releases;
};

/// The quotas that the tags of an application give to the dynamic leaf that is made for it (C-237).
struct QueueTags {
    std::optional<Quantities> max;
    std::optional<Quantities> guaranteed;
    std::uint64_t max_applications = 0; // 0: no such tag
};

struct ApplicationSpec {
    std::string_view partition;
    std::string_view id;
    std::string_view queue;
    std::string_view user; // resolved, with its groups (C-360 to C-367)
    std::vector<std::string_view> groups;
    std::string_view user_fault; // why the user cannot be resolved; empty: it is
    Tags tags;
    QueueTags queue_tags;
    std::int64_t execution_timeout_ms = 0;
    Quantities placeholder_ask;
    std::string_view gang_style;
    bool forced = false; // as by the tag of C-345: the recovery queue takes it when no rule does
};

struct RemoveApplicationSpec {
    std::string_view partition;
    std::string_view id;
};

struct ApplicationRequest {
    std::vector<ApplicationSpec> add;
    std::vector<RemoveApplicationSpec> remove;
};

/// What the RM has booked on a node, for comparison during a recovery (I-221).
struct BookedOnNode {
    Quantities available;
    std::uint64_t allocations = 0;
};

/// The attribute of a node that names its partition.
inline constexpr std::string_view kPartitionAttribute = "si/node-partition";

struct NodeSpec {
    std::string_view id;
    NodeAction action = NodeAction::Unset;
    std::optional<Tags> attributes; // its partition too
    std::optional<Quantities> capacity;
    std::optional<Quantities> occupied;
    std::optional<std::vector<DeviceListSpec>> devices; // a resource at most once; none: as before
    std::vector<AskSpec> existing;                      // CREATE only (S-481)
    std::optional<BookedOnNode> booked;
};

struct NodeRequest {
    std::vector<NodeSpec> nodes;
};

/// The answer of the RM for one node (I-051).
struct NodeVerdict {
    std::string_view node;
    bool fits = false;
    std::string_view reason;
};

/// How a call to the RM ended (interface.md 4.9).
struct CallAnswer {
    enum class Outcome : std::uint8_t {
        Answered,
        Failed,  // the RM could not answer: `error`
        TimedOut // no answer came in time (I-379)
    };
    std::uint64_t call = 0;
    Outcome outcome = Outcome::Answered;
    std::string_view error;
    std::vector<NodeVerdict> nodes; // of predicates; the first of a name counts, a missing node is refused
    bool success = false;           // of preemption predicates (I-050)
    std::int64_t index = -1;
};

} // namespace yk
