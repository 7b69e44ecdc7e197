// SPDX-License-Identifier: Apache-2.0
#include "libcore/planning/headroom.h"

namespace yk {

[[gnu::hot]] QueueVerdict queue_verdict(const PartitionState& state, Queue& leaf, const Shape& shape) {
    const Queue* end = shape.is_pinned() ? &state.queues.root() : nullptr;
    QueueVerdict verdict;
    for (Queue* queue = &leaf; queue != end; queue = queue->parent)
        if (!queue->headroom_allows(shape.resource)) verdict = {queue, true};
    if (verdict.queue != nullptr) return verdict;
    for (Queue* queue = &leaf; queue != end; queue = queue->parent)
        if (!queue->allows_increase(shape.resource)) verdict = {queue, false};
    return verdict;
}

bool has_slot(const Application& application) {
    if (!application.needs_slot()) return true;
    for (const Queue* queue = application.queue; queue != nullptr; queue = queue->parent)
        if (!queue->has_free_slot()) return false;
    return true;
}

bool has_user_slot(const PartitionState& state, const Application& application) {
    return !state.refusing_user_slot(application).valid();
}

bool is_considered(const PartitionState& state, const Application& application) {
    return !application.backing_off && has_slot(application) && has_user_slot(state, application);
}

} // namespace yk
