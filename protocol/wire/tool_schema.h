// SPDX-License-Identifier: Apache-2.0
#pragma once
// The schemas of the messages in protocol/si/tool_requests.h.

#include "protocol/si/tool_requests.h"
#include "protocol/wire/schema.h"

namespace yk::wire {

// --- the daemon and its RMs ------------------------------------------------------------------------------------------

template <>
struct Schema<si::PingRequest> {
    using M = si::PingRequest;
    using fields = Fields<Field<"rmID", &M::rm_id>>;
};

template <>
struct Schema<si::StatusRequest> {
    using fields = Fields<>;
};

template <>
struct Schema<si::UnregisterResourceManagerRequest> {
    using M = si::UnregisterResourceManagerRequest;
    using fields = Fields<Field<"rmID", &M::rm_id, kId, kRequired>, Field<"force", &M::force>,
                          Field<"impersonate", &M::impersonate>>;
};

// --- configuration ---------------------------------------------------------------------------------------------------

template <>
struct Schema<si::ValidateConfigurationRequest> {
    using M = si::ValidateConfigurationRequest;
    using fields =
        Fields<Field<"config", &M::config, kConfig, kRequired>, Field<"rmID", &M::rm_id>, Field<"diff", &M::diff>>;
};

template <>
struct Schema<si::ReloadRequest> {
    using M = si::ReloadRequest;
    using fields = Fields<Field<"rmID", &M::rm_id>, Field<"fromFile", &M::from_file>, Field<"dryRun", &M::dry_run>,
                          Field<"impersonate", &M::impersonate>, Field<"message", &M::message, kMessage>>;
};

template <>
struct Schema<si::SetExtraConfigRequest> {
    using M = si::SetExtraConfigRequest;
    using fields = Fields<Field<"extraConfig", &M::extra_config, kId, kRequired>>;
};

// --- questions -------------------------------------------------------------------------------------------------------

template <>
struct Schema<si::DumpRequest> {
    using M = si::DumpRequest;
    using fields = Fields<Field<"what", &M::what, kId, kRequired>, Field<"partition", &M::partition, kQueue>,
                          Field<"rmID", &M::rm_id>, Field<"queue", &M::queue, kQueue>, Field<"subtree", &M::subtree>,
                          Field<"flat", &M::flat>, Field<"brief", &M::brief>, Field<"objects", &M::objects>,
                          Field<"allocationKey", &M::allocation_key>, Field<"names", &M::names>,
                          Field<"application", &M::application>, Field<"node", &M::node>, Field<"user", &M::user>,
                          Field<"group", &M::group>, Field<"state", &M::state>, Field<"status", &M::status>,
                          Field<"limit", &M::limit>, Field<"cursor", &M::cursor>>;
};

template <>
struct Schema<si::EventFilter> {
    using M = si::EventFilter;
    using fields = Fields<Field<"types", &M::types>, Field<"details", &M::details>,
                          Field<"objectID", &M::object_id, kQueue>, Field<"partition", &M::partition, kQueue>>;
};

template <>
struct Schema<si::EventsRequest> {
    using M = si::EventsRequest;
    using fields = Fields<Field<"start", &M::start>, Field<"count", &M::count>, Field<"filter", &M::filter>>;
};

template <>
struct Schema<si::EventStreamRequest> {
    using M = si::EventStreamRequest;
    using fields = Fields<Field<"streamID", &M::stream_id>, Field<"count", &M::count>, Field<"after", &M::after>,
                          Field<"waitMs", &M::wait_ms>, Field<"filter", &M::filter>>;
};

template <>
struct Schema<si::MetricsRequest> {
    using M = si::MetricsRequest;
    using fields = Fields<Field<"format", &M::format>, Field<"prefix", &M::prefix>, Field<"cursor", &M::cursor>,
                          Field<"maxBytes", &M::max_bytes>, Field<"names", &M::names>>;
};

template <>
struct Schema<si::HealthRequest> {
    using M = si::HealthRequest;
    using fields = Fields<Field<"run", &M::run>, Field<"invariants", &M::invariants>>;
};

template <>
struct Schema<si::AuditRequest> {
    using M = si::AuditRequest;
    using fields = Fields<Field<"from", &M::from>, Field<"last", &M::last>, Field<"count", &M::count>>;
};

template <>
struct Schema<si::ExplainRequest> {
    using M = si::ExplainRequest;
    using fields = Fields<Field<"what", &M::what, kId, kRequired>, Field<"partition", &M::partition, kQueue>,
                          Field<"rmID", &M::rm_id>, Field<"application", &M::application>,
                          Field<"allocationKey", &M::allocation_key>, Field<"queue", &M::queue, kQueue>,
                          Field<"node", &M::node>, Field<"user", &M::user>, Field<"groups", &M::groups>,
                          Field<"tags", &M::tags>, Field<"config", &M::config, kConfig>>;
};

// --- Deployments -----------------------------------------------------------------------------------------------------

template <>
struct Schema<si::McsReadRequest> {
    using M = si::McsReadRequest;
    using fields = Fields<Field<"what", &M::what, kId, kRequired>, Field<"kind", &M::kind>, Field<"id", &M::id>,
                          Field<"limit", &M::limit>, Field<"cursor", &M::cursor, kMessage>,
                          Field<"minPosition", &M::min_position>, Field<"waitMs", &M::wait_ms>>;
};

template <>
struct Schema<si::McsWatchRequest> {
    using M = si::McsWatchRequest;
    using fields = Fields<Field<"cursor", &M::cursor>, Field<"id", &M::id>, Field<"limit", &M::limit>,
                          Field<"waitMs", &M::wait_ms>>;
};

template <>
struct Schema<si::McsMetric> {
    using M = si::McsMetric;
    using fields = Fields<Field<"name", &M::name, kId, kRequired>, Field<"value", &M::value, kId, kRequired>,
                          Field<"replica", &M::replica>>;
};

template <>
struct Schema<si::McsBody> {
    using M = si::McsBody;
    using fields =
        Fields<Field<"name", &M::name, kMessage>, Field<"partition", &M::partition>, Field<"queue", &M::queue, kQueue>,
               Field<"user", &M::user>, Field<"groups", &M::groups>, Field<"resource", &M::resource>,
               Field<"replicas", &M::replicas>, Field<"minReplicas", &M::min_replicas>,
               Field<"maxReplicas", &M::max_replicas>, Field<"policy", &M::policy, kConfig>,
               Field<"priority", &M::priority>, Field<"tags", &M::tags>, Field<"deleteMode", &M::delete_mode>,
               Field<"adopt", &M::adopt>, Field<"metric", &M::metric>, Field<"paused", &M::paused>>;
};

template <>
struct Schema<si::McsWriteRequest> {
    using M = si::McsWriteRequest;
    using fields = Fields<Field<"verb", &M::verb, kId, kRequired>, Field<"kind", &M::kind, kId, kRequired>,
                          Field<"id", &M::id>, Field<"version", &M::version>, Field<"body", &M::body>>;
};

// --- driving the daemon -------------------------------------------------------------------------------------------

template <>
struct Schema<si::StepEnd> {
    using fields = Fields<Field<"allocations", &si::StepEnd::allocations>>;
};

template <>
struct Schema<si::StepRequest> {
    using M = si::StepRequest;
    using fields = Fields<Field<"cycles", &M::cycles>, Field<"until", &M::until>>;
};

template <>
struct Schema<si::ClockRequest> {
    using M = si::ClockRequest;
    using fields = Fields<Field<"advanceMs", &M::advance_ms>>;
};

template <>
struct Schema<si::ShutdownRequest> {
    using M = si::ShutdownRequest;
    using fields = Fields<Field<"graceMs", &M::grace_ms>>;
};

} // namespace yk::wire
