#pragma once
// The SI messages (interface.md section 1) and the session messages (4.3, 4.6, 4.8) as plain owning structs. Members
// are the wire's names in snake_case. std::optional stands where absent and empty differ (I-002, traps of section 1):
// resources, preemptionPolicy, config, extraConfig, attributes. What is absent otherwise is the type's empty value.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/si/enums.h"

namespace yk::si {

/// A resource map in the order sent; a name at most once.
using Resources = std::vector<std::pair<std::string, std::int64_t>>;
/// A {str:str} map in the order sent; a key at most once.
using StringMap = std::vector<std::pair<std::string, std::string>>;

/// Bytes of the wire's type bin.
struct Binary {
    std::string bytes;
    bool operator==(const Binary&) const = default;
};

/// One msgpack map in encoded form, for bodies whose shape depends on something outside the message.
struct EncodedMap {
    std::string bytes = "\x80";
    bool operator==(const EncodedMap&) const = default;
};

// --- registration (1.3) ---------------------------------------------------------------------------------------------

struct RecoveryCounts {
    std::uint64_t nodes = 0;
    std::uint64_t applications = 0;
    std::uint64_t allocations = 0;
    std::uint64_t asks = 0;
    bool operator==(const RecoveryCounts&) const = default;
};

struct AutoAccept {
    std::uint32_t max_quarantined = 0;
    bool operator==(const AutoAccept&) const = default;
};

struct RecoveryRequest { // I-212
    std::string id;
    std::optional<RecoveryCounts> expected;
    std::uint32_t timeout_seconds = 600;
    std::uint32_t idle_seconds = 120;
    bool force_applications = true;
    AutoAccept auto_accept;
    bool operator==(const RecoveryRequest&) const = default;
};

struct DetachedOptions { // I-387
    bool confirm_releases = true;
    std::uint32_t keep = 10000;
    bool operator==(const DetachedOptions&) const = default;
};

struct RegisterResourceManagerRequest {
    std::string rm_id;
    std::string version;
    std::string policy_group = "default";
    StringMap build_info;
    std::optional<std::string> config;
    std::optional<StringMap> extra_config;
    std::optional<RecoveryRequest> recovery;
    std::vector<std::string> capabilities;
    std::optional<DetachedOptions> detached;
    std::string if_registered; // drop (the default, I-124), refuse, leave, resume
    bool operator==(const RegisterResourceManagerRequest&) const = default;
};

struct RegisterResourceManagerResponse { // I-020, I-021
    std::vector<std::string> partitions;
    std::string policy_group;
    std::string config_checksum;
    std::uint64_t stream_epoch = 0;
    CoreState core_state = CoreState::New;
    bool re_registration = false;
    std::vector<std::string> ignored_capabilities;
    bool kept = false;                     // leave, resume: it goes on with what it has
    std::optional<std::uint64_t> last_ack; // resume: up to where its stream is acknowledged
    bool operator==(const RegisterResourceManagerResponse&) const = default;
};

// --- allocations (1.4, 1.5) -----------------------------------------------------------------------------------------

struct PreemptionPolicy { // I-030
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
    bool operator==(const Allocation&) const = default;
};

struct AllocationRelease { // both directions
    std::string partition_name;
    std::string application_id; // empty: the key names a foreign allocation
    std::string allocation_key; // empty: everything of the application
    TerminationType termination_type = TerminationType::Unknown;
    std::string message;
    bool keep_asks = false; // with an empty key: the asks of the application stay
    bool operator==(const AllocationRelease&) const = default;
};

struct AllocationAskRelease { // partitionName is required
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
    std::vector<AllocationAsk> asks;
    std::vector<Allocation> allocations;
    AllocationReleasesRequest releases;
    std::string rm_id;
    bool impersonate = false; // I-344
    bool operator==(const AllocationRequest&) const = default;
};

struct RejectedAllocation { // also RejectedAllocationAsk (I-035)
    std::string allocation_key;
    std::string application_id;
    std::string reason;
    std::string partition_name;
    std::uint32_t code = 0; // ElementCode
    bool operator==(const RejectedAllocation&) const = default;
};

struct IgnoredRelease {
    std::string partition_name;
    std::string application_id;
    std::string allocation_key;
    std::string reason;
    bool operator==(const IgnoredRelease&) const = default;
};

struct AllocationResponse { // wire name of `made`: new
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

struct ApplicationRequest { // wire name of `add`: new
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
    bool operator==(const RejectedApplication&) const = default;
};

struct UpdatedApplication {
    std::string application_id;
    std::string state; // I-040
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

struct NodeRecovery { // I-221
    std::optional<Resources> available_resource;
    std::uint32_t allocations = 0;
    bool operator==(const NodeRecovery&) const = default;
};

struct NodeInfo {
    std::string node_id;
    NodeAction action = NodeAction::Unset;
    std::optional<StringMap> attributes;
    std::optional<Resources> schedulable_resource;
    std::optional<Resources> occupied_resource;
    std::vector<Allocation> existing_allocations; // CREATE only
    std::optional<NodeRecovery> recovery;
    bool operator==(const NodeInfo&) const = default;
};

struct NodeRequest {
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
    bool operator==(const RejectedNode&) const = default;
};

struct FailedNode { // I-046: an action other than create that could not be done
    std::string node_id;
    NodeAction action = NodeAction::Unset;
    std::string reason;
    std::string partition_name;
    std::uint32_t code = 0;
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
    std::string rm_id;
    std::string policy_group;
    std::optional<std::string> config; // absent: reload the daemon's file; empty: the built-in default (I-058)
    std::optional<StringMap> extra_config;
    bool impersonate = false;
    bool dry_run = false;                // say what it would change, change nothing (B-06)
    std::string source;                  // what config is called in messages, a file's name; empty: `config`
    std::optional<std::string> checksum; // instead of config: one that the RM had before, or how it begins (B-12)
    bool operator==(const UpdateConfigurationRequest&) const = default;
};

// --- session (4.3) --------------------------------------------------------------------------------------------------

struct HelloResume {
    Binary sid;
    Binary boot_id;
    bool operator==(const HelloResume&) const = default;
};

struct HelloRequest {
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
    bool operator==(const HelloReply&) const = default;
};

// --- callback stream (4.8, 4.9) -------------------------------------------------------------------------------------

struct PollRequest {
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
    std::string rm_id;
    std::uint64_t stream_epoch = 0;
    std::uint64_t call = 0;
    bool ok = false;
    std::string error;
    std::optional<EncodedMap> result;
    bool impersonate = false;
    bool operator==(const CallResultRequest&) const = default;
};

/// What an RM says of one node (I-051).
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

struct AskName {
    std::string application_id;
    std::string allocation_key;
    std::string partition_name;
    bool operator==(const AskName&) const = default;
};

struct SyncRequest {
    std::string rm_id;
    std::optional<std::uint64_t> position; // absent: everything accepted so far
    bool impersonate = false;
    std::vector<AskName> asks; // what became of these, once the scheduler has nothing more to do
    bool operator==(const SyncRequest&) const = default;
};

struct StreamLogRequest { // I-387
    std::string rm_id;
    std::uint64_t after = 0;
    std::uint32_t count = 0;
    bool impersonate = false;
    bool operator==(const StreamLogRequest&) const = default;
};

} // namespace yk::si
