// SPDX-License-Identifier: Apache-2.0
// Fuzzes texts of scaling policies and of the statuses of schedules: never a crash, and what was read prints as a text
// that reads the same.

#include <string>
#include <string_view>

#include "libcore/base/check.h"
#include "protocol/mcs/policy_text.h"
#include "protocol/mcs/schedule_text.h"

namespace {

void try_schedule_status(std::string_view text) {
    const auto status = yk::mcs::parse_schedule_status(text);
    if (!status.ok()) return;
    const std::string printed = yk::mcs::schedule_status_text(*status);
    const auto again = yk::mcs::parse_schedule_status(printed);
    YK_CHECK(again.ok() && *again == *status, "a printed status reads the same");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size); // bytes as characters
    try_schedule_status(text);
    const auto policy = yk::mcs::parse_policy(text);
    if (!policy.ok()) {
        YK_CHECK(!policy.error().message.empty(), "a refusal says why");
        return 0;
    }
    const std::string printed = yk::mcs::policy_text(*policy);
    const auto again = yk::mcs::parse_policy(printed);
    YK_CHECK(again.ok() && *again == *policy, "a printed policy reads the same");
    YK_CHECK(yk::mcs::policy_text(*again) == printed, "equal policies have equal texts");
    return 0;
}
