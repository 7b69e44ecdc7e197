// SPDX-License-Identifier: Apache-2.0
// Queues out of a configuration (S-561 to S-563, C-153, C-430 to C-437) and their clean-up (S-560).

#include <algorithm>

#include "tests/differential/reference_partition.h"

namespace yk::reference {

namespace {

std::string lower(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

std::string path_of(const config::Queue& config, const std::string& parent) {
    return parent.empty() ? lower(config.name) : parent + "." + lower(config.name);
}

/// What a queue has from its parent: no priority of its own, and no fence but a policy that is off (C-153).
std::map<std::string, std::string> inherited(std::map<std::string, std::string> parent) {
    if (parent.count("priority.policy") != 0) parent["priority.policy"] = "default";
    if (parent.count("priority.offset") != 0) parent["priority.offset"] = "0";
    if (parent.count("preemption.policy") != 0 && lower(parent["preemption.policy"]) != "disabled")
        parent["preemption.policy"] = "default";
    return parent;
}

bool is_below(const std::string& queue, const std::string& path) {
    return queue.rfind(path + ".", 0) == 0;
}

/// A map without types is no limit (C-062).
Maybe limit_of(const std::optional<config::ResourceMap>& amounts) {
    return amounts && !amounts->empty() ? Maybe(*amounts) : std::nullopt;
}

/// A guaranteed without a value above 0 is not set (S-035).
Maybe guarantee_of(const std::optional<config::ResourceMap>& amounts) {
    return amounts && gt_zero(*amounts) ? Maybe(*amounts) : std::nullopt;
}

} // namespace

bool Partition::accepts(const config::Partition& config) const {
    return accepts(config.root, "root");
}

bool Partition::accepts(const config::Queue& config, const std::string& path) const {
    const auto found = queues_.find(path);
    if (found != queues_.end() && path != "root") {
        if (found->second.leaf && config.is_parent() && !found->second.applications.empty()) return false;
        if (!found->second.leaf && !config.is_parent() && is_used(path)) return false;
    }
    return std::all_of(config.children.begin(), config.children.end(),
                       [&](const config::Queue& child) { return accepts(child, path_of(child, path)); });
}

/// Whether there are applications in it or below.
bool Partition::is_used(const std::string& path) const {
    return std::any_of(queues_.begin(), queues_.end(), [&](const auto& each) {
        return (each.first == path || is_below(each.first, path)) && !each.second.applications.empty();
    });
}

void Partition::remove_below(const std::string& path, Instant now) {
    for (auto each = queues_.begin(); each != queues_.end();) {
        if (!is_below(each->first, path)) {
            ++each;
            continue;
        }
        event(EventType::Queue, each->first, EventChange::Remove, EventDetail::None, now);
        each = queues_.erase(each);
    }
}

void Partition::configure(const config::Partition& config, Instant now) {
    config_ = config;
    configure_queue(config.root, {}, now);
    configure_limits(now);
    configure_workload(now);
}

void Partition::configure_queue(const config::Queue& config, const std::string& parent, Instant now) {
    const std::string path = path_of(config, parent);
    const bool is_new = queues_.count(path) == 0;
    if (!is_new && !config.is_parent() && !parent.empty()) remove_below(path, now); // nobody uses them (C-435)
    Queue& queue = queues_[path];
    const Queue before = queue;
    queue.path = path;
    queue.name = lower(config.name);
    queue.parent = parent;
    queue.leaf = !config.is_parent() && !parent.empty();
    queue.draining = false;
    queue.max = limit_of(config.resources.max);
    queue.guaranteed = guarantee_of(config.resources.guaranteed);
    queue.max_applications = config.max_applications;
    queue.properties = parent.empty() ? std::map<std::string, std::string>{} : inherited(queues_.at(parent).properties);
    for (const auto& [key, value] : config.properties) queue.properties[key] = value;
    if (is_new) {
        event(EventType::Queue, path, EventChange::Add, EventDetail::None, now);
    } else {
        if (before.leaf != queue.leaf) event(EventType::Queue, path, EventChange::Set, EventDetail::QueueType, now);
        if (before.max != queue.max)
            event(EventType::Queue, path, EventChange::Set, EventDetail::QueueMax, now, {}, queue.max);
        if (before.guaranteed != queue.guaranteed)
            event(EventType::Queue, path, EventChange::Set, EventDetail::QueueGuaranteed, now, {}, queue.guaranteed);
    }
    std::set<std::string> named;
    for (const config::Queue& child : config.children) named.insert(path_of(child, path));
    for (Queue* child : children(queue))
        if (named.count(child->path) == 0) drain(*child);
    for (const config::Queue& child : config.children) configure_queue(child, path, now);
}

/// A queue that the new file lacks drains, and so do the configured ones below it (C-431).
void Partition::drain(Queue& queue) {
    queue.draining = true;
    for (Queue* child : children(queue)) drain(*child);
}

void Partition::sweep(Instant now) { // S-560
    sweep_below("root", now);
    remove_unused("root", now);
}

/// Children before parents; those of one parent one after the other, once nothing is left to remove below any of them.
void Partition::sweep_below(const std::string& path, Instant now) {
    std::vector<std::string> below;
    for (const Queue* child : children(queues_.at(path))) below.push_back(child->path);
    for (const std::string& each : below) sweep_below(each, now);
    for (const std::string& each : below) remove_unused(each, now);
}

void Partition::remove_unused(const std::string& path, Instant now) {
    const Queue& queue = queues_.at(path);
    if (!queue.draining || !queue.applications.empty() || !children(queue).empty()) return;
    queues_.erase(path);
    event(EventType::Queue, path, EventChange::Remove, EventDetail::None, now);
}

/// A partition that the new file lacks: queues drain, applications fail, everything is released (S-563).
void Partition::dissolve(Instant now) {
    drain(queues_.at("root"));
    std::vector<std::string> ids;
    for (const auto& [id, app] : applications_) ids.push_back(id);
    for (const std::string& id : ids) {
        if (applications_.at(id)->state != State::Failing)
            raise(*applications_.at(id), AppEvent::Fail, now, "PartitionRemoved");
        remove_application(id, now);
    }
    while (!nodes_.empty()) decommission(nodes_.begin()->first, now);
    config_ = {};
    configure_limits(now);
    sweep(now);
}

} // namespace yk::reference
