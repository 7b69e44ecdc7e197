// SPDX-License-Identifier: Apache-2.0
#pragma once
// The messages of recovery (interface.md 3.4 and 3.5) as plain owning structs, like those of messages.h; how an RM
// starts one is in its registration (RecoveryRequest). Every member has an initializer, so that a message can be made
// by naming the members that matter.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/si/enums.h"
#include "protocol/si/kinds.h"
#include "protocol/si/messages.h"

namespace yk::si {

// --- the claim of an RM ----------------------------------------------------------------------------------------------

/// For each kind of object the sum of the hashes of its lines (I-231).
struct RecoveryDigests {
    std::uint64_t nodes = 0;
    std::uint64_t applications = 0;
    std::uint64_t allocations = 0;
    bool operator==(const RecoveryDigests&) const = default;
};

/// For each kind of object 256 sums of hashes as big-endian u64, by the top byte of the hash of the object's name
/// (I-235).
struct RecoveryBuckets {
    std::optional<Binary> nodes{};
    std::optional<Binary> applications{};
    std::optional<Binary> allocations{};
    bool operator==(const RecoveryBuckets&) const = default;
};

/// What an RM believes to exist in one partition.
struct PartitionClaim {
    std::optional<RecoveryCounts> expected{};
    std::optional<RecoveryDigests> digest{};
    bool operator==(const PartitionClaim&) const = default;
};

/// Claims by the name of the partition, in the order in which they were sent; each name occurs once.
using PartitionClaims = std::vector<std::pair<std::string, PartitionClaim>>;

/// The end of a replay: what the RM believes to exist, for the core to compare with what it restored (I-230). The
/// answer is a RecoveryReport.
struct RecoveryDoneRequest {
    static constexpr Kind kKind = Kind::RecoveryDone;
    std::string rm_id{};
    std::string id{}; // the RM's label of the recovery, as in its registration
    std::uint32_t attempt = 1;
    RecoveryCounts expected{}; // required; asks are compared only if they are given
    RecoveryDigests digest{};  // required
    std::optional<RecoveryBuckets> buckets{};
    std::optional<PartitionClaims> partitions{};
    bool impersonate = false;
    bool operator==(const RecoveryDoneRequest&) const = default;
};

// --- the report ------------------------------------------------------------------------------------------------------

/// How many objects of one kind the RM claims and the core has.
struct RecoveryCountPair {
    std::uint64_t expected = 0;
    std::uint64_t actual = 0;
    bool operator==(const RecoveryCountPair&) const = default;
};

struct RecoveryCountPairs {
    RecoveryCountPair nodes{};
    RecoveryCountPair applications{};
    RecoveryCountPair allocations{};
    std::optional<RecoveryCountPair> asks{}; // if the RM counted them
    bool operator==(const RecoveryCountPairs&) const = default;
};

/// Whether the digests of a kind are equal.
struct RecoveryMatches {
    bool nodes = false;
    bool applications = false;
    bool allocations = false;
    bool operator==(const RecoveryMatches&) const = default;
};

/// A node whose books differ from what its RM stated about it (I-221).
struct IncompleteNode {
    std::string node_id{};
    std::string partition_name{};
    std::optional<Resources> missing{};
    std::optional<Resources> surplus{};
    std::uint64_t expected_allocations = 0;
    std::uint64_t actual_allocations = 0;
    bool operator==(const IncompleteNode&) const = default;
};

/// An object that could not be restored (I-242). Of the ids those are set that identify an object of its kind.
struct QuarantinedObject {
    std::string kind{}; // nodes, applications or allocations
    std::string partition_name{};
    std::string node_id{};
    std::string application_id{};
    std::string allocation_key{};
    std::string reason{};   // `APP_UNKNOWN`, `NODE_UNKNOWN`, ...
    std::int64_t since = 0; // ns
    bool operator==(const QuarantinedObject&) const = default;
};

/// What came of a recovery: the reply to a RecoveryDone and the body of the callback of the same name (I-237).
struct RecoveryReport {
    std::string rm_id{};
    std::string id{};
    std::uint32_t attempt = 0;
    std::string result{}; // running, retry or failed
    RecoveryCountPairs counts{};
    RecoveryMatches digest_match{};
    std::optional<RecoveryBuckets> buckets{}; // the core's, of the kinds that differ
    std::vector<IncompleteNode> incomplete_nodes{};
    std::vector<QuarantinedObject> quarantine{};
    std::uint64_t quarantine_total = 0;
    std::uint64_t unused_tombstones = 0; // releases whose object never came
    std::uint64_t duration_ms = 0;
    bool truncated = false;            // a list is cut
    std::vector<std::string> faults{}; // the health checks that failed, in words
    bool operator==(const RecoveryReport&) const = default;
};

// --- what differs ----------------------------------------------------------------------------------------------------

/// Asks for the restored objects of one kind, in pages (I-240).
struct RecoveryListRequest {
    static constexpr Kind kKind = Kind::RecoveryList;
    std::string rm_id{};
    std::string kind{};                    // nodes, applications or allocations
    std::optional<std::uint32_t> bucket{}; // only the objects of this bucket
    std::string cursor{};                  // of the page before; empty: the first page
    std::uint32_t limit = 1000;            // objects per page
    bool impersonate = false;
    bool operator==(const RecoveryListRequest&) const = default;
};

/// A restored object; of the ids those are set that identify an object of its kind.
struct RecoveryListItem {
    std::string partition_name{};
    std::string node_id{};
    std::string application_id{};
    std::string allocation_key{};
    std::uint64_t hash = 0; // of its line (I-232)
    bool operator==(const RecoveryListItem&) const = default;
};

struct RecoveryListReply {
    std::vector<RecoveryListItem> items{};
    std::string cursor{}; // empty: this was the last page
    bool operator==(const RecoveryListReply&) const = default;
};

// --- the way out -----------------------------------------------------------------------------------------------------

/// What becomes of a recovery that failed (I-254).
struct ResolveRecoveryRequest {
    static constexpr Kind kKind = Kind::ResolveRecovery;
    std::string rm_id{};
    std::string action{}; // retry, reset, accept or abort
    bool impersonate = false;
    bool operator==(const ResolveRecoveryRequest&) const = default;
};

struct ResolveRecoveryReply {
    CoreState state = CoreState::New;
    bool operator==(const ResolveRecoveryReply&) const = default;
};

} // namespace yk::si
