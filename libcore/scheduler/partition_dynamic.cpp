// Dynamic queues: child templates, quota tags, creation (C-230 to C-243).

#include "libcore/scheduler/leaf_plan.h"
#include "libcore/scheduler/partition_context.h"

namespace yk {

namespace {

/// C-237: not for the recovery queue.
bool takes_tags(const LeafPlan& plan) {
    return (plan.is_new || !plan.queue->managed) && plan.path != kRecoveryPath;
}

} // namespace

const Queue* owner_of_template(const Queue& parent) {
    const Queue* owner = &parent;
    while (owner != nullptr && !owner->child_template) owner = owner->parent;
    return owner;
}

LeafPlan PartitionContext::plan_leaf(const placement::Outcome& placed, const ApplicationSpec& spec) {
    LeafPlan plan;
    plan.path = placed.path;
    plan.is_new = placed.queue == nullptr;
    plan.queue = plan.is_new ? placed.above : placed.queue;
    if (!plan.is_new) {
        plan.max = plan.queue->max;
        plan.guaranteed = plan.queue->guaranteed;
        plan.max_applications = plan.queue->max_applications;
        plan.properties = plan.queue->properties;
    } else if (const Queue* owner = owner_of_template(*plan.queue); owner != nullptr && plan.path != kRecoveryPath) {
        const config::ChildTemplate& from = *owner->child_template;
        plan.max = limit(from.resources);
        plan.guaranteed = guarantee(from.resources);
        plan.max_applications = from.max_applications;
        plan.property_map = from.properties; // and no others (C-233)
    }
    if (plan.is_new) plan.properties = config::derive_properties(plan.property_map, true);
    if (!takes_tags(plan)) return plan;
    const auto positive = [this](const std::optional<Quantities>& tag) -> std::optional<Resource> {
        if (!tag) return std::nullopt;
        std::optional<Resource> amounts = to_resource(*tag);
        return amounts && amounts->gt_zero() ? amounts : std::nullopt;
    };
    const QueueTags& tags = spec.queue_tags;
    if (auto max = positive(tags.max)) plan.max = Limit{*std::move(max)};
    if (auto guaranteed = positive(tags.guaranteed)) plan.guaranteed = std::move(guaranteed);
    if (tags.max_applications != 0) plan.max_applications = tags.max_applications;
    return plan;
}

/// C-159, C-238.
std::optional<Refusal> PartitionContext::refuse_gang(const LeafPlan& plan, const ApplicationSpec& spec,
                                                     const Resource& ask) const {
    if (ask.is_zero()) return std::nullopt;
    const std::string id{spec.id};
    if (plan.properties.sort_policy != config::SortPolicy::Fifo)
        return Refusal{"queue " + plan.path + " cannot run application " + id +
                           " with task group request: unsupported sort type",
                       ElementCode::GangSort};
    Limit max = plan.max;
    const Queue* above = plan.is_new ? plan.queue : plan.queue->parent;
    for (; above != nullptr && !above->is_root(); above = above->parent) max.tighten(above->max);
    if (max.allows(ask)) return std::nullopt;
    return Refusal{"queue " + plan.path + " cannot fit application " + id + ": task group request " +
                       s_.named(ask).text() + " larger than max queue allocation " + s_.named(max.bounds()).text(),
                   ElementCode::GangTooLarge};
}

/// C-232: the missing levels become dynamic parents, the last one a dynamic leaf.
Queue& PartitionContext::commit_leaf(LeafPlan plan, Instant now) {
    Queue* queue = plan.queue;
    while (queue->path.size() < plan.path.size()) {
        const std::size_t start = queue->path.size() + 1;
        const std::size_t dot = plan.path.find('.', start);
        queue = &make_queue(plan.path.substr(start, dot - start), queue, dot == std::string::npos, false, now);
        queue->properties = config::derive_properties({}, queue->leaf);
    }
    if (plan.is_new) {
        queue->property_map = std::move(plan.property_map);
        queue->properties = plan.properties;
    }
    const bool other_slots = queue->max_applications != plan.max_applications;
    queue->max_applications = plan.max_applications;
    const bool other_limits = set_limits(*queue, std::move(plan.max), std::move(plan.guaranteed), !plan.is_new, now);
    if (other_slots) s_.slots_changed = true;
    if (other_limits || other_slots) orders_.queue_changed(*queue);
    if (other_limits) checks_.update_all(now);
    return *queue;
}

} // namespace yk
