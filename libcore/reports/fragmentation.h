// SPDX-License-Identifier: Apache-2.0
#pragma once
// How fragmented a partition is (F-034), in pages, as libcore/reports/pages.h has them.

#include "libcore/ports/fragmentation_view.h"
#include "libcore/state/partition_state.h"

namespace yk {

/// The sums over the next nodes, which add_page() puts together. `with_nodes`: and each of them by itself.
[[nodiscard]] FragmentationView fragmentation_page(const PartitionState& state, bool with_nodes, ViewCursor& cursor,
                                                   std::size_t& budget);
/// Adds the next page.
void add_page(FragmentationView& to, FragmentationView&& page);

} // namespace yk
