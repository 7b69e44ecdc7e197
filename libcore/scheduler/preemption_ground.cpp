#include "libcore/scheduler/preemption_ground.h"

namespace yk {

namespace {

/// P-040, second form: with the ask in and all candidates out, nothing requested is below zero.
bool fits_without_candidates(PreemptionGround& ground) {
    GuaranteeView& view = ground.view;
    const Resource& ask = ground.size;
    const std::size_t mark = view.changes();
    view.charge(ask);
    for (const Candidate& each : ground.candidates.all()) view.remove(*each.leaf, *each.size);
    const std::optional<Resource> left = view.remaining(ground.leaf);
    view.rewind(mark);
    return left && all_common(*left, ask, [&](ResourceId id) { return ask.get(id) <= 0 || left->get(id) >= 0; });
}

} // namespace

bool may_attempt(PreemptionGround& ground) {
    const Resource& ask = ground.size;
    const std::optional<Resource> left = ground.view.remaining(ground.leaf);
    if (!left) return false;
    const bool concerned = !all_common(*left, ask, [&](ResourceId id) { return ask.get(id) <= 0; }); // D-37
    if (!concerned) return false;
    const bool fits_now = all_common(*left, ask, [&](ResourceId id) { return ask.get(id) <= left->get(id); });
    return fits_now || fits_without_candidates(ground);
}

} // namespace yk
