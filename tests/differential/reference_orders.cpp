// SPDX-License-Identifier: Apache-2.0
// The sort orders (scheduling.md section 5) and the limits (section 6), each computed anew.

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/base/check.h"
#include "tests/differential/reference_partition.h"

namespace yk::reference {

namespace {

constexpr std::int32_t kLowest = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kHighest = std::numeric_limits<std::int32_t>::max();

std::string lower(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

bool sorts_by_priority(const Queue& queue) {
    return lower(queue.property("application.sort.priority")) != "disabled";
}

std::int64_t offset_of(const Queue& queue) {
    const std::string text = queue.property("priority.offset");
    return text.empty() ? 0 : std::strtoll(text.c_str(), nullptr, 10);
}

/// A guarantee without a value above 0 is none (S-035).
Maybe set_guaranteed(const Queue& queue) {
    if (!queue.guaranteed) return std::nullopt;
    for (const auto& [type, value] : *queue.guaranteed)
        if (value > 0) return queue.guaranteed;
    return std::nullopt;
}

} // namespace

/// What the shares of a queue without a guarantee are measured by: the nearest max of each type (S-202).
Amounts Partition::fair_max(const Queue& queue) const {
    if (queue.parent.empty()) return max_of(queue).value_or(Amounts{});
    Amounts result = fair_max(queues_.at(queue.parent));
    if (result.empty() || !queue.max) return result;
    for (const auto& [type, value] : *queue.max) result[type] = value;
    return result;
}

double Partition::share(const Queue& queue) const {
    return fair_share(allocated(queue), set_guaranteed(queue), fair_max(queue));
}

/// The highest of its pending asks (S-222).
std::int32_t Partition::priority(const Application& app) const {
    std::int32_t highest = kLowest;
    for (const auto& [key, ask] : app.requests)
        if (!ask.allocated) highest = std::max(highest, ask.priority);
    return highest;
}

/// The highest of its applications, or of what its children publish (S-204).
std::int32_t Partition::priority(const Queue& queue) const {
    std::int32_t highest = kLowest;
    if (queue.leaf)
        for (const std::string& id : queue.applications) highest = std::max(highest, priority(*applications_.at(id)));
    for (const Queue* child : children(queue)) highest = std::max(highest, published(*child));
    return highest;
}

std::int32_t Partition::published(const Queue& queue) const {
    const std::int32_t current = priority(queue);
    if (current == kLowest) return kLowest;
    const std::int64_t offset = offset_of(queue);
    if (lower(queue.property("priority.policy")) == "fence") return static_cast<std::int32_t>(offset);
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(current + offset, kLowest, kHighest));
}

/// By priority, then the lower fair share, then the larger pending; those with nothing pending are left out (S-200,
/// S-201).
std::vector<Queue*> Partition::sorted_children(const Queue& queue) {
    struct Entry {
        std::int32_t priority;
        double share;
        Amounts pending;
        Queue* queue;
    };
    std::vector<Entry> entries;
    for (Queue* child : children(queue))
        if (gt_zero(pending(*child))) entries.push_back({published(*child), share(*child), pending(*child), child});
    const bool by_priority = sorts_by_priority(queue);
    const Maybe total = max_of(queues_.at("root"));
    std::sort(entries.begin(), entries.end(), [&](const Entry& l, const Entry& r) {
        if (by_priority && l.priority != r.priority) return l.priority > r.priority;
        if (l.share != r.share) return l.share < r.share;
        if (l.priority != r.priority) return l.priority > r.priority;
        if (const int order = usage_compare(l.pending, r.pending, total); order != 0) return order > 0;
        return l.queue->name < r.queue->name;
    });
    std::vector<Queue*> sorted;
    for (const Entry& entry : entries) sorted.push_back(entry.queue);
    return sorted;
}

/// Those with something pending, by priority and the policy of the leaf (S-210 to S-213).
std::vector<Application*> Partition::sorted_applications(const Queue& leaf) {
    std::vector<Application*> sorted;
    for (const std::string& id : leaf.applications)
        if (gt_zero(pending(*applications_.at(id)))) sorted.push_back(applications_.at(id).get());
    const bool by_priority = sorts_by_priority(leaf);
    const bool fair = leaf.property("application.sort.policy") == "fair";
    const Maybe guaranteed = set_guaranteed(leaf);
    std::sort(sorted.begin(), sorted.end(), [&](const Application* l, const Application* r) {
        const std::int32_t pl = priority(*l), pr = priority(*r);
        const int usage = fair ? usage_compare(allocated(*l, false), allocated(*r, false), guaranteed) : 0;
        if (by_priority && pl != pr) return pl > pr;
        if (usage != 0) return usage < 0;
        if (!fair && l->submitted != r->submitted) return l->submitted < r->submitted;
        if (pl != pr) return pl > pr;
        if (l->submitted != r->submitted) return l->submitted < r->submitted;
        return l->id < r->id;
    });
    return sorted;
}

/// Pending ones: higher priority, older, then the earlier arrival (S-223).
std::vector<Ask*> Partition::sorted_asks(Application& app) const {
    std::vector<Ask*> sorted;
    for (auto& [key, ask] : app.requests)
        if (!ask.allocated) sorted.push_back(&ask);
    std::sort(sorted.begin(), sorted.end(), [](const Ask* l, const Ask* r) {
        if (l->priority != r->priority) return l->priority > r->priority;
        if (l->created != r->created) return l->created < r->created;
        return l->arrival < r->arrival;
    });
    return sorted;
}

/// The weighted used share, or with binpacking the free one; lower comes first (S-230 to S-232).
double Partition::score(const Node& node) const {
    std::map<std::string, double> weights = config_.resource_weights;
    if (weights.empty()) weights = {{"memory", 1.0}, {"vcore", 1.0}};
    const Amounts free = available(node);
    double sum = 0, total = 0;
    for (const auto& [type, weight] : weights) {
        if (weight == 0 || node.capacity.count(type) == 0) continue;
        const std::int64_t left = free.count(type) != 0 ? free.at(type) : 0;
        sum += weight * (1 - static_cast<double>(left) / static_cast<double>(node.capacity.at(type)));
        total += weight;
    }
    const double used = total > 0 ? sum / total : 0;
    const std::string_view policy = config_.node_sort_policy->name;
    YK_CHECK(policy == "fair" || policy == "binpacking", "the slow partition knows the node sort policy");
    return policy == "binpacking" ? 1 - used : used;
}

/// With fragmentation those that take the ask come first, by what it leaves there, then the others by name (F-030).
std::vector<Node*> Partition::sorted_nodes(const Ask& ask) {
    std::vector<std::pair<double, Node*>> scored;
    const double each = by_fragmentation() ? quantum() : 1;
    for (auto& [id, node] : nodes_) {
        if (!by_fragmentation())
            scored.emplace_back(score(node), &node);
        else if (takes(node, ask))
            scored.emplace_back(-std::floor((fragments(idle_of(node)) - best_after(node, ask).first) / each), &node);
        else
            scored.emplace_back(std::numeric_limits<double>::infinity(), &node);
    }
    std::sort(scored.begin(), scored.end(), [](const auto& l, const auto& r) {
        return l.first != r.first ? l.first < r.first : l.second->id < r.second->id;
    });
    std::vector<Node*> sorted;
    for (const auto& [value, node] : scored) sorted.push_back(node);
    return sorted;
}

/// What the maxima from here up to the root leave (S-250).
Maybe Partition::headroom(const Queue& queue, bool cluster) const {
    if (!cluster && queue.parent.empty()) return std::nullopt;
    const Maybe max = max_of(queue);
    const Maybe own = max ? Maybe(sub_existing(*max, allocated(queue))) : std::nullopt;
    return queue.parent.empty() ? own : cmin(own, headroom(queues_.at(queue.parent), cluster));
}

/// Whether the usage of each level stays within its max with the ask added (S-252).
bool Partition::can_grow(const Queue& leaf, const Amounts& ask, bool cluster) const {
    for (const Queue* queue = &leaf;; queue = &queues_.at(queue->parent)) {
        const Amounts wanted = add_existing(ask, allocated(*queue));
        const Maybe max = max_of(*queue);
        if (queue->parent.empty()) return !cluster || fits(max, wanted);
        if (!fits_undef(max, wanted)) return false;
    }
}

/// Whether one more application may run in the leaf and above it (S-260).
bool Partition::can_run(const Queue& leaf, const Application& app) const {
    for (const Queue* queue = &leaf;; queue = &queues_.at(queue->parent)) {
        if (queue->max_applications != 0 && !app.allocating &&
            running(*queue) + allocating(*queue) + 1 > queue->max_applications)
            return false;
        if (queue->parent.empty()) return true;
    }
}

} // namespace yk::reference
