// SPDX-License-Identifier: Apache-2.0
#include "libcore/state/preemption_attempt.h"

namespace yk {

std::string_view text_of(PreemptionResult result) noexcept {
    switch (result) {
    case PreemptionResult::Victims: return "preemption victims were announced";
    case PreemptionResult::Preconditions: return "preemption preconditions failed";
    case PreemptionResult::Exhausted: return "preemption attempts exhausted";
    case PreemptionResult::Guarantees: return "preemption does not satisfy guarantees";
    case PreemptionResult::NoHelp: return "preemption does not help";
    case PreemptionResult::Shortfall: return "preemption helps but falls short";
    case PreemptionResult::Released: return "victims released meanwhile";
    case PreemptionResult::NoVictim: return "no victim on the required node";
    case PreemptionResult::TimedOut: return "predicate call timed out";
    case PreemptionResult::Storm: return "preemption victims per minute used up";
    }
    return {};
}

std::string_view text_of(Excluded reason) noexcept {
    switch (reason) {
    case Excluded::No: return "candidate";
    case Excluded::OwnQueue: return "in the ask's own queue";
    case Excluded::Outside: return "outside the fence";
    case Excluded::Disabled: return "in a queue with preemption.policy disabled";
    case Excluded::Protected: return "in a queue within its guarantee";
    case Excluded::Type: return "shares no resource with the ask";
    case Excluded::RequiredNode: return "bound to its node";
    case Excluded::Leaving: return "on its way out already";
    case Excluded::Priority: return "of higher priority";
    case Excluded::Sinks: return "would take its queue below its guarantee";
    case Excluded::TooLarge: return "larger than what is left of the guarantee";
    }
    return {};
}

} // namespace yk
