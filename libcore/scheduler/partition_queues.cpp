// Queues and partitions from the configuration, draining and cleaning (S-560 to S-563, C-430 to C-449).

#include <algorithm>

#include "libcore/config/names.h"
#include "libcore/scheduler/leaf_plan.h"
#include "libcore/scheduler/partition_context.h"

namespace yk {

namespace {

/// C-132: validation has refused what cannot be parsed; it would let nobody in.
config::Acl acl_of(const std::string& text) {
    auto acl = config::parse_acl(text);
    return acl.ok() ? *std::move(acl) : config::Acl{};
}

/// Whether there are applications in it or below.
bool is_used(const Queue& queue) {
    return !queue.applications.empty() || std::any_of(queue.children.begin(), queue.children.end(),
                                                      [](const auto& child) { return is_used(*child.second); });
}

} // namespace

PartitionContext::PartitionContext(std::string name, std::string full_name, const Settings& settings,
                                   Callbacks& callbacks, EventSink& events, RmCalls& calls, Holdings& held, Instant now)
    : s_(std::move(name), std::move(full_name), settings, callbacks, events, calls, held),
      orders_(s_),
      checks_(s_, orders_),
      planner_(s_, orders_, checks_),
      gang_planner_(s_, orders_) {
    s_.last_transition = now;
    make_queue("root", nullptr, false, true, now);
    s_.timers.set(now + settings.queue_clean_interval, TimerKind::CleanQueues);
    s_.timers.set(now + settings.expired_purge_interval, TimerKind::PurgeExpired);
    if (settings.inspect_outstanding) s_.timers.set(now + settings.inspection_interval, TimerKind::Inspect);
}

Resource PartitionContext::to_resource(const config::ResourceMap& map) {
    Resource amounts;
    for (const auto& [name, value] : map)
        if (const ResourceId id = s_.resources.intern(name); id != ResourceNames::npos) amounts.set(id, value);
    return amounts;
}

// --- one queue
// -----------------------------------------------------------------------------------------------------------

Queue& PartitionContext::make_queue(std::string_view name, Queue* parent, bool leaf, bool managed, Instant now) {
    auto& table = s_.queues;
    if (s_.free_queues.empty()) {
        s_.free_queues.push_back(static_cast<std::uint32_t>(table.size()));
        table.push_back(nullptr);
    }
    const std::uint32_t index = s_.free_queues.back();
    s_.free_queues.pop_back();
    std::string path = parent == nullptr ? std::string{name} : parent->path + "." + std::string{name};
    auto made = std::make_unique<Queue>(std::move(path), parent, leaf, index, s_.applications, table);
    Queue& queue = *made;
    queue.managed = managed;
    count_queue(queue);
    table[index] = &queue;
    if (parent == nullptr)
        s_.root = std::move(made);
    else
        parent->children.emplace(queue.name, std::move(made));
    orders_.queue_changed(queue);
    s_.tell({EventType::Queue, EventChange::Add, managed ? EventDetail::None : EventDetail::QueueDynamic, queue.path},
            now);
    return queue;
}

void PartitionContext::destroy_queue(Queue& queue, Instant now) {
    s_.tell({EventType::Queue, EventChange::Remove, queue.managed ? EventDetail::None : EventDetail::QueueDynamic,
             queue.path},
            now);
    discount_queue(queue);
    Queue& parent = *queue.parent;
    if (queue.slot.in_index()) parent.child_index.erase(queue.index);
    orders_.forget(queue);
    s_.preemption.exhausted.erase(queue.index);
    orders_.touch(parent);
    s_.queues[queue.index] = nullptr;
    s_.free_queues.push_back(queue.index);
    parent.children.erase(queue.name);
}

/// S-600: the new value; absent when there is none any more.
void PartitionContext::tell_limit(const Queue& queue, EventDetail detail, const Resource* value, Instant now) {
    s_.tell({EventType::Queue, EventChange::Set, detail, queue.path, {}, {}, value}, now);
}

Limit PartitionContext::limit(const config::Resources& resources) {
    return Limit{to_resource(resources.max.value_or(config::ResourceMap{}))};
}

/// S-035: one that guarantees nothing is none.
std::optional<Resource> PartitionContext::guarantee(const config::Resources& resources) {
    Resource amounts = to_resource(resources.guaranteed.value_or(config::ResourceMap{}));
    return amounts.gt_zero() ? std::optional{std::move(amounts)} : std::nullopt;
}

/// `tell`: the queue existed before, so a difference is a change. Whether there was one.
bool PartitionContext::set_limits(Queue& queue, Limit max, std::optional<Resource> guaranteed, bool tell, Instant now) {
    const bool other_max = !queue.is_root() && !max.same_as(queue.max);
    if (other_max) {
        queue.max = std::move(max);
        if (tell) tell_limit(queue, EventDetail::QueueMax, queue.max.unlimited() ? nullptr : &queue.max.bounds(), now);
    }
    const bool same = guaranteed.has_value() == queue.guaranteed.has_value() &&
                      (!guaranteed || guaranteed->deep_equals(*queue.guaranteed));
    if (same) return other_max;
    queue.guaranteed = std::move(guaranteed);
    if (tell) tell_limit(queue, EventDetail::QueueGuaranteed, queue.guaranteed ? &*queue.guaranteed : nullptr, now);
    return true;
}

void PartitionContext::set_state(Queue& queue, ObjectEvent event) {
    if (const auto to = next_state(queue.state, event)) queue.state = *to;
    orders_.touch(queue);
}

/// C-431: with all managed descendants.
void PartitionContext::drain(Queue& queue) {
    if (!queue.managed) return;
    set_state(queue, ObjectEvent::Remove);
    for (const auto& [name, child] : queue.children) drain(*child);
}

/// Makes the queue and all below it what the configuration says. The parent has been configured.
void PartitionContext::configure_queue(Queue& queue, const config::Queue& config, bool made, Instant now) {
    discount_queue(queue);
    queue.managed = true;
    queue.set_by_tags = {};
    set_state(queue, ObjectEvent::Start);
    const bool leaf = !queue.is_root() && !config.is_parent();
    if (leaf != queue.leaf) {
        for (const auto& [name, child] : queue.children) drain(*child);
        clean_below(queue, now); // all of them: check_queue() found no application
        queue.leaf = leaf;
        s_.tell({EventType::Queue,
                 EventChange::Set,
                 EventDetail::QueueType,
                 queue.path,
                 {},
                 leaf ? "leaf queue: true" : "leaf queue: false"},
                now);
    }
    queue.property_map =
        queue.is_root() ? config.properties : config::inherit_properties(queue.parent->property_map, config.properties);
    const Duration quota_delay = queue.properties.quota_preemption_delay;
    const Limit max = queue.max;
    queue.properties = config::derive_properties(queue.property_map, queue.leaf);
    queue.max_applications = config.max_applications;
    queue.submit_acl = acl_of(config.submit_acl);
    queue.admin_acl = acl_of(config.admin_acl);
    queue.child_template = queue.leaf ? std::nullopt : config.child_template;
    set_limits(queue, limit(config.resources), guarantee(config.resources), !made, now);
    quota_configured(queue, max, quota_delay, now);
    std::vector<std::string> names;
    for (const config::Queue& child : config.children) {
        const std::string& name = names.emplace_back(config::lower(child.name));
        const auto known = queue.children.find(name);
        const bool is_new = known == queue.children.end();
        Queue& below = is_new ? make_queue(name, &queue, !child.is_parent(), true, now) : *known->second;
        configure_queue(below, child, is_new, now);
    }
    std::sort(names.begin(), names.end());
    for (const auto& [name, child] : queue.children)
        if (!std::binary_search(names.begin(), names.end(), name)) drain(*child);
}

// --- the partition
// -------------------------------------------------------------------------------------------------------

Result<void> PartitionContext::check_queues(const config::Partition& config) const {
    return check_queue(config.root, *s_.root);
}

/// C-435. A child that nobody uses does not stay: it goes when its parent becomes a leaf.
Result<void> PartitionContext::check_queue(const config::Queue& config, const Queue& queue) const {
    const bool leaf = !queue.is_root() && !config.is_parent();
    const auto where = config.mark.line > 0
                           ? std::to_string(config.mark.line) + ":" + std::to_string(config.mark.column)
                           : std::string{};
    if (queue.leaf && !leaf && !queue.applications.empty())
        return Error{0, "queue " + queue.path + " has applications, it cannot become a parent", where};
    if (!queue.leaf && leaf && is_used(queue))
        return Error{0, "queue " + queue.path + " has child queues, it cannot become a leaf", where};
    for (const config::Queue& child : config.children) {
        const auto known = queue.children.find(config::lower(child.name));
        if (known != queue.children.end()) YK_CHECKED(check_queue(child, *known->second));
    }
    return {};
}

void PartitionContext::configure(const config::Partition& config, Instant now) {
    if (const auto to = next_state(s_.state, ObjectEvent::Start); to && *to != s_.state) {
        s_.state = *to;
        s_.last_transition = now;
    }
    s_.rules = placement::RuleChain{config.placement_rules};
    s_.preemption_enabled = config.preemption_enabled;
    s_.quota_preemption_enabled = config.quota_preemption_enabled;
    s_.node_policy = config.node_sort_policy;
    s_.resource_weights = config.resource_weights;
    std::vector<std::pair<ResourceId, double>> weights; // in name order, as a map is
    const std::map<std::string, double> defaults{{"memory", 1.0}, {"vcore", 1.0}};
    for (const auto& [name, weight] : config.resource_weights.empty() ? defaults : config.resource_weights)
        if (const ResourceId id = s_.resources.intern(name); id != ResourceNames::npos)
            weights.emplace_back(id, weight);
    s_.nodes.set_policy(config.node_sort_policy, std::move(weights));
    std::vector<TemplatePlan> templates = plan_templates(config);
    configure_queue(*s_.root, config.root, false, now);
    for (TemplatePlan& plan : templates) commit_template(std::move(plan), now);
    set_user_limits(config, now);
    s_.slots_changed = true;
    checks_.update_all(now);
    orders_.rebuild_all();
}

/// S-563: the queues drain, applications fail and go, nodes, limits and queues go; the RM is told of what it loses, the
/// events tell of all of it (S-600, C-415).
void PartitionContext::drop_everything(Instant now) {
    s_.state = ObjectState::Draining;
    drain(*s_.root);
    std::vector<std::string> ids;
    for (const auto& [id, application] : s_.application_ids) ids.push_back(id);
    std::sort(ids.begin(), ids.end());
    for (const std::string& id : ids) {
        handle(s_.find_application(id), ApplicationEvent::Fail, "PartitionRemoved", now);
        remove_application(id, now);
    }
    std::vector<NodeId> nodes;
    s_.nodes.for_each([&](NodeId id) { nodes.push_back(id); });
    for (const NodeId id : nodes) remove_node(id, now);
    set_user_limits({}, now);
    clean_queues(now); // all of them: they drain and are empty
    s_.tell({EventType::Queue, EventChange::Remove, EventDetail::None, s_.root->path}, now);
}

void PartitionContext::settings_changed(Instant now) {
    s_.groups.for_each([&](GroupId id) { update_due(id, now); });
    checks_.update_all(now);
}

// --- cleaning (S-560)
// ----------------------------------------------------------------------------------------------------

void PartitionContext::clean_queues(Instant now) {
    clean_below(*s_.root, now);
}

/// Children before parents. Whether the queue may go itself.
bool PartitionContext::clean_below(Queue& queue, Instant now) {
    std::vector<Queue*> gone;
    for (const auto& [name, child] : queue.children)
        if (clean_below(*child, now)) gone.push_back(child.get());
    for (Queue* child : gone) destroy_queue(*child, now);
    if (queue.is_root()) return false;
    const bool empty = queue.leaf ? queue.applications.empty() : queue.children.empty();
    return empty && (!queue.managed || queue.state == ObjectState::Draining);
}

} // namespace yk
