// SPDX-License-Identifier: Apache-2.0
#pragma once
// The stupid twin of ClusterContext: the same door, one reference partition per name.

#include <memory>

#include "libcore/base/result.h"
#include "libcore/cluster/cluster_context.h"
#include "tests/differential/reference_partition.h"

namespace yk::reference {

class Cluster {
public:
    Cluster(std::string rm_id, const Settings& settings, Callbacks& callbacks, EventSink& events)
        : rm_id_(std::move(rm_id)), ports_{callbacks, events, settings, {}} {}

    [[nodiscard]] Result<void> configure(const config::Configuration& config, Instant now);
    void apply(const AllocationRequest& request, Instant now);
    void apply(const ApplicationRequest& request, Instant now);
    void apply(const NodeRequest& request, Instant now);
    [[nodiscard]] std::optional<Instant> next_timer() const;
    void fire_timers(Instant now);
    CycleOutcome cycle(Instant now);

    [[nodiscard]] std::vector<std::string> partition_names() const;
    [[nodiscard]] std::optional<PartitionView> partition_view(std::string_view partition) const;
    [[nodiscard]] std::optional<QueueView> queue_view(std::string_view partition, std::string_view path,
                                                      bool subtree) const;
    [[nodiscard]] std::vector<ApplicationView> application_views(std::string_view partition, ApplicationList list,
                                                                 bool objects) const;
    [[nodiscard]] std::vector<NodeView> node_views(std::string_view partition, bool objects) const;
    [[nodiscard]] std::vector<ReservationView> reservation_views(std::string_view partition) const;
    [[nodiscard]] std::vector<UsageView> user_views(std::string_view partition) const;
    [[nodiscard]] std::vector<UsageView> group_views(std::string_view partition) const;

private:
    [[nodiscard]] std::string short_name(std::string_view partition) const;
    [[nodiscard]] std::string full_name(std::string_view partition) const;
    [[nodiscard]] std::string running_name(const std::string& written) const;
    [[nodiscard]] Partition* find(std::string_view partition) const;
    void ask_list(const std::vector<AskSpec>& asks, bool placements, Instant now);
    [[nodiscard]] std::string partition_of(const NodeSpec& spec) const;

    std::string rm_id_;
    Ports ports_;
    std::map<std::string, std::unique_ptr<Partition>> partitions_; // by short name
};

} // namespace yk::reference
