// SPDX-License-Identifier: Apache-2.0
#include "libcore/state/preemption_records.h"

#include <algorithm>

namespace yk {

void PreemptionRecords::log(AllocationId ask, PreemptionResult result, Instant now) noexcept {
    std::vector<LogEntry>& entries = logs[ask];
    const auto same =
        std::find_if(entries.begin(), entries.end(), [result](const LogEntry& each) { return each.result == result; });
    LogEntry& entry = same == entries.end() ? entries.emplace_back() : *same;
    entry.result = result;
    entry.last = now;
    ++entry.count;
}

void PreemptionRecords::forget(AllocationId ask) noexcept {
    logs.erase(ask);
    attempts.erase(ask);
    no_victim_emitted.erase(ask);
}

} // namespace yk
