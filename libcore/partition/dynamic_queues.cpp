// SPDX-License-Identifier: Apache-2.0
#include "libcore/partition/dynamic_queues.h"

#include <algorithm>

#include "libcore/config/names.h"
#include "libcore/state/leaf_plan.h"

namespace yk {

namespace {

/// Whether quota tags of an application change the leaf: it is dynamic, and not the recovery queue (C-237).
bool takes_tags(const LeafPlan& plan) {
    return (plan.is_new || !plan.queue->managed) && plan.path != kRecoveryPath;
}

bool applies_to_existing(const config::Queue& queue) {
    return (queue.child_template && queue.child_template->apply_to_existing) ||
           std::any_of(queue.children.begin(), queue.children.end(), applies_to_existing);
}

/// What the queues below one inherit from it once the configuration is applied.
struct Inheritance {
    const Queue* owner = nullptr;
    const config::ChildTemplate* from = nullptr; // nullptr: none, or none of the configuration
    config::PropertyMap properties;
};

/// `config`: of `queue`; nullptr: it is not in the configuration.
void plan_below(const Queue& queue, const config::Queue* config, const Inheritance& above,
                std::vector<TemplatePlan>& plans) {
    std::map<std::string, const config::Queue*, std::less<>> configured;
    if (config != nullptr)
        for (const config::Queue& child : config->children) configured.emplace(config::lower(child.name), &child);
    for (const auto& [name, child] : queue.children) {
        const auto found = configured.find(name);
        const config::Queue* wanted = found == configured.end() ? nullptr : found->second;
        Inheritance below{above.owner, above.from, child->property_map};
        if (wanted != nullptr) {
            if (!wanted->is_parent()) continue; // it becomes a leaf: the queues below it are removed (C-435)
            if (wanted->child_template) below = {child.get(), &*wanted->child_template, {}};
            below.properties = config::inherit_properties(above.properties, wanted->properties);
        } else if (child->managed) {
            if (child->child_template) below.from = nullptr; // it drains, and its template has been applied
        } else if (above.from != nullptr && above.from->apply_to_existing && child->path != kRecoveryPath) {
            below.properties = properties_from(*above.from, above.properties, child->leaf);
            plans.push_back({child.get(), above.owner, above.from, below.properties});
        }
        plan_below(*child, wanted, below, plans);
    }
}

/// The guarantee as Queues::guarantee() has it: none, if no amount is above zero.
std::optional<config::ResourceMap> guarantee_of(const std::optional<config::ResourceMap>& amounts) {
    const bool positive =
        amounts && std::any_of(amounts->begin(), amounts->end(), [](const auto& one) { return one.second > 0; });
    return positive ? amounts : std::nullopt;
}

} // namespace

LeafPlan DynamicQueues::plan_leaf(const placement::Outcome& placed, const ApplicationSpec& spec) {
    LeafPlan plan;
    plan.path = placed.path;
    plan.is_new = placed.queue == nullptr;
    plan.queue = plan.is_new ? placed.above : placed.queue;
    if (!plan.is_new) {
        plan.max = plan.queue->max;
        plan.guaranteed = plan.queue->guaranteed;
        plan.max_applications = plan.queue->max_applications;
        plan.properties = plan.queue->properties;
        plan.set_by_tags = plan.queue->set_by_tags;
    } else if (const Queue* owner = owner_of_template(*plan.queue); owner != nullptr && plan.path != kRecoveryPath) {
        const config::ChildTemplate& from = *owner->child_template;
        plan.max = queues_.limit(from.resources);
        plan.guaranteed = queues_.guarantee(from.resources);
        plan.max_applications = from.max_applications;
        plan.inherits = from.inherit_properties; // else the leaf has the template's only (C-233)
        plan.property_map = properties_from(from, plan.queue->property_map, true);
    }
    if (plan.is_new) plan.properties = config::derive_properties(plan.property_map, true);
    if (takes_tags(plan)) take_tags(spec.queue_tags, plan);
    return plan;
}

void DynamicQueues::take_tags(const QueueTags& tags, LeafPlan& plan) {
    const auto positive = [&](const std::optional<Quantities>& tag) -> std::optional<Resource> {
        if (!tag) return std::nullopt;
        std::optional<Resource> amounts = state_.to_resource(*tag);
        plan.has_too_many_types = plan.has_too_many_types || !amounts;
        return amounts && amounts->gt_zero() ? amounts : std::nullopt;
    };
    if (auto max = positive(tags.max)) {
        plan.max = Limit{*std::move(max)};
        plan.set_by_tags.max = true;
    }
    if (auto guaranteed = positive(tags.guaranteed)) {
        plan.guaranteed = std::move(guaranteed);
        plan.set_by_tags.guaranteed = true;
    }
    if (tags.max_applications != 0) {
        plan.max_applications = tags.max_applications;
        plan.set_by_tags.max_applications = true;
    }
}

std::optional<Refusal> DynamicQueues::refuse_gang(const LeafPlan& plan, const ApplicationSpec& spec,
                                                  const Resource& ask) const {
    if (ask.is_zero() || state_.recovering) return std::nullopt; // what is replayed was accepted before (I-222)
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
                       state_.named(ask).text() + " larger than max queue allocation " +
                       state_.named(max.bounds()).text(),
                   ElementCode::GangTooLarge};
}

Queue& DynamicQueues::commit_leaf(LeafPlan plan, Instant now) {
    Queue* queue = plan.queue;
    while (queue->path.size() < plan.path.size()) {
        const std::size_t start = queue->path.size() + 1;
        const std::size_t dot = plan.path.find('.', start);
        queue = &queues_.make(plan.path.substr(start, dot - start), queue, dot == std::string::npos, false, now);
        if (plan.inherits) queue->property_map = config::inherit_properties(queue->parent->property_map, {});
        queue->properties = config::derive_properties(queue->property_map, queue->leaf);
    }
    if (plan.is_new) {
        queue->property_map = std::move(plan.property_map);
        queue->properties = plan.properties;
    }
    const bool other_slots = queue->max_applications != plan.max_applications;
    queue->max_applications = plan.max_applications;
    queue->set_by_tags = plan.set_by_tags;
    const bool other_limits =
        queues_.set_limits(*queue, std::move(plan.max), std::move(plan.guaranteed), !plan.is_new, now);
    if (other_slots) state_.slots_changed = true;
    if (other_limits || other_slots) indexes_.queue_changed(*queue);
    if (other_limits) checks_.update_all(now);
    return *queue;
}

std::vector<TemplatePlan> DynamicQueues::plan_templates(const config::Partition& config) const {
    std::vector<TemplatePlan> plans;
    const config::Queue& root = config.root;
    if (applies_to_existing(root))
        plan_below(state_.queues.root(), &root,
                   {&state_.queues.root(), root.child_template ? &*root.child_template : nullptr, root.properties},
                   plans);
    return plans;
}

void DynamicQueues::commit_template(TemplatePlan plan, Instant now) {
    Queue& queue = *plan.queue;
    queue.property_map = std::move(plan.property_map);
    queue.properties = config::derive_properties(queue.property_map, queue.leaf);
    if (!queue.leaf) return;
    const config::Resources& resources = plan.from->resources;
    const Queue::SetByTags& tags = queue.set_by_tags;
    if (!tags.max_applications) queue.max_applications = plan.from->max_applications;
    queues_.set_limits(queue, tags.max ? queue.max : queues_.limit(resources),
                       tags.guaranteed ? queue.guaranteed : queues_.guarantee(resources), true, now);
}

std::vector<ReappliedView> DynamicQueues::template_changes(const config::Partition& config) const {
    std::vector<ReappliedView> views;
    for (TemplatePlan& plan : plan_templates(config)) {
        const Queue& queue = *plan.queue;
        ReappliedView view{queue.path, plan.owner->path, {}, {}};
        if (!queue.max.unlimited()) view.before.resources.max = state_.map_of(queue.max.bounds());
        if (queue.guaranteed) view.before.resources.guaranteed = state_.map_of(*queue.guaranteed);
        view.before.max_applications = queue.max_applications;
        view.after = view.before;
        view.before.properties = queue.property_map;
        view.after.properties = std::move(plan.property_map);
        const Queue::SetByTags& tags = queue.set_by_tags;
        if (queue.leaf && !tags.max) view.after.resources.max = plan.from->resources.max;
        if (queue.leaf && !tags.guaranteed)
            view.after.resources.guaranteed = guarantee_of(plan.from->resources.guaranteed);
        if (queue.leaf && !tags.max_applications) view.after.max_applications = plan.from->max_applications;
        views.push_back(std::move(view));
    }
    return views;
}

} // namespace yk
