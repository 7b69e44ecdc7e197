#pragma once
// PartitionContext: owns every object of a partition; the only door to change them.
//
// Owner: ClusterContext. Thread: the owner thread of its RM. Time is a parameter and never goes back.
// A change is planned on const state and then committed by code that cannot fail. The members' code stands in one file
// per subject: what RMs send in partition_asks, _applications, _nodes, _gang, _inquiries, what of it there is room for
// in _budget; configuration in _queues, _dynamic, _rules, _users; what a cycle commits in _placing, _reservations,
// _preemption, _quota, _unconfirmed, _timers; pictures in _views, _explain, _explain_preemption, _explain_user,
// _explain_node, _metrics, _health, _check.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/config/config.h"
#include "libcore/scheduler/cluster_context.h"
#include "libcore/scheduler/gang_planner.h"
#include "libcore/scheduler/orders.h"
#include "libcore/scheduler/partition_state.h"
#include "libcore/scheduler/planner.h"

namespace yk {

/// Why one element of a request is refused.
struct Refusal {
    std::string reason;
    ElementCode code{};
};

struct LeafPlan;
struct TemplatePlan;

/// What the ledger has of the names of one object, but for what it shares with others.
[[nodiscard]] std::uint64_t bytes_of(const Node& node);
[[nodiscard]] std::uint64_t bytes_of(const Application& application);
[[nodiscard]] std::uint64_t bytes_of(const EndedApplication& ended);

class PartitionContext {
public:
    PartitionContext(std::string name, std::string full_name, const Settings& settings, Callbacks& callbacks,
                     EventSink& events, RmCalls& calls, Holdings& held, Instant now);
    PartitionContext(const PartitionContext&) = delete;
    PartitionContext& operator=(const PartitionContext&) = delete;

    // --- configuration (partition_queues.cpp) ---------------------------------------------------------------------
    /// Whether the queues can become those of `config` (C-435, S-562).
    [[nodiscard]] Result<void> check_queues(const config::Partition& config) const;
    /// The dynamic queues that are there and get a template applied again, as they are and as they would be (B-10;
    /// partition_dynamic.cpp). In one piece: it is less than configure() does.
    [[nodiscard]] std::vector<ReappliedView> template_changes(const config::Partition& config) const;
    /// REQUIRES: check_queues(config).
    void configure(const config::Partition& config, Instant now);
    /// S-563: everything goes; the RM is told unless `quiet` (I-124).
    void drop_everything(Instant now);
    /// After a change of the settings.
    void settings_changed(Instant now);

    // --- requests (S-440 to S-502) ----------------------------------------------------------------------------------
    [[nodiscard]] std::optional<Refusal> apply_ask(const AskSpec& spec, Instant now);
    /// `asks_only`: an entry of allocationAsksToRelease. A refusal is only an ignored release.
    [[nodiscard]] std::optional<Refusal> release(const ReleaseSpec& spec, bool asks_only, Instant now);
    /// The queue it landed in, or why not.
    [[nodiscard]] Result<std::string, Refusal> add_application(const ApplicationSpec& spec, Instant now);
    void remove_application(std::string_view id, Instant now);
    [[nodiscard]] std::optional<Refusal> create_node(const NodeSpec& spec, Instant now);
    /// S-481: after the node was answered; the keys placed are told as new.
    void announce_existing(const NodeSpec& spec);
    /// UPDATE, DRAIN, SCHEDULABLE, DECOMISSION.
    [[nodiscard]] std::optional<Refusal> change_node(const NodeSpec& spec, Instant now);
    [[nodiscard]] bool has_node(std::string_view id) const { return s_.nodes.find(id).valid(); }

    // --- calls to the RM (partition_inquiries.cpp) ------------------------------------------------------------------
    /// The answer to the call for this ask, which is over.
    void take_answer(AllocationId ask, const CallAnswer& answer, Instant now);

    // --- cycles and time (partition_timers.cpp) ---------------------------------------------------------------------
    CycleOutcome cycle(Instant now);
    /// The same with its stages told to `observer`; nullptr: to nobody.
    CycleOutcome cycle(Instant now, CycleObserver* observer) {
        s_.observer = observer;
        const CycleOutcome outcome = cycle(now);
        s_.observer = nullptr;
        return outcome;
    }
    [[nodiscard]] std::optional<Instant> next_timer() const;
    /// The next thing due at `now`; false when there is none.
    bool fire_timer(Instant now);
    /// After each request: forgets what will come to nothing and returns the memory of what went, when it is much.
    void sweep();

    // --- pictures (partition_views.cpp, partition_pieces.cpp, partition_explain.cpp) -------------------------------
    [[nodiscard]] PartitionView view() const;
    void metrics_piece(ViewPlace& place, std::size_t& room, PartitionMetrics& into) const; // partition_metrics.cpp
    [[nodiscard]] std::optional<QueueView> queue_view(std::string_view path, bool subtree) const;
    [[nodiscard]] std::vector<ApplicationView> application_views(ApplicationList list, bool objects) const;
    [[nodiscard]] std::optional<ApplicationView> application_view(std::string_view id, std::size_t most) const;
    [[nodiscard]] std::vector<NodeView> node_views(bool objects) const;
    [[nodiscard]] std::vector<ApplicationView> application_piece(ApplicationList list, std::size_t most,
                                                                 ViewPlace& place, std::size_t& room) const;
    /// partition_lists.cpp
    [[nodiscard]] std::vector<QueueView> queue_piece(ViewPlace& place, std::size_t& room) const;
    void add_to_roster(ApplicationList list, ViewPlace& place, std::size_t& room, const ObjectFilter& filter,
                       ApplicationRoster& roster) const;
    [[nodiscard]] std::optional<ApplicationView> application_at(ApplicationList list, std::uint64_t position,
                                                                std::size_t most) const;
    [[nodiscard]] std::vector<AskView> ask_piece(const ObjectFilter& filter, ViewPlace& place, std::size_t& room) const;
    [[nodiscard]] std::vector<AllocationView> allocation_piece(const ObjectFilter& filter, ViewPlace& place,
                                                               std::size_t& room) const;
    [[nodiscard]] std::vector<NodeView> node_piece(std::size_t most, ViewPlace& place, std::size_t& room) const;
    /// `only`: of this user or group; empty: of all.
    [[nodiscard]] UsagePiece usage_piece(bool groups, std::string_view only, ViewPlace& place, std::size_t& room) const;
    [[nodiscard]] std::vector<CountedApplicationView> counted_piece(ViewPlace& place, std::size_t& room) const;
    [[nodiscard]] std::optional<NodeView> node_view(std::string_view id, std::size_t most) const;
    [[nodiscard]] std::vector<ReservationView> reservation_views() const;
    /// Users or groups with usage or named limits, by name (C-476).
    [[nodiscard]] std::vector<UsageView> usage_views(bool groups) const;
    [[nodiscard]] std::vector<std::string> applications_with_key(std::string_view key) const;
    [[nodiscard]] AskPlace ask_place(std::string_view application, std::string_view key) const;
    [[nodiscard]] Explanation explain_application(std::string_view application, Instant now) const;
    [[nodiscard]] Explanation explain_ask(std::string_view application, std::string_view key, Instant now) const;
    /// partition_explain_preemption.cpp
    [[nodiscard]] Explanation explain_preemption(std::string_view application, std::string_view key, Instant now) const;
    /// What the user may still use at each queue from `path` to the root, with the group that counts of these (B-09).
    /// REQUIRES: `path` is root or below it, in lower case, with legal names.
    [[nodiscard]] UserExplanation explain_user(std::string_view user, const std::vector<std::string>& groups,
                                               std::string_view path) const; // partition_explain_user.cpp
    /// Why the node takes nothing.
    [[nodiscard]] NodeExplanation explain_node(std::string_view id) const; // partition_explain_node.cpp
    /// What would become of the application if it were submitted now (B-08).
    [[nodiscard]] PlacementExplanation explain_placement(const ApplicationSpec& spec) const;
    /// C-475.
    [[nodiscard]] std::vector<RuleView> rule_views() const;

    // --- verification (partition_check.cpp) -------------------------------------------------------------------------
    [[nodiscard]] std::vector<std::string> check() const;
    /// partition_health.cpp. False: the room is used up.
    bool health_piece(HealthPlace& place, std::size_t& room, std::vector<HealthCheckView>& checks) const;
    [[nodiscard]] const CoreCounters& counters() const { return s_.counters; }

    // --- for benchmarks: the same placements without deciding them --------------------------------------------------
    /// How much of the work of a placement is done.
    enum class Upkeep : std::uint8_t { Full, AccountingOnly };
    /// Before anything is in the partition.
    void set_upkeep(Upkeep upkeep) { upkeep_ = upkeep; }
    [[nodiscard]] AllocationId find_ask(std::string_view application, std::string_view key) const;
    [[nodiscard]] NodeId find_node(std::string_view id) const { return s_.nodes.find(id); }
    /// Places a pending ask without search; refreshes the orders unless accounting only.
    void commit_known(AllocationId ask, NodeId node, Instant now);
    /// Puts a pending ask in the place of a placeholder without search (G-034).
    void commit_known_swap(AllocationId ask, AllocationId placeholder, NodeId node, Instant now);
    [[nodiscard]] const PartitionState& state() const { return s_; }

private:
    // partition_placing.cpp
    [[nodiscard]] AllocationId make_allocation(const AskSpec& spec, ApplicationId application, ShapeId shape,
                                               Instant now);
    [[nodiscard]] ShapeId shape_of(const AskSpec& spec);
    void destroy_allocation(AllocationId id);
    void add_pending(AllocationId id, Instant now);
    void take_pending(AllocationId id, Instant now);
    void join_group(AllocationId id, Instant now);
    void leave_group(AllocationId id, Instant now);
    void update_due(GroupId id, Instant now);
    void reserve_room(AllocationId ask, NodeId node);
    void place(AllocationId id, NodeId node, bool tell, Instant now);
    void put_on_node(AllocationId id, NodeId node, Instant now);
    void put_in_application(AllocationId id, Instant now);
    void take_from_node(AllocationId id, Instant now);
    void take_from_application(AllocationId id, EventDetail detail, Instant now);
    void grow_queues(Queue& leaf, const Resource& amount);
    void shrink_queues(Queue& leaf, const Resource& amount);
    void tell_new(AllocationId id);
    void note_seconds(const Allocation& allocation, Instant now);

    // partition_asks.cpp
    [[nodiscard]] static bool is_foreign(const AskSpec& spec);
    [[nodiscard]] std::optional<Refusal> refuse_ask(const AskSpec& spec, ApplicationId application, bool node_unknown);
    [[nodiscard]] std::optional<Refusal> refuse_known(const AskSpec& spec, ApplicationId application, NodeId node,
                                                      std::string_view reported_on) const;
    void place_reported(const AskSpec& spec, ApplicationId application, NodeId node, bool tell, Instant now);
    [[nodiscard]] std::optional<Refusal> refuse_foreign(const AskSpec& spec);
    void place_foreign(const AskSpec& spec, NodeId node, Instant now);
    [[nodiscard]] std::optional<Refusal> apply_foreign(const AskSpec& spec, Instant now);
    void add_ask(const AskSpec& spec, ApplicationId application, Instant now);
    void add_existing(const AskSpec& spec, ApplicationId application, NodeId node, bool tell, Instant now);
    void replace_pending(AllocationId id, const AskSpec& spec, Instant now);
    void reshape_pending(AllocationId id, ShapeId shape, std::int32_t priority, std::uint32_t task_group, Instant now);
    void tell_request_gone(AllocationId id, bool timed_out, Instant now);
    void resize_allocation(AllocationId id, const Resource& size, Instant now);
    [[nodiscard]] std::optional<Resource> to_resource(const Quantities& quantities);
    void remove_ask(AllocationId id, bool timed_out, Instant now);
    void remove_allocation(AllocationId id, EventDetail detail, Instant now);
    void release_all(ApplicationId id, const ReleaseSpec& spec, bool asks_only, Instant now);
    [[nodiscard]] std::optional<Refusal> release_foreign(const ReleaseSpec& spec, Instant now);
    void echo(const std::vector<std::string>& keys, std::string_view application, std::string_view message);
    void forget_foreign(AllocationId id);
    void drop_foreign(AllocationId id, Instant now);

    // partition_applications.cpp
    void handle(ApplicationId id, ApplicationEvent event, std::string_view info, Instant now);
    void enter_state(ApplicationId id, ApplicationState from, Instant now);
    [[nodiscard]] std::vector<AllocationId> pending_of(ApplicationId id) const; // in ask order
    void end_application(ApplicationId id, Instant now);
    void destroy_application(ApplicationId id);
    void leave_queue(ApplicationId id, Instant now);
    void set_allocating(Application& application, bool on);
    void tell_runnable(ApplicationId id, bool in_queue, bool by_quota, Instant now);
    void tell_runnable_flags(Instant now);
    void reject(const ApplicationSpec& spec, const Refusal& refusal, Instant now);
    void expire(EndedApplication& ended, Instant now);
    void drop_asks(ApplicationId id, Instant now);
    [[nodiscard]] std::vector<std::string> drop_allocations(ApplicationId id, EventDetail detail, Instant now);

    // partition_gang.cpp
    enum class Gone : std::uint8_t { Ask, Allocation, Placeholder, All };
    void configure_gang(Gang& gang, const ApplicationSpec& spec, Instant now) const;
    [[nodiscard]] TaskGroup& task_group(Application& application, std::uint32_t name);
    void task_group_changed(ApplicationId id, std::uint32_t name);
    void list_gang_ask(AllocationId id);
    void unlist_gang_ask(AllocationId id);
    void count_placeholder(AllocationId id);
    void count_placeholder_gone(AllocationId id);
    void change_task_group(AllocationId id, std::uint32_t name);
    void hold_placeholder(AllocationId id, Instant now);
    void let_placeholder_go(AllocationId id);
    bool claim(AllocationId id, Allocation::Flag flag);
    bool replace_one(Instant now);
    void give_up_too_small(const SwapPlan& plan, Instant now);
    void swap(const SwapPlan& plan, Instant now);
    [[nodiscard]] bool is_elsewhere(AllocationId real) const;
    [[nodiscard]] bool can_finish(AllocationId placeholder_id) const;
    [[nodiscard]] AllocationId finish_swap(AllocationId placeholder, EventDetail detail, Instant now);
    void unlink_swap(AllocationId id, Instant now);
    void undo_swap(AllocationId id, Instant now);
    void cancel_in_flight(AllocationId id, bool timed_out, Instant now);
    void release_swapped(AllocationId placeholder, const ReleaseSpec& spec, EventDetail detail, bool echoed,
                         Instant now);
    [[nodiscard]] std::vector<AllocationId> in_flight_of(const Application& application) const;
    void start_placeholder_timer(ApplicationId id, Instant now);
    void placeholder_timer(ApplicationId id, Instant now);
    void release_placeholders(ApplicationId id, bool real, Instant now);
    void drop_timed_out_asks(ApplicationId id, bool real, Instant now);
    void tell_leaving(std::vector<AllocationId> leaving, TerminationType type, std::string_view message, Instant now);
    void tell_placeholder_sum(ApplicationId id, Instant now);
    void settle(ApplicationId id, Gone gone, Instant now);

    // partition_users.cpp
    void set_user_limits(const config::Partition& config, Instant now);
    void regroup(Instant now);
    void link_users(ApplicationId id, Instant now);
    void unlink_users(ApplicationId id, Instant now);
    void move_to_group(std::span<const ApplicationId> ids, std::string_view group, Instant now);
    void release_held(ApplicationId id);
    void use(ApplicationId id, const Resource& amount, Instant now);
    [[nodiscard]] static bool keeps_user_slot(const Application& application, bool placeholder);
    void give_back(ApplicationId id, const Resource& amount, bool placeholder, Instant now);
    void tell_usage(const Application& application, EventChange change, const Resource& amount, Instant now);
    void change_use(const Application& application, const Resource& before, const Resource& after);
    void leave_running_set(Application& application);
    void check_users(std::vector<std::string>& broken) const;

    // partition_nodes.cpp
    void capacity_changed(const Resource& before, const Resource& after, Instant now);
    void update_available(Node& node);
    [[nodiscard]] std::optional<Refusal> refuse_existing(const NodeSpec& spec);
    void update_node(NodeId id, const NodeSpec& spec, Instant now);
    void set_schedulable(NodeId id, bool schedulable, Instant now);
    void remove_node(NodeId id, Instant now);

    // partition_reservations.cpp
    void make_reservation(AllocationId ask, NodeId node, Instant now);
    void drop_reservation(ReservationId id, Instant now);
    void drop_ordinary_reservations(NodeId node, Instant now);
    void unlist_reserved(AllocationId ask);

    // partition_preemption.cpp
    bool commit_victims(const Plan& plan, Instant now);
    void mark_preempted(AllocationId victim, AllocationId ask, std::string_view message, Instant now);
    void announce_victims(const std::vector<AllocationId>& victims, std::string_view message, Instant now);
    void count_victims(Queue& leaf, std::size_t count, Instant now);
    void forget_mark(AllocationId victim, Instant now);
    void begin_trigger(AllocationId ask, const std::vector<AllocationId>& victims);
    void end_trigger(AllocationId ask, bool used, Instant now);
    void change_promised(const Allocation& ask, bool promised);
    void unplaced_timer(AllocationId ask, Instant now);

    // partition_unconfirmed.cpp
    void expect_confirmation(AllocationId id, TerminationType type, Instant now);
    void announce_again(Instant now);
    [[nodiscard]] bool is_unconfirmed(const PartitionState::Announced& announced) const;
    // partition_inquiries.cpp
    [[nodiscard]] Plan plan_reserved(Instant now);
    [[nodiscard]] Plan plan_regular(Instant now);
    void inquire(const Plan& plan, Instant now);
    void call_predicates(AllocationId ask, const std::vector<NodeId>& nodes, bool allocate, Instant now);
    void take_verdicts(Inquiry& inquiry, const CallAnswer& answer, Instant now);
    void offer_victims(AllocationId ask, Instant now);
    std::uint64_t call_preemption(AllocationId ask, const VictimOffer& offer);
    void take_offer_answer(AllocationId ask, const CallAnswer& answer, Instant now);
    void list_answered(AllocationId ask);
    void park(AllocationId ask, Instant now);
    void parking_changed(AllocationId ask, Instant now);
    void unpark(AllocationId ask, Instant now);
    void begin_round(AllocationId ask, Instant now);
    void reenter(AllocationId ask, Instant now);
    void rest(AllocationId ask, bool refused, Instant now);
    void rest_gang(ApplicationId id, Instant now);
    void wake_inquiries(Instant now);
    void forget_inquiry(AllocationId ask);
    void add_predicate_log(AllocationId ask, std::vector<LogEntryView>& log) const;

    // partition_quota.cpp
    void quota_configured(Queue& queue, const Limit& before, Duration delay_before, Instant now);
    void quota_forced(Queue& leaf, Instant now);
    void set_quota_due(Queue& queue, std::optional<Instant> at, Instant now);
    void wait_for_quota(Instant now);
    void check_quotas(Instant now);
    void check_quota_below(Queue& queue, Instant now);
    void run_quota(Queue& queue, Instant now);
    void arm_quota_again(Queue& queue, Instant now);

    // partition_queues.cpp
    Queue& make_queue(std::string_view name, Queue* parent, bool leaf, bool managed, Instant now);
    void configure_queue(Queue& queue, const config::Queue& config, bool made, Instant now);
    bool set_limits(Queue& queue, Limit max, std::optional<Resource> guaranteed, bool tell, Instant now);
    [[nodiscard]] std::optional<Resource> guarantee(const config::Resources& resources);
    [[nodiscard]] Limit limit(const config::Resources& resources);
    void tell_limit(const Queue& queue, EventDetail detail, const Resource* value, Instant now);
    void set_state(Queue& queue, ObjectEvent event);
    void drain(Queue& queue);
    void clean_queues(Instant now);
    bool clean_below(Queue& queue, Instant now);
    void destroy_queue(Queue& queue, Instant now);
    [[nodiscard]] Resource to_resource(const config::ResourceMap& map);
    [[nodiscard]] Result<void> check_queue(const config::Queue& config, const Queue& queue) const;

    // partition_dynamic.cpp
    [[nodiscard]] LeafPlan plan_leaf(const placement::Outcome& placed, const ApplicationSpec& spec);
    void take_tags(const QueueTags& tags, LeafPlan& plan);
    [[nodiscard]] std::optional<Refusal> refuse_gang(const LeafPlan& plan, const ApplicationSpec& spec,
                                                     const Resource& ask) const;
    Queue& commit_leaf(LeafPlan plan, Instant now);
    [[nodiscard]] std::vector<TemplatePlan> plan_templates(const config::Partition& config) const;
    void commit_template(TemplatePlan plan, Instant now);

    // partition_timers.cpp
    bool execute(const Plan& plan, Instant now);
    std::uint32_t drop_planned(Instant now);
    void fire(const Timer& timer, Instant now);
    void completing_timer(ApplicationId id, Instant now);
    [[nodiscard]] bool counts(const Timer& timer);
    [[nodiscard]] EndedApplication* find_ended(std::uint64_t serial);
    void purge_expired();
    void report_outstanding();
    void look_at_due(GroupId id, Instant now);
    void look_at_all_due(Instant now);

    // partition_explain.cpp
    AllocationId introduce_ask(std::string_view application, std::string_view key, Explanation& explanation) const;
    [[nodiscard]] bool explain_settled(const Allocation& ask, Explanation& explanation) const;

    // partition_budget.cpp
    [[nodiscard]] std::optional<Refusal> refuse_claim(const std::string& whose, const Holdings& claim, bool fact);
    [[nodiscard]] std::optional<Refusal> refuse_ask_claim(const AskSpec& spec, ApplicationId id, AllocationId known,
                                                          bool fact);
    [[nodiscard]] Holdings claim_of(const NodeSpec& spec) const;
    [[nodiscard]] static Holdings claim_of(const ApplicationSpec& spec, const LeafPlan& plan);
    void count_queue(const Queue& queue);
    void discount_queue(const Queue& queue);
    [[nodiscard]] bool keeps_too_much(std::size_t kept) const;
    void keep_ended(EndedApplication ended);
    void keep_rejected(EndedApplication rejected);
    void forget_ended();
    PartitionState::Rejected::iterator forget_rejected(PartitionState::Rejected::iterator each);
    bool forget_oldest_ended();
    void charge(Inquiry& inquiry);
    bool forget_reasons();
    EndedCounts& ended_counts_of(const std::string& queue);
    void check_ledger(std::vector<std::string>& broken) const;

    // partition_views.cpp
    [[nodiscard]] ApplicationView view_of(const Application& application, bool objects) const;
    [[nodiscard]] AskView view_of_ask(AllocationId id) const;
    void add_preemption_log(AllocationId ask, std::vector<LogEntryView>& log) const;
    [[nodiscard]] std::optional<PreemptionAttemptView> attempt_view(AllocationId ask) const;
    [[nodiscard]] static std::map<std::string, std::int64_t>
    excluded_view(const std::array<std::uint64_t, kExcludedReasons>& counts);
    [[nodiscard]] AllocationView view_of_allocation(const Allocation& allocation) const;
    [[nodiscard]] NodeView view_of(const Node& node, bool objects) const;
    [[nodiscard]] QueueView view_of(const Queue& queue, bool subtree) const;
    void list_allocating(const Queue& queue, std::vector<std::string>& ids) const;

    // partition_lists.cpp
    [[nodiscard]] std::vector<AllocationId> listed_objects(const ObjectFilter& filter, bool placed, ViewPlace& place,
                                                           std::size_t& room) const;
    [[nodiscard]] std::optional<std::vector<AllocationId>> known_objects(const ObjectFilter& filter, bool placed,
                                                                         std::size_t room) const;
    [[nodiscard]] bool is_listed(const Allocation& object, const ObjectFilter& filter, bool placed) const;

    // partition_metrics.cpp
    void count_ended(PartitionMetrics& into) const;
    void count_nodes(PartitionMetrics& into) const;

    // partition_pieces.cpp
    void add_trackers(bool groups, std::string_view only, ViewPlace& place, std::size_t& room, UsagePiece& piece) const;
    void add_links(bool groups, std::string_view only, ViewPlace& place, std::size_t& room, UsagePiece& piece) const;

    // partition_explain.cpp
    [[nodiscard]] std::optional<ExplainReason> placeholder_mismatch(const Application& application) const;

    PartitionState s_;
    mutable Orders orders_; // refreshed before pictures that show an order's result
    PreemptionChecks checks_;
    mutable Planner planner_;
    GangPlanner gang_planner_;
    Upkeep upkeep_ = Upkeep::Full;
};

} // namespace yk
