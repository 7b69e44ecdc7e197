// SPDX-License-Identifier: Apache-2.0
#pragma once
// The lists of ykctl top.

#include <array>
#include <cstdint>
#include <string>

#include "ykctl/render/output.h"

namespace yk::cli {

enum class Pane { Queues, Nodes, Applications, Waiting };
inline constexpr std::array kPanes{Pane::Queues, Pane::Nodes, Pane::Applications, Pane::Waiting};

/// `1 queues`: the key that shows it, and what it shows.
[[nodiscard]] const char* title_of(Pane pane);
/// The columns; ages are those at `now`, in Unix nanoseconds. The first one is the name.
[[nodiscard]] ListLayout layout_of(Pane pane, std::int64_t now, const Style& style);
/// The column by which the list is sorted at first, and whether the largest comes first.
struct FirstOrder {
    std::size_t column = 0;
    bool descending = false;
};
[[nodiscard]] FirstOrder first_order(Pane pane);

} // namespace yk::cli
