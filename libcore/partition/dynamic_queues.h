// SPDX-License-Identifier: Apache-2.0
#pragma once
// DynamicQueues: queues made for applications: creation, child templates, quota tags (C-230 to C-243), and templates
// that are applied again (B-10).
//
// Owner: PartitionContext. Thread: the partition's owner.

#include "libcore/changes/requests.h"
#include "libcore/partition/queues.h"
#include "libcore/planning/preemption_checks.h"
#include "libcore/planning/scheduling_indexes.h"
#include "libcore/state/leaf_plan.h"
#include "libcore/state/partition_state.h"

namespace yk {

class DynamicQueues {
public:
    DynamicQueues(PartitionState& state, SchedulingIndexes& indexes, PreemptionChecks& checks, Queues& queues)
        : state_(state), indexes_(indexes), checks_(checks), queues_(queues) {}
    DynamicQueues(const DynamicQueues&) = delete;
    DynamicQueues& operator=(const DynamicQueues&) = delete;

    /// The leaf as it will be with the application in it. Makes nothing yet.
    [[nodiscard]] LeafPlan plan_leaf(const placement::Outcome& placed, const ApplicationSpec& spec);
    /// Why the leaf cannot hold the sum of the application's placeholders, `ask`; nullopt: it can (C-159, C-238).
    [[nodiscard]] std::optional<Refusal> refuse_gang(const LeafPlan& plan, const ApplicationSpec& spec,
                                                     const Resource& ask) const;
    /// Makes the queues of the plan that are missing: dynamic parents, and a dynamic leaf (C-232). Sets the leaf's
    /// limits.
    Queue& commit_leaf(LeafPlan plan, Instant now);
    /// The dynamic queues to which the configuration applies a template again.
    [[nodiscard]] std::vector<TemplatePlan> plan_templates(const config::Partition& config) const;
    /// Applies the template to one of them. REQUIRES: the queues of the configuration are made. The caller brings all
    /// indexes up to date afterwards.
    void commit_template(TemplatePlan plan, Instant now);
    /// The same as views, with the values before and after.
    [[nodiscard]] std::vector<ReappliedView> template_changes(const config::Partition& config) const;

private:
    void take_tags(const QueueTags& tags, LeafPlan& plan);

    PartitionState& state_;
    SchedulingIndexes& indexes_;
    PreemptionChecks& checks_;
    Queues& queues_;
};

} // namespace yk
