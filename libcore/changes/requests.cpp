// SPDX-License-Identifier: Apache-2.0
#include "libcore/changes/requests.h"

#include <algorithm>

#include "libcore/resources/resource.h"

namespace yk {

bool is_foreign(const AskSpec& spec) {
    return std::any_of(spec.tags.begin(), spec.tags.end(), [](const Tag& tag) { return tag.key == kForeign; });
}

bool any_negative(const Quantities& quantities) {
    return std::any_of(quantities.begin(), quantities.end(), [](const Quantity& q) { return q.value < 0; });
}

std::string quoted(std::string_view text) {
    return "'" + std::string{text} + "'";
}

Refusal too_many_types(const std::string& what, std::uint64_t limit) {
    return {what + ": a partition holds at most " + std::to_string(limit) +
                " resource types (rmMaxResourceTypes of ykd.conf, at most " + std::to_string(kMaxResourceTypes) + ")",
            ElementCode::NoCapacity};
}

} // namespace yk
