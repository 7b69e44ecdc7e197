// SPDX-License-Identifier: Apache-2.0
#include "libcore/changes/admission.h"

#include <algorithm>

namespace yk {

namespace {

std::uint64_t bytes_of_group(std::string_view task_group) {
    return task_group.empty() ? 0 : bytes_of(task_group) + kPerEntry;
}

} // namespace

std::uint64_t most_bytes(const AskSpec& spec) {
    return bytes_of(spec.key) + bytes_of(spec.tags) + bytes_of_group(spec.task_group);
}

std::optional<Refusal> Admission::refuse_claim(const std::string& whose, const Holdings& claim, bool fact) {
    while (auto shortage = state_.budget_meter.shortage(claim, fact))
        if (shortage->what != Held::Names || !(state_.ended.forget_oldest() || parked_asks_.forget_reasons()))
            return Refusal{whose + ": " + shortage->text, ElementCode::NoCapacity};
    return std::nullopt;
}

std::optional<Refusal> Admission::refuse_ask_claim(const AskSpec& spec, ApplicationId id, AllocationId known,
                                                   bool fact) {
    Holdings claim;
    if (!known.valid()) {
        claim = claim.plus(Held::Asks, 1).plus(Held::Names, most_bytes(spec));
        if (id.valid() &&
            !state_.applications[id].user_usage.valid()) // will be tracked at each level, for user and group
            claim.of(Held::Names) += std::uint64_t{2} * kPerEntry * (state_.applications[id].queue->depth + 1);
    } else {
        const Allocation& object = state_.allocations[known];
        const bool replaced = object.is(Allocation::Foreign) || !(fact || object.is(Allocation::Placed));
        if (!replaced) return std::nullopt;
        if (bytes_of(spec.tags) > bytes_of(state_.tags.tags(object.tags))) claim.of(Held::Names) += bytes_of(spec.tags);
        if (spec.task_group != state_.texts.text(object.task_group))
            claim.of(Held::Names) += bytes_of_group(spec.task_group);
    }
    if (!state_.budget_meter.shortage(claim, fact)) return std::nullopt; // no text is made for what is accepted
    std::string whose = "allocation key '" + std::string{spec.key} + "'";
    if (!spec.application.empty()) whose += " of application '" + std::string{spec.application} + "'";
    return refuse_claim(whose + (known.valid() ? " stays as it was" : ""), claim, fact);
}

} // namespace yk
