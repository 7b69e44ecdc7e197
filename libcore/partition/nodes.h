// SPDX-License-Identifier: Apache-2.0
#pragma once
// Nodes: the life of nodes, and the capacity of the partition, which is their sum (S-480 to S-485).
//
// Owner: PartitionContext. Thread: the partition's owner.

#include <span>

#include "libcore/changes/admission.h"
#include "libcore/changes/foreign_allocations.h"
#include "libcore/changes/placeholder_swaps.h"
#include "libcore/changes/placements.h"
#include "libcore/changes/reservations.h"
#include "libcore/partition/applications.h"
#include "libcore/partition/ask_requests.h"
#include "libcore/partition/queues.h"
#include "libcore/planning/scheduling_indexes.h"
#include "libcore/state/partition_state.h"

namespace yk {

class Nodes {
public:
    Nodes(PartitionState& state, SchedulingIndexes& indexes, Reservations& reservations, Placements& placements,
          PlaceholderSwaps& placeholder_swaps, Admission& admission, ForeignAllocations& foreign_allocations,
          Queues& queues, Applications& applications, AskRequests& ask_requests)
        : state_(state),
          indexes_(indexes),
          reservations_(reservations),
          placements_(placements),
          placeholder_swaps_(placeholder_swaps),
          admission_(admission),
          foreign_allocations_(foreign_allocations),
          queues_(queues),
          applications_(applications),
          ask_requests_(ask_requests) {}
    Nodes(const Nodes&) = delete;
    Nodes& operator=(const Nodes&) = delete;

    /// Removes the node with all that is on it (S-484).
    void remove(NodeId id, Instant now);
    /// Creates the node with all of these allocations; else, without a change, why it is refused (S-481).
    [[nodiscard]] std::optional<Refusal> create(const NodeSpec& spec, std::span<const AskSpec> existing, Instant now);
    /// Whether the node exists with this capacity, these devices, attributes and reported occupied resources.
    [[nodiscard]] bool is_same(const NodeSpec& spec);
    /// The actions UPDATE, DRAIN, SCHEDULABLE and DECOMISSION; else why the change is refused.
    [[nodiscard]] std::optional<Refusal> change(const NodeSpec& spec, Instant now);
    /// Notifies the RM of the allocations that the node brought, after that of the node itself (S-481).
    void announce_existing(const NodeSpec& spec);

private:
    [[nodiscard]] Holdings claim_of(const NodeSpec& spec, std::span<const AskSpec> existing) const;
    void capacity_changed(const Resource& before, const Resource& after, Instant now);
    [[nodiscard]] std::optional<Refusal> refuse_existing(std::string_view node, std::span<const AskSpec> existing);
    [[nodiscard]] std::optional<Refusal> refuse_amounts(const NodeSpec& spec, const Node* node, const char* what);
    void set_devices(NodeId id, const NodeSpec& spec);
    void hand_out_devices(NodeId id, ResourceId type);
    void update_node(NodeId id, const NodeSpec& spec, Instant now);
    void set_schedulable(NodeId id, bool schedulable, Instant now);
    void emit_schedulable(const Node& node, Instant now);

    PartitionState& state_;
    SchedulingIndexes& indexes_;
    Reservations& reservations_;
    Placements& placements_;
    PlaceholderSwaps& placeholder_swaps_;
    Admission& admission_;
    ForeignAllocations& foreign_allocations_;
    Queues& queues_;
    Applications& applications_;
    AskRequests& ask_requests_;
};

} // namespace yk
