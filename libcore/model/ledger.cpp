// SPDX-License-Identifier: Apache-2.0
#include "libcore/model/ledger.h"

#include <climits>
#include <utility>

namespace yk {

namespace {

/// f(Queue&) for the leaf and every queue above it.
template <class F>
void for_each_level(Queue* leaf, F&& f) {
    for (Queue* queue = leaf; queue != nullptr; queue = queue->parent) f(*queue);
}

} // namespace

/// Sets amounts below 0 to 0 and counts that as a correction. What is taken was added before, so it must never happen;
/// when it does, the sum must not stay wrong (S-182).
void Ledger::correct(Sum& sum) noexcept {
    if (!sum.has_negative()) return;
    ++counters_.corrections;
    sum.clamp();
}

// --- asks -----------------------------------------------------------------------------------------------------------

void Ledger::add_pending(Application& application, const Resource& size) noexcept {
    application.pending.add(size);
    application.pending.prune();
    ++application.pending_asks;
    for_each_level(application.queue, [&](Queue& queue) {
        queue.pending.add(size);
        queue.pending.prune();
    });
}

void Ledger::take_pending(Application& application, const Resource& size) noexcept {
    application.pending.sub(size);
    application.pending.prune();
    --application.pending_asks;
    for_each_level(application.queue, [&](Queue& queue) {
        queue.pending.sub(size);
        correct(queue.pending);
        queue.pending.prune();
    });
}

void Ledger::promise(const Application& application, const Resource& size) noexcept {
    for_each_level(application.queue, [&](Queue& queue) {
        queue.promised.add(size);
        queue.promised.prune();
    });
}

void Ledger::take_back(const Application& application, const Resource& size) noexcept {
    for_each_level(application.queue, [&](Queue& queue) {
        queue.promised.sub(size);
        queue.promised.prune();
    });
}

// --- allocations ----------------------------------------------------------------------------------------------------

void Ledger::add_to_queues(Queue& leaf, const Resource& size) noexcept {
    for_each_level(&leaf, [&](Queue& queue) { queue.allocated.add(size); });
}

void Ledger::take_from_queues(Queue& leaf, const Resource& size) noexcept {
    for_each_level(&leaf, [&](Queue& queue) {
        queue.allocated.sub(size);
        correct(queue.allocated);
        queue.allocated.prune();
    });
    if (leaf.allocated.is_zero()) leaf.lowest_placed = INT32_MAX;
}

void Ledger::add_to_application(Application& application, const Resource& size, bool placeholder) noexcept {
    Sum& total = placeholder ? application.placeholder : application.allocated;
    total.add(size);
    application.peak.max_with(total);
}

void Ledger::take_from_application(Application& application, const Resource& size, bool placeholder) noexcept {
    Sum& total = placeholder ? application.placeholder : application.allocated;
    total.sub(size);
    total.prune();
}

void Ledger::add_to_node(Node& node, const Resource& size) noexcept {
    node.allocated.add(size);
    node.available.sub(size);
    node.available.prune();
}

void Ledger::take_from_node(Node& node, const Resource& size) noexcept {
    node.allocated.sub(size);
    node.allocated.prune();
    update_available(node);
}

void Ledger::resize(Application& application, Node& node, const Resource& before, const Resource& after,
                    bool placeholder) noexcept {
    Sum& total = placeholder ? application.placeholder : application.allocated;
    for (Sum* sum : {&total, &node.allocated}) {
        sum->sub(before);
        sum->add(after);
        sum->prune();
    }
    application.peak.max_with(total);
    update_available(node);
}

void Ledger::add_preempting(const Application& application, const Resource& size) noexcept {
    for_each_level(application.queue, [&](Queue& queue) { queue.preempting.add(size); });
}

void Ledger::take_preempting(const Application& application, const Resource& size) noexcept {
    for_each_level(application.queue, [&](Queue& queue) {
        queue.preempting.sub(size);
        queue.preempting.prune();
    });
}

void Ledger::resize_preempting(const Application& application, const Resource& before, const Resource& after) noexcept {
    for_each_level(application.queue, [&](Queue& queue) {
        queue.preempting.sub(before);
        queue.preempting.add(after);
        queue.preempting.prune();
    });
}

// --- nodes ----------------------------------------------------------------------------------------------------------

/// Computed from scratch: sums end at the largest integer, so that applying a difference might give another amount
/// (S-003).
void Ledger::update_available(Node& node) noexcept {
    node.available.Resource::operator=(node.capacity);
    node.available.sub(node.allocated);
    node.available.sub(node.occupied);
    if (node.devices) // lost devices are not in the capacity any more, and what uses them takes nothing of the others
        node.available.add(node.devices->lost());
    node.available.prune();
}

void Ledger::set_capacity(Node& node, Resource capacity) noexcept {
    node.capacity = std::move(capacity);
    node.capacity.prune();
    update_available(node);
}

void Ledger::add_occupied(Node& node, const Resource& size) noexcept {
    node.occupied.add(size);
    node.occupied.prune();
    update_available(node);
}

void Ledger::take_occupied(Node& node, const Resource& size) noexcept {
    node.occupied.sub(size);
    node.occupied.prune();
    update_available(node);
}

} // namespace yk
