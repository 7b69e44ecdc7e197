// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why something is as it is, for people: each function evaluates the state once, with the planner's own tests, so that
// scheduler and explanations cannot disagree (I-354).
//
// Pure: reads the partition, whose indexes are up to date. Thread: its owner. Cost: the nodes once for each shape that
// is explained, or all groups of asks for a node.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/ports/explain.h"
#include "libcore/state/partition_state.h"
#include "libcore/state/victim_index.h"

namespace yk {

/// Why the application has pending asks, with the reasons of all of them together.
[[nodiscard]] Explanation explain_application(const PartitionState& state, std::string_view application, Instant now);
/// Why the ask is pending, or where it is placed.
[[nodiscard]] Explanation explain_ask(const PartitionState& state, std::string_view application, std::string_view key,
                                      Instant now);
/// Which allocations would be preempted for the ask if it attempted that now, or why none. `victims`: an index of the
/// state, which may be brought up to date.
[[nodiscard]] Explanation explain_preemption(const PartitionState& state, VictimIndex& victims,
                                             std::string_view application, std::string_view key, Instant now);
/// What the user may still use at each queue from `path` to the root, and the one of `groups` that counts (B-09).
/// REQUIRES: `path` is the root or below it, in lower case, with legal names.
[[nodiscard]] UserExplanation explain_user(const PartitionState& state, std::string_view user,
                                           const std::vector<std::string>& groups, std::string_view path);
/// Why nothing is placed on the node.
[[nodiscard]] NodeExplanation explain_node(const PartitionState& state, std::string_view node);
/// What would become of the application if it were submitted now (B-08).
[[nodiscard]] PlacementExplanation explain_placement(const PartitionState& state, const ApplicationSpec& spec);
/// The placement rules (C-475).
[[nodiscard]] std::vector<RuleView> rule_views(const PartitionState& state);

/// An application that announced another sum than that of its placeholders stays Accepted (G-006, G-011). nullopt: the
/// sums agree, or some placeholders may still come.
[[nodiscard]] std::optional<ExplainReason> placeholder_mismatch(const PartitionState& state,
                                                                const Application& application);

// --- what explain_ask and explain_preemption begin with ----------------------------------------------------------

/// Fills in which ask it is and whose; none: there is no such ask.
[[nodiscard]] AllocationId introduce_ask(const PartitionState& state, std::string_view application,
                                         std::string_view key, Explanation& explanation);
/// Whether it is placed, or about to be, which is the whole answer; else fills in since when it waits.
[[nodiscard]] bool explain_settled(const PartitionState& state, const Allocation& ask, Explanation& explanation);

} // namespace yk
