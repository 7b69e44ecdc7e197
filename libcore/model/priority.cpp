// SPDX-License-Identifier: Apache-2.0
#include "libcore/model/priority.h"

#include "libcore/base/check.h"

namespace yk {

std::int64_t effective_priority(std::int32_t priority, const Queue& leaf, const Queue& at) noexcept {
    YK_ASSUME(at.depth <= leaf.depth, "`at` must be the leaf or above it");
    std::int64_t effective = priority;
    for (const Queue* queue = &leaf; queue != &at; queue = queue->parent) {
        const std::int64_t offset = queue->properties.priority_offset;
        const bool fence = queue->properties.priority_policy == config::PriorityPolicy::Fence;
        effective = fence ? offset : effective + offset;
    }
    return effective;
}

const Queue& lowest_common_ancestor(const Queue& a, const Queue& b) noexcept {
    const Queue* left = &a;
    const Queue* right = &b;
    while (left != right) {
        if (left->depth >= right->depth)
            left = left->parent;
        else
            right = right->parent;
    }
    return *left;
}

} // namespace yk
