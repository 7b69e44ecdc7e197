#include "ykd/service/config_effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "libcore/config/names.h"
#include "libcore/config/quantity.h"

namespace yk::service {
namespace {

using config::Difference;
using config::DifferenceKind;

std::string counted(std::uint64_t number, std::string_view noun) {
    return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

/// Above `max` in a type that it names.
bool is_over(const config::ResourceMap& used, const config::ResourceMap& max) {
    return std::any_of(max.begin(), max.end(), [&](const auto& one) {
        const auto found = used.find(one.first);
        return found != used.end() && found->second > one.second;
    });
}

/// A user or group where a limit changes.
struct Usage {
    const UsageView* who;
    bool user;
    const UsageQueueView* use;
};
using UsageByPath = std::unordered_map<std::string, std::vector<Usage>>;

/// Adds what stands in `found` already as a path, from `use` down.
void add_usage(const UsageView& who, bool user, const UsageQueueView& use, UsageByPath& found) {
    const auto path = found.find(use.path);
    if (path != found.end()) path->second.push_back({&who, user, &use});
    for (const UsageQueueView& child : use.children) add_usage(who, user, child, found);
}

/// C-402: the limits of a queue by name.
class LimitsByName {
public:
    explicit LimitsByName(const config::Queue& queue) {
        for (const config::Limit& limit : queue.limits) {
            for (const std::string& name : limit.users) users_.emplace(name, &limit);
            for (const std::string& name : limit.groups) groups_.emplace(name, &limit);
        }
    }
    /// The entry with the name, for a user else that of `*`; nullptr: no limit.
    [[nodiscard]] const config::Limit* of(const Usage& usage) const {
        const auto& names = usage.user ? users_ : groups_; // `*` of groups has a tracker of its own, with that name
        auto found = names.find(usage.who->name);
        if (found == names.end() && usage.user) found = names.find("*");
        return found == names.end() ? nullptr : found->second;
    }

private:
    std::unordered_map<std::string_view, const config::Limit*> users_, groups_; // the first entry with a name counts
};

/// One partition as it is and as it would be.
class Effects {
public:
    /// `limited`: paths of the queues whose limits change.
    Effects(const RunningPartition& running, const std::set<std::string>& limited, wire::Value& changes)
        : running_(running), changes_(changes) {
        for (const QueueMetrics& queue : running.metrics.queues) by_path_.emplace(queue.path, &queue);
        for (const std::string& path : limited) limited_[path];
        if (limited.empty()) return;
        for (const UsageView& user : running.users.views) add_usage(user, true, user.root, limited_);
        for (const UsageView& group : running.groups.views) add_usage(group, false, group.root, limited_);
    }

    void queue(const config::Queue& wanted, const std::string& path) {
        const auto found = by_path_.find(path);
        if (found == by_path_.end()) return; // new
        const QueueMetrics& now = *found->second;
        if (path != "root") { // its maximum is the cluster
            type(now, wanted);
            maximum(now, wanted);
        }
        applications(now, wanted);
        if (const auto usages = limited_.find(path); usages != limited_.end()) {
            const LimitsByName limits{wanted};
            for (const Usage& usage : usages->second)
                if (const config::Limit* one = limits.of(usage)) limit(usage, *one, path);
        }
        for (const config::Queue& child : wanted.children) queue(child, path + '.' + config::lower(child.name));
    }
    void draining(const std::string& path) {
        const auto found = by_path_.find(path);
        if (found == by_path_.end() || found->second->applications == 0) return;
        add("draining-applications", path, std::to_string(found->second->applications), {},
            fmt::format("{}, which go{} on; the queue goes when the last has ended",
                        counted(found->second->applications, "application"),
                        found->second->applications == 1 ? "es" : ""));
    }
    void removed() {
        std::uint64_t applications = 0;
        for (const QueueMetrics& queue : running_.metrics.queues) applications += queue.applications;
        add("partition-content", {}, {}, {},
            fmt::format("{}, {} and {} go with it at once",
                        counted(running_.metrics.nodes_open + running_.metrics.nodes_draining, "node"),
                        counted(applications, "application"), counted(running_.metrics.allocations, "allocation")));
    }

private:
    void type(const QueueMetrics& now, const config::Queue& wanted) {
        if (now.leaf && wanted.is_parent() && now.applications != 0)
            add("refused", now.path, "leaf", "parent",
                fmt::format("it has {}, it cannot become a parent", counted(now.applications, "application")));
        const std::string below = now.path + '.';
        const bool has_children =
            !now.leaf && std::any_of(running_.metrics.queues.begin(), running_.metrics.queues.end(),
                                     [&](const QueueMetrics& one) { return one.path.rfind(below, 0) == 0; });
        if (!now.leaf && !wanted.is_parent() && has_children)
            add("refused", now.path, "parent", "leaf", "it has child queues, it cannot become a leaf");
    }
    void maximum(const QueueMetrics& now, const config::Queue& wanted) {
        if (!wanted.resources.max) return;
        const config::ResourceMap before = now.max ? named(*now.max) : config::ResourceMap{};
        if (now.max && before == *wanted.resources.max) return;
        const config::ResourceMap used = named(now.allocated);
        if (!is_over(used, *wanted.resources.max)) return;
        add("over-max", now.path, config::written_resource(used), config::written_resource(*wanted.resources.max),
            fmt::format("{} are allocated, above the new maximum {}: nothing is taken away, and nothing is added until "
                        "it is below",
                        config::written_resource(used), config::written_resource(*wanted.resources.max)));
    }
    void applications(const QueueMetrics& now, const config::Queue& wanted) {
        if (wanted.max_applications == 0 || now.running <= wanted.max_applications ||
            now.max_applications == wanted.max_applications)
            return;
        add("over-maxapplications", now.path, std::to_string(now.running), std::to_string(wanted.max_applications),
            fmt::format("{} run, above the new maximum {}: they go on, and no other starts until there are fewer",
                        counted(now.running, "application"), wanted.max_applications));
    }
    void limit(const Usage& usage, const config::Limit& limit, const std::string& path) {
        const std::string who = (usage.user ? "user " : "group ") + usage.who->name;
        const UsageQueueView& use = *usage.use;
        if (limit.max_resources && is_over(use.usage, *limit.max_resources))
            add("over-limit", path, config::written_resource(use.usage), config::written_resource(*limit.max_resources),
                fmt::format("{} has {}, above the new limit {}; applications: {}", who,
                            config::written_resource(use.usage), config::written_resource(*limit.max_resources),
                            fmt::join(use.running, ", ")));
        if (limit.max_applications != 0 && use.running.size() > limit.max_applications)
            add("over-limit", path, std::to_string(use.running.size()), std::to_string(limit.max_applications),
                fmt::format("{} runs {}, above the new limit {}: {}", who, counted(use.running.size(), "application"),
                            limit.max_applications, fmt::join(use.running, ", ")));
    }
    [[nodiscard]] config::ResourceMap named(const MetricAmounts& amounts) const {
        config::ResourceMap map;
        for (const auto& [id, value] : amounts) map[running_.metrics.resource_names[id]] = value;
        return map;
    }
    void add(std::string_view kind, const std::string& path, const std::string& before, const std::string& after,
             const std::string& text) {
        const std::string place = path.empty() ? running_.name : running_.name + ' ' + path;
        changes_.push_back({{"kind", kind},
                            {"partition", running_.name},
                            {"path", path},
                            {"old", before},
                            {"new", after},
                            {"text", place + ": " + text}});
    }

    const RunningPartition& running_;
    UsageByPath limited_; // users, then groups, by name
    wire::Value& changes_;
    std::unordered_map<std::string, const QueueMetrics*> by_path_;
};

} // namespace

wire::Value changes_value(const config::Configuration& before, const config::Configuration& now,
                          const std::vector<RunningPartition>& running) {
    wire::Value changes = wire::Value::array();
    const std::vector<Difference> differences = config::diff(before, now);
    for (const Difference& one : differences)
        changes.push_back({{"kind", config::kind_name(one.kind)},
                           {"partition", one.partition},
                           {"path", one.path},
                           {"old", one.old_value},
                           {"new", one.new_value},
                           {"text", one.text}});
    for (const RunningPartition& partition : running) {
        std::set<std::string> limited;
        for (const Difference& one : differences)
            if (one.kind == DifferenceKind::Limits && one.partition == partition.name) limited.insert(one.path);
        Effects effects(partition, limited, changes);
        for (const config::Partition& wanted : now.partitions)
            if (wanted.name == partition.name) effects.queue(wanted.root, "root");
        for (const Difference& one : differences) {
            if (one.partition != partition.name) continue;
            if (one.kind == DifferenceKind::QueueDraining) effects.draining(one.path);
            if (one.kind == DifferenceKind::PartitionRemoved) effects.removed();
        }
    }
    return changes;
}

bool changes_limits(const config::Configuration& before, const config::Configuration& now) {
    const std::vector<Difference> differences = config::diff(before, now);
    return std::any_of(differences.begin(), differences.end(),
                       [](const Difference& one) { return one.kind == DifferenceKind::Limits; });
}

} // namespace yk::service
