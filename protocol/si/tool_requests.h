// SPDX-License-Identifier: Apache-2.0
#pragma once
// The requests of tools and administrators (interface.md section 4.6) as plain owning structs, like those
// of messages.h: what the daemon is asked about its state, and the commands that are no updates of an RM. Every member
// has an initializer, so that a request can be made by naming the members that matter.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "protocol/si/kinds.h"
#include "protocol/si/messages.h"

namespace yk::si {

/// Whether the daemon is there, in which state, and what its clock says.
struct PingRequest {
    static constexpr Kind kKind = Kind::Ping;
    std::optional<std::string> rm_id{}; // the state of this RM; from its owner it also counts as a sign of life
    bool operator==(const PingRequest&) const = default;
};

struct StatusRequest {
    static constexpr Kind kKind = Kind::Status;
    bool operator==(const StatusRequest&) const = default;
};

struct UnregisterResourceManagerRequest {
    static constexpr Kind kKind = Kind::UnregisterResourceManager;
    std::string rm_id{};
    bool force = false; // although it has nodes or applications
    bool impersonate = false;
    bool operator==(const UnregisterResourceManagerRequest&) const = default;
};

// --- configuration --------------------------------------------------------------------------------------------------

struct ValidateConfigurationRequest {
    static constexpr Kind kKind = Kind::ValidateConfiguration;
    std::optional<std::string> config{}; // the text to check; required
    std::string rm_id{}; // also against the running state of this RM; empty: of the only one, or of none
    bool diff = false;   // also what it would change
    bool operator==(const ValidateConfigurationRequest&) const = default;
};

/// Makes the daemon read its files again, as SIGHUP does.
struct ReloadRequest {
    static constexpr Kind kKind = Kind::Reload;
    std::string rm_id{};    // empty: the configurations of all RMs, the peers and the tokens
    bool from_file = false; // also RMs whose configuration came from elsewhere: they follow their file again
    bool dry_run = false;
    bool impersonate = false;
    std::string message{}; // why, for the history
    bool operator==(const ReloadRequest&) const = default;
};

/// Lays settings over those of the files until the daemon ends.
struct SetExtraConfigRequest {
    static constexpr Kind kKind = Kind::SetExtraConfig;
    std::optional<StringMap> extra_config{}; // required
    bool operator==(const SetExtraConfigRequest&) const = default;
};

// --- questions ------------------------------------------------------------------------------------------------------

/// Objects as documents, in pages (I-410). Which of the filters count depends on `what`; an empty one takes everything.
struct DumpRequest {
    static constexpr Kind kKind = Kind::Dump;
    std::string what{}; // `apps`, `nodes`, `full` ...
    std::string partition{};
    std::string rm_id{};
    std::string queue{};
    bool subtree = false;                                              // the queue with all below it
    bool flat = false;                                                 // queues one by one instead of a tree
    bool brief = false;                                                // without the lists of an object; as `objects` 0
    std::uint32_t objects = std::numeric_limits<std::uint32_t>::max(); // an object with longer lists comes brief
    std::string allocation_key{};
    std::optional<std::vector<std::string>> names{}; // only these
    std::string application{};
    std::string node{};
    std::string user{};
    std::string group{};
    std::string state{};
    std::string status{};
    std::uint32_t limit = 1000; // objects per page
    std::string cursor{};       // of the page before; empty: the first page
    bool operator==(const DumpRequest&) const = default;
};

/// Which records of events are wanted; an empty member takes all.
struct EventFilter {
    std::vector<std::uint64_t> types{};
    std::vector<std::uint64_t> details{};
    std::string object_id{}; // how it begins
    std::string partition{};
    bool operator==(const EventFilter&) const = default;
};

/// The records that are kept, from number `start` on.
struct EventsRequest {
    static constexpr Kind kKind = Kind::Events;
    std::uint64_t start = 0;
    std::optional<std::uint64_t> count{}; // absent: as many as one answer may have
    std::optional<EventFilter> filter{};
    bool operator==(const EventsRequest&) const = default;
};

/// Opens a stream of events, or waits for the next ones of an open stream.
struct EventStreamRequest {
    static constexpr Kind kKind = Kind::EventStream;
    std::string stream_id{};              // empty: open one
    std::uint64_t count = 0;              // of a new stream: so many records from before
    std::optional<std::uint64_t> after{}; // the first record wanted; absent: where the last answer ended
    std::uint64_t wait_ms = 10000;
    std::optional<EventFilter> filter{};
    bool operator==(const EventStreamRequest&) const = default;
};

struct MetricsRequest {
    static constexpr Kind kKind = Kind::Metrics;
    std::string format{};        // text (also when empty) or map
    std::string prefix{};        // only families whose name begins so
    std::string cursor{};        // of the page before; empty: the first page
    std::uint32_t max_bytes = 0; // of a page, about; 0: as many as a reply may have
    std::string names{};         // original or own; empty: the original's, with labels as the settings say
    bool operator==(const MetricsRequest&) const = default;
};

struct HealthRequest {
    static constexpr Kind kKind = Kind::Health;
    bool run = false;        // check now; else the last result
    bool invariants = false; // check now, and every sum and index of all RMs with the objects, too
    bool operator==(const HealthRequest&) const = default;
};

/// Who changed what: at most `count` records from number `from` on.
struct AuditRequest {
    static constexpr Kind kKind = Kind::Audit;
    std::optional<std::uint64_t> from{}; // absent: the last `last`
    std::uint32_t last = 1000;
    std::uint32_t count = 1000; // in one answer
    bool operator==(const AuditRequest&) const = default;
};

/// Why something is as it is. Which members count depends on `what`.
struct ExplainRequest {
    static constexpr Kind kKind = Kind::Explain;
    std::string what{}; // app, ask, queue, node, user, config, preemption or placement
    std::string partition{};
    std::string rm_id{};
    std::string application{};
    std::string allocation_key{};
    std::string queue{};
    std::string node{};
    std::string user{};
    std::vector<std::string> groups{};
    StringMap tags{};
    std::optional<std::string> config{}; // a path within the configuration; for placement a whole configuration
    bool operator==(const ExplainRequest&) const = default;
};

// --- Deployments (resource-state.md) --------------------------------------------------------------------------------

/// Rows of resource state, from memory, and how the daemon keeps them. Which members count depends on `what`.
struct McsReadRequest {
    static constexpr Kind kKind = Kind::McsRead;
    std::string what{};         // list, describe, inspect, logs, status or dead-letters
    std::string kind{};         // of the rows: deployment; node to list; inspect: any
    std::string id{};           // of one row, or its name
    std::uint32_t limit = 1000; // rows per page
    std::string cursor{};       // of the page before; empty: the first page
    std::string min_position{}; // list, describe: wait until what was written up to there is seen; empty: do not
    std::uint64_t wait_ms = 5000;
    /// Whether the daemon is asked to wait at all.
    [[nodiscard]] bool waits() const { return !min_position.empty(); }
    bool operator==(const McsReadRequest&) const = default;
};

/// What has become of Deployments behind a cursor; waits while nothing has.
struct McsWatchRequest {
    static constexpr Kind kKind = Kind::McsWatch;
    std::string cursor{};      // of the answer before; empty: one that begins now
    std::string id{};          // only the Deployment with this id or name; empty: all
    std::uint32_t limit = 100; // changes in an answer
    std::uint64_t wait_ms = 10000;
    bool operator==(const McsWatchRequest&) const = default;
};

/// A measured value of a metric in the policy of a Deployment.
struct McsMetric {
    std::string name{};
    std::int64_t value = 0;                 // thousandths
    std::optional<std::uint64_t> replica{}; // that it is of, from 0 on; absent: of the whole
    bool operator==(const McsMetric&) const = default;
};

/// What a write says of a Deployment, or of a node, whose capacity is `resource` and whose attributes are `tags`. What
/// is absent has its default at a create, and stays as it is otherwise.
struct McsBody {
    std::optional<std::string> name{}; // required at a create
    std::optional<std::string> partition{};
    std::optional<std::string> queue{}; // empty: the placement rules decide
    std::optional<std::string> user{};  // required at a create
    std::optional<std::vector<std::string>> groups{};
    std::optional<Resources> resource{}; // of one replica; required at a create
    std::optional<std::uint64_t> replicas{};
    std::optional<std::uint64_t> min_replicas{};
    std::optional<std::uint64_t> max_replicas{};
    std::optional<std::string> policy{}; // JSON: how the Autoscaler decides
    std::optional<std::int32_t> priority{};
    std::optional<StringMap> tags{};
    std::optional<std::string> delete_mode{}; // cascade, owners or orphan
    bool adopt = false;                       // create: with what an orphaned one of this id left
    std::optional<McsMetric> metric{};        // metric: required
    std::optional<bool> paused{};             // create and apply: the number of replicas stays as it is
    bool operator==(const McsBody&) const = default;
};

/// Changes one row of those that users write (resource-state.md R-157). Answered when it is on the disk.
struct McsWriteRequest {
    static constexpr Kind kKind = Kind::McsWrite;
    std::string verb{};        // what is to be done; docs/protocol.md has the list for each kind
    std::string kind{};        // deployment or node
    std::string id{};          // the id or the name; of a new row the id, or empty: one is made
    std::uint64_t version = 0; // the row must have it; 0: any
    std::optional<McsBody> body{};
    bool operator==(const McsWriteRequest&) const = default;
};

// --- driving the daemon ------------------------------------------------------------------------------------------

/// Where a step ends before its cycles are over.
struct StepEnd {
    std::uint32_t allocations = 0; // 0: it does not
    bool operator==(const StepEnd&) const = default;
};

struct StepRequest {
    static constexpr Kind kKind = Kind::Step;
    std::uint32_t cycles = 1;
    StepEnd until{}; // ykd takes a number of allocations instead of the map, too
    bool operator==(const StepRequest&) const = default;
};

struct ClockRequest {
    static constexpr Kind kKind = Kind::Clock;
    std::uint64_t advance_ms = 0;
    bool operator==(const ClockRequest&) const = default;
};

struct ShutdownRequest {
    static constexpr Kind kKind = Kind::Shutdown;
    std::optional<std::uint64_t> grace_ms{}; // for what is under way; absent: as the daemon's setting says
    bool operator==(const ShutdownRequest&) const = default;
};

} // namespace yk::si
