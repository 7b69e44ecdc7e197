#pragma once
// PartitionState: every object of a partition, in one place. Plain data: what may be done with it is in the files of
// this folder, each of which changes one part (README.md names them); the door is PartitionContext.
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

#include "libcore/objects/allocation.h"
#include "libcore/objects/application.h"
#include "libcore/objects/ask_group.h"
#include "libcore/objects/hash_index.h"
#include "libcore/objects/node_collection.h"
#include "libcore/objects/object_state.h"
#include "libcore/objects/queue.h"
#include "libcore/objects/reservation.h"
#include "libcore/objects/shape.h"
#include "libcore/objects/tag_sets.h"
#include "libcore/placement/rule_chain.h"
#include "libcore/scheduler/callbacks.h"
#include "libcore/scheduler/cluster_context.h"
#include "libcore/scheduler/event.h"
#include "libcore/scheduler/metrics_view.h"
#include "libcore/scheduler/preemption_records.h"
#include "libcore/scheduler/rm_calls.h"
#include "libcore/scheduler/settings.h"
#include "libcore/scheduler/timers.h"
#include "libcore/scheduler/victim_index.h"
#include "libcore/scheduler/view.h"
#include "libcore/ugm/user_group_manager.h"

namespace yk {

/// Names that occur on many objects, each once, as small numbers; 0 is the empty name.
class TextTable {
public:
    /// Counts the distinct texts.
    explicit TextTable(Ledger& ledger) : ledger_(ledger) {}

    /// The number is valid until released as often as it was acquired.
    std::uint32_t acquire(std::string_view text);
    void acquire(std::uint32_t id) { ++entries_[id].uses; }
    void release(std::uint32_t id);
    [[nodiscard]] const std::string& text(std::uint32_t id) const { return entries_[id].text; }

    /// How often each is acquired, but for the empty one.
    [[nodiscard]] std::map<std::uint32_t, std::uint32_t> uses() const;
    /// What the ledger has of them, added up again.
    [[nodiscard]] std::uint64_t bytes() const;

private:
    struct Entry {
        std::string text;
        std::uint32_t uses = 0;
    };
    Ledger& ledger_;
    std::deque<Entry> entries_{Entry{}}; // stable addresses: the map views the texts
    std::vector<std::uint32_t> free_;
    std::unordered_map<std::string_view, std::uint32_t> ids_;
};

/// An application that completed, failed or was rejected, kept for people (S-581, S-584).
struct EndedApplication {
    std::uint64_t serial = 0;
    ApplicationView view;
    ApplicationState state{};
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
          ledger(held, s.budget),
          nodes(shapes, s.shortcuts.summaries) {}

    std::string name;
    std::string full_name;
    const Settings& settings;
    Callbacks& callbacks;
    EventSink& events;
    RmCalls& calls;
    Ledger ledger;
    ObjectState state = ObjectState::Active;
    Instant last_transition;

    ResourceNames resources;
    TextTable texts{ledger};
    TagSets tags{ledger};
    ShapeTable shapes;
    NodeCollection nodes;
    Slab<Allocation> allocations;
    Slab<AskGroup> groups;
    Slab<Application> applications;
    Slab<Reservation> reservations;
    UserGroupManager users{ledger};
    GroupLists group_lists{ledger};

    std::vector<Queue*> queues; // by Queue::index; nullptr: free
    std::vector<std::uint32_t> free_queues;
    std::unique_ptr<Queue> root;
    std::unordered_map<std::string, ApplicationId> application_ids; // live ones
    HashIndex<AllocationId> keys;                                   // asks and allocations, by application and key
    HashIndex<GroupId> group_index;                                 // by application, shape and priority
    std::unordered_map<std::string, AllocationId> foreign;

    // S-180: the partition's counters
    std::uint64_t allocation_count = 0;
    std::uint64_t placeholder_count = 0;
    std::uint64_t pending_asks = 0;
    std::uint64_t stalled_by_headroom = 0; // reservations
    Resource capacity;

    struct Aged {
        ReservationId id{};
        std::uint64_t sequence = 0;
    };
    std::vector<Aged> aged;                   // reservations over their age (S-413)
    std::vector<ApplicationId> stalled_gangs; // woken when a node may take more
    std::vector<GroupId> untouched;           // groups with asks whose passing over is not noted yet (S-114)
    std::size_t untouched_limit = 1024;       // those that ended are taken out at this size
    bool worth_inspecting = false;            // something changed since outstanding asks were looked for (S-520)
    bool slots_changed = false; // running slots or those who wait for one changed since flags were told (S-265)

    using Rejected = std::map<std::uint64_t, EndedApplication>; // by serial
    std::deque<EndedApplication> ended;                         // by serial
    Rejected rejected;
    std::unordered_map<std::string, std::uint64_t> rejected_ids;
    Instant last_submitted;
    Timers timers;
    struct Due {
        Instant at;
        GroupId group{};
    };
    std::deque<Due> due; // groups to look at when their first ask may reserve, by time (S-403)
    Timers late_due;     // the same for those that came out of order
    static constexpr std::size_t kLeastDue = 4096;
    std::size_t due_limit = kLeastDue; // look for those that are gone at this size
    PreemptionRecords preemption;
    mutable VictimIndex victims; // knowledge of the search for victims
    struct Announced {           // a release that the RM was asked for
        AllocationId id{};
        std::uint64_t arrival = 0; // of the allocation: ids are used again
        Instant at;
        TerminationType type{};
    };
    std::deque<Announced> announced;    // by time; those confirmed meanwhile are taken out now and then
    std::size_t announced_limit = 1024; // look for them at this size
    bool confirm_timer = false;         // set
    Inquiries inquiries;
    std::uint64_t next_arrival = 1;
    std::uint64_t next_token = 1;
    CoreCounters counters;
    CycleObserver* observer = nullptr;                            // of the cycle that runs
    std::map<std::string, EndedCounts, std::less<>> ended_counts; // by path of the queue, also of one that went (I-510)

    // configuration
    placement::RuleChain rules;
    bool preemption_enabled = true;
    bool quota_preemption_enabled = false;
    config::NodeSortPolicy node_policy = config::NodeSortPolicy::Fair;
    std::map<std::string, double> resource_weights; // as configured

    // --- lookups --------------------------------------------------------------------------------------------------
    [[nodiscard]] ApplicationId find_application(std::string_view id) const;
    [[nodiscard]] AllocationId find_allocation(ApplicationId application, std::string_view key) const;
    [[nodiscard]] Queue* find_queue(std::string_view path) const; // any case
    /// The queue, or the nearest above it that exists. REQUIRES: lower case, `root` or below it.
    [[nodiscard]] Queue* find_deepest(std::string_view path) const;
    /// By id, for whatever is told of several at once.
    void sort_by_name(std::vector<ApplicationId>& list) const;
    /// C-409: the first level of its user, then of its group, that does not allow the ask; none: all do.
    [[nodiscard]] UsageNodeId refusing_user_limit(const Application& application, const Resource& ask) const;
    /// C-410: the same for one more running application; none when it may run.
    [[nodiscard]] UsageNodeId refusing_user_slot(const Application& application) const;
    [[nodiscard]] const Resource& resource_of(const Allocation& allocation) const {
        return shapes[allocation.shape].resource;
    }
    [[nodiscard]] NamedResource named(const Resource& amounts) const { return {&amounts, &resources}; }
    /// For pictures and answers.
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
    void tell(const Note& note, Instant now) {
        if (!settings.events_enabled) return;
        events.record({note.type, note.change, note.detail, now, full_name, note.object, note.reference, note.message,
                       NamedResource{note.resource, &resources}});
    }
};

/// Decimal seconds of a creation-time tag (S-110, I-060); nullopt when missing or malformed.
[[nodiscard]] std::optional<Instant> creation_time(std::string_view text);

} // namespace yk
