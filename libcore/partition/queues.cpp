// SPDX-License-Identifier: Apache-2.0
#include "libcore/partition/queues.h"

#include <algorithm>

#include "libcore/base/check.h"
#include "libcore/config/names.h"

namespace yk {

namespace {

/// The parsed list. Validation has refused what cannot be parsed; such a list would allow nobody (C-132).
config::Acl acl_of(const std::string& text) {
    auto acl = config::parse_acl(text);
    return acl.ok() ? *std::move(acl) : config::Acl{};
}

/// Whether there are applications in the queue or below it.
bool is_used(const Queue& queue) {
    return !queue.applications.empty() || std::any_of(queue.children.begin(), queue.children.end(),
                                                      [](const auto& child) { return is_used(*child.second); });
}

} // namespace

/// Counts a dynamic queue against the budget of the RM; queues of the configuration do not count.
void Queues::count_queue(const Queue& queue) noexcept {
    if (queue.managed) return;
    state_.budget_meter.add(Held::Queues);
    state_.budget_meter.add(Held::Names, bytes_of(queue.path));
}

void Queues::discount_queue(const Queue& queue) noexcept {
    if (queue.managed) return;
    state_.budget_meter.take(Held::Queues);
    state_.budget_meter.take(Held::Names, bytes_of(queue.path));
}

Queue& Queues::make(std::string_view name, Queue* parent, bool leaf, bool managed, Instant now) {
    Queue& queue = state_.queues.add(name, parent, leaf);
    queue.managed = managed;
    count_queue(queue);
    indexes_.queue_changed(queue);
    state_.emit(
        {EventType::Queue, EventChange::Add, managed ? EventDetail::None : EventDetail::QueueDynamic, queue.path}, now);
    return queue;
}

void Queues::destroy(Queue& queue, Instant now) {
    state_.emit({EventType::Queue, EventChange::Remove, queue.managed ? EventDetail::None : EventDetail::QueueDynamic,
                 queue.path},
                now);
    discount_queue(queue);
    Queue& parent = *queue.parent;
    if (queue.slot.in_index()) parent.child_index.erase(queue.index);
    indexes_.forget(queue);
    state_.preemption.exhausted.erase(queue.index);
    indexes_.mark_dirty(parent);
    state_.queues.remove(queue);
}

void Queues::emit_limit(const Queue& queue, EventDetail detail, const Resource* value, Instant now) {
    state_.emit({EventType::Queue, EventChange::Set, detail, queue.path, {}, {}, value}, now);
}

Limit Queues::limit(const config::Resources& resources) {
    return Limit{state_.to_resource(resources.max.value_or(config::ResourceMap{}))};
}

std::optional<Resource> Queues::guarantee(const config::Resources& resources) {
    Resource amounts = state_.to_resource(resources.guaranteed.value_or(config::ResourceMap{}));
    return amounts.gt_zero() ? std::optional{std::move(amounts)} : std::nullopt;
}

bool Queues::set_limits(Queue& queue, Limit max, std::optional<Resource> guaranteed, bool emit, Instant now) {
    const bool other_max = !queue.is_root() && !max.same_as(queue.max);
    if (other_max) {
        queue.max = std::move(max);
        if (emit) emit_limit(queue, EventDetail::QueueMax, queue.max.unlimited() ? nullptr : &queue.max.bounds(), now);
    }
    const bool same = guaranteed.has_value() == queue.guaranteed.has_value() &&
                      (!guaranteed || guaranteed->deep_equals(*queue.guaranteed));
    if (same) return other_max;
    queue.guaranteed = std::move(guaranteed);
    if (emit) emit_limit(queue, EventDetail::QueueGuaranteed, queue.guaranteed ? &*queue.guaranteed : nullptr, now);
    return true;
}

void Queues::set_state(Queue& queue, ObjectEvent event) noexcept {
    if (const auto to = next_state(queue.state, event)) queue.state = *to;
    indexes_.mark_dirty(queue);
}

void Queues::drain(Queue& queue) noexcept {
    if (!queue.managed) return;
    set_state(queue, ObjectEvent::Remove);
    for (const auto& [name, child] : queue.children) drain(*child);
}

void Queues::configure(Queue& queue, const config::Queue& config, bool made, Instant now) {
    YK_ASSUME(queue.is_root() || (queue.parent->managed && !queue.parent->leaf), "a parent is configured before it");
    discount_queue(queue);
    queue.managed = true;
    queue.set_by_tags = {};
    set_state(queue, ObjectEvent::Start);
    const bool leaf = !queue.is_root() && !config.is_parent();
    if (leaf != queue.leaf) {
        for (const auto& [name, child] : queue.children) drain(*child);
        clean_below(queue, now); // removes all: check() found no application
        queue.leaf = leaf;
        state_.emit({EventType::Queue,
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
    quota_preemption_.configured(queue, max, quota_delay, now);
    std::vector<std::string> names;
    for (const config::Queue& child : config.children) {
        const std::string& name = names.emplace_back(config::lower(child.name));
        const auto known = queue.children.find(name);
        const bool is_new = known == queue.children.end();
        Queue& below = is_new ? make(name, &queue, !child.is_parent(), true, now) : *known->second;
        configure(below, child, is_new, now);
    }
    std::sort(names.begin(), names.end());
    for (const auto& [name, child] : queue.children)
        if (!std::binary_search(names.begin(), names.end(), name)) drain(*child);
}

Result<void> Queues::check(const config::Queue& config, const Queue& queue) const {
    const bool leaf = !queue.is_root() && !config.is_parent();
    const auto where = config.mark.line > 0
                           ? std::to_string(config.mark.line) + ":" + std::to_string(config.mark.column)
                           : std::string{};
    if (queue.leaf && !leaf && !queue.applications.empty())
        return Error::at(where, "queue " + queue.path + " has applications, it cannot become a parent");
    if (!queue.leaf && leaf && is_used(queue))
        return Error::at(where, "queue " + queue.path + " has child queues, it cannot become a leaf");
    for (const config::Queue& child : config.children) {
        const auto known = queue.children.find(config::lower(child.name));
        if (known != queue.children.end()) YK_CHECKED(check(child, *known->second));
    }
    return {};
}

void Queues::clean(Instant now) {
    clean_below(state_.queues.root(), now);
}

/// Removes what may be removed below the queue, children first. Whether the queue itself may be removed.
bool Queues::clean_below(Queue& queue, Instant now) {
    std::vector<Queue*> removable;
    for (const auto& [name, child] : queue.children)
        if (clean_below(*child, now)) removable.push_back(child.get());
    for (Queue* child : removable) destroy(*child, now);
    if (queue.is_root()) return false;
    const bool empty = queue.leaf ? queue.applications.empty() : queue.children.empty();
    return empty && (!queue.managed || queue.state == ObjectState::Draining);
}

} // namespace yk
