#include "libcore/scheduler/preemption_records.h"

#include <algorithm>

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
    }
    return {};
}

void PreemptionRecords::log(AllocationId ask, PreemptionResult result, Instant now) {
    std::vector<LogEntry>& entries = logs[ask];
    const auto same =
        std::find_if(entries.begin(), entries.end(), [result](const LogEntry& each) { return each.result == result; });
    LogEntry& entry = same == entries.end() ? entries.emplace_back() : *same;
    entry.result = result;
    entry.last = now;
    ++entry.count;
}

void PreemptionRecords::forget(AllocationId ask) {
    logs.erase(ask);
    no_victim_told.erase(ask);
}

} // namespace yk
