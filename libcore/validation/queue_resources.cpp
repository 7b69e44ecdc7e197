// SPDX-License-Identifier: Apache-2.0
// Guaranteed, max and maxapplications over the tree of queues.

#include <algorithm>

#include "libcore/base/saturate.h"
#include "libcore/config/quantity.h"
#include "libcore/validation/checks.h"

namespace yk::config::checks {

ResourceMap to_resource(const Entries& quantities) {
    ResourceMap resource;
    for (const Entry& entry : quantities.entries)
        if (const auto value = parse_quantity(entry.key.value, entry.value); value.ok())
            resource.emplace(entry.key.value, *value);
    return resource;
}

std::optional<ResourceMap> to_resource(const std::optional<Entries>& quantities) {
    return quantities && !quantities->entries.empty() ? std::optional{to_resource(*quantities)} : std::nullopt;
}

void report_bad_quantities(const std::optional<Entries>& quantities, std::string_view prefix, Report& report) {
    if (!quantities) return;
    for (const Entry& entry : quantities->entries)
        if (const auto value = parse_quantity(entry.key.value, entry.value); !value.ok())
            report.error(entry.value_mark, quantities->path + '.' + entry.key.value,
                         std::string{prefix} + value.error().message);
}

bool fits(const std::optional<ResourceMap>& big, const ResourceMap& small) {
    if (!big) return true;
    return std::all_of(small.begin(), small.end(), [&](const auto& item) {
        const auto limit = big->find(item.first);
        return limit == big->end() || item.second <= std::max<std::int64_t>(0, limit->second);
    });
}

std::optional<ResourceMap> min(const std::optional<ResourceMap>& a, const std::optional<ResourceMap>& b) {
    if (!a || !b) return a ? a : b;
    ResourceMap result = *a;
    for (const auto& [type, value] : *b) {
        const auto [mine, is_new] = result.emplace(type, value);
        if (!is_new) mine->second = std::min(mine->second, value);
    }
    return result;
}

namespace {

bool is_zero(const ResourceMap& resource) {
    return std::all_of(resource.begin(), resource.end(), [](const auto& item) { return item.second == 0; });
}

void add(ResourceMap& sum, const ResourceMap& resource) {
    for (const auto& [type, value] : resource) sum[type] = sat_add(sum[type], value);
}

Mark mark_of(const std::optional<Entries>& map, const QueueDocument& queue) {
    return map ? map->mark : queue.mark;
}

class ResourceWalk {
public:
    explicit ResourceWalk(Report& report) : report_(report) {}

    /// Checks the queue and all below it. `above`: the effective max of the parent. Returns what the parent adds up as
    /// guaranteed for it (C-065).
    ResourceMap queue(const QueueDocument& document, const Queue& loaded, const std::optional<ResourceMap>& above) {
        report_bad(document);
        own(document, loaded, above);
        check_template(document, loaded);
        std::optional<ResourceMap> combined;
        if (loaded.resources.max) combined = min(loaded.resources.max, above);
        const std::optional<ResourceMap>& effective = combined ? combined : above;
        ResourceMap sum;
        for (std::size_t i = 0; i < document.queues.size(); ++i)
            add(sum, queue(document.queues[i], loaded.children[i], effective));
        check_sum(document, loaded, sum, effective);
        if (loaded.resources.guaranteed && !is_zero(*loaded.resources.guaranteed))
            for (const auto& [type, value] : *loaded.resources.guaranteed) sum[type] = value;
        return sum;
    }

private:
    /// A bad max of a queue with limits was reported already, with these (C-099).
    void report_bad(const QueueDocument& queue) {
        report_bad_quantities(queue.resources.guaranteed, "", report_);
        if (queue.limits.empty()) report_bad_quantities(queue.resources.max, "", report_);
    }

    /// Guaranteed must fit in max, and max in what the parents allow (C-061, C-063).
    void own(const QueueDocument& queue, const Queue& loaded, const std::optional<ResourceMap>& above) {
        check_guaranteed(loaded.resources, queue.resources, queue);
        if (loaded.resources.max && !fits(above, *loaded.resources.max))
            report_.error(mark_of(queue.resources.max, queue), queue.path + ".resources.max",
                          "max resource of parent " + resource_text(above) + " is smaller than maximum resource " +
                              resource_text(loaded.resources.max) + " for queue " + queue.name.value);
    }

    void check_guaranteed(const Resources& resources, const ResourcesDocument& document, const QueueDocument& queue) {
        if (!resources.guaranteed || fits(resources.max, *resources.guaranteed)) return;
        report_.error(document.guaranteed->mark, document.guaranteed->path,
                      "guaranteed resource " + resource_text(resources.guaranteed) +
                          " is larger than maximum resource " + resource_text(resources.max) + " for queue " +
                          queue.name.value);
    }

    /// The quantities of the template must be good, and its guaranteed fit in its max (C-231).
    void check_template(const QueueDocument& queue, const Queue& loaded) {
        if (!queue.child_template) return;
        const ResourcesDocument& document = queue.child_template->resources;
        report_bad_quantities(document.guaranteed, "", report_);
        report_bad_quantities(document.max, "", report_);
        if (loaded.child_template) check_guaranteed(loaded.child_template->resources, document, queue);
    }

    /// What the children guarantee, `sum`, must fit in guaranteed and effective max of the queue (C-064).
    void check_sum(const QueueDocument& queue, const Queue& loaded, const ResourceMap& sum,
                   const std::optional<ResourceMap>& effective) {
        const auto& guaranteed = loaded.resources.guaranteed;
        const std::string tail = " is smaller than sum of guaranteed resources " + resource_text(sum) +
                                 " of the children for queue " + queue.name.value;
        if (guaranteed && !is_zero(*guaranteed) && !fits(guaranteed, sum))
            report_.error(mark_of(queue.resources.guaranteed, queue), queue.path + ".resources.guaranteed",
                          "guaranteed resource of parent " + resource_text(guaranteed) + tail);
        if (!fits(effective, sum))
            report_.error(mark_of(queue.resources.max, queue), queue.path + ".resources.max",
                          "max resource " + resource_text(effective) + tail);
    }

    Report& report_;
};

} // namespace

void check_resources(const QueueDocument& root, const Queue& loaded, Report& report) {
    ResourceWalk{report}.queue(root, loaded, std::nullopt);
}

void check_max_applications(const QueueDocument& root, Report& report) {
    const std::uint64_t limit = root.max_applications.value;
    for (const QueueDocument& child : root.queues) {
        const std::uint64_t own = child.max_applications.value;
        const std::string path = child.path + ".maxapplications";
        const std::string tail = " (queue " + child.name.value + " has " + std::to_string(own) + ", its parent " +
                                 root.name.value + " " + std::to_string(limit) + ")";
        const Mark mark = child.max_applications.mark.line != 0 ? child.max_applications.mark : child.mark;
        if (limit != 0 && own > limit)
            report.error(mark, path, "parent maxApplications must be larger than child maxApplications" + tail);
        else if (limit != 0 && own == 0)
            report.error(mark, path,
                         "maxApplications is either undefined or zero, which is not allowed when parent queue's "
                         "maxApplications is defined" +
                             tail);
        check_max_applications(child, report);
    }
}

} // namespace yk::config::checks
