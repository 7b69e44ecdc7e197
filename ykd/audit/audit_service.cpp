// SPDX-License-Identifier: Apache-2.0
#include "ykd/audit/audit_service.h"

#include <algorithm>

namespace yk::service {

void AuditService::audit(const CallPtr& call) {
    constexpr std::uint32_t kMost = 1000; // records are small: an answer has about as many KiB at most
    const auto request = call->decode<si::AuditRequest>();
    if (!request) return;
    const std::size_t count = std::clamp(request->count, 1U, kMost);
    AuditLog::Page page = log_.read(request->from.value_or(log_.first_of_last(request->last)), count);
    call->ok({{"records", std::move(page.records)}, {"next", page.next}, {"lost", page.lost}, {"file", log_.file()}});
}

} // namespace yk::service
