// Health checks 10 and 11 (interface.md 5.6): sums over the objects themselves, without pictures, because they run in
// the background while the scheduler works.

#include <unordered_map>

#include "libcore/scheduler/partition_context.h"

namespace yk {

namespace {

void list(HealthCheckView& check, const std::string& what) {
    check.succeeded = false;
    check.diagnosis += (check.diagnosis.empty() ? "wrong sum: " : ", ") + what;
}

/// What the applications of a leaf, or the children of a parent, have.
void verify_queue(const PartitionState& state, const Queue& queue, HealthCheckView& check) {
    Resource sum;
    for (const ApplicationId id : queue.applications) {
        sum.add(state.applications[id].allocated);
        sum.add(state.applications[id].placeholder);
    }
    for (const auto& [name, child] : queue.children) {
        sum.add(child->allocated);
        verify_queue(state, *child, check);
    }
    if (!sum.equals(queue.allocated)) list(check, state.full_name + " " + queue.path);
}

} // namespace

void PartitionContext::usage_health(HealthCheckView& queues, HealthCheckView& users) const {
    verify_queue(s_, *s_.root, queues);
    std::unordered_map<std::uint32_t, Resource> held; // by node of usage, its own applications only
    s_.applications.for_each([&](ApplicationId id) {
        const Application& application = s_.applications[id];
        for (UsageNodeId at = application.user_usage; at.valid(); at = s_.users[at].parent) {
            held[at.index].add(application.allocated);
            held[at.index].add(application.placeholder);
        }
    });
    for (const auto& [name, tracker] : s_.users.users())
        for (const auto& [path, id] : tracker.nodes) {
            const auto found = held.find(id.index);
            if (!s_.users[id].usage.equals(found == held.end() ? Resource{} : found->second))
                list(users, s_.full_name + " user " + name + " at " + path);
        }
}

} // namespace yk
