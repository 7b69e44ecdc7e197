// SPDX-License-Identifier: Apache-2.0
#include "libcore/preemption/attempt_context.h"

namespace yk {

namespace {

/// Second form of P-040: with the ask charged and all candidates removed, the guarantee is not exceeded in any
/// requested type.
bool fits_without_candidates(AttemptContext& attempt) {
    GuaranteeView& view = attempt.view;
    const Resource& ask = attempt.size;
    const std::size_t mark = view.changes();
    view.charge(ask);
    for (const Candidate& each : attempt.candidates.all()) view.remove(*each.leaf, *each.size);
    const std::optional<Resource> left = view.remaining(attempt.leaf);
    view.rewind(mark);
    return left && all_common(*left, ask, [&](ResourceId id) { return ask.get(id) <= 0 || left->get(id) >= 0; });
}

} // namespace

bool may_attempt(AttemptContext& attempt) {
    const Resource& ask = attempt.size;
    const std::optional<Resource> left = attempt.view.remaining(attempt.leaf);
    if (!left) return false;
    // a guarantee that says nothing of what the ask requests gives no right to preempt (D-37)
    const bool concerned = !all_common(*left, ask, [&](ResourceId id) { return ask.get(id) <= 0; });
    if (!concerned) return false;
    const bool fits_now = all_common(*left, ask, [&](ResourceId id) { return ask.get(id) <= left->get(id); });
    return fits_now || fits_without_candidates(attempt);
}

} // namespace yk
