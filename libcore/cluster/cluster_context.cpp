// SPDX-License-Identifier: Apache-2.0
#include "libcore/cluster/cluster_context.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "libcore/config/partition_names.h"
#include "libcore/partition/partition_context.h"
#include "libcore/reports/explain.h"
#include "libcore/reports/health.h"

namespace yk {

namespace {

constexpr std::string_view kDefaultPartition = "default";

using Partitions = ClusterRecovery::Partitions;

bool creates(const NodeSpec& spec) {
    return spec.action == NodeAction::Create || spec.action == NodeAction::CreateDrain;
}

/// Why `partition` was not found. `unknown`: the reason if it does not name another RM (I-111, I-112).
Refusal no_partition(std::string_view rm, std::string_view partition, std::string unknown) {
    const std::size_t end = partition.find(']');
    const bool full = !partition.empty() && partition.front() == '[';
    if (full && (end == std::string_view::npos || partition.substr(1, end - 1) != rm))
        return {"the partition belongs to another resource manager", ElementCode::PartitionForeign};
    return {std::move(unknown), ElementCode::PartitionUnknown};
}

bool has_node(const PartitionContext& partition, std::string_view id) {
    return partition.state().nodes.find(id).valid();
}

/// The partition that the attribute names. Without it: `default`, or for a node that exists the partition that has it.
std::string_view partition_of(const NodeSpec& spec, const Partitions& partitions) {
    if (spec.attributes)
        for (const Tag& tag : *spec.attributes)
            if (tag.key == kPartitionAttribute && !tag.value.empty()) return tag.value;
    const auto standard = partitions.find(kDefaultPartition);
    if (creates(spec) || (standard != partitions.end() && has_node(*standard->second, spec.id)))
        return kDefaultPartition;
    for (const auto& [name, partition] : partitions)
        if (has_node(*partition, spec.id)) return name;
    return kDefaultPartition;
}

/// Whether the update was refused because it names a partition without the node, while another one has it (I-175).
bool is_elsewhere(const Refusal& refusal, const NodeSpec& spec, const Partitions& partitions) {
    if (refusal.code != ElementCode::NodeUnknown) return false;
    return std::any_of(partitions.begin(), partitions.end(),
                       [&](const auto& each) { return has_node(*each.second, spec.id); });
}

/// Whether it would be refused whatever the state of application and partition (S-611).
bool is_impossible(ElementCode code) {
    return code == ElementCode::PlaceholderGroup || code == ElementCode::NodeUnknown ||
           code == ElementCode::NoResource || code == ElementCode::Negative;
}

/// The names of running partitions, to find the ones that a configuration means.
template <class Partitions>
config::PartitionNames names_of(const Partitions& partitions) {
    config::PartitionNames names;
    for (const auto& [name, partition] : partitions) names.add(name);
    return names;
}

} // namespace

ClusterContext::ClusterContext(std::string rm_id, Settings settings, Callbacks& callbacks, EventSink& events)
    : rm_id_(std::move(rm_id)), settings_(settings), callbacks_(callbacks), events_(events) {}

ClusterContext::~ClusterContext() = default;

std::string ClusterContext::full_name(std::string_view partition) const {
    if (partition.empty()) partition = kDefaultPartition;
    if (partition.front() == '[') return std::string{partition};
    return "[" + rm_id_ + "]" + std::string{partition};
}

PartitionContext* ClusterContext::find_partition(std::string_view partition) {
    if (partition.empty()) partition = kDefaultPartition;
    if (partition.front() == '[') {
        const std::string prefix = "[" + rm_id_ + "]";
        if (partition.substr(0, prefix.size()) != prefix) return nullptr;
        partition = partition.substr(prefix.size());
    }
    const auto found = partitions_.find(partition);
    return found == partitions_.end() ? nullptr : found->second.get();
}

const PartitionContext* ClusterContext::find_partition(std::string_view partition) const {
    return const_cast<ClusterContext*>(this)->find_partition(partition);
}

// --- configuration --------------------------------------------------------------------------------------------------

Result<void> ClusterContext::check_configuration(const config::Configuration& config) const {
    if (config.partitions.empty()) return Error::of("no partition defined");
    const config::PartitionNames names = names_of(partitions_);
    for (const config::Partition& partition : config.partitions) // names in another case mean the same partition
        if (const auto known = partitions_.find(names.running(partition.name)); known != partitions_.end())
            YK_CHECKED(known->second->check_queues(partition));
    return {};
}

std::vector<ReappliedView> ClusterContext::template_changes(std::string_view partition,
                                                            const config::Configuration& config) const {
    const config::PartitionNames names = names_of(partitions_);
    const auto known = partitions_.find(partition);
    for (const config::Partition& wanted : config.partitions)
        if (known != partitions_.end() && names.running(wanted.name) == partition)
            return known->second->template_changes(wanted);
    return {};
}

Result<void> ClusterContext::configure(const config::Configuration& config, Instant now) {
    YK_CHECKED(check_configuration(config)); // nothing after this can fail
    const config::PartitionNames names = names_of(partitions_);
    std::set<std::string, std::less<>> named;
    for (const config::Partition& partition : config.partitions) {
        const std::string& name = names.running(partition.name);
        named.insert(name);
        auto& context = partitions_[name];
        if (context == nullptr) {
            context = std::make_unique<PartitionContext>(name, full_name(name), settings_, callbacks_, events_, calls_,
                                                         held_, now);
            recovery_.add(*context);
        }
        context->configure(partition, now);
    }
    for (auto each = partitions_.begin(); each != partitions_.end();) {
        if (named.count(each->first) > 0) {
            ++each;
            continue;
        }
        each->second->drop_everything(now);
        unattributed_.add(each->second->counters());
        each = partitions_.erase(each);
    }
    return {};
}

void ClusterContext::drop_everything(Instant now) {
    for (const auto& [name, partition] : partitions_) partition->drop_everything(now);
}

void ClusterContext::set_settings(const Settings& settings, Instant now) {
    settings_ = settings;
    for (const auto& [name, partition] : partitions_) partition->settings_changed(now);
}

// --- requests -------------------------------------------------------------------------------------------------------

void ClusterContext::apply(const AllocationRequest& request, Instant now) {
    apply_asks(request.allocations, true, now);
    apply_asks(request.asks, false, now);
    std::vector<IgnoredElement> ignored;
    release(request.ask_releases, true, ignored, now);
    release(request.releases, false, ignored, now);
    sweep();
    report_ignored(ignored);
}

void ClusterContext::report_ignored(const std::vector<IgnoredElement>& ignored) {
    if (ignored.empty()) return;
    std::vector<IgnoredRelease> notices;
    notices.reserve(ignored.size());
    for (const IgnoredElement& each : ignored)
        notices.push_back({each.partition, each.application, each.key, each.reason, each.code});
    callbacks_.releases_ignored(notices);
}

/// Applies asks or placements; all rejections go into one callback (I-140).
void ClusterContext::apply_asks(const std::vector<AskSpec>& asks, bool placements, Instant now) {
    struct Rejected {
        std::size_t element;
        std::string partition;
        Refusal refusal;
    };
    std::vector<Rejected> rejected;
    for (std::size_t i = 0; i < asks.size(); ++i) {
        const AskSpec& spec = asks[i];
        PartitionContext* partition = find_partition(spec.partition);
        std::optional<Refusal> refusal;
        if (partition == nullptr)
            refusal = no_partition(rm_id_, spec.partition,
                                   "failed to find partition " + full_name(spec.partition) + " for application " +
                                       std::string{spec.application} + " and allocation key " + std::string{spec.key});
        else
            refusal = partition->apply_ask(spec, now);
        if (!refusal || refusal->code == ElementCode::SetAside) continue;
        if (!spec.node.empty() && is_impossible(refusal->code)) ++unattributed_.scheduling_errors;
        rejected.push_back({i, full_name(spec.partition), std::move(*refusal)});
    }
    if (rejected.empty()) return;
    unattributed_.rejected += rejected.size();
    std::vector<RejectedAsk> notices;
    notices.reserve(rejected.size());
    for (const Rejected& each : rejected)
        notices.push_back({each.partition, asks[each.element].application, asks[each.element].key, each.refusal.reason,
                           each.refusal.code, static_cast<std::uint32_t>(each.element)});
    callbacks_.asks_rejected(notices, placements);
}

void ClusterContext::release(const std::vector<ReleaseSpec>& releases, bool asks_only,
                             std::vector<IgnoredElement>& ignored, Instant now) {
    for (const ReleaseSpec& spec : releases) {
        PartitionContext* partition = find_partition(spec.partition);
        std::optional<Refusal> refusal;
        if (partition == nullptr)
            refusal = no_partition(rm_id_, spec.partition, "partition " + full_name(spec.partition) + " is unknown");
        else
            refusal = partition->release(spec, asks_only, now);
        if (refusal)
            ignored.push_back(
                {spec.application, spec.key, full_name(spec.partition), std::move(refusal->reason), refusal->code});
    }
}

void ClusterContext::remove(const std::vector<RemoveApplicationSpec>& removals, Instant now) {
    std::vector<IgnoredElement> ignored;
    for (const RemoveApplicationSpec& spec : removals) {
        PartitionContext* partition = find_partition(spec.partition);
        auto refusal = partition == nullptr ? std::nullopt : partition->remove_application(spec.id, now);
        if (refusal)
            ignored.push_back({spec.id, {}, full_name(spec.partition), std::move(refusal->reason), refusal->code});
    }
    report_ignored(ignored);
}

void ClusterContext::apply(const ApplicationRequest& request, Instant now) {
    struct Answer {
        std::string partition, id, text; // text: the queue, or the reason
        std::uint32_t element = 0;
        std::optional<ElementCode> code{};
    };
    std::vector<Answer> answers;
    for (std::size_t i = 0; i < request.add.size(); ++i) {
        const ApplicationSpec& spec = request.add[i];
        PartitionContext* partition = find_partition(spec.partition);
        Answer answer{full_name(spec.partition), std::string{spec.id}, {}, static_cast<std::uint32_t>(i)};
        if (partition == nullptr) {
            Refusal refusal = no_partition(rm_id_, spec.partition,
                                           "Failed to add application " + answer.id + " to partition " +
                                               answer.partition + ", partition doesn't exist");
            answer.text = std::move(refusal.reason);
            answer.code = refusal.code;
        } else if (auto queue = partition->add_application(spec, now); queue.ok()) {
            answer.text = *queue;
        } else {
            answer.text = queue.error().reason;
            answer.code = queue.error().code;
        }
        if (answer.code != ElementCode::SetAside) answers.push_back(std::move(answer));
    }
    if (!answers.empty()) {
        std::vector<AcceptedApplication> accepted;
        std::vector<RejectedApplication> rejected;
        for (const Answer& each : answers)
            each.code ? rejected.push_back({each.partition, each.id, each.text, *each.code, each.element})
                      : accepted.push_back({each.partition, each.id, each.text});
        callbacks_.applications_answered(accepted, rejected);
    }
    remove(request.remove, now);
    heal(now);
    sweep();
}

void ClusterContext::heal(Instant now) {
    for (const auto& [name, partition] : partitions_) partition->restoration().heal(now);
}

void ClusterContext::sweep() {
    for (const auto& [name, partition] : partitions_) partition->sweep();
}

namespace {

/// What becomes of one element of a request about nodes.
struct NodeAnswer {
    const NodeSpec* spec;
    PartitionContext* partition; // nullptr: there is none of that name
    std::string full;            // its name
    std::uint32_t element = 0;   // of the nodes in the request
    std::uint32_t existing = 0;  // of what the nodes of the request bring, the first of this one
    std::optional<Refusal> refusal{};

    [[nodiscard]] bool is_aside() const { return refusal && refusal->code == ElementCode::SetAside; }
};

/// One callback with all of them; what was set aside is answered when it heals.
void report(const std::vector<NodeAnswer>& answers, Callbacks& callbacks) {
    std::vector<AcceptedNode> accepted;
    std::vector<RefusedNode> rejected, failed;
    for (const NodeAnswer& each : answers) {
        if (each.is_aside()) continue;
        if (!each.refusal)
            accepted.push_back({each.full, each.spec->id});
        else
            (creates(*each.spec) ? rejected : failed)
                .push_back({each.full, each.spec->id, each.refusal->reason, each.refusal->code, each.spec->action,
                            each.element});
    }
    if (!accepted.empty() || !rejected.empty() || !failed.empty()) callbacks.nodes_answered(accepted, rejected, failed);
}

} // namespace

void ClusterContext::apply(const NodeRequest& request, Instant now) {
    std::vector<NodeAnswer> answers; // of CREATE, and of others that failed
    std::uint32_t element = 0, existing = 0;
    for (const NodeSpec& spec : request.nodes) {
        const bool create = creates(spec);
        const std::string_view name = partition_of(spec, partitions_);
        NodeAnswer answer{&spec, find_partition(name), full_name(name), element++, existing};
        existing += static_cast<std::uint32_t>(spec.existing.size());
        if (answer.partition == nullptr) {
            ++unattributed_.nodes_failed;
            answer.refusal = no_partition(
                rm_id_, name, "failed to find partition " + answer.full + " for node " + std::string{spec.id});
        } else {
            answer.refusal =
                create ? answer.partition->create_node(spec, now) : answer.partition->change_node(spec, now);
        }
        if (answer.refusal && spec.action == NodeAction::Update && is_elsewhere(*answer.refusal, spec, partitions_))
            answer.refusal =
                Refusal{"node " + std::string{spec.id} + " stays in its partition, it cannot move to " + answer.full,
                        ElementCode::PartitionChange};
        if (create || answer.refusal) answers.push_back(std::move(answer));
    }
    sweep();
    report(answers, callbacks_);
    for (const NodeAnswer& each : answers)
        if (!each.refusal || each.is_aside()) each.partition->announce_existing(*each.spec, each.existing, now);
    heal(now);
}

// --- calls to the RM ------------------------------------------------------------------------------------------------

bool ClusterContext::apply(const CallAnswer& answer, Instant now) {
    const std::optional<RmCalls::Call> call = calls_.end(answer.call);
    if (call) call->taker->take_answer(call->ask, answer, now);
    return call.has_value();
}

// --- time and cycles ------------------------------------------------------------------------------------------------

std::optional<Instant> ClusterContext::next_timer() const {
    std::optional<Instant> next;
    for (const auto& [name, partition] : partitions_)
        if (const auto at = partition->next_timer(); at && (!next || *at < *next)) next = at;
    return next;
}

void ClusterContext::fire_timers(Instant now) {
    while (true) {
        PartitionContext* first = nullptr;
        std::optional<Instant> next;
        for (const auto& [name, partition] : partitions_) {
            const auto at = partition->next_timer();
            if (!at || *at > now || (next && *next <= *at)) continue;
            next = at;
            first = partition.get();
        }
        if (first == nullptr) return;
        first->fire_timer(now);
    }
}

[[gnu::hot]] CycleOutcome ClusterContext::cycle(Instant now, CycleObserver* observer) {
    CycleOutcome sum;
    CycleObserver* stages = observer != nullptr && observer->wants_stages() ? observer : nullptr;
    for (const auto& [name, partition] : partitions_) {
        const CycleOutcome outcome = partition->cycle(now, stages);
        if (observer != nullptr) observer->partition_done();
        sum.allocations += outcome.allocations;
        sum.changes += outcome.changes;
    }
    return sum;
}

// --- reports --------------------------------------------------------------------------------------------------------

std::vector<std::string> ClusterContext::partition_names() const {
    std::vector<std::string> names;
    for (const auto& [name, partition] : partitions_) names.push_back(name);
    return names;
}

const PartitionState* ClusterContext::read(std::string_view partition) {
    PartitionContext* found = find_partition(partition);
    return found == nullptr ? nullptr : &found->refreshed();
}

Explanation ClusterContext::explain_preemption(std::string_view partition, std::string_view application,
                                               std::string_view key, Instant now) {
    PartitionContext* found = find_partition(partition);
    if (found == nullptr) return {};
    return yk::explain_preemption(found->refreshed(), found->victims(), application, key, now);
}

CoreCounters ClusterContext::counters() const {
    CoreCounters sum = unattributed_;
    for (const auto& [name, partition] : partitions_) sum.add(partition->counters());
    return sum;
}

void ClusterContext::health_page(HealthCursor& cursor, std::size_t& budget,
                                 std::vector<HealthCheckView>& checks) const {
    if (checks.empty()) checks = health_checks();
    for (auto each = partitions_.lower_bound(cursor.partition); each != partitions_.end(); ++each) {
        if (each->first != cursor.partition) cursor = {each->first, 0, {}};
        if (!yk::health_page(each->second->state(), cursor, budget, checks)) return;
    }
}

std::vector<std::string> ClusterContext::check() {
    std::vector<std::string> faults;
    for (const auto& [name, partition] : partitions_)
        for (std::string& fault : partition->check()) faults.push_back(std::move(fault));
    return faults;
}

std::vector<HealthCheckView> health_of(const ClusterContext& core) {
    HealthCursor cursor;
    std::size_t budget = std::numeric_limits<std::size_t>::max();
    std::vector<HealthCheckView> checks;
    core.health_page(cursor, budget, checks);
    return checks;
}

} // namespace yk
