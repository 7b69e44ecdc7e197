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

/// What would be free on the node, and of the devices that the ask could get.
struct Space {
    struct Want {
        DevicePart part;
        std::set<std::int64_t> targets;
        std::map<std::int64_t, std::int64_t> left, needed; // by device

        [[nodiscard]] bool is_free(std::int64_t index) const { return left.at(index) >= needed.at(index); }
        [[nodiscard]] bool is_met() const {
            return part.count > 0 && std::count_if(targets.begin(), targets.end(),
                                                   [this](std::int64_t index) { return is_free(index); }) >= part.count;
        }
    };
    Amounts free;
    std::map<std::string, Want> wants;
    bool in_conflict = false;

    [[nodiscard]] bool has_devices() const {
        return wants.empty() || (!in_conflict && std::all_of(wants.begin(), wants.end(),
                                                             [](const auto& each) { return each.second.is_met(); }));
    }
    [[nodiscard]] bool fits(const Amounts& ask) const { return missing(ask, free).empty() && has_devices(); }
    [[nodiscard]] bool helped_by(const Amounts& ask, const Ask& victim) const {
        for (const auto& [type, lacking] : missing(ask, free)) {
            const auto has = victim.resource.find(type);
            if (wants.count(type) == 0 && has != victim.resource.end() && has->second > 0) return true;
        }
        for (const DeviceHold& hold : victim.holds) {
            const auto want = wants.find(hold.type);
            if (want == wants.end() || want->second.is_met()) continue;
            for (const std::int64_t index : hold.on)
                if (want->second.targets.count(index) != 0 && !want->second.is_free(index)) return true;
        }
        return false;
    }
    void move(const Ask& victim, int sign) {
        free = sign > 0 ? add(free, victim.resource) : sub(free, victim.resource);
        for (const DeviceHold& hold : victim.holds)
            if (const auto want = wants.find(hold.type); want != wants.end())
                for (const std::int64_t index : hold.on)
                    if (want->second.targets.count(index) != 0) want->second.left[index] += sign * hold.part.each;
    }
    /// One for each choice of the devices that the ask is to get (F-007).
    [[nodiscard]] std::vector<Space> choices(const std::vector<Ask*>& leaving) const {
        if (has_devices()) return {*this};
        Space empty = *this;
        for (const Ask* each : leaving) empty.move(*each, 1);
        std::vector<Space> made{*this};
        for (const auto& [type, now] : wants) {
            if (now.is_met()) continue;
            std::vector<std::int64_t> devices;
            for (const std::int64_t index : now.targets)
                if (empty.wants.at(type).is_free(index)) devices.push_back(index);
            if (now.part.count == 0 || static_cast<std::int64_t>(devices.size()) < now.part.count) return {};
            std::stable_sort(devices.begin(), devices.end(),
                             [&now = now](std::int64_t a, std::int64_t b) { return now.left.at(a) > now.left.at(b); });
            const bool one_each = now.part.count == 1 && made.size() == 1;
            std::vector<Space> next;
            for (std::size_t first = 0; first < (one_each ? devices.size() : 1); ++first)
                for (Space space : made) {
                    const auto begin = devices.begin() + static_cast<std::ptrdiff_t>(first);
                    space.wants[type].targets = {begin, begin + now.part.count};
                    next.push_back(space);
                }
            made = next;
        }
        return made;
    }
};

/// Takes candidates in order until the ask fits, then spares who is not needed (P-096); nullopt: all are not enough.
std::optional<std::vector<Ask*>> victims_for(Space space, const Amounts& ask, const std::vector<Ask*>& candidates) {
    std::vector<Ask*> taken;
    for (Ask* each : candidates) {
        if (space.fits(ask)) break;
        if (!space.helped_by(ask, *each)) continue;
        space.move(*each, 1);
        taken.push_back(each);
    }
    if (!space.fits(ask)) return std::nullopt;
    for (std::size_t i = taken.size(); i-- > 0;) {
        space.move(*taken[i], -1);
        if (space.fits(ask))
            taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(i));
        else
            space.move(*taken[i], 1);
    }
    return taken;
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
    Space space;
    space.free = available(node);
    space.in_conflict = in_conflict(node);
    for (const auto& [type, devices] : node.devices) {
        const auto wanted = ask.resource.find(type);
        if (wanted == ask.resource.end() || wanted->second <= 0) continue;
        Space::Want& want = space.wants[type];
        want.part = wanted_part(node, type, ask);
        const bool whole = want.part.each == whole_size(devices);
        for (std::size_t at = 0; at < devices.size(); ++at) {
            const auto index = static_cast<std::int64_t>(at);
            want.left[index] = devices[at].size - used(node, type, index);
            want.needed[index] = whole ? devices[at].size : want.part.each;
            if (!devices[at].lost && devices[at].size >= want.part.each) want.targets.insert(index);
        }
    }
    for (auto& [id, each] : applications_)
        for (auto& [key, other] : each->requests)
            if (other.preempted && other.node == node.id && waiting(other.preempted_under) == nullptr)
                space.move(other, 1);
    const std::vector<Ask*> candidates = victim_candidates(ask, node);
    std::optional<std::vector<Ask*>> fewest;
    for (const Space& choice : space.choices(candidates))
        if (auto victims = victims_for(choice, ask.resource, candidates);
            victims && (!fewest || victims->size() < fewest->size()))
            fewest = std::move(victims);
    if (!fewest) return;
    const std::vector<Ask*> taken = *fewest;
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
