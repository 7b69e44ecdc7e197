// SPDX-License-Identifier: Apache-2.0
#pragma once
// The schemas of the messages in protocol/si/recovery_messages.h. What interface.md 3.4 gives without `?` is required,
// so that a report also says 0, false and "none".

#include "protocol/si/recovery_messages.h"
#include "protocol/wire/schema.h"

namespace yk::wire {

// --- the claim of an RM ----------------------------------------------------------------------------------------------

template <>
struct Schema<si::RecoveryDigests> {
    using M = si::RecoveryDigests;
    using fields = Fields<Field<"nodes", &M::nodes>, Field<"applications", &M::applications>,
                          Field<"allocations", &M::allocations>>;
};

template <>
struct Schema<si::RecoveryBuckets> {
    using M = si::RecoveryBuckets;
    using fields = Fields<Field<"nodes", &M::nodes>, Field<"applications", &M::applications>,
                          Field<"allocations", &M::allocations>>;
};

template <>
struct Schema<si::PartitionClaim> {
    using M = si::PartitionClaim;
    using fields = Fields<Field<"expected", &M::expected>, Field<"digest", &M::digest>>;
};

template <>
struct Schema<si::RecoveryDoneRequest> {
    using M = si::RecoveryDoneRequest;
    using fields = Fields<Field<"rmID", &M::rm_id, kId, kRequired>, Field<"id", &M::id, kId, kRequired>,
                          Field<"attempt", &M::attempt>, Field<"expected", &M::expected, kId, kRequired>,
                          Field<"digest", &M::digest, kId, kRequired>, Field<"buckets", &M::buckets>,
                          Field<"partitions", &M::partitions>, Field<"impersonate", &M::impersonate>>;
};

// --- the report ------------------------------------------------------------------------------------------------------

template <>
struct Schema<si::RecoveryCountPair> {
    using M = si::RecoveryCountPair;
    using fields = Fields<Field<"expected", &M::expected, kId, kRequired>, Field<"actual", &M::actual, kId, kRequired>>;
};

template <>
struct Schema<si::RecoveryCountPairs> {
    using M = si::RecoveryCountPairs;
    using fields =
        Fields<Field<"nodes", &M::nodes, kId, kRequired>, Field<"applications", &M::applications, kId, kRequired>,
               Field<"allocations", &M::allocations, kId, kRequired>, Field<"asks", &M::asks>>;
};

template <>
struct Schema<si::RecoveryMatches> {
    using M = si::RecoveryMatches;
    using fields =
        Fields<Field<"nodes", &M::nodes, kId, kRequired>, Field<"applications", &M::applications, kId, kRequired>,
               Field<"allocations", &M::allocations, kId, kRequired>>;
};

template <>
struct Schema<si::IncompleteNode> {
    using M = si::IncompleteNode;
    using fields = Fields<Field<"nodeID", &M::node_id, kId, kRequired>, Field<"partitionName", &M::partition_name>,
                          Field<"missing", &M::missing>, Field<"surplus", &M::surplus>,
                          Field<"expectedAllocations", &M::expected_allocations, kId, kRequired>,
                          Field<"actualAllocations", &M::actual_allocations, kId, kRequired>>;
};

template <>
struct Schema<si::QuarantinedObject> {
    using M = si::QuarantinedObject;
    using fields = Fields<Field<"kind", &M::kind, kId, kRequired>, Field<"partitionName", &M::partition_name>,
                          Field<"nodeID", &M::node_id>, Field<"applicationID", &M::application_id>,
                          Field<"allocationKey", &M::allocation_key>, Field<"reason", &M::reason, kMessage, kRequired>,
                          Field<"since", &M::since, kId, kRequired>>;
};

template <>
struct Schema<si::RecoveryReport> {
    using M = si::RecoveryReport;
    using fields =
        Fields<Field<"rmID", &M::rm_id, kId, kRequired>, Field<"id", &M::id, kId, kRequired>,
               Field<"attempt", &M::attempt, kId, kRequired>, Field<"result", &M::result, kId, kRequired>,
               Field<"counts", &M::counts, kId, kRequired>, Field<"digestMatch", &M::digest_match, kId, kRequired>,
               Field<"buckets", &M::buckets>, Field<"incompleteNodes", &M::incomplete_nodes, kId, kRequired>,
               Field<"quarantine", &M::quarantine, kId, kRequired>,
               Field<"quarantineTotal", &M::quarantine_total, kId, kRequired>,
               Field<"unusedTombstones", &M::unused_tombstones, kId, kRequired>,
               Field<"durationMs", &M::duration_ms, kId, kRequired>, Field<"truncated", &M::truncated, kId, kRequired>,
               Field<"faults", &M::faults, kMessage>>;
};

// --- what differs ----------------------------------------------------------------------------------------------------

template <>
struct Schema<si::RecoveryListRequest> {
    using M = si::RecoveryListRequest;
    using fields = Fields<Field<"rmID", &M::rm_id, kId, kRequired>, Field<"kind", &M::kind, kId, kRequired>,
                          Field<"bucket", &M::bucket>, Field<"cursor", &M::cursor, kMessage>, Field<"limit", &M::limit>,
                          Field<"impersonate", &M::impersonate>>;
};

template <>
struct Schema<si::RecoveryListItem> {
    using M = si::RecoveryListItem;
    using fields = Fields<Field<"partitionName", &M::partition_name>, Field<"nodeID", &M::node_id>,
                          Field<"applicationID", &M::application_id>, Field<"allocationKey", &M::allocation_key>,
                          Field<"hash", &M::hash, kId, kRequired>>;
};

template <>
struct Schema<si::RecoveryListReply> {
    using M = si::RecoveryListReply;
    using fields = Fields<Field<"items", &M::items, kId, kRequired>, Field<"cursor", &M::cursor, kMessage>>;
};

// --- the way out -----------------------------------------------------------------------------------------------------

template <>
struct Schema<si::ResolveRecoveryRequest> {
    using M = si::ResolveRecoveryRequest;
    using fields = Fields<Field<"rmID", &M::rm_id, kId, kRequired>, Field<"action", &M::action, kId, kRequired>,
                          Field<"impersonate", &M::impersonate>>;
};

template <>
struct Schema<si::ResolveRecoveryReply> {
    using fields = Fields<Field<"state", &si::ResolveRecoveryReply::state, kId, kRequired>>;
};

} // namespace yk::wire
