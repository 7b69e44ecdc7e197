// SPDX-License-Identifier: Apache-2.0
// Fuzzes texts of scaling policies: never a crash, and what was read prints as a text that reads the same.

#include <string>
#include <string_view>

#include "libcore/base/check.h"
#include "protocol/mcs/policy_text.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size); // bytes as characters
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
