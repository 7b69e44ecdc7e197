// SPDX-License-Identifier: Apache-2.0
// User and group limits: each queue on its own, then over the tree.

#include <algorithm>
#include <set>
#include <unordered_map>

#include "libcore/config/names.h"
#include "libcore/config/quantity.h"
#include "libcore/validation/checks.h"

namespace yk::config::checks {

namespace {

constexpr std::string_view kWildcard = "*";

bool is_positive(const ResourceMap& resource) {
    return std::any_of(resource.begin(), resource.end(), [](const auto& item) { return item.second > 0; });
}

bool has_bad_quantity(const std::optional<Entries>& quantities) {
    return quantities && to_resource(*quantities).size() != quantities->entries.size();
}

/// Checks the names of users or of groups in all limits of one queue (C-093 to C-096).
class NameList {
public:
    NameList(std::string_view kind, bool (*is_legal)(std::string_view)) : kind_(kind), is_legal_(is_legal) {}

    void check(const std::vector<Text>& names, const std::string& path, Report& report) {
        for (std::size_t i = 0; i < names.size(); ++i)
            if (const std::string problem = add(names[i].value); !problem.empty())
                report.error(names[i].mark, path + '[' + std::to_string(i) + ']', problem);
    }

private:
    /// What is wrong with the next name; empty: nothing.
    std::string add(const std::string& name) {
        const bool wildcard = name == kWildcard;
        if (!wildcard && !is_legal_(name)) return "invalid limit " + kind_ + " name '" + name + "' in limit definition";
        if (!seen_.insert(name).second) return "duplicated " + kind_ + " name '" + name + "', already exists";
        if (!wildcard && seen_.count(std::string{kWildcard}) != 0)
            return "should not set no wildcard " + kind_ + ' ' + name + " after wildcard " + kind_ + " limit";
        if (wildcard && kind_ == "group" && seen_.size() == 1)
            return "should not specify only one group limit that is using the wildcard. There must be at least one "
                   "limit with a group name defined";
        return {};
    }

    std::string kind_;
    bool (*is_legal_)(std::string_view);
    std::set<std::string> seen_;
};

/// Checks the amounts of one limit, by themselves and against the queue (C-097 to C-099).
void check_amounts(const LimitDocument& limit, const Bounds* bounds, Report& report) {
    const std::string& name = limit.description.value;
    const ResourceMap amounts = limit.max_resources ? to_resource(*limit.max_resources) : ResourceMap{};
    report_bad_quantities(limit.max_resources, "", report);
    const bool bad = has_bad_quantity(limit.max_resources);
    const Mark mark = limit.max_resources ? limit.max_resources->mark : limit.mark;
    const std::string path = limit.path + ".maxresources";
    if (!bad && !amounts.empty() && !is_positive(amounts))
        report.error(mark, path, "MaxResources should be greater than zero in '" + name + "' limit");
    if (!bad && amounts.empty() && limit.max_applications.value == 0)
        report.error(limit.mark, limit.path,
                     "invalid resource combination for limit " + name +
                         " all resource limits are null (set maxresources or maxapplications)");
    if (bounds == nullptr) return;
    if (bounds->max_applications != 0 && limit.max_applications.value > bounds->max_applications)
        report.error(limit.max_applications.mark, limit.path + ".maxapplications",
                     "invalid MaxApplications settings for limit " + name +
                         " exceed current the queue MaxApplications (" + std::to_string(limit.max_applications.value) +
                         " is above " + std::to_string(bounds->max_applications) + ")");
    if (!fits(*bounds->max, amounts))
        report.error(mark, path,
                     "invalid MaxResources settings for limit " + name + " exeecd current the queue MaxResources (" +
                         resource_text(amounts) + " does not fit in " + resource_text(*bounds->max) + ")");
}

} // namespace

void check_queue_limits(const QueueDocument& queue, const Bounds* bounds, Report& report) {
    if (queue.limits.empty()) return;
    if (bounds != nullptr)
        report_bad_quantities(queue.resources.max,
                              "parse queue " + queue.name.value + " max resource failed: ", report);
    NameList users{"user", is_user_name};
    NameList groups{"group", is_group_name};
    for (const LimitDocument& limit : queue.limits) {
        if (limit.users.empty() && limit.groups.empty())
            report.error(limit.mark, limit.path,
                         "empty user and group lists defined in limit '" + limit.description.value + "'");
        users.check(limit.users, limit.path + ".users", report);
        groups.check(limit.groups, limit.path + ".groups", report);
        check_amounts(limit, bounds, report);
    }
}

namespace {

/// The limits that queues below inherit for one name. A name that a queue lists without a limit of one sort has none of
/// that sort here, and yet the wildcard of the queue does not apply to it.
struct Inherited {
    std::optional<ResourceMap> resources;
    std::uint64_t applications = 0;
};

/// Checks the limits of users or of groups against those of the queues above. Limits are kept in a stack per name, so
/// that entering and leaving a queue costs only the names in its own limits (C-110 to C-115).
class Hierarchy {
public:
    Hierarchy(std::string kind, std::vector<Text> LimitDocument::*names, Report& report)
        : kind_(std::move(kind)), names_(names), report_(report) {}

    void check(const QueueDocument& document, const Queue& loaded) {
        std::vector<std::pair<std::string, Inherited>> own;
        for (std::size_t i = 0; i < document.limits.size(); ++i)
            for (const Text& name : document.limits[i].*names_)
                own.emplace_back(name.value, check_one(name, document, document.limits[i], loaded.limits[i]));
        for (auto& [name, inherited] : own) above_[name].push_back(std::move(inherited));
        for (std::size_t i = 0; i < document.queues.size(); ++i) check(document.queues[i], loaded.children[i]);
        for (const auto& entry : own) above_[entry.first].pop_back();
    }

private:
    [[nodiscard]] const Inherited* find(const std::string& name) const {
        const auto found = above_.find(name);
        return found == above_.end() || found->second.empty() ? nullptr : &found->second.back();
    }

    /// Returns what the queues below inherit for the name.
    Inherited check_one(const Text& name, const QueueDocument& queue, const LimitDocument& document,
                        const Limit& limit) {
        const Inherited* same = find(name.value);
        const Inherited* inherited = same != nullptr ? same : find(std::string{kWildcard});
        if (inherited != nullptr) {
            compare_resources(name, queue, document, limit, *inherited, same == nullptr);
            compare_applications(name, queue, document, limit, *inherited, same == nullptr);
        }
        Inherited own;
        if (limit.max_resources && !limit.max_resources->empty()) own.resources = limit.max_resources;
        own.applications = limit.max_applications;
        if (same == nullptr) return own;
        own.resources = min(own.resources, same->resources);
        if (own.applications == 0) own.applications = same->applications;
        return own;
    }

    void compare_resources(const Text& name, const QueueDocument& queue, const LimitDocument& document,
                           const Limit& limit, const Inherited& inherited, bool by_wildcard) {
        if (!limit.max_resources || fits(inherited.resources, *limit.max_resources)) return;
        const std::string above = resource_text(inherited.resources);
        report_.error(document.max_resources->mark, document.path + ".maxresources",
                      kind_ + ' ' + name.value + " max resource " + resource_text(limit.max_resources) + " of queue " +
                          queue.name.value + " is greater than " +
                          (by_wildcard ? "wildcard maximum resource " + above + " of immediate or ancestor parent queue"
                                       : "immediate or ancestor parent maximum resource " + above));
    }

    /// 0 means that the limit above applies (C-115).
    void compare_applications(const Text& name, const QueueDocument& queue, const LimitDocument& document,
                              const Limit& limit, const Inherited& inherited, bool by_wildcard) {
        if (inherited.applications == 0 || limit.max_applications <= inherited.applications) return;
        const std::string above = std::to_string(inherited.applications);
        report_.error(document.max_applications.mark, document.path + ".maxapplications",
                      kind_ + ' ' + name.value + " max applications " + std::to_string(limit.max_applications) +
                          " of queue " + queue.name.value + " is greater than " +
                          (by_wildcard ? "wildcard max applications " + above + " of immediate or ancestor parent queue"
                                       : "immediate or ancestor parent max applications " + above));
    }

    std::string kind_;
    std::vector<Text> LimitDocument::*names_;
    Report& report_;
    std::unordered_map<std::string, std::vector<Inherited>> above_;
};

} // namespace

void check_limit_hierarchy(const QueueDocument& root, const Queue& loaded, Report& report) {
    Hierarchy{"user", &LimitDocument::users, report}.check(root, loaded);
    Hierarchy{"group", &LimitDocument::groups, report}.check(root, loaded);
}

} // namespace yk::config::checks
