// SPDX-License-Identifier: Apache-2.0
// Why nothing is placed on a node: its state, its reservations, and how the pending asks of the partition would fit on
// it (I-354).

#include "libcore/reports/explain.h"

#include <algorithm>
#include <array>

#include "libcore/base/pluralize.h"
#include "libcore/planning/headroom.h"
#include "libcore/planning/obstacles.h"

#include "libcore/reports/snapshot.h"

namespace yk {

namespace {

constexpr std::int64_t kMostNamed = 5; // allocations in a conflict of devices

/// Walks once over the groups of equal asks, with the planner's own tests.
class NodeExplainer {
public:
    NodeExplainer(const PartitionState& state, NodeId id, NodeExplanation& into)
        : state_(state), id_(id), node_(state.nodes[id]), into_(into) {}

    void run() {
        state_.groups.for_each([this](GroupId id) { count(id); });
        for (const ResourceId id : state_.resources.by_name())
            if (lacking_[id] > 0) into_.pending.lacking.emplace_back(state_.resources.name(id), lacking_[id]);
        explain_state();
        explain_conflict();
        explain_reservations();
        explain_fit();
        explain_refusals();
        explain_held();
        into_.verdict = verdict();
    }

private:
    void count(GroupId id) {
        const AskGroup& group = state_.groups[id];
        const Shape& shape = state_.shapes[group.shape];
        if (shape.is_pinned() && shape.required_node != node_.id) return;
        NodePendingView& pending = into_.pending;
        pending.asks += group.count;
        if (shape.is_pinned()) pending.required += group.count;
        const bool too_large = !could_take(node_, shape);
        if (too_large) pending.too_large += group.count;
        if (!too_large && is_short_of_some(shape.resource)) short_of_some_ = true;
        if (!takes(node_, shape)) return count_lacking(group, shape);
        pending.fitting += group.count;
        if (shape.is_pinned()) required_fitting_ += group.count;
        if (!shape.is_pinned() && !node_.schedulable) drained_ += group.count;
        count_reserved(id, shape.is_pinned());
        if (!is_held(group, shape)) return;
        pending.held += group.count;
        if (held_application_.empty()) held_application_ = state_.applications[group.application].id;
    }

    /// Whether something is available of each type that is wanted, though perhaps not enough.
    [[nodiscard]] bool is_short_of_some(const Resource& wanted) const {
        bool some = true;
        wanted.for_each(
            [&](ResourceId id, std::int64_t amount) { some = some && (amount <= 0 || node_.available.get(id) > 0); });
        return some;
    }

    void count_lacking(const AskGroup& group, const Shape& shape) {
        shape.resource.for_each([&](ResourceId id, std::int64_t wanted) {
            if (wanted > 0 && wanted > node_.available.get(id)) lacking_[id] += group.count;
        });
    }

    /// A reservation keeps the node from all asks but those that have one there (S-343). One of an ask without required
    /// node does not keep it from an ask that requires it (S-432).
    void count_reserved(GroupId id, bool pinned) {
        std::int64_t own = 0;
        bool against = false;
        for (const ReservationId held : node_.reservations) {
            const Allocation& ask = state_.allocations[state_.reservations[held].ask];
            if (ask.group == id) ++own;
            against = against || !pinned || state_.shapes[ask.shape].is_pinned();
        }
        if (against) kept_from_ += state_.groups[id].count - own;
    }

    /// Whether the planner would not even look at nodes for the group.
    [[nodiscard]] bool is_held(const AskGroup& group, const Shape& shape) const {
        const Application& application = state_.applications[group.application];
        if (group.replaceable || group.gang_held || !is_considered(state_, application)) return true;
        if (state_.refusing_user_limit(application, shape.resource).valid()) return true;
        for (const Queue* queue = application.queue; queue != nullptr; queue = queue->parent)
            if (queue->state == ObjectState::Stopped) return true;
        return queue_verdict(state_, *application.queue, shape).queue != nullptr;
    }

    void add(std::string code, std::string object, std::string text, std::int64_t asks) {
        into_.reasons.push_back({std::move(code), std::move(object), std::move(text), {}, {}, {}, asks});
    }

    void explain_state() {
        if (state_.state == ObjectState::Stopped)
            add("QUEUE_STOPPED", state_.full_name, "the partition is stopped", into_.pending.asks);
        if (!node_.schedulable)
            add("NODE_UNSCHEDULABLE", node_.id, "drained: it takes only asks that require it", drained_);
    }

    /// What has not the devices that it should have (F-006).
    void explain_conflict() {
        if (!node_.devices || !node_.devices->in_conflict()) return;
        std::string names;
        std::int64_t count = 0;
        node_.devices->for_each([&](DeviceOwner owner, const NodeDevices::Hold& hold) {
            if (hold.on != 0 || ++count > kMostNamed) return;
            const AllocationId id = allocation_of(owner);
            names += (names.empty() ? "" : ", ") +
                     (id.valid() ? std::string{state_.allocations[id].key.view()} : "something in quarantine");
        });
        if (count > kMostNamed) names += ", ...";
        add("DEVICE_CONFLICT", node_.id, "without the devices that they should have: " + names, 0);
    }

    void explain_reservations() {
        for (const ReservationId id : node_.reservations) {
            const Reservation& held = state_.reservations[id];
            const std::string key{state_.allocations[held.ask].key.view()};
            const std::string& application = state_.applications[held.application].id;
            add("RESERVED_OTHER", application, "kept for ask " + key + " of application " + application, kept_from_);
            into_.reasons.back().need = state_.map_of(state_.resource_of(state_.allocations[held.ask]));
        }
        const NodePendingView& pending = into_.pending;
        if (pending.required > 0)
            add("REQUIRED_NODE", node_.id,
                pluralize(pending.required, "pending ask") + " can run nowhere else, there is room for " +
                    std::to_string(required_fitting_),
                pending.required - required_fitting_);
    }

    void explain_fit() {
        const NodePendingView& pending = into_.pending;
        if (pending.fitting == pending.asks) return;
        std::string text = "of " + pluralize(pending.asks, "pending ask") + " " + std::to_string(pending.fitting) +
                           (pending.fitting == 1 ? " fits now" : " fit now");
        if (pending.too_large > 0)
            text += ", " + std::to_string(pending.too_large) + " would not even if the node were empty";
        for (const auto& [name, asks] : pending.lacking)
            text += "; " + std::to_string(asks) + (asks == 1 ? " lacks " : " lack ") + name +
                    (node_.capacity.get(state_.resources.find(name)) > 0 ? "" : ", which the node does not have");
        add("NODE_FIT", node_.id, text, pending.asks - pending.fitting);
    }

    /// For how many asks the RM has refused the node (I-377).
    void explain_refusals() {
        std::int64_t asks = 0;
        std::string last;
        for (const auto& [ask, inquiry] : state_.inquiries.by_ask) {
            if (!inquiry.has_refused(id_)) continue;
            ++asks;
            if (!inquiry.log.empty()) last = inquiry.log.back().text;
        }
        if (asks == 0) return;
        add("RM_PREDICATE", node_.id,
            "the resource manager refused it for " + pluralize(asks, "ask") + (last.empty() ? "" : "; last: " + last),
            asks);
    }

    void explain_held() {
        if (into_.pending.held == 0) return;
        add("HELD", held_application_,
            pluralize(into_.pending.held, "ask") +
                " that it has room for wait for their queue, user, group or application, such as those of " +
                held_application_,
            into_.pending.held);
    }

    [[nodiscard]] std::string verdict() const {
        if (!node_.schedulable) return "DRAINING";
        if (!node_.reservations.empty()) return "RESERVED";
        const NodePendingView& pending = into_.pending;
        if (pending.asks == 0) return "IDLE";
        if (pending.fitting > 0) return "SCHEDULABLE";
        if (pending.too_large == pending.asks) return "TOO_SMALL";
        return short_of_some_ ? "SHORT" : "FULL";
    }

    const PartitionState& state_;
    const NodeId id_;
    const Node& node_;
    NodeExplanation& into_;
    std::array<std::int64_t, kMaxResourceTypes> lacking_{};
    bool short_of_some_ = false; // something is available for an ask that the empty node could hold
    std::int64_t required_fitting_ = 0;
    std::int64_t drained_ = 0;   // asks that could be placed there if it were not drained
    std::int64_t kept_from_ = 0; // asks that fit, while it is kept for others
    std::string held_application_;
};

} // namespace

NodeExplanation explain_node(const PartitionState& state, std::string_view name) {
    NodeExplanation explanation;
    const NodeId id = state.nodes.find(name);
    if (!id.valid()) return explanation;
    const Node& node = state.nodes[id];
    explanation.found = true;
    explanation.node = view_of(state, node, false);
    explanation.foreign = static_cast<std::int64_t>(node.foreign.size());
    for (const AllocationId each : node.allocations)
        ++explanation.applications[state.applications[state.allocations[each].application].id];
    for (const ReservationId each : node.reservations) {
        const Reservation& held = state.reservations[each];
        const Application& application = state.applications[held.application];
        explanation.reservations.push_back({application.id, std::string{state.allocations[held.ask].key.view()},
                                            application.queue->path,
                                            state.map_of(state.resource_of(state.allocations[held.ask])), held.since});
    }
    NodeExplainer{state, id, explanation}.run();
    return explanation;
}

} // namespace yk
