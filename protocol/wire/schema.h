// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tables of interface.md sections 1 and 4 as data: for each message the wire's name, the member, the rule for its
// text and whether it is required. Decoder and encoder (codec.cpp) are made from these; a new field is one line here
// and one in protocol/si/messages.h.

#include <algorithm>
#include <string_view>

#include "protocol/si/messages.h"
#include "protocol/wire/text.h"

namespace yk::wire {

/// A string literal as a template argument.
template <std::size_t N>
struct Name {
    char text[N]{};
    consteval Name(const char (&literal)[N]) { std::copy_n(literal, N, text); }
    [[nodiscard]] constexpr std::string_view view() const { return {text, N - 1}; }
};

inline constexpr bool kRequired = true;
inline constexpr auto kId = TextRule::Id;
inline constexpr auto kQueue = TextRule::Queue;
inline constexpr auto kMessage = TextRule::Message;
inline constexpr auto kConfig = TextRule::Config;

/// One field. The rule is for its text, or for the texts in its list; maps have rules of their own (I-006).
template <Name kFieldName, auto kPointer, TextRule kTextRule = kId, bool kIsRequired = false>
struct Field {
    static constexpr std::string_view name = kFieldName.view();
    static constexpr auto& literal = kFieldName.text;
    static constexpr auto member = kPointer;
    static constexpr TextRule rule = kTextRule;
    static constexpr bool required = kIsRequired;
};

template <class... F>
struct Fields {};

template <class T>
struct Schema;

// --- registration ---------------------------------------------------------------------------------------------------

template <>
struct Schema<si::RecoveryCounts> {
    using M = si::RecoveryCounts;
    using fields = Fields<Field<"nodes", &M::nodes>, Field<"applications", &M::applications>,
                          Field<"allocations", &M::allocations>, Field<"asks", &M::asks>>;
};

template <>
struct Schema<si::AutoAccept> {
    using fields = Fields<Field<"maxQuarantined", &si::AutoAccept::max_quarantined>>;
};

template <>
struct Schema<si::RecoveryRequest> {
    using M = si::RecoveryRequest;
    using fields = Fields<Field<"id", &M::id, kId, kRequired>, Field<"expected", &M::expected>,
                          Field<"timeoutSeconds", &M::timeout_seconds>, Field<"idleSeconds", &M::idle_seconds>,
                          Field<"forceApplications", &M::force_applications>, Field<"autoAccept", &M::auto_accept>>;
};

template <>
struct Schema<si::DetachedOptions> {
    using M = si::DetachedOptions;
    using fields = Fields<Field<"confirmReleases", &M::confirm_releases>, Field<"keep", &M::keep>>;
};

template <>
struct Schema<si::RegisterResourceManagerRequest> {
    using M = si::RegisterResourceManagerRequest;
    using fields = Fields<Field<"rmID", &M::rm_id, kId, kRequired>, Field<"version", &M::version, kMessage>,
                          Field<"policyGroup", &M::policy_group>, Field<"buildInfo", &M::build_info>,
                          Field<"config", &M::config, kConfig>, Field<"extraConfig", &M::extra_config>,
                          Field<"recovery", &M::recovery>, Field<"capabilities", &M::capabilities>,
                          Field<"detached", &M::detached>, Field<"ifRegistered", &M::if_registered>>;
};

template <>
struct Schema<si::RegisterResourceManagerResponse> {
    using M = si::RegisterResourceManagerResponse;
    using fields = Fields<Field<"partitions", &M::partitions, kQueue, kRequired>,
                          Field<"policyGroup", &M::policy_group>, Field<"configChecksum", &M::config_checksum>,
                          Field<"streamEpoch", &M::stream_epoch>, Field<"coreState", &M::core_state, kId, kRequired>,
                          Field<"reRegistration", &M::re_registration, kId, kRequired>,
                          Field<"ignoredCapabilities", &M::ignored_capabilities>, Field<"kept", &M::kept>,
                          Field<"lastAck", &M::last_ack>>;
};

// --- allocations ----------------------------------------------------------------------------------------------------

template <>
struct Schema<si::PreemptionPolicy> {
    using M = si::PreemptionPolicy;
    using fields =
        Fields<Field<"allowPreemptSelf", &M::allow_preempt_self>, Field<"allowPreemptOther", &M::allow_preempt_other>>;
};

template <>
struct Schema<si::DeviceAmount> {
    using M = si::DeviceAmount;
    using fields = Fields<Field<"index", &M::index, kId, kRequired>, Field<"amount", &M::amount, kId, kRequired>>;
};

/// Its first form; the second one is a list of DeviceAmount.
template <>
struct Schema<si::Devices> {
    using M = si::Devices;
    using fields = Fields<Field<"count", &M::count, kId, kRequired>, Field<"each", &M::each, kId, kRequired>>;
};

template <>
struct Schema<si::AllocationAsk> {
    using M = si::AllocationAsk;
    using fields =
        Fields<Field<"allocationKey", &M::allocation_key, kId, kRequired>,
               Field<"applicationID", &M::application_id, kId, kRequired>, Field<"partitionName", &M::partition_name>,
               Field<"resourceAsk", &M::resource_ask>, Field<"maxAllocations", &M::max_allocations>,
               Field<"priority", &M::priority>,
               Field<"executionTimeoutMilliSeconds", &M::execution_timeout_milli_seconds>, Field<"tags", &M::tags>,
               Field<"taskGroupName", &M::task_group_name>, Field<"placeholder", &M::placeholder>,
               Field<"originator", &M::originator>, Field<"preemptionPolicy", &M::preemption_policy>,
               Field<"nodeID", &M::node_id>, Field<"devices", &M::devices>>;
};

template <>
struct Schema<si::Allocation> {
    using M = si::Allocation;
    using fields =
        Fields<Field<"allocationKey", &M::allocation_key, kId, kRequired>, Field<"applicationID", &M::application_id>,
               Field<"partitionName", &M::partition_name>, Field<"taskGroupName", &M::task_group_name>,
               Field<"placeholder", &M::placeholder>, Field<"allocationTags", &M::allocation_tags>,
               Field<"resourcePerAlloc", &M::resource_per_alloc>, Field<"priority", &M::priority>,
               Field<"nodeID", &M::node_id>, Field<"originator", &M::originator>,
               Field<"preemptionPolicy", &M::preemption_policy>, Field<"queueName", &M::queue_name, kQueue>,
               Field<"devices", &M::devices>>;

    static bool is_foreign(const M& allocation) {
        const auto& tags = allocation.allocation_tags;
        return std::any_of(tags.begin(), tags.end(), [](const auto& tag) { return tag.first == "foreign"; });
    }
    /// A foreign allocation belongs to no application, whatever it names (I-061).
    static void normalize(M& allocation) {
        if (is_foreign(allocation)) allocation.application_id.clear();
    }
    /// The name of a required field that is missing; empty: none is. applicationID is required unless the allocation is
    /// foreign.
    static std::string_view missing(const M& allocation) {
        return allocation.application_id.empty() && !is_foreign(allocation) ? "applicationID" : std::string_view{};
    }
};

template <>
struct Schema<si::AllocationRelease> {
    using M = si::AllocationRelease;
    using fields = Fields<Field<"partitionName", &M::partition_name>, Field<"applicationID", &M::application_id>,
                          Field<"allocationKey", &M::allocation_key>, Field<"terminationType", &M::termination_type>,
                          Field<"message", &M::message, kMessage>, Field<"keepAsks", &M::keep_asks>>;
};

template <>
struct Schema<si::AllocationAskRelease> {
    using M = si::AllocationAskRelease;
    using fields = Fields<Field<"partitionName", &M::partition_name, kId, kRequired>,
                          Field<"applicationID", &M::application_id>, Field<"allocationKey", &M::allocation_key>,
                          Field<"terminationType", &M::termination_type>, Field<"message", &M::message, kMessage>>;
};

template <>
struct Schema<si::AllocationReleasesRequest> {
    using M = si::AllocationReleasesRequest;
    using fields = Fields<Field<"allocationsToRelease", &M::allocations_to_release>,
                          Field<"allocationAsksToRelease", &M::allocation_asks_to_release>>;
};

template <>
struct Schema<si::AllocationRequest> {
    using M = si::AllocationRequest;
    using fields =
        Fields<Field<"asks", &M::asks>, Field<"allocations", &M::allocations>, Field<"releases", &M::releases>,
               Field<"rmID", &M::rm_id, kId, kRequired>, Field<"impersonate", &M::impersonate>>;
};

template <>
struct Schema<si::RejectedAllocation> {
    using M = si::RejectedAllocation;
    using fields = Fields<Field<"allocationKey", &M::allocation_key>, Field<"applicationID", &M::application_id>,
                          Field<"reason", &M::reason, kMessage>, Field<"partitionName", &M::partition_name, kQueue>,
                          Field<"code", &M::code>, Field<"element", &M::element>>;
};

template <>
struct Schema<si::IgnoredRelease> {
    using M = si::IgnoredRelease;
    using fields =
        Fields<Field<"partitionName", &M::partition_name, kQueue>, Field<"applicationID", &M::application_id>,
               Field<"allocationKey", &M::allocation_key>, Field<"reason", &M::reason, kMessage>>;
};

template <>
struct Schema<si::AllocationResponse> {
    using M = si::AllocationResponse;
    using fields =
        Fields<Field<"new", &M::made>, Field<"released", &M::released>, Field<"rejected", &M::rejected>,
               Field<"rejectedAllocations", &M::rejected_allocations>, Field<"ignoredReleases", &M::ignored_releases>>;
};

// --- applications ---------------------------------------------------------------------------------------------------

template <>
struct Schema<si::UserGroupInformation> {
    using M = si::UserGroupInformation;
    using fields = Fields<Field<"user", &M::user>, Field<"groups", &M::groups>>;
};

template <>
struct Schema<si::AddApplicationRequest> {
    using M = si::AddApplicationRequest;
    using fields =
        Fields<Field<"applicationID", &M::application_id, kId, kRequired>, Field<"queueName", &M::queue_name, kQueue>,
               Field<"partitionName", &M::partition_name>, Field<"ugi", &M::ugi>, Field<"tags", &M::tags>,
               Field<"executionTimeoutMilliSeconds", &M::execution_timeout_milli_seconds>,
               Field<"placeholderAsk", &M::placeholder_ask>,
               Field<"gangSchedulingStyle", &M::gang_scheduling_style, kMessage>>;
};

template <>
struct Schema<si::RemoveApplicationRequest> {
    using M = si::RemoveApplicationRequest;
    using fields =
        Fields<Field<"applicationID", &M::application_id, kId, kRequired>, Field<"partitionName", &M::partition_name>>;
};

template <>
struct Schema<si::ApplicationRequest> {
    using M = si::ApplicationRequest;
    using fields = Fields<Field<"new", &M::add>, Field<"remove", &M::remove>, Field<"rmID", &M::rm_id, kId, kRequired>,
                          Field<"impersonate", &M::impersonate>>;
};

template <>
struct Schema<si::AcceptedApplication> {
    using M = si::AcceptedApplication;
    using fields =
        Fields<Field<"applicationID", &M::application_id>, Field<"partitionName", &M::partition_name, kQueue>,
               Field<"queueName", &M::queue_name, kQueue>>;
};

template <>
struct Schema<si::RejectedApplication> {
    using M = si::RejectedApplication;
    using fields = Fields<Field<"applicationID", &M::application_id>, Field<"reason", &M::reason, kMessage>,
                          Field<"partitionName", &M::partition_name, kQueue>, Field<"code", &M::code>,
                          Field<"element", &M::element>>;
};

template <>
struct Schema<si::UpdatedApplication> {
    using M = si::UpdatedApplication;
    using fields = Fields<Field<"applicationID", &M::application_id>, Field<"state", &M::state>,
                          Field<"stateTransitionTimestamp", &M::state_transition_timestamp>,
                          Field<"message", &M::message, kMessage>, Field<"partitionName", &M::partition_name, kQueue>>;
};

template <>
struct Schema<si::ApplicationResponse> {
    using M = si::ApplicationResponse;
    using fields =
        Fields<Field<"rejected", &M::rejected>, Field<"accepted", &M::accepted>, Field<"updated", &M::updated>>;
};

// --- nodes ----------------------------------------------------------------------------------------------------------

template <>
struct Schema<si::NodeRecovery> {
    using M = si::NodeRecovery;
    using fields = Fields<Field<"availableResource", &M::available_resource>, Field<"allocations", &M::allocations>>;
};

template <>
struct Schema<si::NodeInfo> {
    using M = si::NodeInfo;
    using fields =
        Fields<Field<"nodeID", &M::node_id, kId, kRequired>, Field<"action", &M::action, kId, kRequired>,
               Field<"attributes", &M::attributes>, Field<"schedulableResource", &M::schedulable_resource>,
               Field<"occupiedResource", &M::occupied_resource>, Field<"existingAllocations", &M::existing_allocations>,
               Field<"recovery", &M::recovery>, Field<"devices", &M::devices>>;
};

template <>
struct Schema<si::NodeRequest> {
    using M = si::NodeRequest;
    using fields = Fields<Field<"nodes", &M::nodes>, Field<"rmID", &M::rm_id, kId, kRequired>,
                          Field<"impersonate", &M::impersonate>>;
};

template <>
struct Schema<si::AcceptedNode> {
    using M = si::AcceptedNode;
    using fields = Fields<Field<"nodeID", &M::node_id>, Field<"partitionName", &M::partition_name, kQueue>>;
};

template <>
struct Schema<si::RejectedNode> {
    using M = si::RejectedNode;
    using fields = Fields<Field<"nodeID", &M::node_id>, Field<"reason", &M::reason, kMessage>,
                          Field<"partitionName", &M::partition_name, kQueue>, Field<"code", &M::code>,
                          Field<"element", &M::element>>;
};

template <>
struct Schema<si::FailedNode> {
    using M = si::FailedNode;
    using fields = Fields<Field<"nodeID", &M::node_id>, Field<"action", &M::action>,
                          Field<"reason", &M::reason, kMessage>, Field<"partitionName", &M::partition_name, kQueue>,
                          Field<"code", &M::code>, Field<"element", &M::element>>;
};

template <>
struct Schema<si::NodeResponse> {
    using M = si::NodeResponse;
    using fields =
        Fields<Field<"accepted", &M::accepted>, Field<"rejected", &M::rejected>, Field<"failed", &M::failed>>;
};

// --- configuration and session --------------------------------------------------------------------------------------

template <>
struct Schema<si::UpdateConfigurationRequest> {
    using M = si::UpdateConfigurationRequest;
    using fields =
        Fields<Field<"rmID", &M::rm_id, kId, kRequired>, Field<"policyGroup", &M::policy_group>,
               Field<"config", &M::config, kConfig>, Field<"extraConfig", &M::extra_config>,
               Field<"impersonate", &M::impersonate>, Field<"dryRun", &M::dry_run>, Field<"checksum", &M::checksum>,
               Field<"source", &M::source, kMessage>, Field<"message", &M::message, kMessage>>;
};

template <>
struct Schema<si::HelloResume> {
    using M = si::HelloResume;
    using fields = Fields<Field<"sid", &M::sid>, Field<"bootID", &M::boot_id>>;
};

template <>
struct Schema<si::HelloRequest> {
    using M = si::HelloRequest;
    using fields =
        Fields<Field<"min", &M::min>, Field<"max", &M::max>, Field<"client", &M::client, kMessage, kRequired>,
               Field<"role", &M::role, kMessage, kRequired>, Field<"token", &M::token, kMessage>,
               Field<"maxMessage", &M::max_message>, Field<"resume", &M::resume>,
               Field<"capabilities", &M::capabilities>>;
};

template <>
struct Schema<si::ServerInfo> {
    using M = si::ServerInfo;
    using fields = Fields<Field<"name", &M::name, kMessage>, Field<"version", &M::version, kMessage>,
                          Field<"build", &M::build, kMessage>, Field<"uuid", &M::uuid, kMessage>>;
};

template <>
struct Schema<si::OwnedRm> {
    using M = si::OwnedRm;
    using fields = Fields<Field<"rmID", &M::rm_id>, Field<"streamEpoch", &M::stream_epoch>,
                          Field<"lastAck", &M::last_ack>, Field<"state", &M::state>>;
};

template <>
struct Schema<si::HelloLimits> {
    using M = si::HelloLimits;
    using fields =
        Fields<Field<"maxMessage", &M::max_message>, Field<"maxPollWaitMs", &M::max_poll_wait_ms>,
               Field<"livenessTimeoutMs", &M::liveness_timeout_ms>, Field<"sessionTtlMs", &M::session_ttl_ms>,
               Field<"maxSessions", &M::max_sessions>, Field<"outboundMaxItems", &M::outbound_max_items>,
               Field<"outboundMaxBytes", &M::outbound_max_bytes>>;
};

template <>
struct Schema<si::HelloReply> {
    using M = si::HelloReply;
    using fields = Fields<Field<"version", &M::version>, Field<"sid", &M::sid>, Field<"bootID", &M::boot_id>,
                          Field<"server", &M::server>, Field<"resumed", &M::resumed, kId, kRequired>,
                          Field<"lastSeq", &M::last_seq, kId, kRequired>, Field<"rms", &M::rms, kId, kRequired>,
                          Field<"limits", &M::limits>, Field<"features", &M::features, kId, kRequired>,
                          Field<"role", &M::role>, Field<"who", &M::who>, Field<"address", &M::address>,
                          Field<"granted", &M::granted>, Field<"rmPattern", &M::rm_pattern>>;
};

// --- callback stream ------------------------------------------------------------------------------------------------

template <>
struct Schema<si::PollRequest> {
    using M = si::PollRequest;
    using fields = Fields<Field<"rmID", &M::rm_id, kId, kRequired>, Field<"streamEpoch", &M::stream_epoch>,
                          Field<"ack", &M::ack>, Field<"maxItems", &M::max_items>, Field<"maxBytes", &M::max_bytes>,
                          Field<"waitMs", &M::wait_ms>, Field<"impersonate", &M::impersonate>>;
};

template <>
struct Schema<si::StreamItem> {
    using M = si::StreamItem;
    using fields = Fields<Field<"n", &M::n>, Field<"kind", &M::kind>, Field<"at", &M::at>, Field<"call", &M::call>,
                          Field<"ttl", &M::ttl>, Field<"body", &M::body>>;
};

template <>
struct Schema<si::PollReply> {
    using M = si::PollReply;
    using fields =
        Fields<Field<"streamEpoch", &M::stream_epoch>, Field<"items", &M::items, kId, kRequired>,
               Field<"backlog", &M::backlog, kId, kRequired>, Field<"backlogBytes", &M::backlog_bytes, kId, kRequired>,
               Field<"congested", &M::congested, kId, kRequired>>;
};

template <>
struct Schema<si::CallResultRequest> {
    using M = si::CallResultRequest;
    using fields = Fields<Field<"rmID", &M::rm_id, kId, kRequired>, Field<"streamEpoch", &M::stream_epoch>,
                          Field<"call", &M::call>, Field<"ok", &M::ok>, Field<"error", &M::error, kMessage>,
                          Field<"result", &M::result>, Field<"impersonate", &M::impersonate>>;
};

template <>
struct Schema<si::NodeVerdict> {
    using M = si::NodeVerdict;
    using fields = Fields<Field<"nodeID", &M::node_id, kId, kRequired>, Field<"fits", &M::fits>,
                          Field<"reason", &M::reason, kMessage>>;
};

template <>
struct Schema<si::CallResultBody> {
    using M = si::CallResultBody;
    using fields = Fields<Field<"results", &M::results>, Field<"success", &M::success>, Field<"index", &M::index>,
                          Field<"reason", &M::reason, kMessage>, Field<"stateDump", &M::state_dump, kConfig>>;
};

template <>
struct Schema<si::AskName> {
    using M = si::AskName;
    using fields =
        Fields<Field<"applicationID", &M::application_id, kId, kRequired>,
               Field<"allocationKey", &M::allocation_key, kId, kRequired>, Field<"partitionName", &M::partition_name>>;
};

template <>
struct Schema<si::SyncRequest> {
    using M = si::SyncRequest;
    using fields = Fields<Field<"rmID", &M::rm_id, kId, kRequired>, Field<"position", &M::position>,
                          Field<"impersonate", &M::impersonate>, Field<"asks", &M::asks>>;
};

template <>
struct Schema<si::StreamLogRequest> {
    using M = si::StreamLogRequest;
    using fields = Fields<Field<"rmID", &M::rm_id, kId, kRequired>, Field<"after", &M::after>,
                          Field<"count", &M::count>, Field<"impersonate", &M::impersonate>>;
};

} // namespace yk::wire
