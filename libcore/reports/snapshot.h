// SPDX-License-Identifier: Apache-2.0
#pragma once
// Snapshots of the objects of a partition, for dumps and for people (docs/spec/interface.md, section 5): copies that
// may leave the owner thread. Pure: each reads the state as it is. Thread: its owner. Cost: what is copied.
//
// REQUIRES, here and in the other reports: the indexes are up to date (PartitionContext::refreshed()), since some
// answers show their order.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/ports/view.h"
#include "libcore/state/partition_state.h"

namespace yk {

[[nodiscard]] PartitionView partition_view(const PartitionState& state);

/// `path`: in any case; nullopt: there is no such queue. `subtree`: with all queues below it.
[[nodiscard]] std::optional<QueueView> queue_view(const PartitionState& state, std::string_view path, bool subtree);
[[nodiscard]] QueueView view_of(const PartitionState& state, const Queue& queue, bool subtree);

/// By id. `objects`: with asks and allocations.
[[nodiscard]] std::vector<ApplicationView> application_views(const PartitionState& state, ApplicationList list,
                                                             bool objects);
/// The live application with this id, else the latest completed one, else the rejected one (I-422); nullopt: there is
/// none. One that has more than `most` asks and allocations comes without them.
[[nodiscard]] std::optional<ApplicationView> application_view(const PartitionState& state, std::string_view id,
                                                              std::size_t most = kAllObjects);
[[nodiscard]] ApplicationView view_of(const PartitionState& state, const Application& application, bool objects);

[[nodiscard]] AskView view_of_ask(const PartitionState& state, AllocationId ask);
[[nodiscard]] AllocationView view_of_allocation(const PartitionState& state, AllocationId id);
[[nodiscard]] AskStatus ask_status(const PartitionState& state, std::string_view application, std::string_view key);
/// The ids of live applications that have a pending or placed ask with this key, sorted. Cost: all applications.
[[nodiscard]] std::vector<std::string> applications_with_key(const PartitionState& state, std::string_view key);

[[nodiscard]] std::vector<NodeView> node_views(const PartitionState& state, bool objects);
/// nullopt: there is no such node. `most`: as above.
[[nodiscard]] std::optional<NodeView> node_view(const PartitionState& state, std::string_view id,
                                                std::size_t most = kAllObjects);
[[nodiscard]] NodeView view_of(const PartitionState& state, const Node& node, bool objects);
[[nodiscard]] std::vector<ReservationView> reservation_views(const PartitionState& state);

} // namespace yk
