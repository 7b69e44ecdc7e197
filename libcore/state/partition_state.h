// SPDX-License-Identifier: Apache-2.0
#pragma once
// PartitionState: every object of a partition. Plain data: it is changed by the classes of libcore/partition,
// libcore/changes and libcore/planning only, each of which changes one part (their README.md files name them).
//
// Owner: PartitionContext. Thread: the owner thread of its RM.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libcore/model/allocation.h"
#include "libcore/model/application.h"
#include "libcore/model/ask_group.h"
#include "libcore/model/ledger.h"
#include "libcore/model/object_state.h"
#include "libcore/model/queue_tree.h"
#include "libcore/model/reservation.h"
#include "libcore/model/shape.h"
#include "libcore/model/tag_sets.h"
#include "libcore/nodes/expected_workload.h"
#include "libcore/nodes/node_collection.h"
#include "libcore/placement/rule_chain.h"
#include "libcore/ports/callbacks.h"
#include "libcore/ports/cycle.h"
#include "libcore/ports/event.h"
#include "libcore/ports/metrics_view.h"
#include "libcore/ports/settings.h"
#include "libcore/ports/view.h"
#include "libcore/state/aged_reservations.h"
#include "libcore/state/application_index.h"
#include "libcore/state/ask_index.h"
#include "libcore/state/ended_applications.h"
#include "libcore/state/preemption_records.h"
#include "libcore/state/recovery_records.h"
#include "libcore/state/rm_calls.h"
#include "libcore/state/timers.h"
#include "libcore/usage/user_group_manager.h"

namespace yk {

/// Names that occur on many objects, each once, as small numbers; 0 is the empty name.
class TextTable {
public:
    /// `meter` counts the distinct texts.
    explicit TextTable(BudgetMeter& meter) : meter_(meter) {}

    /// The number of the text, valid until released as often as it was acquired; 0 for the empty one.
    std::uint32_t acquire(std::string_view text) noexcept;
    void acquire(std::uint32_t id) noexcept { ++entries_[id].uses; }
    void release(std::uint32_t id) noexcept;
    [[nodiscard]] const std::string& text(std::uint32_t id) const { return entries_[id].text; }

    /// How often each text but the empty one is acquired, by number.
    [[nodiscard]] std::map<std::uint32_t, std::uint32_t> uses() const;
    /// What `meter` counts for them, added up again.
    [[nodiscard]] std::uint64_t bytes() const;

private:
    struct Entry {
        std::string text;
        std::uint32_t uses = 0;
    };
    BudgetMeter& meter_;
    std::deque<Entry> entries_{Entry{}}; // stable addresses: the map views the texts
    std::vector<std::uint32_t> free_;
    std::unordered_map<std::string_view, std::uint32_t> ids_;
};

struct PartitionState {
    PartitionState(std::string short_name, std::string full, const Settings& s, Callbacks& c, EventSink& e, RmCalls& r,
                   Holdings& held)
        : name(std::move(short_name)),
          full_name(std::move(full)),
          settings(s),
          callbacks(c),
          events(e),
          calls(r),
          budget_meter(held, s.budget),
          nodes(shapes, s.shortcuts.summaries) {}

    std::string name;
    std::string full_name;
    const Settings& settings;
    Callbacks& callbacks;
    EventSink& events;
    RmCalls& calls;
    // These are read by every ask and event, so that they stand here and not in `recovery`.
    bool recovering = false;        // a recovery is open: from the registration until the RM is Running
    bool restoring = false;         // the same, or something is in quarantine
    std::string_view event_message; // of events that have none: `restored`, `restored after quarantine` (I-228)
    BudgetMeter budget_meter;
    ObjectState state = ObjectState::Active;
    Instant last_transition;

    ResourceNames resources;
    TextTable texts{budget_meter};
    TagSets tags{budget_meter};
    ShapeTable shapes;
    NodeCollection nodes;
    Slab<Allocation> allocations;
    Slab<AskGroup> groups;
    Slab<Application> applications;
    Slab<Reservation> reservations;
    UserGroupManager users{budget_meter};
    GroupLists group_lists{budget_meter};

    QueueTree queues{applications};
    ApplicationIndex application_index{applications};
    AskIndex asks{allocations, groups};
    ExpectedWorkload expected;

    // counters of the partition (S-180)
    std::uint64_t allocation_count = 0;
    std::uint64_t placeholder_count = 0;
    std::uint64_t pending_asks = 0;
    std::uint64_t stalled_by_headroom = 0; // reservations
    Resource capacity;

    AgedReservations aged{reservations};
    bool worth_inspecting = false; // something changed since outstanding asks were looked for (S-520)
    bool slots_changed = false;    // running slots or waiters for one changed since runnable flags were emitted (S-265)

    EndedApplications ended{budget_meter, settings, queues};
    Instant last_submitted;
    Timers timers;
    PreemptionRecords preemption;
    Inquiries inquiries;
    RecoveryRecords recovery{budget_meter};
    std::uint64_t next_token = 1;
    CoreCounters counters;
    Ledger ledger{counters};
    CycleObserver* observer = nullptr; // of the cycle that runs

    // configuration
    placement::RuleChain rules;
    bool preemption_enabled = true;
    bool quota_preemption_enabled = false;
    const NodeSortPolicy* node_policy = &default_node_sort_policy();
    std::map<std::string, double> resource_weights; // as configured

    // --- lookups --------------------------------------------------------------------------------------------------
    [[nodiscard]] ApplicationId find_application(std::string_view id) const noexcept;
    [[nodiscard]] AllocationId find_allocation(ApplicationId application, std::string_view key) const {
        return asks.find(application, key);
    }
    /// The ask or allocation of a live application.
    [[nodiscard]] AllocationId find_ask(std::string_view application, std::string_view key) const;
    /// Its pending asks, in their order. REQUIRES: the indexes are up to date, since a new group is added to them late.
    [[nodiscard]] std::vector<AllocationId> pending_of(ApplicationId id) const;
    /// Sorts by id, as events and answers about several applications are ordered.
    void sort_by_name(std::vector<ApplicationId>& list) const noexcept;
    /// The first level of its user, then of its group, whose limit does not allow the ask; none: all do (C-409).
    [[nodiscard]] UsageNodeId refusing_user_limit(const Application& application, const Resource& ask) const;
    /// The first such level that does not allow one more running application; none: it may run (C-410).
    [[nodiscard]] UsageNodeId refusing_user_slot(const Application& application) const;
    [[nodiscard]] const Resource& resource_of(const Allocation& allocation) const {
        return shapes[allocation.shape].resource;
    }
    /// New types are added to `resources`; nullopt: there would be more than most_types(), and none is added.
    [[nodiscard]] std::optional<Resource> to_resource(const Quantities& quantities);
    /// So many types requests may name; twice as many while something is restored.
    [[nodiscard]] std::uint64_t most_types() const;
    /// As above, without the types beyond the limit.
    [[nodiscard]] Resource to_resource(const config::ResourceMap& map);
    [[nodiscard]] NamedResource named(const Resource& amounts) const { return {&amounts, &resources}; }
    /// The amounts by name, for snapshots and answers.
    [[nodiscard]] ResourceMapView map_of(const Resource& amounts) const;

    // --- events -----------------------------------------------------------------------------------------------------
    struct Note {
        EventType type;
        EventChange change;
        EventDetail detail;
        std::string_view object;
        std::string_view reference{};
        std::string_view message{};
        const Resource* resource = nullptr;
    };
    [[gnu::hot]] void emit(const Note& note, Instant now) noexcept {
        if (!settings.events_enabled) return;
        const std::string_view message = note.message.empty() ? event_message : note.message;
        events.record({note.type, note.change, note.detail, now, full_name, note.object, note.reference, message,
                       NamedResource{note.resource, &resources}});
    }
};

/// Key of the creation-time tag of an application (I-060).
inline constexpr std::string_view kApplicationCreated = "yunikorn.apache.org/creationTime";

/// Decimal seconds of a creation-time tag (S-110, I-060); nullopt when missing or malformed.
[[nodiscard]] std::optional<Instant> creation_time(std::string_view text);

} // namespace yk
