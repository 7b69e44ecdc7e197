// SPDX-License-Identifier: Apache-2.0
// One scheduling cycle, step by step as scheduling.md sections 7 to 9 tell it.

#include <cstdlib>
#include <limits>

#include "tests/differential/reference_partition.h"

namespace yk::reference {

namespace {

std::uint64_t backoff_limit(const Queue& leaf) {
    return std::strtoull(leaf.property("application.unschedasks.backoff").c_str(), nullptr, 10);
}

/// Only the forms the generator writes: whole seconds or milliseconds.
Duration backoff_delay(const Queue& leaf) {
    const std::string text = leaf.property("application.unschedasks.backoff.delay");
    if (text.empty()) return std::chrono::seconds{30};
    const auto number = std::strtoll(text.c_str(), nullptr, 10);
    if (text.size() > 2 && text.substr(text.size() - 2) == "ms") return std::chrono::milliseconds{number};
    return std::chrono::seconds{number};
}

} // namespace

/// At most one allocation: first asks that hold a reservation, then the others (S-300 to S-302).
bool Partition::cycle(Instant now) {
    Queue& root = queues_.at("root");
    forget_triggers(now);
    if (!max_of(root) || !gt_zero(pending(root))) return false;
    renew_workload();
    bool placed = !reservations_.empty() && walk(root, true, now) == Outcome::Allocated;
    if (!placed) placed = gt_zero(pending(root)) && walk(root, false, now) == Outcome::Allocated;
    drop_over_age(now);
    return placed;
}

/// Depth first along the sorted children, until one yields something (S-305).
Partition::Outcome Partition::walk(Queue& queue, bool reserved, Instant now) {
    if (queue.leaf) return reserved ? reserved_step(queue, now) : regular_step(queue, now);
    for (Queue* child : sorted_children(queue))
        if (const Outcome outcome = walk(*child, reserved, now); outcome != Outcome::None) return outcome;
    return Outcome::None;
}

/// Both limits on running applications are asked each time, and a change of either is an event (S-265, C-411).
bool Partition::may_run(Application& app, Instant now) {
    const bool waiting = app.state == State::Accepted || app.state == State::New;
    const auto update = [&](bool& flag, bool runnable, EventDetail yes, EventDetail no) {
        if (runnable != flag) event(EventType::App, app.id, EventChange::None, runnable ? yes : no, now);
        flag = runnable;
    };
    update(app.runnable, !waiting || can_run(queues_.at(app.queue), app), EventDetail::AppRunnableQueue,
           EventDetail::AppCannotRunQueue);
    update(app.runnable_user, !waiting || user_can_run(app), EventDetail::AppRunnableQuota,
           EventDetail::AppCannotRunQuota);
    return app.state != State::Accepted || (app.runnable && app.runnable_user);
}

/// The headroom of user and queue (S-341 no. 3 and 5). The size of the cluster is no limit for an ask with a required
/// node, which may have to make its room first.
bool Partition::has_headroom(const Queue& leaf, const Headrooms& headrooms, const Ask& ask) const {
    const Maybe available = ask.required_node.empty() ? headrooms.queue : headroom(leaf, false);
    return fits_undef(headrooms.user, ask.resource) && fits_undef(available, ask.resource);
}

/// That, and the strict test of the increase (S-252). Where only the second fails, the original finds out while
/// placing, calls it an internal error (S-331) and, the walk having failed, reserves a node that the ask can never use.
/// Here such an ask finds no node.
bool Partition::may_enter(const Queue& leaf, const Headrooms& headrooms, const Ask& ask) const {
    return has_headroom(leaf, headrooms, ask) && can_grow(leaf, ask.resource, ask.required_node.empty());
}

// --- step 1: reserved asks (S-410 to S-413) -------------------------------------------------------------------------

/// S-413, at the end of the cycle: what it frees is for the next one.
void Partition::drop_over_age(Instant now) {
    for (const auto& [app, key] : over_age_) unreserve(app, key, now);
    over_age_.clear();
}

Partition::Outcome Partition::reserved_step(Queue& leaf, Instant now) {
    const Maybe available = headroom(leaf);
    for (Application* app : sorted_applications(leaf)) {
        if (reservations_of(*app).empty()) continue;
        if (!may_run(*app, now)) continue;
        const Outcome outcome = reserved_application(*app, {user_headroom(*app), available}, now);
        if (outcome != Outcome::None) return outcome;
    }
    return Outcome::None;
}

Partition::Outcome Partition::reserved_application(Application& app, const Headrooms& headrooms, Instant now) {
    for (const Reservation& r : reservations_of(app)) {
        Ask& ask = app.requests.at(r.key);
        Node& node = nodes_.at(r.node);
        const bool required = !ask.required_node.empty();
        if (!may_enter(queues_.at(app.queue), headrooms, ask)) {
            if (!required && now - r.since > ports_.settings.reservation_timeout)
                over_age_.emplace_back(app.id, ask.key);
            continue;
        }
        if (required && !takes(node, ask)) {
            if (ask.trigger == 0) choose_victims(ask, node); // once, until they have gone (P-093)
            continue;
        }
        if (!required && !node.schedulable) continue;
        if (try_node(app, ask, node, now)) return Outcome::Allocated;
    }
    // If none of these worked, each is tried on nodes that nobody has reserved (S-412).
    for (const Reservation& r : reservations_of(app)) {
        Ask& ask = app.requests.at(r.key);
        if (!ask.required_node.empty() || !may_enter(queues_.at(app.queue), headrooms, ask)) continue;
        for (Node* node : sorted_nodes(ask)) {
            if (!reservations_on(node->id).empty() || !node->schedulable || node->id == r.node) continue;
            if (could_take(*node, ask) && try_node(app, ask, *node, now)) return Outcome::Allocated;
        }
    }
    return Outcome::None;
}

// --- step 3: regular allocation (S-340 to S-345) --------------------------------------------------------------------

Partition::Outcome Partition::regular_step(Queue& leaf, Instant now) {
    const Maybe available = headroom(leaf);
    for (Application* app : sorted_applications(leaf)) {
        if (!may_run(*app, now)) continue;
        if (app->backoff && *app->backoff > now) continue;
        const Outcome outcome = try_application(*app, {user_headroom(*app), available}, now);
        if (outcome == Outcome::None) continue;
        if (app->state == State::Accepted) app->allocating = true; // it counts as running already (S-262)
        return outcome;
    }
    return Outcome::None;
}

/// Each pending ask in order, within the headroom of its user and of its queue (S-341).
Partition::Outcome Partition::try_application(Application& app, const Headrooms& headrooms, Instant now) {
    const Queue& leaf = queues_.at(app.queue);
    const std::uint64_t limit = backoff_limit(leaf);
    std::uint64_t unschedulable = 0;
    for (Ask* ask : sorted_asks(app)) {
        if (limit > 0 && unschedulable >= limit) { // so many found no node: the application rests (S-345)
            app.backoff = now + backoff_delay(leaf);
            return Outcome::None;
        }
        if (!fits_undef(headrooms.user, ask->resource)) continue;
        ask->attempted = true;
        if (!has_headroom(leaf, headrooms, *ask)) continue;
        bool hopeless = ask->required_node.empty(); // it counts when it finds no node
        if (!may_enter(leaf, headrooms, *ask)) {
            unschedulable += hopeless ? 1 : 0; // a type that nobody offers is no limit, but no node has it
            continue;
        }
        if (!ask->required_node.empty()) {
            if (const Outcome outcome = try_required(app, *ask, hopeless, now); outcome != Outcome::None)
                return outcome;
        } else if (const Outcome outcome = try_nodes(app, *ask, now); outcome != Outcome::None) {
            return outcome;
        }
        if (hopeless) ++unschedulable;
    }
    return Outcome::None;
}

/// The one node on which the ask may run; if it does not fit there now, it is reserved (section 9).
Partition::Outcome Partition::try_required(Application& app, Ask& ask, bool& too_large, Instant now) {
    const auto found = nodes_.find(ask.required_node);
    if (found == nodes_.end()) return Outcome::None;
    Node& node = found->second;
    // it can never be reserved there (S-435)
    too_large = !could_take(node, ask) && reservation_of(app, ask.key) == nullptr;
    if (too_large) return Outcome::None;                  // nothing was tried on the node: reservations there stay
    for (const Reservation& r : reservations_on(node.id)) // ordinary ones make way (S-432)
        if (!is_required(r)) unreserve(r.application, r.key, now);
    if (try_node(app, ask, node, now)) return Outcome::Allocated;
    if (reservation_of(app, ask.key) != nullptr) return Outcome::None;
    reserve(app, ask, node, now);
    return Outcome::Reserved;
}

/// The nodes that are free of reservations, by score; if none will do, the nearest is reserved for an ask that is old
/// enough (S-342, S-403).
Partition::Outcome Partition::try_nodes(Application& app, Ask& ask, Instant now) {
    const bool may_reserve = !ports_.settings.reservations_disabled && reservation_of(app, ask.key) == nullptr &&
                             now - ask.created > ports_.settings.reservation_delay;
    Node* nearest = nullptr;
    double least = std::numeric_limits<double>::infinity();
    for (Node* node : sorted_nodes(ask)) {
        if (!reservations_on(node->id).empty() || !node->schedulable) continue;
        if (!could_take(*node, ask)) continue;
        if (try_node(app, ask, *node, now)) return Outcome::Allocated;
        const double missing = lack(ask.resource, available(*node));
        if (missing < least) {
            least = missing;
            nearest = node;
        }
    }
    if (!may_reserve || nearest == nullptr) return Outcome::None;
    reserve(app, ask, *nearest, now);
    return Outcome::Reserved;
}

bool Partition::try_node(Application& app, Ask& ask, Node& node, Instant now) {
    if (!gt_zero(ask.resource)) return false;
    const Reservation* own = reservation_of(app, ask.key);
    const auto on_node = reservations_on(node.id);
    if (!on_node.empty() && (own == nullptr || own->node != node.id)) return false;
    if (!takes(node, ask)) return false;
    place(app, ask, node.id, now);
    announce(app, ask);
    return true;
}

} // namespace yk::reference
