// SPDX-License-Identifier: Apache-2.0
#pragma once
// Walk: one walk down the queues in order: a parent's children, a leaf's applications (S-305). Reads the indexes that
// SchedulingIndexes keeps; REQUIRES: SchedulingIndexes::refresh() since the last change.

#include "libcore/model/queue.h"

namespace yk {

class Walk {
public:
    explicit Walk(Slab<Application>& applications) : applications_(applications) {}

    /// visit(Application&, ApplicationId, wanted) until it returns true.
    template <class Visit>
    bool run(const Queue& queue, Masks wanted, bool waiting_too, Visit&& visit) const {
        waiting_too = waiting_too && queue.has_free_slot();
        wanted.tries &= ~queue.blocked_bits();
        wanted.reserves &= ~queue.blocked_bits();
        const auto may = [&](const OrderSummary& below) {
            return below.ready.any(wanted) || (waiting_too && below.waiting.any(wanted));
        };
        if (!queue.leaf)
            return queue.child_index.visit(may, [&](std::uint32_t child) {
                return run(*(*queue.child_index.traits().queues)[child], wanted, waiting_too, visit);
            });
        return queue.application_index.visit(may, [&](std::uint32_t value) {
            const ApplicationId id{value};
            return visit(applications_[id], id, wanted);
        });
    }

private:
    Slab<Application>& applications_;
};

} // namespace yk
