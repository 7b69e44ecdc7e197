// Answers of ClusterContext about one partition: what is not there is not found (I-354).

#include "libcore/scheduler/cluster_context.h"
#include "libcore/scheduler/partition_context.h"

namespace yk {

Explanation ClusterContext::explain_application(std::string_view partition, std::string_view application,
                                                Instant now) const {
    const PartitionContext* found = find_partition(partition);
    return found == nullptr ? Explanation{} : found->explain_application(application, now);
}

AskPlace ClusterContext::ask_place(std::string_view partition, std::string_view application,
                                   std::string_view key) const {
    const PartitionContext* found = find_partition(partition);
    return found == nullptr ? AskPlace{} : found->ask_place(application, key);
}

Explanation ClusterContext::explain_ask(std::string_view partition, std::string_view application, std::string_view key,
                                        Instant now) const {
    const PartitionContext* found = find_partition(partition);
    return found == nullptr ? Explanation{} : found->explain_ask(application, key, now);
}

Explanation ClusterContext::explain_preemption(std::string_view partition, std::string_view application,
                                               std::string_view key, Instant now) const {
    const PartitionContext* found = find_partition(partition);
    return found == nullptr ? Explanation{} : found->explain_preemption(application, key, now);
}

std::optional<PlacementExplanation> ClusterContext::explain_placement(const ApplicationSpec& spec) const {
    const PartitionContext* found = find_partition(spec.partition);
    return found == nullptr ? std::nullopt : std::optional{found->explain_placement(spec)};
}

UserExplanation ClusterContext::explain_user(std::string_view partition, std::string_view user,
                                             const std::vector<std::string>& groups, std::string_view path) const {
    const PartitionContext* found = find_partition(partition);
    return found == nullptr ? UserExplanation{} : found->explain_user(user, groups, path);
}

NodeExplanation ClusterContext::explain_node(std::string_view partition, std::string_view node) const {
    const PartitionContext* found = find_partition(partition);
    return found == nullptr ? NodeExplanation{} : found->explain_node(node);
}

} // namespace yk
