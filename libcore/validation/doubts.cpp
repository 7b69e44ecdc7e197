// SPDX-License-Identifier: Apache-2.0
// Warnings about what loads, but hardly does what its author meant (B-04).

#include <algorithm>
#include <array>
#include <string_view>

#include "libcore/config/acl.h"
#include "libcore/config/names.h"
#include "libcore/config/properties.h"
#include "libcore/config/quantity.h"
#include "libcore/config/suggest.h"
#include "libcore/validation/checks.h"

namespace yk::config::checks {

namespace {

void warn_properties(const Entries& properties, Report& report) {
    for (const Entry& entry : properties.entries)
        if (const std::string doubt = property_warning(entry.key.value, entry.value); !doubt.empty())
            report.warning(entry.value_mark, properties.path + '.' + entry.key.value, doubt);
}

/// A name that is nearly that of memory or of vcore: no node offers it, so nothing with it would ever be placed.
void warn_names(const std::optional<Entries>& amounts, Report& report) {
    constexpr std::array<std::string_view, 2> kUsual{"memory", kVcore};
    if (!amounts) return;
    for (const Entry& entry : amounts->entries) {
        const std::string meant = nearest(entry.key.value, kUsual);
        if (!meant.empty() && meant != entry.key.value)
            report.warning(entry.key.mark, amounts->path + '.' + entry.key.value,
                           "a resource of its own; did you mean '" + meant + "'?");
    }
}

void warn_names(const ResourcesDocument& resources, const std::vector<LimitDocument>& limits, Report& report) {
    warn_names(resources.guaranteed, report);
    warn_names(resources.max, report);
    for (const LimitDocument& limit : limits) warn_names(limit.max_resources, report);
}

void warn_guaranteed_zero(const std::optional<Entries>& document, const std::optional<ResourceMap>& loaded,
                          Report& report) {
    if (!document || !loaded || loaded->empty()) return;
    if (std::all_of(loaded->begin(), loaded->end(), [](const auto& item) { return item.second == 0; }))
        report.warning(document->mark, document->path, "a guarantee of 0 for every type counts as none, leave it out");
}

void warn_template(const QueueDocument& queue, const Queue& loaded, const std::optional<ResourceMap>& effective,
                   Report& report) {
    if (!queue.child_template) return;
    const TemplateDocument& document = *queue.child_template;
    warn_properties(document.properties, report);
    if (!loaded.is_parent())
        report.warning(document.mark, document.path,
                       "childtemplate of a leaf is ignored (is \"parent: true\" missing?)");
    else if (document.apply_to_existing && !loaded.child_template)
        report.warning(document.mark, document.path,
                       "a childtemplate that sets nothing counts as none, so nothing is applied to existing queues");
    if (!loaded.child_template) return;
    const Resources& resources = loaded.child_template->resources;
    warn_guaranteed_zero(document.resources.guaranteed, resources.guaranteed, report);
    if (resources.max && !fits(effective, *resources.max))
        report.warning(document.resources.max->mark, document.resources.max->path,
                       "maximum " + resource_text(resources.max) + " is above what the queue and its parents allow, " +
                           resource_text(effective) + ", which holds as well");
}

/// `above`: the effective max of the parent.
void warn_queue(const QueueDocument& queue, const Queue& loaded, const std::optional<ResourceMap>& above,
                Report& report) {
    warn_properties(queue.properties, report);
    warn_names(queue.resources, queue.limits, report);
    if (queue.child_template) warn_names(queue.child_template->resources, {}, report);
    warn_guaranteed_zero(queue.resources.guaranteed, loaded.resources.guaranteed, report);
    std::optional<ResourceMap> combined;
    if (loaded.resources.max) combined = min(loaded.resources.max, above);
    const std::optional<ResourceMap>& effective = combined ? combined : above;
    warn_template(queue, loaded, effective, report);
    for (std::size_t i = 0; i < queue.queues.size(); ++i)
        warn_queue(queue.queues[i], loaded.children[i], effective, report);
}

bool lets_somebody_in(const std::string& acl) {
    const auto parsed = parse_acl(acl);
    return !parsed.ok() || parsed->lets_somebody_in(); // a bad one was reported already
}

/// Whether the queue grants access to anybody; also when a key or value that was refused may have done so.
bool grants_access(const QueueDocument& document, const Queue& queue) {
    return document.unreadable || lets_somebody_in(queue.submit_acl) || lets_somebody_in(queue.admin_acl);
}

bool grants_anywhere(const QueueDocument& document, const Queue& queue) {
    if (grants_access(document, queue)) return true;
    for (std::size_t i = 0; i < queue.children.size(); ++i)
        if (grants_anywhere(document.queues[i], queue.children[i])) return true;
    return false;
}

/// Warns once for each highest queue at which and below which nobody has access (C-137).
void warn_no_access(const QueueDocument& document, const Queue& queue, const std::string& path, Report& report) {
    if (grants_access(document, queue)) return;
    if (!grants_anywhere(document, queue)) {
        report.warning(document.mark, document.path,
                       "nobody may submit to " + path +
                           ": neither its submitacl and adminacl nor those above grant access to anybody");
        return;
    }
    for (std::size_t i = 0; i < queue.children.size(); ++i)
        warn_no_access(document.queues[i], queue.children[i], path + '.' + queue.children[i].name, report);
}

/// Whether the rule takes every application that names a queue.
bool takes_every_named_queue(const RuleDocument& rule) {
    return lower(rule.name.value) == "provided" && rule.create && rule.parent.empty() && rule.filter.users.empty() &&
           rule.filter.groups.empty() && lower(rule.filter.type.value) != "deny";
}

void warn_rules(const std::vector<RuleDocument>& rules, Report& report) {
    bool taken = false;
    for (const RuleDocument& rule : rules) {
        if (taken && lower(rule.name.value) == "provided")
            report.warning(rule.mark, rule.path,
                           "the rule can never match: an earlier rule provided with create takes every application "
                           "that names a queue");
        taken = taken || takes_every_named_queue(rule);
    }
}

} // namespace

void warn_about(const PartitionDocument& partition, const QueueDocument& root, const Queue& loaded, Report& report) {
    warn_queue(root, loaded, std::nullopt, report);
    warn_no_access(root, loaded, "root", report);
    warn_rules(partition.placement_rules, report);
}

} // namespace yk::config::checks
