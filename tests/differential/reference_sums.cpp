// SPDX-License-Identifier: Apache-2.0
// What the fast core keeps as counters, computed from scratch.

#include <algorithm>

#include "tests/differential/reference_partition.h"

namespace yk::reference {

Amounts Partition::pending(const Application& app) const {
    Amounts sum;
    for (const auto& [key, ask] : app.requests)
        if (!ask.allocated) sum = add(sum, ask.resource);
    return prune(sum);
}

Amounts Partition::allocated(const Application& app, bool placeholders) const {
    Amounts sum;
    for (const auto& [key, ask] : app.requests)
        if (ask.allocated && ask.placeholder == placeholders) sum = add(sum, ask.resource);
    return prune(sum);
}

std::vector<const Application*> Partition::below(const Queue& queue) const {
    std::vector<const Application*> found;
    for (const auto& [id, app] : applications_)
        if (app->queue == queue.path || app->queue.rfind(queue.path + ".", 0) == 0) found.push_back(app.get());
    return found;
}

std::vector<const Queue*> Partition::children(const Queue& queue) const {
    std::vector<const Queue*> found;
    for (const auto& [path, child] : queues_)
        if (child.parent == queue.path) found.push_back(&child);
    return found;
}

std::vector<Queue*> Partition::children(const Queue& queue) {
    std::vector<Queue*> found;
    for (auto& [path, child] : queues_)
        if (child.parent == queue.path) found.push_back(&child);
    return found;
}

Amounts Partition::pending(const Queue& queue) const {
    Amounts sum;
    for (const Application* app : below(queue)) sum = add(sum, pending(*app));
    return sum;
}

Amounts Partition::allocated(const Queue& queue) const {
    Amounts sum;
    for (const Application* app : below(queue)) sum = add(sum, add(allocated(*app, false), allocated(*app, true)));
    return sum;
}

std::size_t Partition::running(const Queue& queue) const {
    const auto all = below(queue);
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [](const Application* app) { return app->state == State::Running; }));
}

std::size_t Partition::allocating(const Queue& queue) const {
    const auto all = below(queue);
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [](const Application* app) { return app->allocating; }));
}

Amounts Partition::occupied(const Node& node) const {
    Amounts sum = node.reported;
    for (const auto& [key, foreign] : node.foreign) sum = add(sum, foreign.resource);
    return prune(sum);
}

Amounts Partition::allocated(const Node& node) const {
    Amounts sum;
    for (const auto& [id, app] : applications_)
        for (const auto& [key, ask] : app->requests)
            if (ask.allocated && ask.node == node.id) sum = add(sum, ask.resource);
    return prune(sum);
}

/// Capacity without what is allocated and occupied; may be negative (S-181 no. 3).
Amounts Partition::available(const Node& node) const {
    Amounts left = sub(sub(node.capacity, allocated(node)), occupied(node));
    for (const auto& [type, devices] : node.devices) // what lost devices hold takes nothing of the others (F-008)
        for (std::size_t index = 0; index < devices.size(); ++index)
            if (devices[index].lost)
                left[type] += used(node, type, static_cast<std::int64_t>(index)) - devices[index].size;
    return prune(left);
}

Amounts Partition::capacity() const {
    Amounts sum;
    for (const auto& [id, node] : nodes_) sum = add(sum, node.capacity);
    return prune(sum);
}

Maybe Partition::max_of(const Queue& queue) const {
    if (!queue.parent.empty()) return queue.max;
    const Amounts total = capacity();
    return gt_zero(total) ? Maybe(total) : std::nullopt;
}

} // namespace yk::reference
