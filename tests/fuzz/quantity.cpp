// SPDX-License-Identifier: Apache-2.0
// Fuzzes quantities, durations and ACLs: never a crash, and what was read prints as a text that reads the same.

#include <string_view>

#include "libcore/base/check.h"
#include "libcore/config/acl.h"
#include "libcore/config/duration.h"
#include "libcore/config/quantity.h"

using namespace yk::config;

namespace {

void check_quantity(std::string_view type, std::string_view text) {
    const auto value = parse_quantity(type, text);
    if (!value.ok()) {
        YK_CHECK(!value.error().message.empty(), "a refusal says why");
        return;
    }
    YK_CHECK(*value >= 0, "quantities are not negative");
    const auto again = parse_quantity(type, quantity_text(type, *value));
    YK_CHECK(again.ok() && *again == *value, "a printed quantity reads the same");
}

void check_duration(std::string_view text) {
    const auto value = parse_duration(text);
    if (!value.ok()) return;
    const auto again = parse_duration(duration_text(*value));
    YK_CHECK(again.ok() && *again == *value, "a printed duration reads the same");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size); // bytes as characters
    check_quantity("vcore", text);
    check_quantity("memory", text);
    check_duration(text);
    static_cast<void>(parse_acl(text));
    return 0;
}
