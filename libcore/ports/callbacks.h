// SPDX-License-Identifier: Apache-2.0
#pragma once
// What goes out of the core to its RM (S-590 to S-592), as a port. The core calls it in order, on the owner thread,
// in the middle of a change; the implementation copies or encodes at once, never waits, never calls back and never
// throws, since half of a change would be left undone.
// All views are valid during the call only.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "libcore/base/time.h"
#include "libcore/ports/command.h"
#include "libcore/resources/resource.h"

namespace yk {

/// Element codes of interface.md 4.11: why one element of a request was refused.
enum class ElementCode : std::uint32_t {
    SetAside = 0, // never sent: it is not refused, but waits in quarantine (I-242)
    PartitionUnknown = 1000,
    PartitionForeign = 1001,
    PartitionStopped = 1002,
    AppUnknown = 1010,
    AppExists = 1011,
    AppTerminal = 1012,
    User = 1013,
    Placement = 1014,
    QueueNotLeaf = 1015,
    Acl = 1016,
    GangSort = 1017,
    GangTooLarge = 1018,
    QueueState = 1019,
    NodeUnknown = 1020,
    NodeExists = 1021,
    NodeMismatch = 1022,
    PartitionChange = 1023,
    Action = 1024,
    NoCapacity = 1025, // Settings::budget
    NoResource = 1030,
    Negative = 1031,
    PlaceholderGroup = 1032,
    Repeat = 1033,
    IdentityChange = 1034,
    Devices = 1035,
    UnknownAllocation = 1040,
    NoReplacement = 1041,
    ExistingAllocation = 1050
};

/// Which element of its list in the request that is being applied, from 0, was refused; none: an element of an earlier
/// one, which was set aside. A request may name one thing twice (I-114), so its names do not say that. Of what nodes
/// bring it is counted through all nodes of the request.
using ElementIndex = std::optional<std::uint32_t>;

/// A part of a device that an allocation has (F-006).
struct AllocatedDevice {
    std::string_view resource;
    DeviceAmount on;
};

/// Partition names in callbacks are full: `[rm]name` (I-130).
struct NewAllocation { // every field of I-031
    std::string_view partition;
    std::string_view application;
    std::string_view key;
    std::string_view node;
    std::string_view queue;
    std::string_view task_group;
    NamedResource resource;
    std::span<const Tag> tags;
    std::int32_t priority = 0;
    std::span<const AllocatedDevice> devices{}; // by resource and index
    bool placeholder = false;
    bool originator = false;
    bool allow_preempt_self = false;
    bool allow_preempt_other = false;
};

struct ReleasedAllocation {
    std::string_view partition;
    std::string_view application;
    std::string_view key;
    TerminationType type = TerminationType::Unknown;
    std::string_view message;
};

struct RejectedAsk { // of asks or of allocations (I-036)
    std::string_view partition;
    std::string_view application;
    std::string_view key;
    std::string_view reason;
    ElementCode code{};
    ElementIndex element{};
};

struct IgnoredRelease {
    std::string_view partition;
    std::string_view application;
    std::string_view key;
    std::string_view reason;
    ElementCode code{};
};

struct AcceptedApplication {
    std::string_view partition;
    std::string_view id;
    std::string_view queue;
};

struct RejectedApplication {
    std::string_view partition;
    std::string_view id;
    std::string_view reason;
    ElementCode code{};
    ElementIndex element{};
};

struct UpdatedApplication {
    std::string_view partition;
    std::string_view id;
    std::string_view state;
    Instant at;
    std::string_view message;
};

struct AcceptedNode {
    std::string_view partition;
    std::string_view id;
};

struct RefusedNode { // rejected (CREATE) or failed (other actions), I-046
    std::string_view partition;
    std::string_view id;
    std::string_view reason;
    ElementCode code{};
    NodeAction action = NodeAction::Unset;
    ElementIndex element{};
};

/// Asks the RM which of the nodes are all right for the ask (I-051). `allocate` false: the node is only to be reserved.
struct PredicatesCall {
    std::uint64_t call = 0;
    std::string_view partition;
    std::string_view application;
    std::string_view key;
    std::span<const std::string_view> nodes; // in the order in which they will be taken
    bool allocate = true;
};

/// Asks the RM how many of the victims have to be released, in their order, before the ask is all right on the node: at
/// least `victims[0..start]` (I-050, P-062). Never asked for a node where an ask needs more than kMostVictims.
struct PreemptionCall {
    static constexpr std::size_t kMostVictims = 4000; // their keys are one message

    std::uint64_t call = 0;
    std::string_view partition;
    std::string_view application; // of the ask
    std::string_view key;
    std::string_view node;
    std::span<const std::string_view> victims;
    std::int32_t start = 0;
};

/// What the RM had given up before it arrived, and what is done now that it has (I-226).
struct LateCommand {
    enum class What : std::uint8_t { Release, ReleaseOfAsks, RemoveApplication, RemoveNode };
    What what{};
    std::string_view partition;
    std::string_view id;  // of the application, or of the node
    std::string_view key; // of a release; empty: everything of the application
    TerminationType type{};
    bool keep_asks = false;
};

class Callbacks {
public:
    virtual ~Callbacks() = default;

    /// One `new` with one allocation; the receiver may merge neighbours (I-104).
    virtual void allocation_made(const NewAllocation& allocation) noexcept = 0;
    /// All of them go into one message.
    virtual void allocations_released(std::span<const ReleasedAllocation> released) noexcept = 0;
    /// `rejected` (asks) or, with `placements`, `rejectedAllocations`.
    virtual void asks_rejected(std::span<const RejectedAsk> rejected, bool placements) noexcept = 0;
    virtual void releases_ignored(std::span<const IgnoredRelease> ignored) noexcept = 0;
    virtual void applications_answered(std::span<const AcceptedApplication> accepted,
                                       std::span<const RejectedApplication> rejected) noexcept = 0;
    virtual void application_updated(const UpdatedApplication& updated) noexcept = 0;
    virtual void nodes_answered(std::span<const AcceptedNode> accepted, std::span<const RefusedNode> rejected,
                                std::span<const RefusedNode> failed) noexcept = 0;
    /// An outstanding ask waits for cluster resources (S-520, I-055).
    virtual void ask_outstanding(std::string_view application, std::string_view key,
                                 std::string_view reason) noexcept = 0;
    /// The answer comes as a CallAnswer. Only with RmCallOptions::predicates.
    virtual void predicates_wanted(const PredicatesCall& /*call*/) noexcept {}
    /// The RM is not notified of it: it is no news to it. What follows is, as always.
    virtual void carried_out(const LateCommand& /*command*/) noexcept {}
    /// The answer comes as a CallAnswer. Only with RmCallOptions::preemption_predicates.
    virtual void preemption_wanted(const PreemptionCall& /*call*/) noexcept {}
};

} // namespace yk
