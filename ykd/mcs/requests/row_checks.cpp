// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/requests/row_checks.h"

#include <fmt/format.h>

#include <utility>

namespace yk::service {

using si::ErrorCode;

Error fault(ErrorCode code, std::string message, std::string path) {
    return Error::coded(static_cast<int>(code), std::move(message), std::move(path));
}

Result<void> check_name(const std::string& name, const char* path) {
    constexpr std::size_t kMost = 200; // bytes; application ids and keys are made of it (rs R-126)
    if (name.empty()) return fault(ErrorCode::MissingField, "it is missing", path);
    if (name.size() > kMost)
        return fault(ErrorCode::Invalid, fmt::format("it has {} bytes, of at most {}", name.size(), kMost), path);
    return {};
}

Result<mcs::Amounts> amounts_of(const si::Resources& resource) {
    mcs::Amounts amounts;
    for (const auto& [type, amount] : resource) {
        if (amount < 0) return fault(ErrorCode::Invalid, type + " is below 0", "body.resource");
        amounts.emplace(type, amount);
    }
    return amounts;
}

} // namespace yk::service
