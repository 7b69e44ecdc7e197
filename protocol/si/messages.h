// SPDX-License-Identifier: Apache-2.0
#pragma once
// The SI messages (interface.md section 1) and the session messages (4.3, 4.6, 4.8) as plain owning structs. Members
// are the wire's names in snake_case. std::optional is used where an absent field and an empty one differ (I-002):
// resources, preemptionPolicy, config, extraConfig, attributes. Any other absent field has the empty value of its type.
// A message that is the body of a request names the request's kind. Those of tools are in tool_requests.h, those that
// end a recovery in recovery_messages.h.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/si/enums.h"
#include "protocol/si/kinds.h"

namespace yk::si {

/// A resource map in the order in which it was sent; each name occurs once.
using Resources = std::vector<std::pair<std::string, std::int64_t>>;
/// A map of texts in the order in which it was sent; each key occurs once.
using StringMap = std::vector<std::pair<std::string, std::string>>;

/// How much of one device of a node.
struct DeviceAmount {
    std::uint32_t index = 0;
    std::int64_t amount = 0;
    bool operator==(const DeviceAmount&) const = default;
};
/// The devices of one resource: what an ask wants, `each` of each of `count` devices; or, with `on`, which ones an
/// allocation has (F-003, F-006).
struct Devices {
    std::uint32_t count = 0;
    std::int64_t each = 0;
    std::vector<DeviceAmount> on;
    bool operator==(const Devices&) const = default;
};
/// By resource, in the order in which they were sent.
using DevicesMap = std::vector<std::pair<std::string, Devices>>;
/// The size of each device of a node, by resource (F-001).
using DeviceSizes = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

/// Bytes; msgpack's type bin.
struct Binary {
    std::string bytes;
    bool operator==(const Binary&) const = default;
};

/// One msgpack map in encoded form, for bodies whose fields depend on something outside the message.
struct EncodedMap {
    std::string bytes = "\x80";
    bool operator==(const EncodedMap&) const = default;
};

// --- registration (1.3) ---------------------------------------------------------------------------------------------

struct RecoveryCounts {
    std::uint64_t nodes = 0;
    std::uint64_t applications = 0;
    std::uint64_t allocations = 0;
    std::optional<std::uint64_t> asks{}; // absent: not counted (I-236)
    bool operator==(const RecoveryCounts&) const = default;
};

struct AutoAccept {
    std::uint32_t max_quarantined = 0;
    bool operator==(const AutoAccept&) const = default;
};

/// How an RM that restarts wants its objects recovered; `id` is its own label of the attempt (I-212).
struct RecoveryRequest {
    std::string id;
    std::optional<RecoveryCounts> expected;       // a forecast, for the display of progress only
    std::optional<std::uint32_t> timeout_seconds; // absent: the daemon's setting
    std::optional<std::uint32_t> idle_seconds;
    bool force_applications = true;
    AutoAccept auto_accept;
    bool operator==(const RecoveryRequest&) const = default;
};

/// Makes an RM that no process serves: the daemon itself acknowledges its stream and keeps the last `keep` items of it
/// (I-387).
struct DetachedOptions {
    bool confirm_releases = true;
    std::uint32_t keep = 10000;
    bool operator==(const DetachedOptions&) const = default;
};

struct RegisterResourceManagerRequest {
    static constexpr Kind kKind = Kind::RegisterResourceManager;
    std::string rm_id;
    std::string version;
    std::string policy_group = "default";
    StringMap build_info;
    std::optional<std::string> config;
    std::optional<StringMap> extra_config;
    std::optional<RecoveryRequest> recovery;
    std::vector<std::string> capabilities;
    std::optional<DetachedOptions> detached;
    std::string if_registered; // what to do if it is registered: drop (the default, I-124), refuse, leave, resume
    bool operator==(const RegisterResourceManagerRequest&) const = default;
};

/// What an RM gets when it is registered (I-020). Capabilities that the daemon does not know come back in
/// `ignored_capabilities` (I-021).
struct RegisterResourceManagerResponse {
    std::vector<std::string> partitions;
    std::string policy_group;
    std::string config_checksum;
    std::uint64_t stream_epoch = 0;
    CoreState core_state = CoreState::New;
    bool re_registration = false;
    std::vector<std::string> ignored_capabilities;
    bool kept = false;                     // leave, resume: the RM keeps what it has
    std::optional<std::uint64_t> last_ack; // resume: the last item of its stream that was acknowledged
    bool operator==(const RegisterResourceManagerResponse&) const = default;
};

// --- allocations (1.4, 1.5) -----------------------------------------------------------------------------------------

/// Whether an ask may preempt others, and whether its allocation may be preempted before those that may not (I-030).
struct PreemptionPolicy {
    bool allow_preempt_self = false;
    bool allow_preempt_other = false;
    bool operator==(const PreemptionPolicy&) const = default;
};

struct AllocationAsk {
    std::string allocation_key;
    std::string application_id;
    std::string partition_name;
    std::optional<Resources> resource_ask;
    std::int32_t max_allocations = 0;
    std::int32_t priority = 0;
    std::int64_t execution_timeout_milli_seconds = 0;
    StringMap tags;
    std::string task_group_name;
    bool placeholder = false;
    bool originator = false;
    std::optional<PreemptionPolicy> preemption_policy;
    std::string node_id;
    DevicesMap devices{};
    bool operator==(const AllocationAsk&) const = default;
};

struct Allocation {
    std::string allocation_key;
    std::string application_id; // empty: foreign, then the tags hold `foreign` (I-061)
    std::string partition_name;
    std::string task_group_name;
    bool placeholder = false;
    StringMap allocation_tags;
    std::optional<Resources> resource_per_alloc;
    std::int32_t priority = 0;
    std::string node_id; // empty: a request, handled like an ask
    bool originator = false;
    std::optional<PreemptionPolicy> preemption_policy;
    std::string queue_name; // written by the core only
    DevicesMap devices{};
    bool operator==(const Allocation&) const = default;
};

/// A release, sent by an RM or by the core; the other side confirms it with the same message.
struct AllocationRelease {
    std::string partition_name;
    std::string application_id; // empty: the key names a foreign allocation
    std::string allocation_key; // empty: everything of the application
    TerminationType termination_type = TerminationType::Unknown;
    std::string message;
    bool keep_asks = false; // with an empty key: the asks of the application stay
    bool operator==(const AllocationRelease&) const = default;
};

/// The release of an ask by an RM; here partitionName is required.
struct AllocationAskRelease {
    std::string partition_name;
    std::string application_id;
    std::string allocation_key;
    TerminationType termination_type = TerminationType::Unknown;
    std::string message;
    bool operator==(const AllocationAskRelease&) const = default;
};

struct AllocationReleasesRequest {
    std::vector<AllocationRelease> allocations_to_release;
    std::vector<AllocationAskRelease> allocation_asks_to_release;
    bool operator==(const AllocationReleasesRequest&) const = default;
};

struct AllocationRequest {
    static constexpr Kind kKind = Kind::UpdateAllocation;
    std::vector<AllocationAsk> asks;
    std::vector<Allocation> allocations;
    AllocationReleasesRequest releases;
    std::string rm_id;
    bool impersonate = false; // an admin acts for an RM of another session (I-344)
    bool operator==(const AllocationRequest&) const = default;
};

/// An ask or an allocation that was rejected (I-035).
struct RejectedAllocation {
    std::string allocation_key;
    std::string application_id;
    std::string reason;
    std::string partition_name;
    std::uint32_t code = 0;                 // ElementCode
    std::optional<std::uint32_t> element{}; // which of its list, with `echoRequests` (I-269)
    bool operator==(const RejectedAllocation&) const = default;
};

struct IgnoredRelease {
    std::string partition_name;
    std::string application_id;
    std::string allocation_key;
    std::string reason;
    bool operator==(const IgnoredRelease&) const = default;
};

/// What the core reports to an RM about allocations. `made` is called `new` on the wire.
struct AllocationResponse {
    std::vector<Allocation> made;
    std::vector<AllocationRelease> released;
    std::vector<RejectedAllocation> rejected;
    std::vector<RejectedAllocation> rejected_allocations;
    std::vector<IgnoredRelease> ignored_releases;
    bool operator==(const AllocationResponse&) const = default;
};

// --- applications (1.6) ---------------------------------------------------------------------------------------------

struct UserGroupInformation {
    std::string user;
    std::vector<std::string> groups;
    bool operator==(const UserGroupInformation&) const = default;
};

struct AddApplicationRequest {
    std::string application_id;
    std::string queue_name;
    std::string partition_name;
    UserGroupInformation ugi;
    StringMap tags;
    std::int64_t execution_timeout_milli_seconds = 0;
    std::optional<Resources> placeholder_ask;
    std::string gang_scheduling_style;
    bool operator==(const AddApplicationRequest&) const = default;
};

struct RemoveApplicationRequest {
    std::string application_id;
    std::string partition_name;
    bool operator==(const RemoveApplicationRequest&) const = default;
};

/// Applications to add and to remove. `add` is called `new` on the wire.
struct ApplicationRequest {
    static constexpr Kind kKind = Kind::UpdateApplication;
    std::vector<AddApplicationRequest> add;
    std::vector<RemoveApplicationRequest> remove;
    std::string rm_id;
    bool impersonate = false;
    bool operator==(const ApplicationRequest&) const = default;
};

struct AcceptedApplication {
    std::string application_id;
    std::string partition_name;
    std::string queue_name;
    bool operator==(const AcceptedApplication&) const = default;
};

struct RejectedApplication {
    std::string application_id;
    std::string reason;
    std::string partition_name;
    std::uint32_t code = 0;
    std::optional<std::uint32_t> element{}; // which of its list, with `echoRequests` (I-269)
    bool operator==(const RejectedApplication&) const = default;
};

struct UpdatedApplication {
    std::string application_id;
    std::string state; // `New`, `Accepted`, `Running`, ... (I-040)
    std::int64_t state_transition_timestamp = 0;
    std::string message;
    std::string partition_name;
    bool operator==(const UpdatedApplication&) const = default;
};

struct ApplicationResponse {
    std::vector<RejectedApplication> rejected;
    std::vector<AcceptedApplication> accepted;
    std::vector<UpdatedApplication> updated;
    bool operator==(const ApplicationResponse&) const = default;
};

// --- nodes (1.7) ----------------------------------------------------------------------------------------------------

/// What an RM has booked on a node, for the core to compare with its own sums during recovery (I-221).
struct NodeRecovery {
    std::optional<Resources> available_resource;
    std::uint32_t allocations = 0;
    bool operator==(const NodeRecovery&) const = default;
};

/// The attribute of a node that names its partition.
inline constexpr const char* kPartitionAttribute = "si/node-partition";

struct NodeInfo {
    std::string node_id;
    NodeAction action = NodeAction::Unset;
    std::optional<StringMap> attributes;
    std::optional<Resources> schedulable_resource;
    std::optional<Resources> occupied_resource;
    std::vector<Allocation> existing_allocations; // CREATE only
    std::optional<NodeRecovery> recovery;
    std::optional<DeviceSizes> devices{};
    bool operator==(const NodeInfo&) const = default;
};

struct NodeRequest {
    static constexpr Kind kKind = Kind::UpdateNode;
    std::vector<NodeInfo> nodes;
    std::string rm_id;
    bool impersonate = false;
    bool operator==(const NodeRequest&) const = default;
};

struct AcceptedNode {
    std::string node_id;
    std::string partition_name;
    bool operator==(const AcceptedNode&) const = default;
};

struct RejectedNode {
    std::string node_id;
    std::string reason;
    std::string partition_name;
    std::uint32_t code = 0;
    std::optional<std::uint32_t> element{}; // which of its list, with `echoRequests` (I-269)
    bool operator==(const RejectedNode&) const = default;
};

/// A node on which an action other than create failed (I-046).
struct FailedNode {
    std::string node_id;
    NodeAction action = NodeAction::Unset;
    std::string reason;
    std::string partition_name;
    std::uint32_t code = 0;
    std::optional<std::uint32_t> element{}; // which of its list, with `echoRequests` (I-269)
    bool operator==(const FailedNode&) const = default;
};

struct NodeResponse {
    std::vector<AcceptedNode> accepted;
    std::vector<RejectedNode> rejected;
    std::vector<FailedNode> failed;
    bool operator==(const NodeResponse&) const = default;
};

// --- configuration (1.10) -------------------------------------------------------------------------------------------

struct UpdateConfigurationRequest {
    static constexpr Kind kKind = Kind::UpdateConfiguration;
    std::string rm_id;
    std::string policy_group;
    std::optional<std::string> config; // absent: reload the daemon's file; empty: the built-in default (I-058)
    std::optional<StringMap> extra_config;
    bool impersonate = false;
    bool dry_run = false; // report what it would change, and change nothing (B-06)
    std::string source;   // the name of the configuration in messages, that of its file; empty: `config`
    std::optional<std::string>
        checksum;        // instead of config: that of an earlier configuration, or its first digits (B-12)
    std::string message; // why, for the history
    bool operator==(const UpdateConfigurationRequest&) const = default;
};

// --- session (4.3) --------------------------------------------------------------------------------------------------

struct HelloResume {
    Binary sid;
    Binary boot_id;
    bool operator==(const HelloResume&) const = default;
};

struct HelloRequest {
    static constexpr Kind kKind = Kind::Hello;
    std::uint32_t min = 0;
    std::uint32_t max = 0;
    std::string client;
    std::string role;
    std::string token;
    std::optional<std::uint32_t> max_message;
    std::optional<HelloResume> resume;
    std::vector<std::string> capabilities;
    bool operator==(const HelloRequest&) const = default;
};

struct ServerInfo {
    std::string name;
    std::string version;
    std::string build;
    std::string uuid;
    bool operator==(const ServerInfo&) const = default;
};

struct OwnedRm {
    std::string rm_id;
    std::uint64_t stream_epoch = 0;
    std::uint64_t last_ack = 0;
    CoreState state = CoreState::New;
    bool operator==(const OwnedRm&) const = default;
};

struct HelloLimits { // Appendix A
    std::uint32_t max_message = 0;
    std::uint64_t max_poll_wait_ms = 0;
    std::uint64_t liveness_timeout_ms = 0;
    std::uint64_t session_ttl_ms = 0;
    std::uint64_t max_sessions = 0;
    std::uint64_t outbound_max_items = 0;
    std::uint64_t outbound_max_bytes = 0;
    bool operator==(const HelloLimits&) const = default;
};

struct HelloReply {
    std::uint32_t version = 0;
    Binary sid;
    Binary boot_id;
    ServerInfo server;
    bool resumed = false;
    std::uint64_t last_seq = 0;
    std::vector<OwnedRm> rms;
    HelloLimits limits;
    std::vector<std::string> features;
    std::string role;
    std::string who{};        // whom the daemon takes the caller for: `uid 1000`, `token rm spark-* (1a2b3c4d)`
    std::string address{};    // from where
    std::string granted{};    // the highest role that may be asked for
    std::string rm_pattern{}; // the RMs that role rm may register and update
    bool operator==(const HelloReply&) const = default;
};

// --- callback stream (4.8, 4.9) -------------------------------------------------------------------------------------

struct PollRequest {
    static constexpr Kind kKind = Kind::Poll;
    std::string rm_id;
    std::uint64_t stream_epoch = 0;
    std::uint64_t ack = 0;
    std::uint32_t max_items = 1000;
    std::uint32_t max_bytes = 1U << 20;
    std::uint32_t wait_ms = 10000;
    bool impersonate = false;
    bool operator==(const PollRequest&) const = default;
};

struct StreamItem {
    std::uint64_t n = 0;
    std::string kind;
    std::int64_t at = 0; // ns
    std::optional<std::uint64_t> call;
    std::optional<std::uint32_t> ttl;
    EncodedMap body; // decode by kind: AllocationResponse, ...
    bool operator==(const StreamItem&) const = default;
};

struct PollReply {
    std::uint64_t stream_epoch = 0;
    std::vector<StreamItem> items;
    std::uint64_t backlog = 0;
    std::uint64_t backlog_bytes = 0;
    bool congested = false;
    bool operator==(const PollReply&) const = default;
};

struct CallResultRequest {
    static constexpr Kind kKind = Kind::CallResult;
    std::string rm_id;
    std::uint64_t stream_epoch = 0;
    std::uint64_t call = 0;
    bool ok = false;
    std::string error;
    std::optional<EncodedMap> result;
    bool impersonate = false;
    bool operator==(const CallResultRequest&) const = default;
};

/// An RM's answer whether an ask fits one node (I-051).
struct NodeVerdict {
    std::string node_id;
    bool fits = false;
    std::string reason;
    bool operator==(const NodeVerdict&) const = default;
};

/// `result` of a CallResult: `results` for Predicates, `success` and `index` for PreemptionPredicates (I-050),
/// `success` and `reason` for UpdateConfiguration (I-184), `stateDump` for GetStateDump (I-435).
struct CallResultBody {
    std::vector<NodeVerdict> results;
    bool success = false;
    std::int32_t index = -1;
    std::string reason;
    std::string state_dump; // JSON
    bool operator==(const CallResultBody&) const = default;
};

/// What identifies an ask.
struct AskName {
    std::string application_id;
    std::string allocation_key;
    std::string partition_name;
    bool operator==(const AskName&) const = default;
};

struct SyncRequest {
    static constexpr Kind kKind = Kind::Sync;
    std::string rm_id;
    std::optional<std::uint64_t> position; // wait for the updates up to this one; absent: for all accepted so far
    bool impersonate = false;
    std::vector<AskName> asks; // report what became of these once the scheduler has nothing more to do
    bool operator==(const SyncRequest&) const = default;
};

/// Asks for `count` items after number `after` of the stream of a detached RM (I-387).
struct StreamLogRequest {
    static constexpr Kind kKind = Kind::StreamLog;
    std::string rm_id;
    std::uint64_t after = 0;
    std::uint32_t count = 0;
    bool impersonate = false;
    bool operator==(const StreamLogRequest&) const = default;
};

} // namespace yk::si
