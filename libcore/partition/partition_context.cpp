// SPDX-License-Identifier: Apache-2.0
#include "libcore/partition/partition_context.h"

#include <algorithm>
#include <utility>

#include "libcore/base/check.h"
#include "libcore/reports/check.h"

namespace yk {

PartitionContext::PartitionContext(std::string name, std::string full_name, const Settings& settings,
                                   Callbacks& callbacks, EventSink& events, RmCalls& calls, Holdings& held, Instant now)
    : state_(std::move(name), std::move(full_name), settings, callbacks, events, calls, held) {
    state_.last_transition = now;
    queues_.make("root", nullptr, false, true, now);
    state_.timers.set(now + settings.queue_clean_interval, TimerKind::CleanQueues);
    state_.timers.set(now + settings.expired_purge_interval, TimerKind::PurgeExpired);
    if (settings.inspect_outstanding) state_.timers.set(now + settings.inspection_interval, TimerKind::Inspect);
}

std::vector<std::string> PartitionContext::check() {
    return check_partition(refreshed(), indexes_);
}

void PartitionContext::configure(const config::Partition& config, Instant now) {
    YK_ASSUME(check_queues(config).ok(), "a configuration is tested before it is applied");
    if (const auto to = next_state(state_.state, ObjectEvent::Start); to && *to != state_.state) {
        state_.state = *to;
        state_.last_transition = now;
    }
    state_.rules = placement::RuleChain{config.placement_rules};
    state_.preemption_enabled = config.preemption_enabled;
    state_.quota_preemption_enabled = config.quota_preemption_enabled;
    state_.node_policy = config.node_sort_policy;
    state_.resource_weights = config.resource_weights;
    std::vector<std::pair<ResourceId, double>> weights; // in order of names
    const std::map<std::string, double> defaults{{"memory", 1.0}, {"vcore", 1.0}};
    for (const auto& [name, weight] : config.resource_weights.empty() ? defaults : config.resource_weights)
        if (const ResourceId id = state_.resources.intern(name); id != ResourceNames::npos)
            weights.emplace_back(id, weight);
    state_.nodes.set_policy(*config.node_sort_policy, std::move(weights));
    configure_workload(config.fragmentation, now);
    std::vector<TemplatePlan> templates = dynamic_queues_.plan_templates(config);
    queues_.configure(state_.queues.root(), config.root, false, now);
    for (TemplatePlan& plan : templates) dynamic_queues_.commit_template(std::move(plan), now);
    user_limits_.set(config, now);
    state_.slots_changed = true;
    checks_.update_all(now);
    indexes_.rebuild_all();
    restoration_.configured(now);
}

void PartitionContext::configure_workload(const config::FragmentationSettings& settings, Instant now) {
    const bool is_other = settings.half_life != state_.expected.half_life() || halving_ == 0;
    state_.expected.configure(settings, state_.resources);
    if (ShapeBoards* const boards = state_.nodes.boards())
        boards->set_workload(state_.expected.make(state_.nodes, state_.resources));
    if (is_other) state_.timers.set(now + settings.half_life, TimerKind::HalveWorkload, 0, ++halving_);
}

/// The queues drain; applications fail and are removed, then nodes, limits and queues. The RM is notified of its
/// applications and allocations; events are emitted for everything (S-563, S-600, C-415).
void PartitionContext::drop_everything(Instant now) {
    state_.state = ObjectState::Draining;
    queues_.drain(state_.queues.root());
    restoration_.clear();
    std::vector<std::string> ids;
    state_.applications.for_each([&](ApplicationId id) { ids.push_back(state_.applications[id].id); });
    std::sort(ids.begin(), ids.end());
    for (const std::string& id : ids) {
        // One that is failing already waits for its placeholders; to fail again would end it without them.
        const ApplicationId application = state_.find_application(id);
        if (state_.applications[application].state != ApplicationState::Failing)
            applications_.handle(application, ApplicationEvent::Fail, "PartitionRemoved", now);
        applications_.remove(id, now);
    }
    std::vector<NodeId> nodes;
    state_.nodes.for_each([&](NodeId id) { nodes.push_back(id); });
    for (const NodeId id : nodes) nodes_.remove(id, now);
    user_limits_.set({}, now);
    queues_.clean(now); // removes all: they drain and are empty
    state_.emit({EventType::Queue, EventChange::Remove, EventDetail::None, state_.queues.root().path}, now);
}

void PartitionContext::settings_changed(Instant now) {
    state_.groups.for_each([&](GroupId id) { reservation_delays_.update(id, now); });
    checks_.update_all(now);
}

} // namespace yk
