// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why something is pending, what a user may still use, why a node takes nothing: computed on demand from the same
// predicates as the planner (I-354).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcore/ports/view.h"

namespace yk {

/// How the nodes answered for one ask.
struct NodeFitView {
    std::int64_t nodes = 0;                                    // all of the partition
    std::int64_t fitting = 0;                                  // could take it now
    std::int64_t unschedulable = 0;                            // drained
    std::int64_t reserved = 0;                                 // kept for another ask
    std::int64_t too_small = 0;                                // capacity below the ask
    std::int64_t device_shape = 0;                             // its devices never add up to the ask (F-003)
    std::int64_t device_conflict = 0;                          // take nothing with devices (F-006)
    std::int64_t fragmented = 0;                               // enough in all, but not on the devices that it wants
    std::vector<std::pair<std::string, std::int64_t>> lacking; // resource -> schedulable nodes short of it now
    std::string best;                                          // the nearest miss
    ResourceMapView best_available;
    double best_lack = 0; // how far `best` is from holding the ask (S-023)
};

/// Where an application stands among those of its leaf that have asks, and by what (S-212).
struct SortView {
    struct Position {
        std::string application;
        std::optional<double> share; // of the leaf's guaranteed, the largest of all resources; fair only
        ResourceMapView used;
        std::int32_t priority = 0;
        Instant submitted;
    };
    std::string policy;          // fair, fifo
    bool by_priority = false;    // priority comes before it
    std::int64_t ahead = 0;      // so many come first
    std::vector<Position> first; // some of them, in order
    Position own;
};

struct ExplainReason {
    std::string code;   // QUEUE_MAX, NODE_FIT, ...: docs/protocol.md, "Reasons", has all
    std::string object; // queue path, node id, application id, ...
    std::string text;   // for a person, with the numbers
    std::optional<ResourceMapView> need;
    std::optional<ResourceMapView> used;
    std::optional<ResourceMapView> limit;
    std::int64_t asks = 0;                 // how many asks it blocks
    std::optional<NodeFitView> nodes = {}; // of NODE_FIT and REQUIRED_NODE
    std::optional<SortView> sort = {};     // of SORT
};

/// What a preemption for an ask would come to now, without doing it.
struct PreemptionView {
    struct Victim {
        std::string application, key, queue, node;
        ResourceMapView resource;
        std::int32_t priority = 0;
        bool opted_out = false;
        bool originator = false;
    };
    struct Giver { // a leaf that may give, being over its guarantee or without one; or one that is spared
        std::string queue;
        ResourceMapView used;                      // without what is preempted already
        std::optional<ResourceMapView> guaranteed; // own
        std::int64_t candidates = 0;
        std::string spared; // why none of its allocations may be a victim; empty: some may
    };
    std::string result;                           // how an attempt would end, as in the ask's log
    std::string fence_root;                       // victims are looked for below it; empty: a required node
    std::string node;                             // would be kept for the ask, or is
    bool announced = false;                       // the victims were announced, the node is kept
    std::vector<Victim> victims;                  // those of the node first
    std::vector<Giver> givers;                    // by path
    std::map<std::string, std::int64_t> excluded; // why not -> allocations
    std::optional<ResourceMapView> remaining;     // of the guarantee that applies to the ask's queue
};

/// What became of one placement rule (B-08).
struct PlacementStep {
    std::string rule; // `0 provided`, `recovery`, `root.default`
    std::string path; // the queue it yielded; empty: none
    std::string code; // CHOSEN, NO_MATCH, NOT_LEAF, DRAINING, NO_ACCESS, ERROR
    std::string text; // why it was not chosen
};

struct PlacementExplanation {
    std::string queue;                // where the application would go; empty: it would be rejected
    std::vector<std::string> created; // queues that would be made for it, from the top
    std::string reason;               // of the rejection
    std::vector<PlacementStep> steps;
};

/// What one queue on the way to the root allows a user, or the group that counts (B-09, C-408).
struct UsageLevelView {
    std::string queue;
    bool group = false;
    std::string who;                    // name of the user or group
    std::string entry;                  // of the queue's limits that decides: the name or `*`; empty: none
    std::optional<ResourceMapView> max; // nullopt: nothing is limited
    ResourceMapView used;
    std::optional<ResourceMapView> headroom; // of the types of max; below 0 after a limit was lowered
    std::uint64_t running = 0;               // applications (C-406)
    std::uint64_t max_applications = 0;      // 0: not limited
};

struct UserExplanation {
    bool found = false;             // the queue exists, or could be made
    bool exists = false;            // it does
    std::string deepest;            // the queue, or the nearest above it that exists
    std::string queue, user, group; // group: that counts for an application there (C-403); empty: none
    std::string group_from;         // the queue whose limits chose it
    std::string verdict;            // WITHIN_LIMITS, BLOCKED_BY_LIMIT, UNLIMITED
    std::vector<ExplainReason> reasons;
    std::vector<UsageLevelView> levels;      // of the user from the queue to the root, then of the group
    std::optional<ResourceMapView> headroom; // the least of all levels; nullopt: unlimited
};

/// What the pending asks of a partition come to on one node.
struct NodePendingView {
    std::int64_t asks = 0;      // that could go there: any node will do, or this one is required
    std::int64_t required = 0;  // of them: this one is required
    std::int64_t fitting = 0;   // the node could take them now
    std::int64_t held = 0;      // of those that fit: their queue, user, group or application holds them back
    std::int64_t too_large = 0; // more than the whole node
    std::vector<std::pair<std::string, std::int64_t>> lacking; // resource -> asks that it is short of now
};

struct NodeReservationView {
    std::string application, key, queue;
    ResourceMapView resource;
    Instant since;
};

struct NodeExplanation {
    bool found = false;
    std::string verdict; // DRAINING, RESERVED, FULL, SHORT, TOO_SMALL, SCHEDULABLE, IDLE
    std::vector<ExplainReason> reasons;
    NodeView node; // without objects
    std::int64_t foreign = 0;
    std::map<std::string, std::int64_t> applications; // -> allocations there
    std::vector<NodeReservationView> reservations;    // in the order of the node
    NodePendingView pending;
};

struct Explanation {
    bool found = false;
    std::string verdict; // PLACED, SCHEDULABLE, WAITING, BLOCKED_BY_LIMIT, IMPOSSIBLE, HELD, NO_PENDING, NOT_FOUND
    std::vector<ExplainReason> reasons; // in the order in which the planner meets them
    std::string application, queue, user, state, key;
    std::int64_t pending_asks = 0, asks = 0;
    std::optional<Instant> oldest_pending;
    std::optional<NodeFitView> nodes;
    std::optional<PreemptionView> preemption;
};

} // namespace yk
