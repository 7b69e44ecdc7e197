// SPDX-License-Identifier: Apache-2.0
// Required-node preemption as preemption-gang-priority.md 3.9 tells it: one pass forward, one back.

#include <algorithm>

#include "tests/differential/reference_partition.h"

namespace yk::reference {

namespace {

/// Who goes first: 0 who agreed, 1 who did not, 2 originators (P-095).
int class_of(const Ask& ask) {
    return ask.originator ? 2 : ask.allow_preempt_self ? 0 : 1;
}

Amounts missing(const Amounts& ask, const Amounts& free) {
    Amounts missing;
    for (const auto& [type, value] : ask) {
        const auto there = free.find(type);
        const std::int64_t available = there == free.end() ? 0 : there->second;
        if (value > 0 && value > available) missing[type] = value - available;
    }
    return missing;
}

bool lowers(const Amounts& missing, const Amounts& amount) {
    return std::any_of(amount.begin(), amount.end(),
                       [&](const auto& each) { return each.second > 0 && missing.count(each.first) != 0; });
}

bool share_type(const Amounts& a, const Amounts& b) {
    return std::any_of(a.begin(), a.end(), [&](const auto& each) { return b.count(each.first) != 0; });
}

} // namespace

Ask* Partition::waiting(std::uint64_t trigger) {
    if (trigger == 0) return nullptr;
    for (auto& [id, app] : applications_)
        for (auto& [key, ask] : app->requests)
            if (!ask.allocated && ask.trigger == trigger) return &ask;
    return nullptr;
}

Amounts Partition::preempting(const Queue& queue) const {
    Amounts sum;
    for (const Application* app : below(queue))
        for (const auto& [key, ask] : app->requests)
            if (ask.preempted) sum = add(sum, ask.resource);
    return sum;
}

/// What may go from the node, of no higher priority than the ask, in the order in which it goes (P-094, P-095).
std::vector<Ask*> Partition::victim_candidates(const Ask& ask, const Node& node) {
    std::vector<Ask*> found;
    for (auto& [id, app] : applications_)
        for (auto& [key, each] : app->requests)
            if (each.allocated && each.node == node.id && each.required_node.empty() && !each.preempted &&
                each.priority <= ask.priority && share_type(each.resource, ask.resource))
                found.push_back(&each);
    const Maybe cluster = capacity();
    std::sort(found.begin(), found.end(), [&](const Ask* a, const Ask* b) {
        if (class_of(*a) != class_of(*b)) return class_of(*a) < class_of(*b);
        if (a->priority != b->priority) return a->priority < b->priority;
        if (a->created != b->created) return a->created > b->created;
        if (const int size = usage_compare(a->resource, b->resource, cluster); size != 0) return size < 0;
        return a->key != b->key ? a->key < b->key : a->arrival < b->arrival;
    });
    return found;
}

/// Takes them in order until the ask fits, spares who is not needed, and notifies the RM once (P-096, P-098).
void Partition::choose_victims(Ask& ask, const Node& node) {
    Amounts free = available(node);
    for (auto& [id, each] : applications_)
        for (auto& [key, other] : each->requests)
            if (other.preempted && other.node == node.id && waiting(other.preempted_under) == nullptr)
                free = add(free, other.resource);
    std::vector<Ask*> taken;
    for (Ask* each : victim_candidates(ask, node)) {
        const Amounts short_of = missing(ask.resource, free);
        if (short_of.empty()) break;
        if (!lowers(short_of, each->resource)) continue;
        free = add(free, each->resource);
        taken.push_back(each);
    }
    if (!missing(ask.resource, free).empty()) return;
    for (std::size_t i = taken.size(); i-- > 0;) {
        const Amounts without = sub(free, taken[i]->resource);
        if (!missing(ask.resource, without).empty()) continue;
        free = without;
        taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (taken.empty()) return;
    ask.trigger = ++triggers_;
    ask.unplaced.reset();
    std::vector<ReleasedAllocation> released;
    for (Ask* victim : taken) {
        victim->preempted = true;
        victim->preempted_under = ask.trigger;
        for (const auto& [id, each] : applications_)
            for (const auto& [key, other] : each->requests)
                if (&other == victim)
                    released.push_back({name_, each->id, other.key, TerminationType::PreemptedByScheduler, {}});
    }
    ports_.callbacks.allocations_released(released);
}

/// After the last of its victims an ask that still does not fit may choose again (P-079).
void Partition::victim_gone(const Ask& gone, Instant now) {
    Ask* ask = waiting(gone.preempted_under);
    if (ask == nullptr) return;
    for (const auto& [id, app] : applications_)
        for (const auto& [key, other] : app->requests)
            if (other.preempted && other.preempted_under == gone.preempted_under) return;
    ask->unplaced = now + ports_.settings.preemption_unplaced;
}

void Partition::forget_triggers(Instant now) {
    for (auto& [id, app] : applications_)
        for (auto& [key, ask] : app->requests)
            if (!ask.allocated && ask.trigger != 0 && ask.unplaced && *ask.unplaced <= now) {
                ask.trigger = 0;
                ask.unplaced.reset();
            }
}

} // namespace yk::reference
