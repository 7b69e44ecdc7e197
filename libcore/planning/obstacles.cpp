// SPDX-License-Identifier: Apache-2.0
#include "libcore/planning/obstacles.h"

#include "libcore/base/pluralize.h"
#include "libcore/state/partition_state.h"

namespace yk {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

class Obstacles {
public:
    Obstacles(const PartitionState& state, const Allocation& ask)
        : state_(state), ask_(ask), application_(state_.applications[ask.application]) {}

    std::vector<Obstacle> find(Instant now) {
        if (state_.state == ObjectState::Stopped) hold("QUEUE_STOPPED", state_.full_name, "the partition is stopped");
        if (application_.backing_off && *application_.backoff_until > now) {
            const std::int64_t left = ((*application_.backoff_until - now).count() + kSecond - 1) / kSecond;
            hold("BACKOFF", application_.id,
                 "the application backs off for " + pluralize(left, "second") + " after asks that found no node");
        }
        find_gang();
        find_user_slots();
        find_queue_slots();
        return std::move(found_);
    }

private:
    void hold(std::string code, std::string object, std::string text) {
        found_.push_back({std::move(code), std::move(object), std::move(text), false});
    }
    void limit(std::string code, std::string_view object, std::string text) {
        found_.push_back({std::move(code), std::string{object}, std::move(text), true});
    }

    /// Real asks wait while their task group has placeholders (G-030); with property application.gang.order a gang may
    /// wait for another one of its queue.
    void find_gang() {
        if (!ask_.group.valid()) return;
        if (state_.groups[ask_.group].gang_held)
            hold("GANG", application_.id,
                 "the gang waits for another of its queue that has begun, since both do not fit");
        if (!state_.groups[ask_.group].replaceable) return;
        const TaskGroup& group = application_.gang.groups.find(ask_.task_group)->second;
        const auto left = static_cast<std::int64_t>(group.count - group.replaced - group.timed_out);
        hold("GANG", state_.texts.text(ask_.task_group),
             "waits to take the place of one of " + pluralize(left, "placeholder") + " of its task group, " +
                 std::to_string(group.free.size()) + " of them placed and free");
    }

    void find_user_slots() {
        if (!application_.needs_user_slot()) return;
        for (UsageNodeId id : {application_.user_usage, application_.group_usage})
            for (; id.valid(); id = state_.users[id].parent) {
                const UsageNode& node = state_.users[id];
                if (node.has_slot()) continue;
                limit("APP_LIMIT", node.path,
                      owner_text(node) + " runs " + std::to_string(node.running) + " of at most " +
                          pluralize(node.limit->max_applications, "application"));
            }
    }

    void find_queue_slots() {
        if (!application_.needs_slot()) return;
        for (const Queue* queue = application_.queue; queue != nullptr; queue = queue->parent) {
            if (queue->has_free_slot()) continue;
            limit("QUEUE_MAX_APPS", queue->path,
                  "runs " + std::to_string(queue->running) + " (and starts " + std::to_string(queue->allocating) +
                      ") of at most " + pluralize(queue->max_applications, "application"));
        }
    }

    const PartitionState& state_;
    const Allocation& ask_;
    const Application& application_;
    std::vector<Obstacle> found_;
};

} // namespace

std::vector<Obstacle> obstacles_of(const PartitionState& state, const Allocation& ask, Instant now) {
    return Obstacles{state, ask}.find(now);
}

std::string owner_text(const UsageNode& usage) {
    return (usage.tracker->group ? "group " : "user ") + std::string{usage.tracker->name};
}

} // namespace yk
