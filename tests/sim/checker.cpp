// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/checker.h"

#include <memory>

#include "libcore/reports/snapshot.h"

namespace yk::sim {
namespace {

using Place = AskEntry::Place;

std::int64_t vcore_of(const ResourceMapView& resources) {
    const auto found = resources.find("vcore");
    return found == resources.end() ? 0 : found->second;
}

void add_sums(const QueueView& queue, std::map<std::string, DaemonState::Sums>& sums) {
    sums[queue.path] = {vcore_of(queue.pending), vcore_of(queue.allocated)};
    for (const QueueView& each : queue.children) add_sums(each, sums);
}

DaemonState state_of(const PartitionState& partition) {
    DaemonState state;
    if (const auto root = queue_view(partition, "root", true)) add_sums(*root, state.queues);
    for (const NodeView& node : node_views(partition, false)) {
        state.nodes[node.id] = {vcore_of(node.capacity), vcore_of(node.allocated), node.schedulable, {}};
        for (const auto& [name, devices] : node.devices)
            for (const auto& each : devices) state.nodes[node.id].used_devices.push_back(each.used);
        state.reservations += node.reservations.size();
    }
    for (const ApplicationView& app : application_views(partition, ApplicationList::Active, true)) {
        state.apps[app.id] = {vcore_of(app.pending), vcore_of(app.allocated) + vcore_of(app.placeholder)};
        for (const AskView& ask : app.asks)
            state.objects[ask.key] = {app.id, {}, vcore_of(ask.resource), ask.placeholder};
        for (const AllocationView& one : app.allocations)
            state.objects[one.key] = {app.id, one.node, vcore_of(one.resource), one.placeholder};
    }
    return state;
}

} // namespace

void check_soon(World& world, DaemonHost& host, const std::string& rm_id) {
    if (!host.is_up()) return;
    const service::RmPtr rm = host.daemon().parts().rms.find(rm_id);
    if (!rm) return;
    rm->owner.control(
        [&world, rm_id](RmOwner& owner) {
            if (owner.context() == nullptr) return;
            for (const std::string& wrong : owner.gateway().check())
                world.fail(fmt::format("{}: the daemon is inconsistent: {}", rm_id, wrong));
        },
        [] {});
}

Look look(World& world, DaemonHost& host, const std::string& rm_id) {
    if (!host.is_up()) return {};
    const auto found = std::make_shared<Look>();
    // The RM is not held meanwhile, since the daemon may be killed.
    if (const service::RmPtr rm = host.daemon().parts().rms.find(rm_id))
        rm->owner.in_order( // after what was accepted before
            [&world, rm_id, found](RmOwner& owner) {
                if (owner.context() != nullptr)
                    for (const std::string& wrong : owner.gateway().check())
                        world.fail(fmt::format("{}: the daemon is inconsistent: {}", rm_id, wrong));
                if (const PartitionState* state = owner.read("default")) found->state = state_of(*state);
                found->answered = true;
            },
            [] {});
    else
        found->answered = true;
    world.run_until([found] { return found->answered; }, world.now() + seconds{400});
    return *found;
}

namespace {

/// What applications and queues come to, by what the RM knows.
void compare_sums(World& world, const DaemonState& state, const ServedRm& rm) {
    std::map<std::string, DaemonState::Sums> apps, queues;
    for (const auto& [key, ask] : rm.books().asks) {
        const auto app = rm.books().apps.find(ask.app);
        if (state.objects.count(key) == 0 || app == rm.books().apps.end()) continue;
        for (DaemonState::Sums* sums : {&apps[ask.app], &queues[app->second.queue], &queues["root"]})
            (ask.place == Place::Pending ? sums->pending : sums->allocated) += ask.vcore;
    }
    const auto compare = [&](const char* what, const auto& has, auto& wanted) {
        for (const auto& [name, sums] : has)
            if (!(sums == wanted[name]))
                return world.fail(fmt::format("{}: at rest, {} {} has {} pending and {} allocated, by its RM {} and {}",
                                              rm.id(), what, name, sums.pending, sums.allocated, wanted[name].pending,
                                              wanted[name].allocated));
    };
    compare("application", state.apps, apps);
    compare("queue", state.queues, queues);
}

} // namespace

void compare(World& world, const DaemonState& state, const ServedRm& rm) {
    const RmBooks& books = rm.books();
    const auto fail = [&](const std::string& sentence) {
        world.fail(fmt::format("{}: at rest, {}", rm.id(), sentence));
    };
    std::map<std::string, std::int64_t> used;
    for (const auto& [key, ask] : books.asks) {
        const auto app = books.apps.find(ask.app);
        const auto object = state.objects.find(key);
        const bool over =
            app == books.apps.end() || app->second.leaving || app->second.ended || ask.place == Place::Leaving;
        if (over) {
            if (object != state.objects.end()) return fail(fmt::format("{} is gone, and the daemon has it", key));
            continue;
        }
        if (object == state.objects.end()) return fail(fmt::format("the daemon forgot {}", key));
        const DaemonState::Object& has = object->second;
        const std::string node = ask.place == Place::Pending ? std::string{} : ask.node;
        if (has.app != ask.app || has.vcore != ask.vcore || has.placeholder != ask.placeholder)
            return fail(fmt::format("the daemon has another {}", key));
        if (has.node != node) return fail(fmt::format("{} is on '{}', for the daemon on '{}'", key, node, has.node));
        used[node] += ask.vcore;
    }
    for (const auto& [key, object] : state.objects)
        if (books.asks.count(key) == 0) return fail(fmt::format("the daemon has {}, which is gone", key));
    for (const auto& [id, node] : books.nodes) {
        const auto found = state.nodes.find(id);
        if (node.leaving != (found == state.nodes.end()))
            return fail(fmt::format("node {} is {}", id, node.leaving ? "gone, and the daemon has it" : "forgotten"));
        if (node.leaving) continue;
        if (found->second.vcore != node.vcore || found->second.schedulable != node.schedulable)
            return fail(fmt::format("the daemon has another node {}", id));
        if (found->second.used != used[id])
            return fail(fmt::format("{} is used on {}, {} for the daemon", used[id], id, found->second.used));
    }
    for (const auto& [id, node] : books.nodes)
        if (!node.leaving && state.nodes.at(id).used_devices != books.used_devices(id))
            return fail(fmt::format("other parts of the devices of {} are in use for the daemon", id));
    for (const auto& [id, node] : state.nodes)
        if (books.nodes.count(id) == 0) return fail(fmt::format("the daemon has node {}, which is gone", id));
    for (const auto& [id, app] : books.apps) {
        const bool over = app.leaving || app.ended;
        if (over == (state.apps.count(id) != 0))
            return fail(fmt::format("application {} is {}", id, over ? "gone, and the daemon has it" : "forgotten"));
    }
    for (const auto& [id, app] : state.apps)
        if (books.apps.count(id) == 0) return fail(fmt::format("the daemon has application {}, which is gone", id));
    compare_sums(world, state, rm);
}

} // namespace yk::sim
