// SPDX-License-Identifier: Apache-2.0
// Every accounting invariant (S-181) and every structural one, verified from scratch.

#include "libcore/reports/check.h"

#include <algorithm>
#include <map>

#include "libcore/reports/at_end.h"
#include "libcore/reports/check_accounts.h"
#include "libcore/state/leaf_plan.h"

namespace yk {

namespace {

/// Collects what is broken, in words.
class Faults {
public:
    Faults(const PartitionState& state, std::vector<std::string>& list) : state_(state), list_(list) {}

    void expect(bool holds, const std::string& what) {
        if (!holds) list_.push_back(state_.full_name + ": " + what);
    }
    void expect_equal(const Resource& stored, const Resource& computed, const std::string& what) {
        expect(stored.equals(computed) || is_at_end({&stored, &computed}),
               what + ": stored " + state_.named(stored).text() + ", computed " + state_.named(computed).text());
    }

private:
    const PartitionState& state_;
    std::vector<std::string>& list_;
};

/// What the asks and allocations of an application add up to.
struct ApplicationSums {
    Resource pending, allocated, placeholder, preempting, promised;
    std::uint32_t placeholders = 0;
    std::uint32_t pending_asks = 0, tried_asks = 0, reported_asks = 0;
    std::uint32_t reservations = 0;
    std::uint32_t in_flight = 0;
    struct Group {
        std::uint64_t placeholders = 0, free = 0, asks = 0;
    };
    std::map<std::uint32_t, Group> groups; // task groups
};

class Checker {
public:
    Checker(const PartitionState& state, const SchedulingIndexes& indexes, Faults& faults)
        : state_(state), indexes_(indexes), faults_(faults) {}

    void run() {
        sum_allocations();
        check_applications();
        check_queue(state_.queues.root());
        check_nodes();
        check_counters();
        check_blocks();
        check_answered();
    }

private:
    void sum_allocations() {
        state_.allocations.for_each([this](AllocationId id) {
            const Allocation& each = state_.allocations[id];
            if (each.is(Allocation::Foreign)) return;
            const std::string key{each.key.view()};
            faults_.expect(state_.applications.alive(each.application), "allocation " + key + " without application");
            if (!state_.applications.alive(each.application)) return;
            faults_.expect(state_.find_allocation(each.application, key) == id,
                           "allocation " + key + " not found by key");
            ApplicationSums& sums = sums_[each.application];
            const Resource& size = state_.resource_of(each);
            const bool placed = each.is(Allocation::Placed);
            const bool placeholder = each.is(Allocation::Placeholder);
            if (each.is(Allocation::InFlight)) check_in_flight(id);
            add_size(each, size, sums);
            count_task_group(each, sums);
            if (each.is(Allocation::Preempted)) sums.preempting.add(size);
            if (each.is(Allocation::Triggered)) sums.promised.add(size);
            check_preemption(id, each, key);
            check_inquiry(id, each, key);
            sums.placeholders += placed && placeholder ? 1U : 0U;
            sums.pending_asks += placed ? 0U : 1U;
            sums.tried_asks += !placed && each.is(Allocation::Attempted) ? 1U : 0U;
            sums.reported_asks += !placed && each.is(Allocation::ScaleUp) ? 1U : 0U;
            sums.reservations += each.reservation.valid() ? 1U : 0U;
            faults_.expect(placed != each.group.valid(), "ask " + key + ": pending without group, or placed with one");
            faults_.expect(!placed || !each.reservation.valid(), "allocation " + key + " is placed and reserved");
        });
    }

    /// Adds the size to the one sum that the allocation counts for.
    static void add_size(const Allocation& each, const Resource& size, ApplicationSums& sums) {
        if (each.is(Allocation::InFlight))
            ++sums.in_flight;
        else if (!each.is(Allocation::Placed))
            sums.pending.add(size);
        else
            (each.is(Allocation::Placeholder) ? sums.placeholder : sums.allocated).add(size);
    }

    /// Flags, marks, triggers and reservations of preemption agree (P-072, P-079).
    void check_preemption(AllocationId id, const Allocation& each, const std::string& key) {
        const auto& marks = state_.preemption.marks;
        const auto& triggers = state_.preemption.triggers;
        const bool preempted = each.is(Allocation::Preempted);
        const bool triggered = each.is(Allocation::Triggered);
        faults_.expect(!preempted || each.is(Allocation::Placed), "ask " + key + " is preempted, but not placed");
        faults_.expect(!preempted || !each.is(Allocation::Released),
                       "allocation " + key + " is preempted and released");
        faults_.expect(preempted == (marks.count(id) > 0), "allocation " + key + ": mark without flag, or missing");
        faults_.expect(triggered == (triggers.count(id) > 0), "ask " + key + ": trigger without flag, or missing");
        faults_.expect(!triggered || each.reservation.valid(), "ask " + key + " has triggered and holds nothing");
        marked_ += preempted ? 1 : 0;
        triggered_ += triggered ? 1 : 0;
        if (!triggered || triggers.count(id) == 0) return;
        for (const AllocationId victim : triggers.at(id).victims)
            faults_.expect(marks.count(victim) > 0 && marks.at(victim).ask == id, "ask " + key + " waits for nobody");
    }

    /// A parked ask waits for exactly one of: a call, an offer, the end of a rest, its turn after an answer. Its call
    /// is open.
    void check_inquiry(AllocationId id, const Allocation& each, const std::string& key) {
        const bool parked = each.is(Allocation::Parked);
        const Inquiry* inquiry = state_.inquiries.find(id);
        inquiries_ += inquiry != nullptr ? 1U : 0U;
        if (inquiry == nullptr) return faults_.expect(!parked, "ask " + key + " is parked for nothing");
        const auto list = state_.inquiries.answered.find(each.application);
        const bool listed =
            list != state_.inquiries.answered.end() && std::count(list->second.begin(), list->second.end(), id) == 1;
        const bool offers = inquiry->attempt && inquiry->attempt->waits();
        const int reasons =
            (inquiry->call != 0 ? 1 : 0) + (offers ? 1 : 0) + (inquiry->resting ? 1 : 0) + (listed ? 1 : 0);
        faults_.expect(reasons == (parked ? 1 : 0), "ask " + key + ": parked without a reason, or with two");
        faults_.expect(!each.is(Allocation::Placed), "allocation " + key + ": its RM is still asked about it");
        faults_.expect(!each.is(Allocation::Refused) || inquiry->resting,
                       "ask " + key + " is refused and does not rest");
        faults_.expect(inquiry->call == 0 || state_.calls.is_open(inquiry->call),
                       "ask " + key + ": a call that is over");
        faults_.expect(std::is_sorted(inquiry->refused.begin(), inquiry->refused.end()),
                       "ask " + key + ": refused nodes");
        for (const auto& nodes : {inquiry->asked, inquiry->fits, inquiry->refused})
            for (const NodeId node : nodes)
                faults_.expect(state_.nodes.alive(node), "ask " + key + ": a node that is gone");
        resting_ += inquiry->resting ? 1U : 0U;
        attempts_ += inquiry->attempt ? 1U : 0U;
    }

    void check_answered() {
        std::size_t listed = 0;
        state_.applications.for_each([&](ApplicationId id) {
            const auto list = state_.inquiries.answered.find(id);
            const std::size_t size = list == state_.inquiries.answered.end() ? 0 : list->second.size();
            listed += size > 0 ? 1U : 0U;
            faults_.expect(state_.applications[id].answered == size,
                           "application " + state_.applications[id].id + ": count of answered asks");
        });
        faults_.expect(listed == state_.inquiries.answered.size(), "answers for nobody");
        faults_.expect(inquiries_ == state_.inquiries.by_ask.size(), "inquiries about nobody");
        faults_.expect(resting_ == state_.inquiries.resting, "count of asks that rest");
        faults_.expect(attempts_ == state_.inquiries.attempts, "count of attempts under way");
        faults_.expect(state_.calls.size() <= state_.calls.options.in_flight, "too many calls in flight (I-378)");
    }

    static void count_task_group(const Allocation& each, ApplicationSums& sums) {
        if (each.task_group == 0) return;
        ApplicationSums::Group& group = sums.groups[each.task_group];
        const bool placed = each.is(Allocation::Placed);
        const bool leaving = each.is(Allocation::Released) || each.is(Allocation::Preempted);
        group.placeholders += each.is(Allocation::Placeholder) ? 1U : 0U;
        group.free += each.is(Allocation::Placeholder) && placed && !leaving ? 1U : 0U;
        group.asks += each.is(Allocation::Placeholder) || placed ? 0U : 1U;
    }

    /// The two halves of a replacement: the placeholder still belongs to its application and is being released; the
    /// real half is neither pending nor counted by its application, and is on a node only if that is another one
    /// (S-181.5).
    void check_in_flight(AllocationId id) {
        const Allocation& real = state_.allocations[id];
        const std::string what = "replacement " + std::string{real.key.view()};
        faults_.expect(state_.allocations.alive(real.partner), what + " without placeholder");
        if (!state_.allocations.alive(real.partner)) return;
        const Allocation& placeholder = state_.allocations[real.partner];
        faults_.expect(placeholder.partner == id && placeholder.application == real.application &&
                           placeholder.task_group == real.task_group && !real.is(Allocation::Placeholder),
                       what + ": the halves do not belong together");
        faults_.expect(placeholder.is(Allocation::Placeholder) && placeholder.is(Allocation::Placed) &&
                           placeholder.is(Allocation::Released) && !placeholder.is(Allocation::Preempted),
                       what + ": its placeholder is not on its way out");
        const auto& on_node = state_.nodes[real.node].allocations;
        const bool listed = std::find(on_node.begin(), on_node.end(), id) != on_node.end();
        faults_.expect(real.is(Allocation::Placed) && listed == (real.node != placeholder.node),
                       what + ": is on its placeholder's node, or missing on another");
        elsewhere_ += listed ? 1U : 0U;
    }

    /// The invariants of gang.h (G-013), and that no application waits for what cannot come (G-055).
    void check_gang(const Application& application, const ApplicationSums& sums, const std::string& what) {
        const Gang& gang = application.gang;
        faults_.expect(gang.in_flight == sums.in_flight, what + ": replacements in flight");
        std::uint64_t free = 0;
        std::size_t ready = 0;
        for (const auto& [name, group] : gang.groups) {
            const auto found = sums.groups.find(name);
            const ApplicationSums::Group counted =
                found == sums.groups.end() ? ApplicationSums::Group{} : found->second;
            const std::string where = what + ", task group " + state_.texts.text(name);
            faults_.expect(group.count == group.replaced + group.timed_out + counted.placeholders,
                           where + ": counters (G-026)");
            faults_.expect(group.free.size() == counted.free, where + ": free placeholders");
            faults_.expect(group.asks.size() == counted.asks, where + ": pending real asks");
            faults_.expect(group.open == group.is_open(), where + ": asks wait or go without need (G-030)");
            for (const GroupId asks : group.ask_groups)
                faults_.expect(state_.groups[asks].replaceable == group.open && state_.groups[asks].task_group == name,
                               where + ": a group of asks is out of step");
            const bool listed = std::find(gang.ready.begin(), gang.ready.end(), &group) != gang.ready.end();
            faults_.expect(listed == group.is_ready(), where + ": ready without need, or missing");
            free += group.free.size();
            ready += group.is_ready() ? 1U : 0U;
        }
        for (const auto& [name, group] : sums.groups)
            faults_.expect(gang.groups.count(name) > 0 || group.placeholders + group.asks == 0,
                           what + ": unknown task group " + state_.texts.text(name));
        faults_.expect(gang.free == free && gang.ready.size() == ready, what + ": placeholders of all task groups");
        faults_.expect(gang.timer == 0 || application.placeholders > 0, what + ": a timer without placeholder (G-022)");
        faults_.expect(application.state != ApplicationState::Accepted || application.allocated.is_zero(),
                       what + " is Accepted with a real allocation (G-013)");
        faults_.expect(application.state != ApplicationState::Resuming || application.placeholders > gang.free,
                       what + " is Resuming and waits for nothing (G-055)");
        faults_.expect(application.state != ApplicationState::Failing || !application.allocations.empty(),
                       what + " is Failing and waits for nothing (G-055)");
    }

    void check_applications() {
        state_.applications.for_each([this](ApplicationId id) {
            const Application& application = state_.applications[id];
            const ApplicationSums& sums = sums_[id];
            const std::string what = "application " + application.id;
            faults_.expect_equal(application.pending, sums.pending, what + " pending");
            faults_.expect_equal(application.allocated, sums.allocated, what + " allocated");
            faults_.expect_equal(application.placeholder, sums.placeholder, what + " placeholder");
            faults_.expect(application.placeholders == sums.placeholders, what + ": placeholder count");
            faults_.expect(application.pending_asks == sums.pending_asks, what + ": count of pending asks");
            faults_.expect(application.tried_asks == sums.tried_asks, what + ": count of tried asks");
            faults_.expect(application.reported_asks == sums.reported_asks, what + ": count of reported asks");
            faults_.expect(application.reservations.size() == sums.reservations, what + ": count of reservations");
            faults_.expect(application.groups.check().empty(), what + ": groups " + application.groups.check());
            std::uint32_t in_groups = 0;
            application.groups.for_each([&](std::uint32_t group) {
                in_groups += state_.groups[GroupId{group}].count;
                faults_.expect(application.groups.summary_of(group) == indexes_.masks_of(state_.groups[GroupId{group}]),
                               what + ": stale masks of a group");
            });
            if (application.slot.in_index())
                faults_.expect(application.queue->application_index.summary_of(id.index) ==
                                   indexes_.summary_of(application),
                               what + ": stale summary");
            faults_.expect(in_groups == sums.pending_asks, what + ": asks in groups");
            check_gang(application, sums, what);
            for (const AllocationId allocation : application.allocations) {
                const Allocation& each = state_.allocations[allocation];
                const auto& on_node = state_.nodes[each.node].allocations;
                faults_.expect(each.application == id && each.is(Allocation::Placed),
                               what + " lists a foreign allocation");
                faults_.expect(each.links.placed.on_node < on_node.size() &&
                                   on_node[each.links.placed.on_node] == allocation,
                               what + ": an allocation is not on its node");
            }
            allocations_ += application.allocations.size();
            placeholders_ += application.placeholders;
            pending_asks_ += application.pending_asks;
        });
    }

    struct QueueSums {
        Resource pending, allocated, preempting, promised;
        std::uint64_t running = 0, allocating = 0, reservations = 0;
        void add(const QueueSums& other) {
            pending.add(other.pending);
            allocated.add(other.allocated);
            preempting.add(other.preempting);
            promised.add(other.promised);
            running += other.running;
            allocating += other.allocating;
            reservations += other.reservations;
        }
    };

    /// A dynamic queue below a template that is applied again is as if it were made now, apart from quota tags (B-10).
    void check_template(const Queue& queue) {
        const Queue* owner = queue.managed || queue.path == kRecoveryPath ? nullptr : owner_of_template(*queue.parent);
        if (owner == nullptr || !owner->child_template->apply_to_existing) return;
        const config::ChildTemplate& from = *owner->child_template;
        faults_.expect(queue.property_map == properties_from(from, queue.parent->property_map, queue.leaf),
                       "queue " + queue.path + ": properties of a former template");
        faults_.expect(!queue.leaf || queue.set_by_tags.max_applications ||
                           queue.max_applications == from.max_applications,
                       "queue " + queue.path + ": maximum of applications of a former template");
    }

    QueueSums check_queue(const Queue& queue) {
        QueueSums sums;
        for (const ApplicationId id : queue.applications) {
            const Application& application = state_.applications[id];
            faults_.expect(application.queue == &queue, "application " + application.id + " is in another queue");
            sums.pending.add(application.pending);
            sums.allocated.add(application.allocated);
            sums.allocated.add(application.placeholder);
            sums.preempting.add(sums_[id].preempting);
            sums.promised.add(sums_[id].promised);
            sums.running += application.state == ApplicationState::Running ? 1U : 0U;
            sums.allocating += application.allocating_accepted ? 1U : 0U;
            faults_.expect(application.slot.in_index() == (application.pending_asks > 0),
                           "application " + application.id + " in the order without need, or missing");
        }
        for (const auto& [id, count] : queue.reserved_applications) sums.reservations += count;
        check_template(queue);
        for (const auto& [name, child] : queue.children) sums.add(check_queue(*child));
        const std::string what = "queue " + queue.path;
        faults_.expect_equal(queue.pending, sums.pending, what + " pending");
        faults_.expect_equal(queue.allocated, sums.allocated, what + " allocated");
        faults_.expect_equal(queue.preempting, sums.preempting, what + " preempting");
        faults_.expect_equal(queue.promised, sums.promised, what + " promised");
        faults_.expect(queue.running == sums.running, what + ": running applications");
        faults_.expect(queue.allocating == sums.allocating, what + ": allocating applications");
        faults_.expect(!queue.pending.has_negative() && !queue.allocated.has_negative(), what + " is negative");
        faults_.expect(queue.child_index.check().empty(), what + ": " + queue.child_index.check());
        faults_.expect(queue.application_index.check().empty(), what + ": " + queue.application_index.check());
        if (!queue.is_root())
            faults_.expect(queue.slot.in_index() == (queue.state != ObjectState::Stopped && queue.pending.gt_zero()),
                           what + " in the order without need, or missing");
        if (queue.is_root()) reservations_in_leaves_ = sums.reservations;
        return sums;
    }

    void check_nodes() {
        Resource capacity;
        state_.nodes.for_each([&](NodeId id) {
            const Node& node = state_.nodes[id];
            const std::string what = "node " + node.id;
            Resource allocated;
            Resource occupied = node.reported;
            for (const AllocationId allocation : node.allocations) {
                faults_.expect(state_.allocations[allocation].node == id,
                               what + " lists an allocation of another node");
                allocated.add(state_.resource_of(state_.allocations[allocation]));
            }
            for (const AllocationId allocation : node.foreign)
                occupied.add(state_.resource_of(state_.allocations[allocation]));
            for (const Quarantine::Serial serial : state_.recovery.quarantine.on_node(node.id))
                if (const QuarantinedObject& waiting = state_.recovery.quarantine.objects().at(serial);
                    waiting.occupies.valid())
                    occupied.add(waiting.size);
            faults_.expect_equal(node.allocated, allocated, what + " allocated");
            faults_.expect_equal(node.occupied, occupied, what + " occupied");
            Resource available = node.capacity;
            available.sub(allocated);
            available.sub(occupied);
            if (node.devices) {
                check_devices(node);
                available.add(node.devices->lost());
            }
            faults_.expect_equal(node.available, available, what + " available");
            capacity.add(node.capacity);
            on_nodes_ += node.allocations.size();
            reserved_on_nodes_ += node.reservations.size();
        });
        faults_.expect_equal(state_.capacity, capacity, "capacity");
        if (state_.capacity.gt_zero()) faults_.expect_equal(state_.queues.root().max.bounds(), capacity, "root max");
        faults_.expect(state_.nodes.check().empty(), state_.nodes.check());
    }

    /// What is in use of the devices of a resource is what those on the node have of it (F-009).
    void check_devices(const Node& node) {
        const NodeDevices& devices = *node.devices;
        const std::string what = "devices of node " + node.id;
        faults_.expect(devices.check().empty(), what + ": " + devices.check());
        std::map<DeviceOwner, const Resource*> owners;
        for (const auto* list : {&node.allocations, &node.foreign})
            for (const AllocationId id : *list) owners[owner_of(id)] = &state_.resource_of(state_.allocations[id]);
        for (const Quarantine::Serial serial : state_.recovery.quarantine.on_node(node.id))
            if (const QuarantinedObject& waiting = state_.recovery.quarantine.objects().at(serial);
                waiting.occupies.valid())
                owners[owner_in_quarantine(serial)] = &waiting.size;
        for (const DeviceKind& kind : devices.kinds()) {
            std::map<DeviceOwner, std::int64_t> held;
            devices.for_each([&](DeviceOwner owner, const NodeDevices::Hold& hold) {
                if (hold.demand.type == kind.type) held[owner] = sat_add(held[owner], hold.demand.amount());
            });
            for (const auto& [owner, size] : owners) {
                faults_.expect(held[owner] == size->get(kind.type), what + " are not held as they are allocated");
                held.erase(owner);
            }
            faults_.expect(held.empty(), what + " are held by what is not there");
        }
    }

    /// A blocked shape fits on no open node; what a queue blocks does not fit its headroom.
    void check_blocks() {
        state_.shapes.for_each([this](ShapeId id) {
            const Shape& shape = state_.shapes[id];
            if (shape.is_pinned() || (!shape.blocked && !shape.reserve_blocked)) return;
            state_.nodes.for_each([&](NodeId node_id) {
                const Node& node = state_.nodes[node_id];
                if (!node.is_open()) return;
                faults_.expect(!shape.blocked || !takes(node, shape), "shape " + state_.named(shape.resource).text() +
                                                                          " is blocked, but fits node " + node.id);
                faults_.expect(!shape.reserve_blocked || !could_take(node, shape),
                               "shape " + state_.named(shape.resource).text() + " could be reserved on node " +
                                   node.id);
            });
        });
        state_.queues.for_each([this](const Queue& queue) {
            for (const ShapeId id : queue.blocked_shapes())
                faults_.expect(!queue.headroom_allows(state_.shapes[id].resource) ||
                                   !queue.allows_increase(state_.shapes[id].resource),
                               "queue " + queue.path + " blocks " + state_.named(state_.shapes[id].resource).text() +
                                   " in vain");
        });
    }

    void check_counters() {
        faults_.expect(state_.allocation_count == allocations_, "allocation count");
        faults_.expect(on_nodes_ == allocations_ + elsewhere_, "allocations on nodes");
        faults_.expect(state_.placeholder_count == placeholders_, "placeholder count");
        faults_.expect(state_.pending_asks == pending_asks_, "count of pending asks");
        faults_.expect(state_.reservations.size() == reserved_on_nodes_, "reservations on nodes");
        faults_.expect(state_.reservations.size() == reservations_in_leaves_, "reservations in leaf queues");
        faults_.expect(state_.preemption.marks.size() == marked_, "marks of victims that are gone");
        faults_.expect(state_.preemption.triggers.size() == triggered_, "triggers of asks that are gone");
        faults_.expect(state_.counters.corrections == 0, "a total had to be corrected");
    }

    const PartitionState& state_;
    const SchedulingIndexes& indexes_;
    Faults& faults_;
    std::map<ApplicationId, ApplicationSums> sums_;
    std::size_t inquiries_ = 0;
    std::uint32_t resting_ = 0, attempts_ = 0;
    std::uint64_t allocations_ = 0, placeholders_ = 0, pending_asks_ = 0, on_nodes_ = 0, reserved_on_nodes_ = 0;
    std::uint64_t reservations_in_leaves_ = 0, marked_ = 0, triggered_ = 0;
    std::uint64_t elsewhere_ = 0; // real halves in flight on another node than their placeholders
};

} // namespace

std::vector<std::string> check_partition(const PartitionState& state, const SchedulingIndexes& indexes) {
    std::vector<std::string> list;
    Faults faults{state, list};
    Checker{state, indexes, faults}.run();
    check_usage(state, list);
    check_budget(state, list);
    return list;
}

} // namespace yk
