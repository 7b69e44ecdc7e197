// SPDX-License-Identifier: Apache-2.0
#include "libcore/preemption/queues.h"

#include <algorithm>

namespace yk {

Deficits::Deficits(const Queue& leaf, const Resource& ask) {
    for (const Queue* queue = &leaf; queue != nullptr; queue = queue->parent) {
        if (queue->max.unlimited()) continue;
        Level level{queue, {}};
        const Resource& max = queue->max.bounds();
        ask.for_each([&](ResourceId id, std::int64_t wanted) {
            if (wanted <= 0 || !max.has(id)) return;
            std::int64_t used = sat_sub(queue->allocated.get(id), queue->preempting.get(id));
            used = sat_add(used, queue->promised.get(id));
            level.over.set(id, sat_sub(sat_add(used, wanted), max.get(id)));
        });
        levels_.push_back(std::move(level));
    }
}

bool Deficits::none() const noexcept {
    return std::all_of(levels_.begin(), levels_.end(), [](const Level& level) {
        return all_common(level.over, level.over, [&](ResourceId id) { return level.over.get(id) <= 0; });
    });
}

bool Deficits::holds(const Queue& queue, const Queue& leaf) const noexcept {
    const Queue* at = &leaf;
    while (at->depth > queue.depth) at = at->parent;
    return at == &queue;
}

bool Deficits::lowered_by(const Candidate& victim) const noexcept {
    return std::any_of(levels_.begin(), levels_.end(), [&](const Level& level) {
        return holds(*level.queue, *victim.leaf) && !all_common(level.over, *victim.size, [&](ResourceId id) {
                   return level.over.get(id) <= 0 || victim.size->get(id) <= 0;
               });
    });
}

void Deficits::change(const Candidate& victim, bool taken) {
    for (Level& level : levels_) {
        if (!holds(*level.queue, *victim.leaf)) continue;
        level.over.for_each([&](ResourceId id, std::int64_t over) {
            const std::int64_t amount = victim.size->get(id);
            level.over.set(id, taken ? sat_sub(over, amount) : sat_add(over, amount));
        });
    }
}

std::optional<std::vector<Candidate>> extra_victims(GuaranteeView& view, Deficits& deficits, const Resource& ask,
                                                    std::vector<Candidate> candidates) {
    std::vector<Candidate> extras;
    const auto later = [](const Candidate& a, const Candidate& b) { return goes_before(b, a); };
    std::make_heap(candidates.begin(), candidates.end(), later); // the loop takes only some of them: no full sort
    while (!deficits.none() && !candidates.empty()) {
        std::pop_heap(candidates.begin(), candidates.end(), later);
        const Candidate each = candidates.back();
        candidates.pop_back();
        if (!deficits.lowered_by(each) || !view.may_take(*each.leaf, *each.size, ask)) continue;
        const std::size_t mark = view.changes();
        view.remove(*each.leaf, *each.size);
        if (!view.may_charge(*each.charge)) {
            view.rewind(mark);
            continue;
        }
        view.charge(*each.charge);
        deficits.take(each);
        extras.push_back(each);
    }
    if (!deficits.none()) return std::nullopt;
    for (std::size_t i = extras.size(); i-- > 0;) { // nobody is preempted without need (D-32)
        deficits.give_back(extras[i]);
        if (deficits.none())
            extras.erase(extras.begin() + static_cast<std::ptrdiff_t>(i));
        else
            deficits.take(extras[i]);
    }
    return extras;
}

PreemptionResult add_victims(AttemptContext& attempt, const NodeVictims& chosen, int last,
                             std::vector<AllocationId>& victims) {
    GuaranteeView& view = attempt.view;
    Deficits deficits{attempt.leaf, attempt.size};
    for (int i = 0; i <= last; ++i) { // the node's victims are not tested again one by one (P-063)
        const Candidate& victim = chosen.plan[static_cast<std::size_t>(i)];
        view.remove(*victim.leaf, *victim.size);
        view.charge(*victim.charge);
        deficits.take(victim);
        victims.push_back(victim.id);
    }
    if (!deficits.none()) {
        std::vector<Candidate> others;
        for (const Candidate& each : attempt.candidates.all())
            if (std::find(victims.begin(), victims.end(), each.id) == victims.end()) others.push_back(each);
        const auto extras = extra_victims(view, deficits, attempt.size, std::move(others));
        if (!extras) return PreemptionResult::Shortfall;
        for (const Candidate& each : *extras) victims.push_back(each.id);
    }
    return victims.empty() ? PreemptionResult::NoHelp : PreemptionResult::Victims;
}

} // namespace yk
