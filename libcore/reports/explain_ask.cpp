// SPDX-License-Identifier: Apache-2.0
// Why an ask is pending: one evaluation of the state, with the planner's own tests (I-354).

#include "libcore/reports/explain.h"

#include <algorithm>
#include <set>

#include "libcore/base/pluralize.h"
#include "libcore/planning/obstacles.h"
#include "libcore/planning/shortage.h"
#include "libcore/resources/share.h"

#include "libcore/reports/passed_node.h"
#include "libcore/reports/snapshot.h"

namespace yk {

namespace {

constexpr std::size_t kMaxShapesExplained = 32; // of one application; each costs a walk over the nodes
constexpr std::int64_t kMostAhead = 3;          // how many applications are named that come first
constexpr std::size_t kMostSizes = 3;           // how many sizes of devices are named

/// Why one ask is pending, gathered level by level.
class AskExplainer {
public:
    AskExplainer(const PartitionState& state, const Allocation& ask, std::int64_t asks)
        : state_(state),
          ask_(ask),
          application_(state_.applications[ask.application]),
          shape_(state_.shapes[ask.shape]),
          asks_(asks) {}

    void run(AllocationId id, Instant now, Explanation& into) {
        explain_obstacles(now);
        explain_users();
        explain_queues();
        fit_ = fit_nodes();
        explain_nodes();
        explain_inquiry(id);
        into.nodes = fit_;
        into.verdict = verdict(); // before explain_order(): who comes first does not change it
        explain_order();
        if (fit_.fitting > 0)
            if (auto passed = passed_node(state_, shape_)) reasons_.push_back(*std::move(passed));
        for (ExplainReason& reason : reasons_) merge(std::move(reason), into.reasons);
    }

private:
    static void merge(ExplainReason reason, std::vector<ExplainReason>& list) {
        const auto same = std::find_if(list.begin(), list.end(), [&](const ExplainReason& each) {
            return each.code == reason.code && each.object == reason.object;
        });
        if (same == list.end())
            list.push_back(std::move(reason));
        else
            same->asks += reason.asks;
    }

    void add(std::string code, std::string object, std::string text) {
        reasons_.push_back(
            {std::move(code), std::move(object), std::move(text), state_.map_of(shape_.resource), {}, {}, asks_});
    }

    void explain_obstacles(Instant now) {
        for (Obstacle& each : obstacles_of(state_, ask_, now)) {
            (each.limit ? limited_ : held_) = true;
            if (each.limit) is_in_line_ = false;
            add(std::move(each.code), std::move(each.object), std::move(each.text));
        }
    }

    /// Calls f(const UsageNode&) for every level of the user, then of the group.
    template <class F>
    void for_each_usage(F&& f) const {
        for (UsageNodeId id : {application_.user_usage, application_.group_usage})
            for (; id.valid(); id = state_.users[id].parent) f(state_.users[id]);
    }

    void explain_users() {
        for_each_usage([this](const UsageNode& node) {
            if (node.allows(shape_.resource)) return;
            limited_ = true;
            is_in_line_ = false;
            add(node.tracker->group ? "GROUP_LIMIT" : "USER_LIMIT", std::string{node.path},
                owner_text(node) + ": " + limit_text(node.limit->max, node.usage));
            reasons_.back().used = state_.map_of(node.usage);
            reasons_.back().limit = state_.map_of(node.limit->max.bounds());
            impossible_ = impossible_ || !node.limit->max.allows(shape_.resource);
        });
    }

    void explain_queues() {
        for (const Queue* queue = application_.queue; queue != nullptr; queue = queue->parent) {
            if (queue->state == ObjectState::Stopped) {
                held_ = true;
                add("QUEUE_STOPPED", queue->path, "the queue is stopped");
            }
            if (queue->headroom_allows(shape_.resource)) continue;
            if (!queue->is_root()) limited_ = true;
            add("QUEUE_MAX", queue->path,
                limit_text(queue->max, queue->allocated, queue->is_root() ? "the cluster has" : "max"));
            reasons_.back().used = state_.map_of(queue->allocated);
            reasons_.back().limit = state_.map_of(queue->max.bounds());
            impossible_ = impossible_ || !queue->max.allows(shape_.resource);
        }
    }

    [[nodiscard]] std::string limit_text(const Limit& max, const Resource& usage,
                                         std::string_view whose = "max") const {
        std::string text;
        state_.named(shape_.resource).for_each([&](std::string_view name, std::int64_t wanted) {
            const ResourceId id = state_.resources.find(name);
            if (!max.bounds().has(id) || wanted <= 0) return;
            const std::int64_t bound = max.bounds().get(id);
            const std::int64_t used = usage.get(id);
            if (wanted <= sat_sub(bound, used)) return;
            if (!text.empty()) text += "; ";
            text += std::string{whose} + " " + std::string{name} + " " + std::to_string(bound) + ", used " +
                    std::to_string(used) + ", each pending ask needs " + std::to_string(wanted);
        });
        return text;
    }

    [[nodiscard]] NodeFitView fit_nodes() const {
        NodeFitView fit;
        std::map<std::string, std::int64_t> lacking;
        fit.best_lack = -1;
        state_.nodes.for_each([&](NodeId id) {
            const Node& node = state_.nodes[id];
            if (shape_.is_pinned() && node.id != shape_.required_node) return;
            ++fit.nodes;
            if (!could_take(node, shape_)) ++(fits(node.capacity, shape_.resource) ? fit.device_shape : fit.too_small);
            if (!node.schedulable && !shape_.is_pinned()) {
                ++fit.unschedulable;
                return;
            }
            count_free(node, fit);
            state_.named(shape_.resource).for_each([&](std::string_view name, std::int64_t wanted) {
                if (wanted > 0 && wanted > node.available.get(state_.resources.find(name)))
                    ++lacking[std::string{name}];
            });
            const double missing = lack(shape_.resource, node.available);
            if (fit.best_lack >= 0 && missing >= fit.best_lack) return;
            fit.best_lack = missing;
            fit.best = node.id;
            fit.best_available = state_.map_of(node.available);
        });
        fit.lacking.assign(lacking.begin(), lacking.end());
        return fit;
    }

    /// Whether the ask fits on the node now, or what of devices or reservations is in its way.
    void count_free(const Node& node, NodeFitView& fit) const {
        if (takes(node, shape_))
            ++(reserved_for_other(node) ? fit.reserved : fit.fitting);
        else if (fits(node.available, shape_.resource) && could_take(node, shape_))
            ++(node.devices->in_conflict() ? fit.device_conflict : fit.fragmented);
    }

    [[nodiscard]] bool reserved_for_other(const Node& node) const {
        return std::any_of(node.reservations.begin(), node.reservations.end(), [this](ReservationId id) {
            return &state_.allocations[state_.reservations[id].ask] != &ask_;
        });
    }

    /// An RM with predicates may refuse nodes on which the ask fits (I-377).
    void explain_inquiry(AllocationId id) {
        const Inquiry* inquiry = state_.inquiries.find(id);
        if (inquiry == nullptr || !ask_.is(Allocation::Parked)) return;
        if (!inquiry->resting)
            return add("RM_PREDICATE", state_.name, "the resource manager is asked about nodes with room");
        std::string text = ask_.is(Allocation::Refused) ? "the resource manager refused " +
                                                              pluralize(inquiry->refused.size(), "node") + " with room"
                                                        : "the resource manager did not answer in time";
        if (!inquiry->log.empty() && ask_.is(Allocation::Refused)) text += "; last: " + inquiry->log.back().text;
        add("RM_PREDICATE", state_.name, text + "; it is asked again within 30 s");
    }

    void explain_nodes() {
        if (shape_.is_pinned() && fit_.nodes == 0) {
            add("REQUIRED_NODE", shape_.required_node, "the required node does not exist");
            return;
        }
        if (fit_.fitting > 0) return;
        if (fit_.too_small + fit_.device_shape == fit_.nodes) {
            impossible_ = true;
            return fit_.device_shape > 0 ? add("DEVICE_SHAPE", state_.name, device_shape_text())
                                         : add("IMPOSSIBLE", state_.name, impossible_text());
        }
        if (fit_.device_conflict > 0)
            add("DEVICE_CONFLICT", state_.name,
                pluralize(fit_.device_conflict, "node") + " where something has not the devices that it should have");
        if (fit_.reserved > 0)
            add("RESERVED_OTHER", state_.name, pluralize(fit_.reserved, "node") + " with room kept for other asks");
        if (fit_.unschedulable > 0)
            add("NODE_UNSCHEDULABLE", state_.name, pluralize(fit_.unschedulable, "node") + " drained");
        std::string text = "no node of " + std::to_string(fit_.nodes) + " has room";
        for (const auto& [name, count] : fit_.lacking) text += "; " + std::to_string(count) + " short of " + name;
        if (fit_.fragmented > 0)
            text += "; " + std::to_string(fit_.fragmented) + (fit_.fragmented == 1 ? " has" : " have") +
                    " enough in all, but not on the devices that it wants";
        if (!fit_.best.empty()) {
            text += "; nearest " + fit_.best + " with";
            for (const auto& [name, value] : fit_.best_available) text += " " + name + "=" + std::to_string(value);
        }
        add(shape_.is_pinned() ? "REQUIRED_NODE" : "NODE_FIT", shape_.is_pinned() ? shape_.required_node : state_.name,
            text);
        reasons_.back().nodes = fit_;
        if (!ask_.reservation.valid()) return;
        add("RESERVED", state_.nodes[state_.reservations[ask_.reservation].node].id, "this node is kept for the ask");
        reasons_.back().asks = 0; // keeps no ask waiting
    }

    /// What it wants of devices, and what sizes of them there are.
    [[nodiscard]] std::string device_shape_text() const {
        std::string text;
        state_.named(shape_.resource).for_each([&](std::string_view name, std::int64_t amount) {
            const ResourceId type = state_.resources.find(name);
            std::set<std::int64_t> sizes;
            state_.nodes.for_each([&](NodeId id) {
                const Node& node = state_.nodes[id];
                const DeviceKind* const kind = node.devices && amount > 0 ? node.devices->find(type) : nullptr;
                if (kind != nullptr)
                    for (const Device& each : kind->devices) sizes.insert(each.size);
            });
            if (sizes.empty()) return;
            text += text.empty() ? "" : "; ";
            const auto stated = std::find_if(shape_.devices.begin(), shape_.devices.end(),
                                             [type](const DeviceDemand& each) { return each.type == type; });
            if (stated == shape_.devices.end())
                text += std::to_string(amount) + " of " + std::string{name} +
                        " is neither a part of one device nor whole devices of a node; devices have";
            else
                text += "no node has " + std::to_string(stated->count) + " devices of " + std::string{name} + " with " +
                        std::to_string(stated->each) + " each; devices have";
            std::size_t shown = 0;
            for (const std::int64_t size : sizes)
                if (++shown <= kMostSizes) text += (shown == 1 ? " " : ", ") + std::to_string(size);
            if (shown > kMostSizes) text += ", ...";
        });
        return text;
    }

    [[nodiscard]] std::string impossible_text() const {
        if (fit_.nodes == 0) return "the partition has no node";
        if (std::string missing = unoffered_text(state_, shape_.resource); !missing.empty()) return missing;
        return shape_.is_pinned() ? "its node " + shape_.required_node + " is not large enough, even empty"
                                  : "no node is large enough, even empty";
    }

    /// Which applications are tried first, if nothing but available resources is missing.
    void explain_order() {
        if (held_ || impossible_ || !is_in_line_ || !application_.slot.in_index()) return;
        const Queue& leaf = *application_.queue;
        SortView view;
        leaf.application_index.visit([](const OrderSummary&) { return true; },
                                     [&](std::uint32_t value) {
                                         const Application& other = state_.applications[ApplicationId{value}];
                                         if (&other == &application_) return true;
                                         if (++view.ahead <= kMostAhead) view.first.push_back(position_of(other));
                                         return false;
                                     });
        if (view.ahead == 0) return;
        const bool fair = leaf.properties.sort_policy == config::SortPolicy::Fair;
        view.policy = fair ? "fair" : "fifo";
        view.by_priority = leaf.properties.priority_sorting;
        view.own = position_of(application_);
        add("SORT", leaf.path, pluralize(view.ahead, "application") + " of the queue before it (" + view.policy + ")");
        reasons_.back().asks = 0;
        reasons_.back().sort = std::move(view);
    }

    [[nodiscard]] SortView::Position position_of(const Application& application) const {
        const Queue& leaf = *application.queue;
        SortView::Position position{application.id,
                                    {},
                                    state_.map_of(application.allocated),
                                    application.ask_priority(),
                                    application.submitted};
        if (leaf.guaranteed && leaf.properties.sort_policy == config::SortPolicy::Fair)
            position.share = application.usage.largest(); // without a guarantee these are amounts (S-213)
        return position;
    }

    [[nodiscard]] std::string verdict() const {
        if (impossible_) return "IMPOSSIBLE";
        if (held_) return "HELD";
        if (limited_) return "BLOCKED_BY_LIMIT";
        return reasons_.empty() ? "SCHEDULABLE" : "WAITING";
    }

    const PartitionState& state_;
    const Allocation& ask_;
    const Application& application_;
    const Shape& shape_;
    std::int64_t asks_;
    NodeFitView fit_;
    std::vector<ExplainReason> reasons_;
    bool held_ = false;
    bool limited_ = false;
    bool impossible_ = false;
    bool is_in_line_ = true; // nothing but available resources is missing
};

} // namespace

AllocationId introduce_ask(const PartitionState& state, std::string_view application, std::string_view key,
                           Explanation& explanation) {
    explanation.application = application;
    explanation.key = key;
    explanation.verdict = "NOT_FOUND";
    const AllocationId id = state.find_ask(application, key);
    if (!id.valid()) return id;
    const Application& owner = state.applications[state.allocations[id].application];
    explanation.found = true;
    explanation.queue = owner.queue->path;
    explanation.user = owner.user;
    explanation.state = text_of(owner.state);
    explanation.asks = 1;
    return id;
}

bool explain_settled(const PartitionState& state, const Allocation& ask, Explanation& explanation) {
    if (ask.is(Allocation::InFlight)) { // replaces a placeholder that is being released (G-040)
        const std::string placeholder{state.allocations[ask.partner].key.view()};
        explanation.verdict = "HELD";
        explanation.reasons.push_back({"GANG",
                                       placeholder,
                                       "takes the place of placeholder " + placeholder +
                                           " as soon as the resource manager confirms that it is gone",
                                       {},
                                       {},
                                       {},
                                       1});
        return true;
    }
    if (ask.is(Allocation::Placed)) {
        const std::string& node = state.nodes[ask.node].id;
        explanation.verdict = "PLACED";
        explanation.reasons.push_back({"PLACED", node, "placed on node " + node, {}, {}, {}, 0});
        return true;
    }
    explanation.pending_asks = 1;
    explanation.oldest_pending = ask.created;
    return false;
}

Explanation explain_ask(const PartitionState& state, std::string_view application, std::string_view key, Instant now) {
    Explanation explanation;
    const AllocationId id = introduce_ask(state, application, key, explanation);
    if (!id.valid()) return explanation;
    const Allocation& ask = state.allocations[id];
    if (explain_settled(state, ask, explanation)) return explanation;
    AskExplainer{state, ask, 1}.run(id, now, explanation);
    return explanation;
}

std::optional<ExplainReason> placeholder_mismatch(const PartitionState& state, const Application& application) {
    const Resource& announced = application.placeholder_ask;
    if (application.state != ApplicationState::Accepted || announced.is_zero()) return std::nullopt;
    Resource seen = application.placeholder;
    for (const AllocationId ask : state.pending_of(state.find_application(application.id)))
        if (state.allocations[ask].is(Allocation::Placeholder)) seen.add(state.resource_of(state.allocations[ask]));
    if (seen.equals(announced) || (fits(announced, seen) && application.pending_asks > 0)) return std::nullopt;
    return ExplainReason{"GANG",
                         application.id,
                         "its placeholders add up to " + state.named(seen).text() + ", it announced " +
                             state.named(announced).text() +
                             ": only with exactly that sum placed it runs without a real allocation",
                         {},
                         state.map_of(seen),
                         state.map_of(announced),
                         0};
}

Explanation explain_application(const PartitionState& state, std::string_view name, Instant now) {
    Explanation explanation;
    explanation.application = name;
    explanation.verdict = "NOT_FOUND";
    const ApplicationId id = state.find_application(name);
    if (!id.valid()) {
        const auto ended = application_view(state, name, 0);
        if (!ended) return explanation;
        explanation.found = true;
        explanation.verdict = ended->list == ApplicationList::Rejected ? "REJECTED" : "ENDED";
        explanation.state = ended->state;
        explanation.queue = ended->queue;
        explanation.user = ended->user;
        if (!ended->rejected_message.empty())
            explanation.reasons.push_back({"REJECTED", ended->queue, ended->rejected_message, {}, {}, {}, 0});
        return explanation;
    }
    const Application& application = state.applications[id];
    explanation.found = true;
    explanation.queue = application.queue->path;
    explanation.user = application.user;
    explanation.state = text_of(application.state);
    explanation.pending_asks = application.pending_asks;
    explanation.asks = application.pending_asks + static_cast<std::int64_t>(application.allocations.size());
    explanation.verdict = "NO_PENDING";
    if (auto why = placeholder_mismatch(state, application)) explanation.reasons.push_back(std::move(*why));
    std::size_t explained = 0;
    application.groups.for_each([&](std::uint32_t group_id) {
        const AskGroup& group = state.groups[GroupId{group_id}];
        const Allocation& ask = state.allocations[group.head];
        if (!explanation.oldest_pending || ask.created < *explanation.oldest_pending)
            explanation.oldest_pending = ask.created;
        if (++explained > kMaxShapesExplained) return;
        Explanation one;
        AskExplainer{state, ask, group.count}.run(group.head, now, explanation.nodes ? one : explanation);
        for (ExplainReason& reason : one.reasons) {
            const auto same =
                std::find_if(explanation.reasons.begin(), explanation.reasons.end(), [&](const auto& each) {
                    return each.code == reason.code && each.object == reason.object;
                });
            if (same == explanation.reasons.end())
                explanation.reasons.push_back(std::move(reason));
            else
                same->asks += reason.asks;
        }
    });
    return explanation;
}

} // namespace yk
