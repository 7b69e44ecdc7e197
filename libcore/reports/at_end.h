// SPDX-License-Identifier: Apache-2.0
#pragma once
// Amounts at the end of the range: sums that reached it are not exact any more (S-003), so a difference between two of
// them is no damage. Costs a look at each amount.

#include <cstdint>
#include <initializer_list>

#include "libcore/base/saturate.h"
#include "libcore/resources/resource.h"

namespace yk {

/// Whether any of the amounts is there.
[[nodiscard]] inline bool is_at_end(std::initializer_list<const Resource*> all) {
    bool at_end = false;
    const auto look = [&at_end](ResourceId, std::int64_t amount) {
        at_end = at_end || amount >= kMaxQuantity || amount <= -kMaxQuantity;
    };
    for (const Resource* amounts : all) amounts->for_each(look);
    return at_end;
}

} // namespace yk
