// SPDX-License-Identifier: Apache-2.0
// Which allocations would be preempted for an ask: one attempt with the planner's own code, which is not carried out.

#include "libcore/reports/explain.h"

#include <algorithm>

#include "libcore/planning/headroom.h"
#include "libcore/planning/obstacles.h"
#include "libcore/preemption/candidates.h"
#include "libcore/preemption/queue_preemption.h"
#include "libcore/preemption/required.h"

namespace yk {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000; // nanoseconds

class PreemptionExplainer {
public:
    PreemptionExplainer(const PartitionState& state, VictimIndex& victims, AllocationId id)
        : state_(state),
          victims_(victims),
          id_(id),
          ask_(state_.allocations[id]),
          application_(state_.applications[ask_.application]),
          leaf_(*application_.queue),
          shape_(state_.shapes[ask_.shape]) {}

    void run(Instant now, Explanation& into) {
        const bool needless = fits_now();
        if (needless) {
            add("SCHEDULABLE", state_.name, "the ask fits as it is, nobody has to go");
            reasons_.back().asks = 0;
        }
        if (!needless) shape_.is_pinned() ? explain_required() : explain_queue(now);
        into.verdict = needless ? "SCHEDULABLE" : verdict();
        if (into.verdict == "NO_VICTIMS") add("PREEMPT_WAIT", leaf_.path, view_.result);
        if (into.verdict == "WOULD_PREEMPT" && !shape_.is_pinned() && state_.calls.options.preemption_predicates)
            add("RM_PREDICATE", state_.name,
                "the resource manager is asked before anybody goes, and may choose otherwise");
        into.reasons = std::move(reasons_);
        into.preemption = std::move(view_);
    }

private:
    void add(std::string code, std::string object, std::string text) {
        reasons_.push_back(
            {std::move(code), std::move(object), std::move(text), state_.map_of(shape_.resource), {}, {}, 1});
    }
    [[nodiscard]] bool is_triggered() const { return ask_.is(Allocation::Triggered); }
    [[nodiscard]] std::string verdict() const {
        if (is_triggered() || leaving_suffices_) return "WAITING";
        if (!may_preempt_) return "NOT_ALLOWED";
        if (view_.result != text_of(PreemptionResult::Victims)) return "NO_VICTIMS";
        return reasons_.empty() ? "WOULD_PREEMPT" : "WAITING";
    }

    [[nodiscard]] bool fits_now() const {
        if (queue_verdict(state_, leaf_, shape_).queue != nullptr || beyond_user_limit()) return false;
        const Inquiry* inquiry = state_.inquiries.find(id_);
        bool fits_somewhere = false;
        state_.nodes.for_each([&](NodeId id) {
            const Node& node = state_.nodes[id];
            const bool wanted = shape_.is_pinned() ? node.id == shape_.required_node : node.is_open();
            const bool refused = inquiry != nullptr && inquiry->has_refused(id); // by the RM (P-141)
            fits_somewhere = fits_somewhere || (wanted && !refused && takes(node, shape_));
        });
        return fits_somewhere;
    }
    [[nodiscard]] bool beyond_user_limit() const {
        return state_.refusing_user_limit(application_, shape_.resource).valid();
    }

    void explain_trigger() {
        const auto trigger = state_.preemption.triggers.find(id_);
        if (trigger == state_.preemption.triggers.end()) return;
        view_.announced = true;
        add("PREEMPT_WAIT", state_.nodes[state_.reservations[ask_.reservation].node].id,
            "victims were announced, " + std::to_string(trigger->second.victims.size()) +
                " of them are not gone yet; the node is kept");
        for (const AllocationId victim : trigger->second.victims) add_victim(victim);
    }

    /// Switches that do not change with time (P-010, P-020).
    void explain_permission() {
        if (!state_.preemption_enabled)
            add("PREEMPT_WAIT", state_.full_name, "preemption is switched off (preemption.enabled of the partition)");
        if (!ask_.is(Allocation::PreemptOther))
            add("PREEMPT_WAIT", std::string{ask_.key.view()},
                "the ask may not preempt others (allowPreemptOther), so nobody will ever go for it");
        may_preempt_ = state_.preemption_enabled && ask_.is(Allocation::PreemptOther);
    }

    /// What has to be met before an attempt begins (P-020, P-023).
    void explain_preconditions(Instant now) {
        for (Obstacle& each : obstacles_of(state_, ask_, now))
            add(std::move(each.code), std::move(each.object), std::move(each.text));
        if (beyond_user_limit())
            add("USER_LIMIT", application_.user, "beyond the limit of its user or group nobody is preempted");
        const Duration delay = leaf_.properties.preemption_delay;
        explain_time(ask_.created + delay, now, "preemption.delay of the queue is not over");
        if (ask_.is(Allocation::Checked))
            explain_time(ask_.bound + state_.settings.preemption_throttle, now, "the last attempt was a moment ago");
    }

    void explain_time(Instant at, Instant now, std::string_view why) {
        if (at <= now) return;
        const auto seconds = ((at - now).count() + kSecond - 1) / kSecond;
        add("PREEMPT_WAIT", leaf_.path, std::string{why} + ", " + std::to_string(seconds) + " s are left");
    }

    void explain_required() {
        explain_trigger();
        view_.result = text_of(PreemptionResult::NoVictim);
        const NodeId node = state_.nodes.find(shape_.required_node);
        if (!node.valid()) return add("REQUIRED_NODE", shape_.required_node, "the required node does not exist");
        if (queue_verdict(state_, leaf_, shape_).queue != nullptr)
            add("QUEUE_MAX", leaf_.path, "the limits of its queues come first, the node is not looked at");
        view_.node = state_.nodes[node].id;
        if (is_triggered()) return;
        PreemptionAttempt attempt;
        const auto victims = required_node_victims(state_, ask_, state_.nodes[node], &attempt);
        for (std::size_t why = 0; why < kExcludedReasons; ++why)
            if (static_cast<Excluded>(why) != Excluded::No && attempt.allocations[why] > 0)
                view_.excluded[std::string{text_of(static_cast<Excluded>(why))}] =
                    static_cast<std::int64_t>(attempt.allocations[why]);
        if (!victims) return;
        view_.result = text_of(PreemptionResult::Victims);
        leaving_suffices_ = victims->empty();
        if (leaving_suffices_) add("PREEMPT_WAIT", view_.node, "enough is on its way out already");
        for (const AllocationId victim : *victims) add_victim(victim);
    }

    void explain_queue(Instant now) {
        const GuaranteeView guarantees{state_, leaf_};
        Candidates candidates{state_, guarantees, ask_, leaf_};
        view_.fence_root = candidates.root().path;
        if (const auto left = guarantees.remaining(leaf_)) view_.remaining = state_.map_of(*left);
        count(state_.queues.root(), candidates, guarantees);
        explain_trigger();
        if (is_triggered()) {
            view_.result = text_of(PreemptionResult::Victims);
            return;
        }
        explain_permission();
        view_.result = text_of(PreemptionResult::Preconditions);
        if (!may_preempt_) return;
        explain_preconditions(now);
        const QueueVerdict verdict = queue_verdict(state_, leaf_, shape_);
        const PreemptionPlan plan = PreemptionPlanner{state_, victims_}.plan_queue(id_, verdict.queue == nullptr, now);
        view_.result = text_of(plan.result);
        if (!plan) return;
        view_.node = state_.nodes[plan.node].id;
        for (const AllocationId victim : plan.victims) add_victim(victim);
    }

    /// Counts candidates and excluded allocations, leaf by leaf.
    void count(const Queue& queue, Candidates& candidates, const GuaranteeView& guarantees) {
        for (const auto& [name, child] : queue.children) count(*child, candidates, guarantees);
        if (queue.applications.empty()) return;
        const Excluded whole = candidates.leaf_excluded(queue);
        PreemptionView::Giver giver;
        for (const ApplicationId application : queue.applications)
            for (const AllocationId id : state_.applications[application].allocations) {
                const Excluded why = whole == Excluded::No ? alone(id, queue, candidates, guarantees) : whole;
                why == Excluded::No ? ++giver.candidates : ++view_.excluded[std::string{text_of(why)}];
            }
        if (giver.candidates == 0 && whole != Excluded::Protected && whole != Excluded::Disabled) return;
        Resource used = queue.allocated;
        used.sub(queue.preempting);
        giver.queue = queue.path;
        giver.used = state_.map_of(used);
        if (queue.guaranteed) giver.guaranteed = state_.map_of(*queue.guaranteed);
        if (whole != Excluded::No) giver.spared = text_of(whole);
        view_.givers.push_back(std::move(giver));
    }

    /// Why the allocation cannot be the first victim, guarantees included (P-044, P-052, P-053).
    Excluded alone(AllocationId id, const Queue& queue, Candidates& candidates, const GuaranteeView& guarantees) const {
        const Allocation& allocation = state_.allocations[id];
        if (const Excluded why = candidates.excluded(allocation, queue); why != Excluded::No) return why;
        const Resource& size = state_.resource_of(allocation);
        if (!guarantees.may_take(queue, size, shape_.resource)) return Excluded::Sinks;
        return guarantees.may_charge(candidates.charge_of(allocation.shape)) ? Excluded::No : Excluded::TooLarge;
    }

    void add_victim(AllocationId id) {
        const Allocation& victim = state_.allocations[id];
        const Application& owner = state_.applications[victim.application];
        view_.victims.push_back({owner.id, std::string{victim.key.view()}, owner.queue->path,
                                 state_.nodes[victim.node].id, state_.map_of(state_.resource_of(victim)),
                                 victim.priority, !victim.is(Allocation::PreemptSelf),
                                 victim.is(Allocation::Originator)});
    }

    const PartitionState& state_;
    VictimIndex& victims_;
    AllocationId id_;
    const Allocation& ask_;
    const Application& application_;
    Queue& leaf_;
    const Shape& shape_;
    PreemptionView view_;
    std::vector<ExplainReason> reasons_;
    bool leaving_suffices_ = false; // on the required node: victims that are leaving already are enough
    bool may_preempt_ = true;
};

} // namespace

Explanation explain_preemption(const PartitionState& state, VictimIndex& victims, std::string_view application,
                               std::string_view key, Instant now) {
    Explanation explanation;
    const AllocationId id = introduce_ask(state, application, key, explanation);
    if (!id.valid()) return explanation;
    if (explain_settled(state, state.allocations[id], explanation)) return explanation;
    PreemptionExplainer{state, victims, id}.run(now, explanation);
    return explanation;
}

} // namespace yk
