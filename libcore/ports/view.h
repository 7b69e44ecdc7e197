// SPDX-License-Identifier: Apache-2.0
#pragma once
// Immutable snapshots of a partition for dumps, metrics and people (section 5 of interface.md). The owner thread builds
// them on request, between two commands or cycles; any thread may read them. Plain data, names as texts, partition
// names short.

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/time.h"
#include "libcore/config/config.h"

namespace yk {

using ResourceMapView = std::map<std::string, std::int64_t>;
using TagsView = std::vector<std::pair<std::string, std::string>>;

/// A message of the log of an ask, with how often it was logged (S-114, I-710).
struct LogEntryView {
    std::string message;
    Instant last;
    std::int64_t count = 0;
};

/// What the last attempt to preempt for an ask came to.
struct PreemptionAttemptView {
    Instant at;
    std::string result; // as in the ask's log
    std::string fence_root, node;
    std::int64_t victims = 0, candidates = 0, nodes_tried = 0;
    std::map<std::string, std::int64_t> excluded_queues, excluded; // why not -> leaves, allocations looked at
};

struct AskView {
    std::string key;
    std::string application;
    std::string queue; // of a list of its own only
    ResourceMapView resource;
    TagsView tags;
    std::int32_t priority = 0;
    Instant request_time;
    std::string required_node;
    std::map<std::string, std::pair<std::uint32_t, std::int64_t>> devices; // that it states: how many, how much of each
    std::string task_group;
    bool placeholder = false;
    bool originator = false;
    bool scheduling_attempted = false;
    bool triggered_scale_up = false;
    bool triggered_preemption = false;
    std::vector<LogEntryView> log; // oldest last-occurrence first
    std::string last_reason;       // why the last attempt ended, where the log has no word for it
    std::optional<PreemptionAttemptView> last_preemption;
    std::uint64_t next = 0; // of a list of its own: where that continues (ViewCursor)
};

/// A part of a device that an allocation has.
struct DeviceUseView {
    std::string resource;
    std::uint32_t index = 0;
    std::int64_t amount = 0;
};

struct AllocationView {
    std::string key;
    std::string application; // empty: foreign
    std::string queue;       // of a list of its own only
    std::string node;
    ResourceMapView resource;
    TagsView tags;
    std::int32_t priority = 0;
    Instant request_time;
    Instant allocation_time;
    std::string task_group;
    bool placeholder = false;
    bool placeholder_used = false;
    bool originator = false;
    bool preempted = false;
    bool preemptable = true;            // foreign ones
    std::vector<DeviceUseView> devices; // by resource and index
    std::uint64_t next = 0;             // as AskView::next
};

/// Where an ask is.
struct AskStatus {
    enum class State { Absent, Pending, Placed, Quarantined }; // the last: during a recovery, without its application
    State state = State::Absent;
    std::string node; // when it is placed
};

struct PlaceholderDataView {
    std::string task_group;
    std::int64_t count = 0;
    ResourceMapView min_resource;
    std::int64_t replaced = 0;
    std::int64_t timed_out = 0;
};

/// For snapshots with all asks and allocations of an application or node, however many.
inline constexpr std::size_t kAllObjects = std::numeric_limits<std::size_t>::max();

enum class ApplicationList { Active, Completed, Rejected };

struct ApplicationView {
    std::string id;
    std::string queue;
    std::string user;
    std::vector<std::string> groups;
    std::string state;
    std::string rejected_message;
    ApplicationList list = ApplicationList::Active;
    ResourceMapView allocated;   // real allocations only
    ResourceMapView placeholder; // placeholder allocations
    ResourceMapView pending;
    ResourceMapView max_used;
    Instant submitted;
    std::optional<Instant> started;
    std::optional<Instant> finished;
    std::vector<std::pair<Instant, std::string>> state_log;
    bool whole = true;         // made with its asks and allocations
    std::vector<AskView> asks; // unplaced, by key
    std::vector<AllocationView> allocations;
    std::vector<std::string> reservations; // ask keys
    std::vector<PlaceholderDataView> placeholder_data;
    std::int64_t pending_asks = 0;
    std::int64_t allocation_count = 0;
    std::int32_t max_ask_priority = 0;
    bool has_pending = false;
    std::optional<Instant> oldest_pending; // ask; nullopt: none, or they are of more than 64 shapes
    std::optional<Instant> backoff_deadline;
    // resource-seconds so far: instance type -> resource -> value x seconds (S-033)
    std::map<std::string, ResourceMapView> used_seconds, preempted_seconds, placeholder_seconds;
};

/// The child template that applies to a queue (C-477).
struct TemplateView {
    std::string owner; // path of the queue that has it
    std::uint64_t max_applications = 0;
    std::map<std::string, std::string> properties;
    ResourceMapView max;
    ResourceMapView guaranteed;
    bool apply_to_existing = false;
    bool inherit_properties = false;
};

/// A dynamic queue to which a configuration would apply a template again (B-10).
struct ReappliedView {
    std::string path;
    std::string owner;           // path of the queue that has the template
    config::Queue before, after; // resources, max_applications and properties, the effective ones
};

/// The last preemption that took back what a queue used above its max (P-111).
struct QuotaRunView {
    Instant at;
    ResourceMapView target, claimed;
    std::int64_t candidates = 0, victims = 0;
};

struct QueueView {
    std::string path;
    std::string parent;
    std::string state;
    bool leaf = false;
    bool managed = true;
    ResourceMapView pending;
    ResourceMapView allocated;
    ResourceMapView preempting;
    std::optional<ResourceMapView> max;        // own; root: cluster size
    std::optional<ResourceMapView> guaranteed; // own
    std::optional<ResourceMapView> headroom;   // nullopt: unlimited
    std::optional<ResourceMapView> effective_max;
    std::map<std::string, std::string> properties;
    std::uint64_t max_applications = 0; // 0: unlimited
    std::uint64_t running_applications = 0;
    std::int64_t applications = 0; // of the queue itself
    std::vector<std::string> allocating_accepted;
    std::int32_t current_priority = 0;
    std::int32_t priority_offset = 0;
    std::string sort_policy; // fifo, fair
    bool priority_sorting = true;
    bool preemption_enabled = true;
    bool preemption_fence = false;
    bool priority_fence = false;
    Duration preemption_delay{};
    Duration quota_preemption_delay{};
    std::optional<QuotaRunView> last_quota_run;
    double fair_share = 0;
    // of a dynamic leaf, by tags of an application and no more by a template (C-237):
    bool tags_set_max = false, tags_set_guaranteed = false, tags_set_max_applications = false;
    std::optional<TemplateView> child_template; // a parent's: the one in force for new leafs (C-235)
    std::vector<QueueView> children;            // by name
    std::vector<std::string> child_paths;       // of a list of queues one by one, instead of children
};

struct FilterView {
    std::string type; // allow, deny
    std::vector<std::string> users, groups;
    std::string user_expression, group_expression;
};

/// A placement rule with its parent (C-475).
struct RuleView {
    std::string name;
    std::vector<std::pair<std::string, std::string>> parameters;
    std::optional<FilterView> filter; // nullopt: nothing is filtered
    std::vector<RuleView> parent;     // none or one
};

struct DeviceView {
    std::int64_t size = 0;
    std::int64_t used = 0;
    bool lost = false;  // gone, or smaller than what is in use
    bool listed = true; // by the RM; false: only something that is still there has it
};

struct NodeView {
    std::string id;
    TagsView attributes;
    ResourceMapView capacity;
    ResourceMapView allocated;
    ResourceMapView occupied;
    ResourceMapView available;
    bool schedulable = true;
    std::int64_t allocation_count = 0;
    bool whole = true;                       // made with its allocations
    std::vector<AllocationView> allocations; // by application, key
    std::vector<AllocationView> foreign;
    std::vector<std::string> reservations;                  // ask keys
    std::map<std::string, std::vector<DeviceView>> devices; // by resource, in the order of their indices
    bool device_conflict = false;                           // something there has not the devices that it should have
};

struct ReservationView {
    std::string application;
    std::string key;
    std::string node;
    std::string queue;
    ResourceMapView resource;
    Instant since;
    std::string reason;
};

/// What a user or group uses at one queue and below, and what it may (C-400, C-476).
struct UsageQueueView {
    std::string path;
    ResourceMapView usage;
    std::vector<std::string> running; // applications, by id
    std::optional<ResourceMapView> max;
    std::uint64_t max_applications = 0;   // 0: not limited
    std::vector<UsageQueueView> children; // by path
};

struct UsageView {
    std::string name;
    std::map<std::string, std::string> groups; // of a user: application -> group it counts for
    std::vector<std::string> applications;     // of a group, by id
    UsageQueueView root;
};

/// An application of a user or group.
struct UsageLinkView {
    std::string tracker; // the name of the user or group
    std::string application;
    std::string queue;
    std::string group;    // of a user: that the application counts for; empty: none
    bool running = false; // in the running set (C-406)
};

/// An application that counts for its user and maybe a group (C-400, C-403): what a change of limits is worked out
/// from.
struct ChargedApplicationView {
    std::string id;
    std::string queue;
    std::string user;
    std::vector<std::string> groups; // of the user
    std::string group;               // that it counts for; empty: none
    ResourceMapView usage;           // placeholders included
    bool running = false;            // in the running set (C-406)
};

/// A part of what users or groups use: some of them without their applications, then the applications.
struct UsagePage {
    bool groups = false;
    std::vector<UsageView> views; // by name
    std::vector<UsageLinkView> links;
};
/// For all pages of one snapshot, put together: moves each application to its user or group; no links are left.
void join_usage(UsagePage& all);

struct PartitionView {
    std::string name;
    std::string rm;
    std::string state;
    Instant last_transition;
    ResourceMapView capacity;
    ResourceMapView allocated;
    std::string node_sort_policy;
    std::map<std::string, double> resource_weights; // effective
    bool preemption_enabled = true;
    bool quota_preemption_enabled = false;
    std::int64_t nodes = 0;
    std::int64_t applications = 0; // live
    std::int64_t allocations = 0;  // placeholders included
    std::int64_t placeholders = 0;
    std::int64_t reservations = 0;
    std::int64_t quarantined = 0; // reported during a recovery, and not restored (I-242)
    std::int64_t pending_asks = 0;
    std::map<std::string, std::int64_t> application_states; // live, completed and rejected ones
};

/// Where the next page of a snapshot begins.
struct ViewCursor {
    std::uint64_t next = 0;  // application: its index, of an ended one its serial number
    std::string after;       // node, queue, user, group: the last one
    bool named = false;      // users and groups are done, their applications are next
    std::uint32_t stage = 0; // metrics: of what is at work
};

/// Which asks or allocations a list takes; what is empty takes all.
struct ObjectFilter {
    std::string application, key;
    std::string node;   // that the allocation is on, or that the ask requires
    std::string queue;  // this one or one below it
    std::string status; // of the application, in lower case
};

/// Applications in the order of their ids, by what application_at() finds them with.
using ApplicationRoster = std::vector<std::pair<std::string, std::uint64_t>>;

/// Where the next chunk of a health check begins.
struct HealthCursor {
    std::string partition; // the one at work
    std::uint32_t stage = 0;
    ViewCursor view;
};

/// One verdict of a health check (S-610, interface.md 5.6).
struct HealthCheckView {
    std::string name;
    bool succeeded = true;
    std::string description;
    std::string diagnosis;
};

/// Checks 3 to 11 of interface.md 5.6, all of them succeeded so far.
[[nodiscard]] std::vector<HealthCheckView> health_checks();

} // namespace yk
