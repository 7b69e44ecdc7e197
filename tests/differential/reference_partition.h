// SPDX-License-Identifier: Apache-2.0
#pragma once
// The stupid twin of PartitionContext: maps, sums over everything, a full sort in every cycle, linear scans; no index,
// no mask, no counter. Written from scheduling.md alone, statement by statement, so that an error of the fast core is
// not repeated here. It speaks through the same two ports.
//
// Left out: queue and quota preemption, and, as the core leaves them to later work: gang, ACLs, dynamic queues.

#include <memory>

#include "libcore/config/config.h"
#include "libcore/ports/callbacks.h"
#include "libcore/ports/command.h"
#include "libcore/ports/event.h"
#include "libcore/ports/settings.h"
#include "libcore/ports/view.h"
#include "tests/differential/reference_objects.h"

namespace yk::reference {

struct Refusal {
    ElementCode code;
    std::string reason;
};

/// What the partitions of one cluster share.
struct Ports {
    Callbacks& callbacks;
    EventSink& events;
    Settings settings;
    ResourceNames names;
};

class Partition {
public:
    Partition(std::string full_name, Ports& ports, Instant now);

    // --- configuration: reference_config.cpp --------------------------------------------------------------------
    /// No leaf with applications becomes a parent, and no parent with children a leaf (C-435).
    [[nodiscard]] bool accepts(const config::Partition& config) const;
    void configure(const config::Partition& config, Instant now);
    /// The configuration has no such partition any more: all that runs here ends (S-563).
    void dissolve(Instant now);

    // --- requests: reference_requests.cpp ---------------------------------------------------------------------------
    /// `with_echo`: a placement is answered with `new` at once.
    std::optional<Refusal> ask(const AskSpec& spec, Instant now, bool with_echo = true);
    void release_ask(const ReleaseSpec& spec, Instant now); // S-471, old list
    void release(const ReleaseSpec& spec, Instant now);
    std::optional<Refusal> add_application(const ApplicationSpec& spec, Instant now);
    void remove_application(const std::string& id, Instant now);
    std::optional<Refusal> create_node(const NodeSpec& spec, Instant now);
    void echo_existing(const NodeSpec& spec); // S-481, after the answer
    std::optional<Refusal> change_node(const NodeSpec& spec, Instant now);
    [[nodiscard]] bool knows_node(const std::string& id) const { return nodes_.count(id) != 0; }
    [[nodiscard]] std::string queue_of(const std::string& application) const;

    // --- time and cycles --------------------------------------------------------------------------------------------
    [[nodiscard]] Instant next_timer() const;
    void fire_timers(Instant now);
    bool cycle(Instant now); // reference_cycle.cpp; true when something was placed

    // --- pictures: reference_views.cpp -----------------------------------------------------------------------------
    [[nodiscard]] PartitionView view() const;
    [[nodiscard]] std::optional<QueueView> queue_view(const std::string& path) const;
    [[nodiscard]] std::vector<ApplicationView> application_views(ApplicationList list) const;
    [[nodiscard]] std::vector<NodeView> node_views() const;
    [[nodiscard]] std::vector<ReservationView> reservation_views() const;
    [[nodiscard]] std::vector<UsageView> usage_views(bool users) const; // reference_users.cpp

private:
    enum class Outcome { None, Allocated, Reserved, Unreserved };
    /// Both are read once per application, and an ask must fit both (S-253).
    struct Headrooms {
        Maybe user, queue;
    };
    using Apps = std::map<std::string, std::unique_ptr<Application>>;

    // sums (S-180)
    [[nodiscard]] Amounts pending(const Application& app) const;
    [[nodiscard]] Amounts allocated(const Application& app, bool placeholders) const;
    [[nodiscard]] Amounts pending(const Queue& queue) const;
    [[nodiscard]] Amounts allocated(const Queue& queue) const;
    [[nodiscard]] std::vector<const Application*> below(const Queue& queue) const;
    [[nodiscard]] std::vector<Queue*> children(const Queue& queue);
    [[nodiscard]] std::vector<const Queue*> children(const Queue& queue) const;
    [[nodiscard]] Amounts occupied(const Node& node) const;
    [[nodiscard]] Amounts allocated(const Node& node) const;
    [[nodiscard]] Amounts available(const Node& node) const;
    [[nodiscard]] Amounts capacity() const;
    [[nodiscard]] Maybe max_of(const Queue& queue) const; // root: S-181 no. 6
    [[nodiscard]] std::size_t running(const Queue& queue) const;
    [[nodiscard]] std::size_t allocating(const Queue& queue) const;

    // orders (section 5) and limits (section 6)
    [[nodiscard]] Amounts fair_max(const Queue& queue) const;
    [[nodiscard]] std::int32_t priority(const Application& app) const;
    [[nodiscard]] std::int32_t priority(const Queue& queue) const;  // current
    [[nodiscard]] std::int32_t published(const Queue& queue) const; // after policy and offset
    [[nodiscard]] double share(const Queue& queue) const;
    [[nodiscard]] double score(const Node& node) const;
    [[nodiscard]] std::vector<Queue*> sorted_children(const Queue& queue);
    [[nodiscard]] std::vector<Application*> sorted_applications(const Queue& leaf);
    [[nodiscard]] std::vector<Ask*> sorted_asks(Application& app) const;
    [[nodiscard]] std::vector<Node*> sorted_nodes(const Ask& ask);
    [[nodiscard]] Maybe headroom(const Queue& queue, bool cluster = true) const; // `cluster`: its size counts
    [[nodiscard]] bool can_grow(const Queue& leaf, const Amounts& ask,
                                bool cluster = true) const; // S-252 over the chain
    [[nodiscard]] bool can_run(const Queue& leaf, const Application& app) const;

    // users and groups (config.md sections 13 and 14): reference_users.cpp
    /// Decided once: the nearest queue with a limit for one of the user's groups (C-403).
    [[nodiscard]] std::optional<std::string> group_of(const Application& app) const;
    [[nodiscard]] bool counts_for(const Application& app, const Tracked& who) const;
    [[nodiscard]] std::vector<Tracked> trackers_of(const Application& app) const;
    [[nodiscard]] Amounts usage(const Tracked& who, const std::string& path) const;
    [[nodiscard]] std::set<std::string> running(const Tracked& who, const std::string& path) const;
    [[nodiscard]] Maybe user_headroom(const Application& app) const; // what the limits of user and group leave (C-408)
    [[nodiscard]] bool user_can_run(const Application& app) const;   // whether they let one more run (C-410)
    [[nodiscard]] bool leaves_running_set(const Application& app, bool placeholder_gone) const;
    void track(Application& app, Instant now);
    void untrack(Application& app, Instant now);
    void usage_event(const Application& app, EventChange change, const Amounts& size, Instant now);
    void configure_limits(Instant now);
    void limit_events(bool user, const QueueLimits& before, const QueueLimits& after, const std::string& path,
                      Instant now);
    [[nodiscard]] bool reaches(const Tracked& who, const std::string& path) const;
    [[nodiscard]] UsageQueueView usage_queue_view(const Tracked& who, const std::string& path) const;

    // the cycle (sections 7 to 9)
    [[nodiscard]] bool has_headroom(const Queue& leaf, const Headrooms& headrooms, const Ask& ask) const;
    [[nodiscard]] bool may_enter(const Queue& leaf, const Headrooms& headrooms, const Ask& ask) const;
    Outcome walk(Queue& queue, bool reserved, Instant now);
    Outcome reserved_step(Queue& leaf, Instant now);
    Outcome reserved_application(Application& app, const Headrooms& headrooms, Instant now);
    Outcome regular_step(Queue& leaf, Instant now);
    Outcome try_application(Application& app, const Headrooms& headrooms, Instant now);
    Outcome try_required(Application& app, Ask& ask, bool& too_large, Instant now);
    Outcome try_nodes(Application& app, Ask& ask, Instant now);
    /// Places the ask if the node is free for it and has enough available (S-343, S-330).
    bool try_node(Application& app, Ask& ask, Node& node, Instant now);
    bool may_run(Application& app, Instant now); // updates the runnable flags

    // required-node preemption (GANG 3.9): reference_preemption.cpp
    void choose_victims(Ask& ask, const Node& node);
    [[nodiscard]] std::vector<Ask*> victim_candidates(const Ask& ask, const Node& node);
    [[nodiscard]] Ask* waiting(std::uint64_t trigger); // the pending ask with that number
    void victim_gone(const Ask& gone, Instant now);
    void forget_triggers(Instant now);
    [[nodiscard]] Amounts preempting(const Queue& queue) const;

    // devices (devices-fragmentation.md section 1): reference_devices.cpp
    [[nodiscard]] std::vector<DeviceHold*> holds_on(const Node& node); // oldest first
    [[nodiscard]] std::vector<const DeviceHold*> holds_on(const Node& node) const;
    [[nodiscard]] std::int64_t used(const Node& node, const std::string& type, std::int64_t index) const;
    [[nodiscard]] bool in_conflict(const Node& node) const;
    [[nodiscard]] DevicePart wanted_part(const Node& node, const std::string& type, const Ask& ask) const;
    [[nodiscard]] std::set<std::int64_t> free_devices(const Node& node, const std::string& type,
                                                      const DevicePart& part) const;
    [[nodiscard]] std::set<std::int64_t> chosen(const Node& node, const std::string& type, const DevicePart& part,
                                                const std::set<std::int64_t>& free) const;
    [[nodiscard]] bool has_devices(const Node& node, const Ask& ask) const;
    [[nodiscard]] bool could_have_devices(const Node& node, const Ask& ask) const;
    [[nodiscard]] bool takes(const Node& node, const Ask& ask) const {
        return fits(available(node), ask.resource) && has_devices(node, ask);
    }
    [[nodiscard]] bool could_take(const Node& node, const Ask& ask) const {
        return fits(node.capacity, ask.resource) && could_have_devices(node, ask);
    }
    using DevicesByType = std::map<std::string, std::set<std::int64_t>>;
    void hold(Node& node, const std::string& type, std::vector<DeviceHold>& holds, DevicePart part, std::int64_t only,
              bool ours, const std::set<std::int64_t>& better);
    void take_devices(Node& node, const Ask& ask, std::vector<DeviceHold>& holds, bool ours,
                      const DevicesByType& better = {}, const std::string& only_type = {});
    void settle_devices(Node& node);
    void set_devices(Node& node, const std::vector<DeviceListSpec>& lists);
    void resize_placed(Application& app, Ask& ask, const AskSpec& spec);
    [[nodiscard]] std::optional<Refusal> refused_devices(const AskSpec& spec, bool placed) const;
    [[nodiscard]] std::optional<Refusal> refused_devices(const NodeSpec& spec, const Node* node) const;

    // fragmentation (devices-fragmentation.md sections 2 and 3): reference_fragmentation.cpp
    [[nodiscard]] bool by_fragmentation() const { return config_.node_sort_policy->name == "fragmentation"; }
    void learn(const Ask& ask);
    void halve_what_was_learnt(Instant now);
    void configure_workload(Instant now);
    void renew_workload();
    [[nodiscard]] std::string measured_resource() const;
    [[nodiscard]] Workload learnt_workload() const;
    [[nodiscard]] IdleNode idle_of(const Node& node) const;
    [[nodiscard]] double fragments(const IdleNode& idle) const;
    [[nodiscard]] std::pair<double, std::int64_t> best_after(const Node& node, const Ask& ask) const;
    [[nodiscard]] double quantum() const;
    [[nodiscard]] DevicesByType better_devices(const Node& node, const Ask& ask) const;

    // reservations
    [[nodiscard]] std::vector<Reservation> reservations_of(const Application& app) const;
    [[nodiscard]] std::vector<Reservation> reservations_on(const std::string& node) const;
    [[nodiscard]] const Reservation* reservation_of(const Application& app, const std::string& key) const;
    [[nodiscard]] bool is_required(const Reservation& reservation) const;
    void reserve(Application& app, const Ask& ask, const Node& node, Instant now);
    void unreserve(const std::string& app, const std::string& key, Instant now);
    void drop_over_age(Instant now);

    // life of asks and applications
    [[nodiscard]] Application* find(const std::string& app);
    bool raise(Application& app, AppEvent event, Instant now, const std::string& info = {});
    void enter(Application& app, Instant now);
    void leave_queue(Application& app, Instant now);
    void place(Application& app, Ask& ask, const std::string& node, Instant now); // everything but N
    void announce(const Application& app, const Ask& ask);                        // N
    std::optional<Refusal> existing(Application& app, const AskSpec& spec, Instant now, bool with_echo);
    void remove_request(Application& app, const std::string& key, EventDetail detail, Instant now);
    void remove_allocation(Application& app, const std::string& key, EventDetail detail, Instant now);
    void complete_after_ask(Application& app, Instant now);
    void complete_after_allocation(Application& app, Instant now);
    void release_all(Application& app, const ReleaseSpec& spec, Instant now);
    [[nodiscard]] std::optional<Refusal> refusal_of(const AskSpec& spec, bool placed);
    std::optional<Refusal> foreign(const AskSpec& spec, Instant now);
    void release_foreign(const std::string& key, Instant now);
    void occupied_event(const Node& node, const Amounts& before, Instant now);
    void raise_peak(Application& app);

    // nodes
    void update_node(Node& node, const NodeSpec& spec, Instant now);
    void set_schedulable(Node& node, bool schedulable, Instant now);
    void decommission(std::string id, Instant now);

    // configuration and timers
    void configure_queue(const config::Queue& config, const std::string& parent, Instant now);
    void drain(Queue& queue);
    [[nodiscard]] bool accepts(const config::Queue& config, const std::string& path) const;
    [[nodiscard]] bool is_used(const std::string& path) const;
    void remove_below(const std::string& path, Instant now);
    /// Removes queues that drain or are dynamic once they are empty (S-560).
    void sweep(Instant now);
    void sweep_below(const std::string& path, Instant now);
    void remove_unused(const std::string& path, Instant now);
    [[nodiscard]] std::vector<Application*> with_timer();

    // ports
    void event(EventType type, const std::string& object, EventChange change, EventDetail detail, Instant now,
               const std::string& reference = {}, const Maybe& resource = {});
    void root_max_event(const Maybe& before, Instant now);
    void report_released(const std::vector<std::pair<std::string, std::string>>& keys); // application, key
    [[nodiscard]] Resource resource_of(const Amounts& amounts);
    [[nodiscard]] ApplicationView application_view(const Application& app, ApplicationList list) const;

    std::string name_; // full
    Ports& ports_;
    config::Partition config_;
    LimitsByPath limits_;
    std::map<std::string, Queue> queues_; // by path
    std::map<std::string, Node> nodes_;
    Apps applications_; // live
    std::vector<std::unique_ptr<Application>> terminated_;
    Apps rejected_;
    std::vector<Reservation> reservations_;                     // oldest first
    std::vector<std::pair<std::string, std::string>> over_age_; // reservations to drop: application, key
    std::uint64_t triggers_ = 0;                                // the latest number of one
    std::uint64_t arrivals_ = 0;
    std::uint64_t device_serial_ = 0;
    Instant next_sweep_, next_purge_, last_created_;
    Workload workload_; // in force
    std::vector<Arrivals> arrived_;
    std::int64_t arrivals_since_ = 0; // the workload in force was learnt
    bool workload_changed_ = false;   // devices of nodes, or what is configured
    std::optional<Duration> half_life_;
    Instant next_halving_;
};

/// What an amount is on devices of these sizes: how many of them, and how much of each; none: it fits none (F-003).
[[nodiscard]] DevicePart part_of(const std::vector<Device>& devices, std::int64_t amount);
/// The size of a whole device: what most of them have (F-003).
[[nodiscard]] std::int64_t whole_size(const std::vector<Device>& devices);
/// With the sums of the devices.
[[nodiscard]] Amounts capacity_of(const NodeSpec& spec);

[[nodiscard]] std::string text_of(State state);
/// What `config` sets, by lower-case path.
[[nodiscard]] LimitsByPath limits_of(const config::Partition& config);
/// S-140; nullopt: an error that changes nothing.
[[nodiscard]] std::optional<State> next_state(State from, AppEvent event);

} // namespace yk::reference
