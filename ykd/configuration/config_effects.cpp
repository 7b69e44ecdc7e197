// SPDX-License-Identifier: Apache-2.0
#include "ykd/configuration/config_effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "libcore/base/pluralize.h"
#include "libcore/config/names.h"
#include "libcore/config/quantity.h"
#include "ykd/configuration/limit_effects.h"

namespace yk::service {
namespace {

using config::Difference;
using config::DifferenceKind;

/// Whether `used` exceeds `max` in any resource type that `max` names.
bool is_over(const config::ResourceMap& used, const config::ResourceMap& max) {
    return std::any_of(max.begin(), max.end(), [&](const auto& one) {
        const auto found = used.find(one.first);
        return found != used.end() && found->second > one.second;
    });
}

wire::Value change_value(const Difference& one) {
    return {{"kind", config::kind_name(one.kind)},
            {"partition", one.partition},
            {"path", one.path},
            {"old", one.old_value},
            {"new", one.new_value},
            {"text", one.text}};
}

/// Compares one partition as it runs with what the new configuration says, and appends what that means to a list.
class Effects {
public:
    Effects(const RunningPartition& running, wire::Value& changes) : running_(running), changes_(changes) {
        for (const QueueMetrics& queue : running.metrics.queues) by_path_.emplace(queue.path, &queue);
    }

    /// A queue that the file adds may exist already: made by a placement rule (C-242), or draining (C-433). Returns
    /// false when it is new.
    bool added(const Difference& one) {
        const auto found = by_path_.find(one.path);
        if (found == by_path_.end()) return false;
        if (!found->second->managed)
            add("queue-managed", one.path, {}, {},
                "dynamic queue becomes managed, with the settings of the file and all that is in it");
        else
            add("queue-active", one.path, {}, {},
                "draining queue becomes active again, with the settings of the file and all that is in it");
        return true;
    }
    void limits(const config::Queue& before, const config::Queue& wanted) {
        limits_.emplace(before, wanted, running_.applications);
        for (const LimitEffects::Change& one : limits_->moves())
            add("other-group", {}, one.old_value, one.new_value, one.text);
    }

    void queue(const config::Queue& wanted, const std::string& path) {
        const auto found = by_path_.find(path);
        if (found == by_path_.end()) return; // new
        const QueueMetrics& now = *found->second;
        if (path != "root") { // its maximum is the cluster
            type(now, wanted);
            maximum(now, wanted.resources.max);
        }
        applications(now, wanted.max_applications);
        if (limits_)
            for (const LimitEffects::Change& one : limits_->over(path))
                add("over-limit", path, one.old_value, one.new_value, one.text);
        for (const config::Queue& child : wanted.children) queue(child, path + '.' + config::lower(child.name));
    }
    /// What changes in dynamic queues because their child template is applied again (B-10).
    void reapplied() {
        for (const ReappliedView& one : running_.reapplied) {
            for (Difference& each : config::diff(running_.name, one.path, one.before, one.after)) {
                each.text += ", by the childtemplate of " + one.owner;
                changes_.push_back(change_value(each));
            }
            const auto found = by_path_.find(one.path);
            if (found == by_path_.end()) continue;
            maximum(*found->second, one.after.resources.max);
            applications(*found->second, one.after.max_applications);
        }
    }
    void draining(const std::string& path) {
        const auto found = by_path_.find(path);
        if (found == by_path_.end() || found->second->applications == 0) return;
        add("draining-applications", path, std::to_string(found->second->applications), {},
            fmt::format("{}, which go{} on; the queue goes when the last has ended",
                        pluralize(found->second->applications, "application"),
                        found->second->applications == 1 ? "es" : ""));
    }
    void removed() {
        std::uint64_t applications = 0;
        for (const QueueMetrics& queue : running_.metrics.queues) applications += queue.applications;
        add("partition-content", {}, {}, {},
            fmt::format("{}, {} and {} go with it at once",
                        pluralize(running_.metrics.nodes_open + running_.metrics.nodes_draining, "node"),
                        pluralize(applications, "application"), pluralize(running_.metrics.allocations, "allocation")));
    }

private:
    void type(const QueueMetrics& now, const config::Queue& wanted) {
        if (now.leaf && wanted.is_parent() && now.applications != 0)
            add("refused", now.path, "leaf", "parent",
                fmt::format("it has {}, it cannot become a parent", pluralize(now.applications, "application")));
        const std::string below = now.path + '.';
        const auto is_used = [&](const QueueMetrics& one) { // a child without applications is removed at once
            return one.applications != 0 && one.path.rfind(below, 0) == 0;
        };
        if (!now.leaf && !wanted.is_parent() &&
            std::any_of(running_.metrics.queues.begin(), running_.metrics.queues.end(), is_used))
            add("refused", now.path, "parent", "leaf", "it has child queues, it cannot become a leaf");
    }
    void maximum(const QueueMetrics& now, const std::optional<config::ResourceMap>& wanted) {
        if (!wanted) return;
        const config::ResourceMap before = now.max ? named(*now.max) : config::ResourceMap{};
        if (now.max && before == *wanted) return;
        const config::ResourceMap used = named(now.allocated);
        if (!is_over(used, *wanted)) return;
        add("over-max", now.path, config::written_resource(used), config::written_resource(*wanted),
            fmt::format("{} are allocated, above the new maximum {}: nothing is taken away, and nothing is added until "
                        "it is below",
                        config::written_resource(used), config::written_resource(*wanted)));
    }
    void applications(const QueueMetrics& now, std::uint64_t wanted) {
        if (wanted == 0 || now.running <= wanted || now.max_applications == wanted) return;
        add("over-maxapplications", now.path, std::to_string(now.running), std::to_string(wanted),
            fmt::format("{} run, above the new maximum {}: they go on, and no other starts until there are fewer",
                        pluralize(now.running, "application"), wanted));
    }
    [[nodiscard]] config::ResourceMap named(const MetricAmounts& amounts) const {
        config::ResourceMap map;
        for (const auto& [id, value] : amounts) map[running_.metrics.resource_names[id]] = value;
        return map;
    }
    void add(std::string_view kind, const std::string& path, const std::string& before, const std::string& after,
             const std::string& text) {
        const std::string subject = path.empty() ? running_.name : running_.name + ' ' + path;
        changes_.push_back({{"kind", kind},
                            {"partition", running_.name},
                            {"path", path},
                            {"old", before},
                            {"new", after},
                            {"text", subject + ": " + text}});
    }

    const RunningPartition& running_;
    wire::Value& changes_;
    std::unordered_map<std::string, const QueueMetrics*> by_path_;
    std::optional<LimitEffects> limits_; // only when limits change
};

/// The partition with this name in lower case, in whatever case it is written (C-030); nullptr: none.
const config::Partition* find(const config::Configuration& configuration, const std::string& partition) {
    for (const config::Partition& one : configuration.partitions)
        if (config::lower(one.name) == partition) return &one;
    return nullptr;
}

} // namespace

wire::Value changes_value(const config::Configuration& before, const config::Configuration& now,
                          const std::vector<RunningPartition>& running) {
    wire::Value changes = wire::Value::array();
    std::map<std::string, Effects> effects;
    for (const RunningPartition& partition : running)
        effects.try_emplace(config::lower(partition.name), partition, changes);
    const std::vector<Difference> differences = config::diff(before, now);
    for (const Difference& one : differences) {
        const auto found = effects.find(config::lower(one.partition));
        if (one.kind == DifferenceKind::QueueAdded && found != effects.end() && found->second.added(one)) continue;
        changes.push_back(change_value(one));
    }
    const bool limits = changes_limits(before, now);
    for (auto& [name, partition] : effects) {
        const config::Partition* wanted = find(now, name);
        const config::Partition* known = find(before, name);
        if (limits && wanted != nullptr && known != nullptr) partition.limits(known->root, wanted->root);
        if (wanted != nullptr) partition.queue(wanted->root, "root");
        partition.reapplied();
        for (const Difference& one : differences) {
            if (config::lower(one.partition) != name) continue;
            if (one.kind == DifferenceKind::QueueDraining) partition.draining(one.path);
            if (one.kind == DifferenceKind::PartitionRemoved) partition.removed();
        }
    }
    return changes;
}

} // namespace yk::service
