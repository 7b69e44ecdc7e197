#pragma once
// ClusterContext: all partitions of one RM. The only door into the core.
//
// Owner: one owner thread per RM (its partitions share it, I-100 to I-102); RMs share nothing (I-129).
// Time is a parameter of every call and never goes back. No call blocks, logs or reads a clock.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/base/time.h"
#include "libcore/config/config.h"
#include "libcore/scheduler/callbacks.h"
#include "libcore/scheduler/command.h"
#include "libcore/scheduler/event.h"
#include "libcore/scheduler/explain.h"
#include "libcore/scheduler/metrics_view.h"
#include "libcore/scheduler/rm_calls.h"
#include "libcore/scheduler/settings.h"
#include "libcore/scheduler/view.h"

namespace yk {

class PartitionContext;

/// What one cycle did (S-300).
struct CycleOutcome {
    std::uint32_t allocations = 0; // placements and replacements, at most one per partition
    std::uint32_t changes = 0;     // reservations made or dropped
    [[nodiscard]] bool progress() const { return allocations + changes > 0; } // S-304
};

/// Counters for metrics and health; only ever grow.
struct CoreCounters {
    std::uint64_t allocated = 0;
    std::uint64_t released = 0;
    std::uint64_t rejected = 0;
    std::uint64_t scheduling_errors = 0; // S-611: reported placements that cannot be (I-148)
    std::uint64_t corrections = 0;       // numbers that had to be clamped; must stay 0 (S-182)
    std::uint64_t submitted = 0;         // applications: transitions into New, Accepted, Rejected
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;
    std::uint64_t nodes_removed = 0;
    std::uint64_t nodes_failed = 0;   // S-611: for a partition that is unknown
    std::uint64_t victims = 0;        // announced, of all kinds of preemption
    std::uint64_t victims_unused = 0; // of them: the ask that they were chosen for was not placed where they were
    std::uint64_t reannounced = 0;    // releases that the RM did not confirm in time
    std::uint64_t restored = 0;       // allocations that the RM reported, of asks unknown before (I-228)

    void add(const CoreCounters& other);
    /// What came since `before`, an earlier reading.
    void subtract(const CoreCounters& before);
};

/// What a cycle does that may take time (interface.md section 6).
enum class Stage : std::uint8_t {
    SortApplications, // files what changed in its order
    SortQueues,
    TryNode,  // checks one node: a required or a reserved one
    FindNode, // looks for a node for one ask
    Preempt   // one attempt to find victims
};
inline constexpr std::size_t kStages = 5;

/// Told of the course of a cycle: who measures time does it there.
class CycleObserver {
public:
    virtual ~CycleObserver() = default;
    virtual void partition_done() = 0;
    /// Whether it is to be told of the stages of the cycle that begins.
    virtual bool wants_stages() = 0;
    virtual void begin(Stage stage) = 0;
    virtual void end(Stage stage) = 0;
};

class ClusterContext {
public:
    /// `callbacks` and `events` outlive this object.
    ClusterContext(std::string rm_id, Settings settings, Callbacks& callbacks, EventSink& events);
    ~ClusterContext();
    ClusterContext(const ClusterContext&) = delete;
    ClusterContext& operator=(const ClusterContext&) = delete;

    /// `[rm]name` for a short, empty or full name (S-100).
    [[nodiscard]] std::string full_name(std::string_view partition) const;
    [[nodiscard]] const std::string& rm_id() const { return rm_id_; }

    // --- configuration -------------------------------------------------------------------------------------------
    /// Makes the partitions and queues of `config` out of what is there: builds what is missing, drains what is gone,
    /// changes what differs (C-440 to C-449, S-561 to S-563). All or nothing: an error changes nothing.
    [[nodiscard]] Result<void> configure(const config::Configuration& config, Instant now);
    /// Drops what all partitions hold; events tell of it (I-124). Nothing else may be asked of this afterwards.
    void drop_everything(Instant now);
    /// Tests whether configure() would succeed, without an effect (I-185).
    [[nodiscard]] Result<void> check_configuration(const config::Configuration& config) const;
    /// The dynamic queues of the partition, short, to which `config` would apply a template again (B-10).
    [[nodiscard]] std::vector<ReappliedView> template_changes(std::string_view partition,
                                                              const config::Configuration& config) const;
    void set_settings(const Settings& settings, Instant now);
    [[nodiscard]] const Settings& settings() const { return settings_; }

    // --- requests of the RM, in its order (S-440) --------------------------------------------------------------
    void apply(const AllocationRequest& request, Instant now);
    void apply(const ApplicationRequest& request, Instant now);
    void apply(const NodeRequest& request, Instant now);

    // --- calls to the RM (interface.md 4.9) -----------------------------------------------------------------------
    /// Before anything is scheduled; without it the RM is asked nothing (I-380).
    void set_rm_calls(const RmCallOptions& options) { calls_.options = options; }
    /// False: no such call waits, or not any more; nothing happens (I-375).
    bool apply(const CallAnswer& answer, Instant now);
    [[nodiscard]] std::size_t calls_in_flight() const { return calls_.size(); }

    // --- time and cycles --------------------------------------------------------------------------------------------
    /// When fire_timers() has something to do next; nullopt: never.
    [[nodiscard]] std::optional<Instant> next_timer() const;
    /// Fires everything due at `now`, in order of time (state timers, queue cleaner, purge, inspection, back-off ends).
    void fire_timers(Instant now);
    /// One scheduling cycle over all partitions in name order (S-300).
    CycleOutcome cycle(Instant now, CycleObserver* observer = nullptr);

    // --- pictures and answers (const; REQUIRES: owner thread) ------------------------------------------------------
    [[nodiscard]] std::vector<std::string> partition_names() const; // short, sorted
    /// `partition`: short or full. nullopt / empty when it does not exist.
    [[nodiscard]] std::optional<PartitionView> partition_view(std::string_view partition) const;
    [[nodiscard]] std::optional<QueueView> queue_view(std::string_view partition, std::string_view path,
                                                      bool subtree) const;
    /// By id. `objects`: with asks and allocations.
    [[nodiscard]] std::vector<ApplicationView> application_views(std::string_view partition, ApplicationList list,
                                                                 bool objects) const;
    /// Live ones first, then completed (the latest), then rejected (I-422).
    [[nodiscard]] std::optional<ApplicationView> application_view(std::string_view partition, std::string_view id,
                                                                  std::size_t most = kAllObjects) const;
    [[nodiscard]] std::vector<NodeView> node_views(std::string_view partition, bool objects) const;
    /// The same piece by piece, so that cycles can run in between: from `place` on, which moves, until `room` objects
    /// were taken, which is lowered. Room is left: nothing else is. Applications in no order. What has more than
    /// `most` asks and allocations comes without them.
    [[nodiscard]] std::vector<ApplicationView> application_piece(std::string_view partition, ApplicationList list,
                                                                 std::size_t most, ViewPlace& place,
                                                                 std::size_t& room) const;
    [[nodiscard]] std::vector<NodeView> node_piece(std::string_view partition, std::size_t most, ViewPlace& place,
                                                   std::size_t& room) const;
    /// For join_usage(). `only`: the user or group with this name; empty: all.
    [[nodiscard]] UsagePiece usage_piece(std::string_view partition, bool groups, std::string_view only,
                                         ViewPlace& place, std::size_t& room) const;
    /// In no order.
    [[nodiscard]] std::vector<CountedApplicationView> counted_piece(std::string_view partition, ViewPlace& place,
                                                                    std::size_t& room) const;
    [[nodiscard]] std::optional<NodeView> node_view(std::string_view partition, std::string_view id,
                                                    std::size_t most = kAllObjects) const;
    [[nodiscard]] std::vector<ReservationView> reservation_views(std::string_view partition) const;
    /// Queues one by one, each before those below it, by name.
    [[nodiscard]] std::vector<QueueView> queue_piece(std::string_view partition, ViewPlace& place,
                                                     std::size_t& room) const;
    /// Asks or allocations in the order in which they are kept, which changes while nobody looks: one that is there
    /// from the first piece to the last is in exactly one of them.
    [[nodiscard]] std::vector<AskView> ask_piece(std::string_view partition, const ObjectFilter& filter,
                                                 ViewPlace& place, std::size_t& room) const;
    [[nodiscard]] std::vector<AllocationView> allocation_piece(std::string_view partition, const ObjectFilter& filter,
                                                               ViewPlace& place, std::size_t& room) const;
    /// For lists by id of more applications than one piece takes: first who there is (`status` and `queue`, exactly, of
    /// the filter), in no order, then each by its position. nullopt: gone.
    void add_to_roster(std::string_view partition, ApplicationList list, ViewPlace& place, std::size_t& room,
                       const ObjectFilter& filter, ApplicationRoster& roster) const;
    [[nodiscard]] std::optional<ApplicationView> application_at(std::string_view partition, ApplicationList list,
                                                                std::uint64_t position, std::size_t most) const;
    /// Users or groups with usage or limits, by name (C-476).
    [[nodiscard]] std::vector<UsageView> user_views(std::string_view partition) const;
    [[nodiscard]] std::vector<UsageView> group_views(std::string_view partition) const;
    /// Which live applications have a pending or placed ask with this key.
    [[nodiscard]] std::vector<std::string> applications_with_key(std::string_view partition,
                                                                 std::string_view key) const;
    [[nodiscard]] AskPlace ask_place(std::string_view partition, std::string_view application,
                                     std::string_view key) const;

    [[nodiscard]] Explanation explain_application(std::string_view partition, std::string_view application,
                                                  Instant now) const;
    [[nodiscard]] Explanation explain_ask(std::string_view partition, std::string_view application,
                                          std::string_view key, Instant now) const;
    /// Who would have to go for the ask, decided now without doing it, or why nobody.
    [[nodiscard]] Explanation explain_preemption(std::string_view partition, std::string_view application,
                                                 std::string_view key, Instant now) const;

    /// What a user may still use at each queue from `path` to the root (B-09); REQUIRES as in PartitionContext.
    [[nodiscard]] UserExplanation explain_user(std::string_view partition, std::string_view user,
                                               const std::vector<std::string>& groups, std::string_view path) const;
    /// Why a node takes nothing.
    [[nodiscard]] NodeExplanation explain_node(std::string_view partition, std::string_view node) const;

    /// nullopt: there is no partition spec.partition.
    [[nodiscard]] std::optional<PlacementExplanation> explain_placement(const ApplicationSpec& spec) const;
    [[nodiscard]] std::vector<RuleView> rule_views(std::string_view partition) const;

    [[nodiscard]] CoreCounters counters() const;
    /// What counts against Settings::budget.
    [[nodiscard]] const Holdings& holdings() const { return held_; }
    /// What metrics are made of, piece by piece as above. No queues in the end: there is no such partition.
    void metrics_piece(std::string_view partition, ViewPlace& place, std::size_t& room, PartitionMetrics& into) const;
    [[nodiscard]] PartitionMetrics partition_metrics(std::string_view partition) const;
    /// Checks 3 to 11 of interface.md 5.6 over all partitions, piece by piece as above; each equation on one picture
    /// (I-445).
    void health_piece(HealthPlace& place, std::size_t& room, std::vector<HealthCheckView>& checks) const;
    [[nodiscard]] std::vector<HealthCheckView> health() const;
    /// Every accounting invariant of S-181 and every structural one; the broken ones, in words (tests, fuzzing).
    [[nodiscard]] std::vector<std::string> check() const;

    /// For benchmarks and tests that need more than the door offers. nullptr when unknown.
    [[nodiscard]] PartitionContext* find_partition(std::string_view partition);
    [[nodiscard]] const PartitionContext* find_partition(std::string_view partition) const;

private:
    struct Ignored {
        const ReleaseSpec* spec;
        std::string partition;
        std::string reason;
        ElementCode code;
    };
    void sweep();
    void apply_asks(const std::vector<AskSpec>& asks, bool placements, Instant now);
    void release(const std::vector<ReleaseSpec>& releases, bool asks_only, std::vector<Ignored>& ignored, Instant now);

    std::string rm_id_;
    Settings settings_;
    Callbacks& callbacks_;
    EventSink& events_;
    RmCalls calls_;
    Holdings held_;
    std::map<std::string, std::unique_ptr<PartitionContext>, std::less<>> partitions_; // by short name
    CoreCounters gone_; // of removed partitions, and what is of none
};

} // namespace yk
