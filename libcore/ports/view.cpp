// SPDX-License-Identifier: Apache-2.0
#include "libcore/ports/view.h"

#include <algorithm>

namespace yk {

namespace {

/// Adds the application to its queue and to every queue above that.
void add_running(UsageQueueView& queue, const UsageLinkView& link) {
    queue.running.push_back(link.application);
    if (link.queue.size() <= queue.path.size()) return;
    const std::string_view wanted = std::string_view{link.queue}.substr(0, link.queue.find('.', queue.path.size() + 1));
    const auto child =
        std::lower_bound(queue.children.begin(), queue.children.end(), wanted,
                         [](const UsageQueueView& each, std::string_view path) { return each.path < path; });
    if (child != queue.children.end() && child->path == wanted) add_running(*child, link);
}

} // namespace

void join_usage(UsagePage& all) {
    std::sort(all.links.begin(), all.links.end(),
              [](const auto& a, const auto& b) { return a.application < b.application; });
    for (const UsageLinkView& link : all.links) {
        const auto view =
            std::lower_bound(all.views.begin(), all.views.end(), link.tracker,
                             [](const UsageView& each, const std::string& name) { return each.name < name; });
        if (view == all.views.end() || view->name != link.tracker) continue; // the tracker was made between two pages
        if (link.running) add_running(view->root, link);
        if (all.groups) view->applications.push_back(link.application);
        if (!link.group.empty()) view->groups.emplace(link.application, link.group);
    }
    all.links.clear();
}

} // namespace yk
