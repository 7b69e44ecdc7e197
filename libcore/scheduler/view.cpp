#include "libcore/scheduler/view.h"

#include <algorithm>

namespace yk {

namespace {

bool is_at_or_above(const std::string& path, const std::string& below) {
    return below.compare(0, path.size(), path) == 0 && (below.size() == path.size() || below[path.size()] == '.');
}

/// An application runs in its queue and all above.
void add_running(UsageQueueView& queue, const UsageLinkView& link) {
    queue.running.push_back(link.application);
    for (UsageQueueView& child : queue.children)
        if (is_at_or_above(child.path, link.queue)) return add_running(child, link);
}

} // namespace

void join_usage(UsagePiece& all) {
    std::sort(all.links.begin(), all.links.end(),
              [](const auto& a, const auto& b) { return a.application < b.application; });
    for (const UsageLinkView& link : all.links) {
        const auto view =
            std::lower_bound(all.views.begin(), all.views.end(), link.tracker,
                             [](const UsageView& each, const std::string& name) { return each.name < name; });
        if (view == all.views.end() || view->name != link.tracker) continue; // it came between two pieces
        if (link.running) add_running(view->root, link);
        if (all.groups) view->applications.push_back(link.application);
        if (!link.group.empty()) view->groups.emplace(link.application, link.group);
    }
    all.links.clear();
}

} // namespace yk
