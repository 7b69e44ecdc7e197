// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads a list of MCS page by page, for list_or_watch().

#include <optional>

#include "ykctl/client/context.h"
#include "ykctl/client/watch.h"

namespace yk::cli {

/// Hands on the items of each page as they are.
[[nodiscard]] inline std::optional<Failure> read_items(Context& context, const si::McsReadRequest& request,
                                                       const TakeItems& take) {
    return context.call_pages(request, [&](const wire::Value& page) -> std::optional<Failure> {
        const wire::Value& items = member_of(page, "items");
        take({items.begin(), items.end()});
        return std::nullopt;
    });
}

} // namespace yk::cli
