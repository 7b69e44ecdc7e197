// SPDX-License-Identifier: Apache-2.0
#include "libcore/preemption/guarantee.h"

#include <algorithm>

namespace yk {

GuaranteeView::GuaranteeView(const PartitionState& state, const Queue& leaf)
    : leaf_(leaf), used_(state.queues.size()), known_(state.queues.size(), false) {
    for (const Queue* queue = &leaf; queue != nullptr; queue = queue->parent) path_.push_back(queue);
    std::reverse(path_.begin(), path_.end());
}

bool GuaranteeView::is_above(const Queue& queue) const noexcept {
    return queue.depth < path_.size() && path_[queue.depth] == &queue;
}

Resource& GuaranteeView::slot(const Queue& queue) const {
    Resource& used = used_[queue.index];
    if (known_[queue.index]) return used;
    known_[queue.index] = true;
    used = queue.allocated;
    used.sub(queue.preempting);
    if (is_above(queue)) used.add(queue.promised); // else two asks would count on the same guarantee (D-35)
    return used;
}

const Resource& GuaranteeView::used(const Queue& queue) const {
    return slot(queue);
}

std::optional<Resource> GuaranteeView::remaining(const Queue& queue) const {
    std::optional<Resource> above;
    if (queue.parent != nullptr) above = remaining(*queue.parent);
    if (!queue.guaranteed) return above;
    Resource own;
    queue.guaranteed->for_each(
        [&](ResourceId id, std::int64_t value) { own.set(id, sat_sub(value, slot(queue).get(id))); });
    // it does not protect siblings of Q if Q has a guarantee of its own (P-031)
    if (is_above(queue) && &queue != &leaf_ && leaf_.guaranteed) return std::nullopt;
    if (!above) return own;
    const bool wins = &queue == &leaf_; // Q's own values replace the parent's; elsewhere the smaller ones count
    above->for_each([&](ResourceId id, std::int64_t value) {
        if (!own.has(id) || (!wins && value < own.get(id))) own.set(id, value);
    });
    return own;
}

bool GuaranteeView::may_take(const Queue& leaf, const Resource& victim, const Resource& ask) const {
    const std::optional<Resource> left = remaining(leaf);
    const bool within =
        left && all_common(*left, ask, [&](ResourceId id) { return ask.get(id) <= 0 || left->get(id) >= 0; });
    if (within) return false;
    for (const Queue* queue = &leaf; queue != nullptr && !is_above(*queue); queue = queue->parent) {
        if (!queue->guaranteed) continue;
        const Resource& guaranteed = *queue->guaranteed;
        const Resource& now = slot(*queue);
        const bool stays = all_common(victim, ask, [&](ResourceId id) {
            if (!guaranteed.has(id) || victim.get(id) <= 0) return true;
            return sat_sub(now.get(id), victim.get(id)) >= guaranteed.get(id); // D-30: after the removal
        });
        if (!stays) return false;
    }
    return true;
}

bool GuaranteeView::may_charge(const Resource& victim) const {
    const std::optional<Resource> left = remaining(leaf_);
    return left && all_common(*left, victim, [&](ResourceId id) { return victim.get(id) <= left->get(id); });
}

GuaranteeView::Protection GuaranteeView::protection(const Queue& leaf, const Resource& most,
                                                    const Resource& ask) const {
    const std::optional<Resource> left = remaining(leaf);
    const auto is_within = [&](const Resource& more) { // in every type that is asked for
        return left && all_common(*left, ask, [&](ResourceId id) {
                   return ask.get(id) <= 0 || sat_add(left->get(id), more.get(id)) >= 0;
               });
    };
    if (is_within({})) return {~std::uint64_t{0}, true}; // it stays so when victims are taken elsewhere
    Protection found{0, !is_within(most)};
    for (const Queue* queue = &leaf; queue != nullptr && !is_above(*queue); queue = queue->parent) {
        if (!queue->guaranteed) continue;
        const Resource& now = slot(*queue);
        for (std::uint64_t types = queue->guaranteed->types() & ask.types(); types != 0; types &= types - 1) {
            const auto id = static_cast<ResourceId>(std::countr_zero(types));
            const std::int64_t over = sat_sub(now.get(id), queue->guaranteed->get(id));
            if (over <= 0)
                found.never |= std::uint64_t{1} << id;
            else if (over < most.get(id))
                found.freely = false;
        }
    }
    return found;
}

void GuaranteeView::apply(const Change& change, bool forward) {
    const bool adds = change.charged == forward;
    for (const Queue* queue = change.leaf; queue != nullptr; queue = queue->parent)
        adds ? slot(*queue).add(*change.amount) : slot(*queue).sub(*change.amount);
}

void GuaranteeView::remove(const Queue& leaf, const Resource& amount) {
    journal_.push_back({&leaf, &amount, false});
    apply(journal_.back(), true);
}

void GuaranteeView::charge(const Resource& amount) {
    journal_.push_back({&leaf_, &amount, true});
    apply(journal_.back(), true);
}

void GuaranteeView::rewind(std::size_t count) {
    while (journal_.size() > count) {
        apply(journal_.back(), false);
        journal_.pop_back();
    }
}

} // namespace yk
