// SPDX-License-Identifier: Apache-2.0
#include "libcore/partition/releases.h"

#include <algorithm>

namespace yk {

namespace {

EventDetail removal_detail(TerminationType type) {
    switch (type) {
    case TerminationType::Timeout: return EventDetail::AllocTimeout;
    case TerminationType::PreemptedByScheduler: return EventDetail::AllocPreempt;
    case TerminationType::PlaceholderReplaced: return EventDetail::AllocReplaced;
    default: return EventDetail::AllocCancel; // unknown types as well
    }
}

} // namespace

bool Releases::is_echoed(TerminationType type) noexcept {
    return type != TerminationType::Timeout && type != TerminationType::PreemptedByScheduler;
}

std::optional<Refusal> Releases::release(const ReleaseSpec& spec, bool asks_only, Instant now) {
    if (spec.application.empty()) return foreign_allocations_.release(spec, now);
    const ApplicationId application = state_.find_application(spec.application);
    if (!application.valid())
        return Refusal{"application " + quoted(spec.application) + " is unknown", ElementCode::AppUnknown};
    if (asks_only && spec.type == TerminationType::Timeout) return std::nullopt; // confirms what the core did (I-155)
    if (spec.key.empty()) {
        release_all(application, spec, asks_only, now);
        return std::nullopt;
    }
    const AllocationId id = state_.find_allocation(application, spec.key);
    const auto unknown = [&spec] { return Refusal{title_of(spec) + " is unknown", ElementCode::UnknownAllocation}; };
    if (!id.valid()) return unknown();
    const Allocation& object = state_.allocations[id];
    const bool in_flight = object.is(Allocation::InFlight); // to the RM it still is a pending ask
    const bool placed = object.is(Allocation::Placed) && !in_flight;
    // only a placeholder is replaced (I-163)
    if (spec.type == TerminationType::PlaceholderReplaced && !object.is(Allocation::Placeholder))
        return Refusal{"allocation key " + quoted(spec.key) + " is no placeholder that was replaced",
                       ElementCode::NoReplacement};
    if (asks_only && placed) return unknown(); // never releases an allocation
    if (!placed) {
        if (spec.type == TerminationType::Timeout) return std::nullopt;
        in_flight ? placeholder_swaps_.cancel(id, false, now) : pending_asks_.remove(id, false, now);
        applications_.settle(application, Applications::Removed::Ask, now);
        return std::nullopt;
    }
    if (object.partner.valid()) {
        release_swapped(id, spec, removal_detail(spec.type), is_echoed(spec.type), now);
        return std::nullopt;
    }
    const Applications::Removed removed =
        object.is(Allocation::Placeholder) ? Applications::Removed::Placeholder : Applications::Removed::Allocation;
    placements_.remove(id, removal_detail(spec.type), now);
    applications_.settle(application, removed, now);
    if (is_echoed(spec.type)) applications_.echo(spec.key, spec.application, spec.message);
    return std::nullopt;
}

/// Releases all allocations, then all asks unless they are to be kept, with one notification (S-470). The application
/// is settled even if there was nothing to release (S-146).
void Releases::release_all(ApplicationId id, const ReleaseSpec& spec, bool asks_only, Instant now) {
    std::vector<std::string> keys;
    if (!asks_only) keys = applications_.drop_allocations(id, removal_detail(spec.type), now);
    const bool keeps_asks = !asks_only && spec.keep_asks;
    if (keeps_asks && keys.empty()) return;
    if (!keeps_asks) applications_.drop_asks(id, now);
    applications_.settle(id,
                         asks_only    ? Applications::Removed::Ask
                         : keeps_asks ? Applications::Removed::Allocation
                                      : Applications::Removed::All,
                         now);
    if (!keys.empty() && is_echoed(spec.type)) applications_.echo(keys, spec.application, spec.message);
}

/// Releases a placeholder whose successor is in flight: the RM confirms the swap (G-037), or releases it otherwise
/// (G-043).
void Releases::release_swapped(AllocationId placeholder, const ReleaseSpec& spec, EventDetail detail, bool echoed,
                               Instant now) {
    const ApplicationId application = state_.allocations[placeholder].application;
    const bool confirmed = spec.type == TerminationType::PlaceholderReplaced;
    AllocationId real;
    if (confirmed || placeholder_swaps_.can_finish(placeholder)) {
        real = placeholder_swaps_.finish(placeholder, detail, now);
    } else {
        placeholder_swaps_.undo(state_.allocations[placeholder].partner, now);
        placements_.remove(placeholder, detail, now);
    }
    applications_.settle(application, Applications::Removed::Placeholder, now);
    if (echoed && !confirmed) applications_.echo(spec.key, spec.application, spec.message);
    if (real.valid()) placements_.notify_new(real);
}

} // namespace yk
