// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ledger: the only one that changes what is added up: pending, allocated, preempting and promised amounts of queues,
// what applications have, what nodes have and what is left there. A queue's amount is the sum of those below it,
// because nothing but these functions changes either; each changes all levels from a leaf to the root.
//
// Owner: PartitionState. Thread: the partition's owner. Cost: an addition for each level. None can fail.

#include "libcore/model/application.h"
#include "libcore/model/node.h"
#include "libcore/model/queue.h"
#include "libcore/ports/cycle.h"

namespace yk {

class Ledger {
public:
    /// `counters`: where corrections are counted (S-182).
    explicit Ledger(CoreCounters& counters) : counters_(counters) {}
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;

    // --- asks: the application and its queues ----------------------------------------------------------------------
    void add_pending(Application& application, const Resource& size) noexcept;
    void take_pending(Application& application, const Resource& size) noexcept;
    /// Moves nothing: marks a part of pending as promised, since victims were chosen for the ask.
    void promise(const Application& application, const Resource& size) noexcept;
    void take_back(const Application& application, const Resource& size) noexcept;

    // --- allocations -----------------------------------------------------------------------------------------------
    void add_to_queues(Queue& leaf, const Resource& size) noexcept;
    void take_from_queues(Queue& leaf, const Resource& size) noexcept;
    void add_to_application(Application& application, const Resource& size, bool placeholder) noexcept;
    void take_from_application(Application& application, const Resource& size, bool placeholder) noexcept;
    void add_to_node(Node& node, const Resource& size) noexcept;
    void take_from_node(Node& node, const Resource& size) noexcept;
    /// An allocation has another size. The amounts of its queues are not changed: the caller does that.
    void resize(Application& application, Node& node, const Resource& before, const Resource& after,
                bool placeholder) noexcept;
    /// Marks a part of allocated: the allocation is to be released.
    void add_preempting(const Application& application, const Resource& size) noexcept;
    void take_preempting(const Application& application, const Resource& size) noexcept;
    void resize_preempting(const Application& application, const Resource& before, const Resource& after) noexcept;

    // --- nodes -----------------------------------------------------------------------------------------------------
    void set_capacity(Node& node, Resource capacity) noexcept;
    void add_occupied(Node& node, const Resource& size) noexcept;
    void take_occupied(Node& node, const Resource& size) noexcept;

private:
    static void update_available(Node& node) noexcept;
    void correct(Sum& sum) noexcept;

    CoreCounters& counters_;
};

} // namespace yk
