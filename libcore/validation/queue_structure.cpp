// SPDX-License-Identifier: Apache-2.0
// Names, ACLs and limits of the queues, from the root down.

#include <set>

#include "libcore/config/acl.h"
#include "libcore/config/names.h"
#include "libcore/validation/checks.h"

namespace yk::config::checks {

namespace {

void check_acl(const Text& acl, const std::string& path, Report& report) {
    std::vector<std::string> dropped;
    if (const auto parsed = parse_acl(acl.value, &dropped); !parsed.ok())
        report.error(acl.mark, path, parsed.error().message);
    for (const std::string& name : dropped)
        report.warning(acl.mark, path, "the name " + in_quotes(name) + " is not legal in an ACL and is dropped");
}

/// The name must be legal, not reserved, and not that of a sibling. `level`: 1 for children of the root (C-041, C-044
/// to C-046).
void check_name(const QueueDocument& queue, int level, std::set<std::string>& siblings, Report& report) {
    const std::string& name = queue.name.value;
    const std::string path = queue.path + ".name";
    const std::string folded = lower(name);
    if (!is_queue_name(name))
        report.error(queue.name.mark, path, std::string{kInvalidQueueName} + ", got " + in_quotes(name));
    else if (folded == "root" && level == 1)
        report.error(queue.name.mark, path,
                     "queue name " + name +
                         " is reserved (root must be the only top level queue, put the others below it)");
    else if (folded == "root" || folded == kRecoveryQueue)
        report.error(queue.name.mark, path, "queue name " + name + " is reserved");
    else if (!siblings.insert(folded).second)
        report.error(queue.name.mark, path,
                     "duplicate child name found with name '" + name + "', level " + std::to_string(level));
}

class StructureWalk {
public:
    explicit StructureWalk(Report& report) : report_(report) {}

    void root(const QueueDocument& queue, const Queue& loaded) {
        own(queue, nullptr);
        static const std::optional<ResourceMap> unlimited;
        children(queue, loaded, {&unlimited, loaded.max_applications}, 1);
    }

private:
    void own(const QueueDocument& queue, const Bounds* bounds) {
        check_acl(queue.admin_acl, queue.path + ".adminacl", report_);
        check_acl(queue.submit_acl, queue.path + ".submitacl", report_);
        check_queue_limits(queue, bounds, report_);
    }

    void children(const QueueDocument& queue, const Queue& loaded, const Bounds& bounds, int level) {
        std::set<std::string> siblings;
        for (const QueueDocument& child : queue.queues) check_name(child, level, siblings, report_);
        for (std::size_t i = 0; i < queue.queues.size(); ++i) below(queue.queues[i], loaded.children[i], bounds, level);
    }

    /// Checks one child and all below it. `above`: the bounds of the parent.
    void below(const QueueDocument& queue, const Queue& loaded, const Bounds& above, int level) {
        Bounds bounds = above;
        std::optional<ResourceMap> effective;
        if (loaded.resources.max) {
            effective = min(loaded.resources.max, *above.max);
            bounds.max = &effective;
        }
        if (loaded.max_applications != 0) bounds.max_applications = loaded.max_applications;
        own(queue, &bounds);
        children(queue, loaded, bounds, level + 1);
    }

    Report& report_;
};

} // namespace

void check_structure(const QueueDocument& root, const Queue& loaded, Report& report) {
    StructureWalk{report}.root(root, loaded);
}

} // namespace yk::config::checks
