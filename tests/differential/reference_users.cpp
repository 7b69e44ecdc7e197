// SPDX-License-Identifier: Apache-2.0
// Limits of users and groups (config.md sections 13 and 14). Nothing is kept but the group that each application
// counts for: usage and running sets are summed, limits are looked up in the configuration, at every question.

#include <algorithm>
#include <sstream>
#include <utility>

#include "tests/differential/reference_partition.h"

namespace yk::reference {

namespace {

constexpr const char* kEverybody = "*";

std::string lower(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

/// The limits of the queue and of those below, by path in lower case (C-426).
void collect(const config::Queue& queue, const std::string& parent, LimitsByPath& found) {
    const std::string path = parent.empty() ? lower(queue.name) : parent + "." + lower(queue.name);
    QueueLimits& here = found[path];
    for (const config::Limit& entry : queue.limits) {
        Limit limit;
        if (entry.max_resources && !is_zero(*entry.max_resources)) limit.max = *entry.max_resources;
        limit.max_applications = entry.max_applications;
        for (const std::string& user : entry.users) here.users[user] = limit;
        for (const std::string& group : entry.groups) {
            here.groups[group] = limit;
            here.group_order.push_back(group);
        }
    }
    if (here.users.empty() && here.groups.empty()) found.erase(path);
    for (const config::Queue& child : queue.children) collect(child, path, found);
}

const Limit* lookup(const std::map<std::string, Limit>& limits, const std::string& name) {
    const auto found = limits.find(name);
    return found == limits.end() ? nullptr : &found->second;
}

/// What C-402 and C-405 make of a name at one queue: `*` stands in for users, but not for groups.
const Limit* limit_at(const QueueLimits& limits, bool user, const std::string& name) {
    if (!user) return lookup(limits.groups, name);
    const Limit* own = lookup(limits.users, name);
    return own != nullptr ? own : lookup(limits.users, kEverybody);
}

bool is_below(const std::string& queue, const std::string& path) {
    return queue == path || queue.rfind(path + ".", 0) == 0;
}

std::vector<std::string> levels_of(const std::string& path) {
    std::vector<std::string> levels;
    std::istringstream names(path);
    for (std::string name; std::getline(names, name, '.');) levels.push_back(name);
    return levels;
}

std::string parent_of(const std::string& path) {
    const std::size_t dot = path.rfind('.');
    return dot == std::string::npos ? std::string{} : path.substr(0, dot);
}

} // namespace

LimitsByPath limits_of(const config::Partition& config) {
    LimitsByPath found;
    config::Queue root = config.root;
    if (root.limits.empty()) root.limits = config.limits; // those of the partition are the root's (C-103)
    collect(root, {}, found);
    return found;
}

// --- who counts for what --------------------------------------------------------------------------------------------

/// The group for whose limits the application counts: from its queue up, the first one that is configured (C-403).
std::optional<std::string> Partition::group_of(const Application& app) const {
    if (app.groups.empty()) return std::nullopt;
    for (std::string path = app.queue; !path.empty(); path = parent_of(path)) {
        const auto limits = limits_.find(path);
        if (limits == limits_.end()) continue;
        for (const std::string& group : limits->second.group_order)
            if (group != kEverybody && std::count(app.groups.begin(), app.groups.end(), group) != 0) return group;
        if (limits->second.groups.count(kEverybody) != 0) return kEverybody;
    }
    return std::nullopt;
}

bool Partition::counts_for(const Application& app, const Tracked& who) const {
    if (!app.tracked) return false;
    return who.user ? app.user == who.name : app.group == who.name;
}

std::vector<Tracked> Partition::trackers_of(const Application& app) const { // user before group
    std::vector<Tracked> who{{true, app.user}};
    const auto group = app.tracked ? app.group : group_of(app);
    if (group) who.push_back({false, *group});
    return who;
}

/// Of user or group in the queue and below it, placeholders included (C-400, C-406).
Amounts Partition::usage(const Tracked& who, const std::string& path) const {
    Amounts sum;
    for (const auto& [id, app] : applications_)
        if (counts_for(*app, who) && is_below(app->queue, path))
            sum = add(sum, add(allocated(*app, false), allocated(*app, true)));
    return prune(sum);
}

/// The applications that run there for the user or group (C-406).
std::set<std::string> Partition::running(const Tracked& who, const std::string& path) const {
    std::set<std::string> ids;
    for (const auto& [id, app] : applications_)
        if (counts_for(*app, who) && app->counted_running && is_below(app->queue, path)) ids.insert(id);
    return ids;
}

void Partition::track(Application& app, Instant now) {
    if (app.tracked) return;
    app.tracked = true;
    app.group = group_of(app);
    if (app.group) event(EventType::UserGroup, *app.group, EventChange::Set, EventDetail::AppLink, now, app.id);
}

void Partition::untrack(Application& app, Instant now) {
    if (app.tracked && app.group)
        event(EventType::UserGroup, *app.group, EventChange::Remove, EventDetail::AppLink, now, app.id);
    app.tracked = false;
    app.counted_running = false;
    app.group.reset();
}

/// An event for the user, and one for the group if it is tracked (C-415).
void Partition::usage_event(const Application& app, EventChange change, const Amounts& size, Instant now) {
    event(EventType::UserGroup, app.user, change, EventDetail::UserResource, now, app.queue, size);
    if (app.group) event(EventType::UserGroup, *app.group, change, EventDetail::GroupResource, now, app.queue, size);
}

// --- what it may ----------------------------------------------------------------------------------------------------

/// The least that the limits of user and group leave on the way to the root; none: no limit (C-408).
Maybe Partition::user_headroom(const Application& app) const {
    Maybe available;
    for (const Tracked& who : trackers_of(app))
        for (std::string path = app.queue; !path.empty(); path = parent_of(path)) {
            const auto limits = limits_.find(path);
            if (limits == limits_.end()) continue;
            const Limit* limit = limit_at(limits->second, who.user, who.name);
            if (limit != nullptr && limit->max)
                available = cmin(available, sub_existing(*limit->max, usage(who, path)));
        }
    return available;
}

/// Whether user and group may have one more running application, at each level (C-410).
bool Partition::user_can_run(const Application& app) const {
    for (const Tracked& who : trackers_of(app))
        for (std::string path = app.queue; !path.empty(); path = parent_of(path)) {
            const auto limits = limits_.find(path);
            if (limits == limits_.end()) continue;
            const Limit* limit = limit_at(limits->second, who.user, who.name);
            if (limit == nullptr || limit->max_applications == 0) continue;
            const auto ids = running(who, path);
            if (ids.count(app.id) == 0 && ids.size() + 1 > limit->max_applications) return false;
        }
    return true;
}

// --- a new configuration (section 14) -------------------------------------------------------------------------------

void Partition::limit_events(bool user, const QueueLimits& before, const QueueLimits& after, const std::string& path,
                             Instant now) {
    const EventDetail detail = user ? EventDetail::UserLimit : EventDetail::GroupLimit;
    const auto& old = user ? before.users : before.groups;
    const auto& next = user ? after.users : after.groups;
    for (const auto& [name, limit] : old)
        if (next.count(name) == 0) event(EventType::UserGroup, name, EventChange::Remove, detail, now, path);
    for (const auto& [name, limit] : next) {
        const Limit* known = lookup(old, name);
        if (known == nullptr || known->max != limit.max || known->max_applications != limit.max_applications)
            event(EventType::UserGroup, name, EventChange::Set, detail, now, path);
    }
}

/// The limits are those of the new file at once; usage stays, groups are decided anew (C-420 to C-427).
void Partition::configure_limits(Instant now) {
    const LimitsByPath before = std::exchange(limits_, limits_of(config_));
    static const QueueLimits kNone;
    for (const auto& [path, limits] : before) {
        if (limits_.count(path) != 0) continue;
        for (const bool user : {true, false}) limit_events(user, limits, kNone, path, now);
    }
    for (const auto& [path, limits] : limits_) {
        const auto known = before.find(path);
        for (const bool user : {true, false})
            limit_events(user, known == before.end() ? kNone : known->second, limits, path, now);
    }
    std::vector<Application*> all; // C-423: by queue, then by name
    for (const auto& [id, app] : applications_)
        if (app->tracked) all.push_back(app.get());
    std::stable_sort(all.begin(), all.end(), [](const Application* a, const Application* b) {
        return levels_of(a->queue) < levels_of(b->queue);
    });
    for (Application* app : all) {
        const auto group = group_of(*app);
        if (group == app->group) continue;
        if (app->group)
            event(EventType::UserGroup, *app->group, EventChange::Remove, EventDetail::AppLink, now, app->id);
        app->group = group;
        if (group) event(EventType::UserGroup, *group, EventChange::Set, EventDetail::AppLink, now, app->id);
    }
}

// --- pictures (C-414) -----------------------------------------------------------------------------------------------

/// Whether the tracker has something at the queue or below: where it has not, the limit of `*` is not told.
bool Partition::reaches(const Tracked& who, const std::string& path) const {
    for (const auto& [id, app] : applications_)
        if (counts_for(*app, who) && is_below(app->queue, path)) return true;
    if (who.name == kEverybody) return false;
    for (const auto& [queue, limits] : limits_)
        if (is_below(queue, path) && (who.user ? limits.users : limits.groups).count(who.name) != 0) return true;
    return false;
}

UsageQueueView Partition::usage_queue_view(const Tracked& who, const std::string& path) const {
    UsageQueueView view;
    view.path = path;
    view.usage = usage(who, path);
    for (const std::string& id : running(who, path)) view.running.push_back(id);
    if (const auto limits = limits_.find(path); limits != limits_.end()) {
        const Limit* limit = limit_at(limits->second, who.user, who.name);
        if (limit != nullptr && reaches(who, path)) {
            view.max = limit->max;
            view.max_applications = limit->max_applications;
        }
    }
    if (const auto queue = queues_.find(path); queue != queues_.end())
        for (const Queue* child : children(queue->second)) view.children.push_back(usage_queue_view(who, child->path));
    return view;
}

std::vector<UsageView> Partition::usage_views(bool users) const {
    std::map<std::string, UsageView> found;
    for (const auto& [path, limits] : limits_)
        for (const auto& [name, limit] : users ? limits.users : limits.groups)
            if (name != kEverybody) found[name];
    for (const auto& [id, app] : applications_) {
        if (!app->tracked) continue;
        if (users) {
            auto& view = found[app->user];
            if (app->group) view.groups[id] = *app->group;
        } else if (app->group) {
            found[*app->group].applications.push_back(id);
        }
    }
    std::vector<UsageView> views;
    for (auto& [name, view] : found) {
        view.name = name;
        view.root = usage_queue_view({users, name}, "root");
        views.push_back(std::move(view));
    }
    return views;
}

} // namespace yk::reference
