// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/mcs_operations.h"

#include "libcore/mcs/kinds.h"

namespace yk::service {

void McsOperations::resync(std::optional<rs::Kind> kind, Instant now) {
    for (const rs::Kind each : mcs::kKinds)
        if (!kind || *kind == each) manager_.request_resync(each, now);
    for (const auto& each : manager_.periodic()) manager_.run_periodic(each->name(), now);
}

void McsOperations::reconcile(rs::Kind kind, std::string_view id, Instant now) {
    manager_.enqueue(kind, id, now, rs::StateManager::Call::Anyway);
}

std::size_t McsOperations::retry(std::optional<rs::Kind> kind, std::string_view id, Instant now) {
    std::size_t count = 0;
    for (const rs::Kind each : mcs::kKinds)
        if (!kind || *kind == each) count += manager_.retry_dead_letters(each, id, now);
    return count;
}

Result<std::vector<mcs::DeadLetter>, rs::StoreError> McsOperations::dead_letters(const mcs::DeadLetterKey& after,
                                                                                 std::size_t most) {
    return mcs::DeadLetterTable{connection_}.list(after, static_cast<std::int64_t>(most));
}

} // namespace yk::service
