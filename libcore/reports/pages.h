// SPDX-License-Identifier: Apache-2.0
#pragma once
// Snapshots of a whole partition in pages, so that cycles run between one page and the next (docs/adr/0008). Each
// function begins behind the cursor, advances it, and lowers `budget`, which counts objects, by what it took. A budget
// above 0 afterwards means that there are no more pages. What exists from the first page to the last is in exactly one
// of them.
//
// Pure: reads the partition, whose indexes are up to date. Thread: its owner. Cost: the objects taken.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "libcore/ports/view.h"
#include "libcore/state/partition_state.h"

namespace yk {

/// In no order. An application with more than `most` asks and allocations comes without them.
[[nodiscard]] std::vector<ApplicationView> application_page(const PartitionState& state, ApplicationList list,
                                                            std::size_t most, ViewCursor& cursor, std::size_t& budget);
/// For lists by id of more applications than one page holds: adds ids and positions of those that match `status` and,
/// exactly, `queue` of the filter, in no order. Their views follow one by one, by application_at().
void add_to_roster(const PartitionState& state, ApplicationList list, ViewCursor& cursor, std::size_t& budget,
                   const ObjectFilter& filter, ApplicationRoster& roster);
/// The application at a position of the roster; nullopt: it was removed.
[[nodiscard]] std::optional<ApplicationView> application_at(const PartitionState& state, ApplicationList list,
                                                            std::uint64_t position, std::size_t most);

/// Queues without those below them, each before its children, siblings by name.
[[nodiscard]] std::vector<QueueView> queue_page(const PartitionState& state, ViewCursor& cursor, std::size_t& budget);
[[nodiscard]] std::vector<NodeView> node_page(const PartitionState& state, std::size_t most, ViewCursor& cursor,
                                              std::size_t& budget);
/// Asks or allocations that match the filter, by index.
[[nodiscard]] std::vector<AskView> ask_page(const PartitionState& state, const ObjectFilter& filter, ViewCursor& cursor,
                                            std::size_t& budget);
[[nodiscard]] std::vector<AllocationView> allocation_page(const PartitionState& state, const ObjectFilter& filter,
                                                          ViewCursor& cursor, std::size_t& budget);

/// Users or groups with usage or a limit that names them, for join_usage(). `only`: the one with this name; empty: all.
[[nodiscard]] UsagePage usage_page(const PartitionState& state, bool groups, std::string_view only, ViewCursor& cursor,
                                   std::size_t& budget);
/// The same as one page, by name (C-476).
[[nodiscard]] std::vector<UsageView> usage_views(const PartitionState& state, bool groups);
/// Applications with what is charged to users and groups for them, in no order.
[[nodiscard]] std::vector<ChargedApplicationView> charged_page(const PartitionState& state, ViewCursor& cursor,
                                                               std::size_t& budget);

} // namespace yk
