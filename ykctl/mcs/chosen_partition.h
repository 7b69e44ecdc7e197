// SPDX-License-Identifier: Apache-2.0
#pragma once
// The partition of -p for lists of MCS, which have all partitions.

#include <string>

#include "ykctl/client/context.h"
#include "ykctl/render/text.h"

namespace yk::cli {

/// Whether -p, if that is given, means the partition of the item.
[[nodiscard]] inline bool is_in_partition(const Context& context, const wire::Value& item) {
    const auto& partition = context.settings().partition;
    return !partition || text_of(item, "partition") == *partition;
}

/// `no nodes`, `no nodes in partition gpu`: what an empty list says.
[[nodiscard]] inline std::string nothing_of(const Context& context, const std::string& items) {
    const auto& partition = context.settings().partition;
    return "no " + items + (partition ? " in partition " + printable(*partition) : "");
}

} // namespace yk::cli
