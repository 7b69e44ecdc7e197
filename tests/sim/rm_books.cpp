// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/rm_books.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace yk::sim {
namespace {

using Place = AskEntry::Place;
using si::TerminationType;

std::int64_t amount_of(const std::optional<si::Resources>& resources, std::string_view wanted) {
    if (!resources) return 0;
    for (const auto& [name, amount] : *resources)
        if (name == wanted) return amount;
    return 0;
}

/// The devices that an allocation has.
std::vector<si::DeviceAmount> devices_of(const si::Allocation& made) {
    for (const auto& [name, devices] : made.devices)
        if (name == "gpu") return devices.on;
    return {};
}

/// The hash of a line (I-232): FNV-1a, then mixed.
std::uint64_t hash_of(const std::string& line) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : line) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    hash = (hash ^ (hash >> 30U)) * 0xbf58476d1ce4e5b9U;
    hash = (hash ^ (hash >> 27U)) * 0x94d049bb133111ebU;
    return hash ^ (hash >> 31U);
}

std::string amount_text(std::int64_t vcore, std::int64_t gpu) {
    std::string text = gpu == 0 ? std::string{} : fmt::format("gpu={}", gpu);
    if (vcore != 0) text += fmt::format("{}vcore={}", text.empty() ? "" : ",", vcore);
    return text;
}

std::int64_t sum_of(const std::vector<std::int64_t>& amounts) {
    return std::accumulate(amounts.begin(), amounts.end(), std::int64_t{0});
}

bool is_placed(const AskEntry& ask) {
    return ask.place == Place::Placed || ask.place == Place::Stopping;
}

} // namespace

void RmBooks::fail(const std::string& sentence) const {
    world_.fail(fmt::format("{}: {}", rm_id_, sentence));
}

void RmBooks::begin_epoch() {
    const auto gone = [this](const AskEntry& ask) {
        const auto app = apps.find(ask.app);
        const auto node = nodes.find(ask.node);
        return ask.place == Place::Leaving || app == apps.end() || app->second.leaving || app->second.ended ||
               (is_placed(ask) && (node == nodes.end() || node->second.leaving));
    };
    for (auto at = asks.begin(); at != asks.end();) {
        const bool is_gone = gone(at->second);
        if (is_gone) past_.insert(at->first);
        at = is_gone ? asks.erase(at) : std::next(at);
    }
    for (auto at = nodes.begin(); at != nodes.end();) at = at->second.leaving ? nodes.erase(at) : std::next(at);
    for (auto at = apps.begin(); at != apps.end();)
        at = at->second.leaving || at->second.ended ? apps.erase(at) : std::next(at);
    for (auto& [id, node] : nodes) {
        node.accepted = false;
        node.most = node.vcore;
    }
    for (auto& [id, app] : apps) {
        app.accepted = false;
        app.disturbed = true;
        app.vacated.clear();
    }
    for (auto& [key, ask] : asks) ask.heard = ask.reported = false;
    forget_victims();
    spares = false;
}

std::int64_t RmBooks::used(const std::string& node) const {
    std::int64_t sum = 0;
    for (const auto& [key, ask] : asks)
        if (is_placed(ask) && ask.node == node) sum += ask.vcore;
    return sum;
}

std::vector<std::int64_t> RmBooks::used_devices(const std::string& node) const {
    std::vector<std::int64_t> used(nodes.at(node).devices.size());
    for (const auto& [key, ask] : asks)
        if (is_placed(ask) && ask.node == node)
            for (const si::DeviceAmount& each : ask.on)
                if (each.index < used.size()) used[each.index] += each.amount;
    return used;
}

void RmBooks::disturb(const std::string& app) {
    if (const auto found = apps.find(app); found != apps.end()) found->second.disturbed = true;
}

si::RecoveryDoneRequest RmBooks::claim() const {
    si::RecoveryDoneRequest claim;
    claim.expected.asks = 0;
    for (const auto& [id, node] : nodes) {
        if (node.leaving) continue;
        ++claim.expected.nodes;
        claim.digest.nodes += hash_of(fmt::format(
            "N\tdefault\t{}\t{}\t{}\n", id, amount_text(node.vcore, sum_of(node.devices)), node.schedulable ? 1 : 0));
    }
    for (const auto& [id, app] : apps) {
        if (app.leaving || app.ended) continue;
        ++claim.expected.applications;
        claim.digest.applications += hash_of(fmt::format("A\tdefault\t{}\n", id));
    }
    for (const auto& [key, ask] : asks) {
        if (ask.place == Place::Pending) ++*claim.expected.asks;
        if (!is_placed(ask)) continue;
        ++claim.expected.allocations;
        claim.digest.allocations += hash_of(fmt::format("L\tdefault\t{}\t{}\t{}\t{}\t{}\n", ask.app, key, ask.node,
                                                        amount_text(ask.vcore, ask.gpu), ask.placeholder ? 1 : 0));
    }
    return claim;
}

// --- nodes and applications -----------------------------------------------------------------------------------------

void RmBooks::hear(const si::NodeResponse& response) {
    for (const si::AcceptedNode& each : response.accepted) {
        const auto found = nodes.find(each.node_id);
        if (found == nodes.end()) return fail("a node was accepted that is not ours: " + each.node_id);
        if (std::exchange(found->second.accepted, true)) return fail("node accepted twice: " + each.node_id);
    }
    for (const si::RejectedNode& each : response.rejected)
        return fail(fmt::format("node {} was rejected: {}", each.node_id, each.reason));
    for (const si::FailedNode& each : response.failed)
        return fail(fmt::format("{} of node {} failed: {}", si::text(each.action), each.node_id, each.reason));
}

void RmBooks::hear(const si::ApplicationResponse& response) {
    for (const si::RejectedApplication& each : response.rejected)
        return fail(fmt::format("application {} was rejected: {}", each.application_id, each.reason));
    for (const si::AcceptedApplication& each : response.accepted) {
        const auto found = apps.find(each.application_id);
        if (found == apps.end()) return fail("an application was accepted that is not ours: " + each.application_id);
        if (std::exchange(found->second.accepted, true))
            return fail("application accepted twice: " + each.application_id);
    }
    for (const si::UpdatedApplication& each : response.updated) {
        const auto found = apps.find(each.application_id);
        if (found == apps.end()) continue; // it has left
        AppEntry& app = found->second;
        world_.cover("application: " + each.state);
        if (each.state == "Running") app.runs = true;
        if (each.state == "Failing" || each.state == "Resuming") app.timed_out = true;
        if (each.state != "Completed" && each.state != "Failed") continue;
        app.ended = true;
        // What goes with its node is told behind the end of the application (S-590; the other order was misread).
        const auto stays = [this](const std::string& id) {
            const auto node = nodes.find(id);
            return node != nodes.end() && !node->second.leaving;
        };
        for (const auto& [key, ask] : asks)
            if (ask.app == each.application_id && ask.place == Place::Placed && !app.leaving && stays(ask.node))
                return fail(
                    fmt::format("application {} is {} with allocation {}", each.application_id, each.state, key));
    }
}

// --- allocations ----------------------------------------------------------------------------------------------------

std::vector<RmBooks::ToStop> RmBooks::hear(const si::AllocationResponse& response) {
    std::vector<ToStop> stop;
    ++heard_;
    for (const si::Allocation& each : response.made) hear_new(each);
    check_gangs();
    for (const si::RejectedAllocation& each : response.rejected) hear_rejected(each);
    for (const si::RejectedAllocation& each : response.rejected_allocations)
        fail(fmt::format("allocation {} was rejected: {}", each.allocation_key, each.reason));
    for (const si::AllocationRelease& each : response.released) hear_released(each, stop);
    for (const si::IgnoredRelease& each : response.ignored_releases) {
        world_.cover("release ignored");
        const auto found = asks.find(each.allocation_key);
        if (found != asks.end() && found->second.place != Place::Leaving)
            fail(fmt::format("a release of {} was ignored: {}", each.allocation_key, each.reason));
    }
    return stop;
}

void RmBooks::hear_new(const si::Allocation& made) {
    const std::string& key = made.allocation_key;
    const auto found = asks.find(key);
    if (found == asks.end())
        return fail(
            fmt::format("{} was placed, and {}", key, past_.count(key) != 0 ? "it was gone" : "never asked for"));
    AskEntry& ask = found->second;
    if (std::exchange(ask.heard, true)) return fail(fmt::format("{} was placed twice", key));
    if (amount_of(made.resource_per_alloc, "vcore") != ask.vcore ||
        amount_of(made.resource_per_alloc, "gpu") != ask.gpu || made.application_id != ask.app)
        return fail(fmt::format("{} was placed with another size or application", key));
    switch (ask.place) {
    case Place::Pending: return placed(key, ask, made);
    case Place::Leaving:
        world_.cover("placed while its release was on its way");
        if (ask.node.empty()) ask.node = made.node_id;
        return;
    case Place::Placed:
    case Place::Stopping:
        if (!ask.reported) return fail(fmt::format("{} was placed again, it was on {}", key, ask.node));
        if (made.node_id != ask.node)
            return fail(fmt::format("{} moved from {} to {} in a recovery", key, ask.node, made.node_id));
        if (devices_of(made) != ask.on) return fail(fmt::format("{} got other devices in a recovery", key));
    }
}

void RmBooks::placed(const std::string& key, AskEntry& ask, const si::Allocation& made) {
    const std::string& node = made.node_id;
    const auto found = nodes.find(node);
    if (found == nodes.end()) return fail(fmt::format("{} was placed on {}, which is not there", key, node));
    ask.place = Place::Placed;
    ask.node = node;
    ask.on = devices_of(made);
    const bool is_exempt = takes_the_place(ask, node) || found->second.leaving; // whatever else is there
    if (!is_exempt && used(node) > found->second.most)
        return fail(fmt::format("{} has {} after {} came, and {} at most", node, used(node), key, found->second.most));
    check_devices(key, ask, is_exempt);
    for (const Victim& one : victims) {
        if (one.app == ask.app) continue;
        for (Victim& each : victims) each.landed = each.landed || each.group == one.group;
    }
    check_member(key, ask);
    if (world_.sabotages(sabotage::kLostAllocation, 0.02)) asks.erase(key);
}

/// It has what it wants of devices that are there, and no device has more in use than it is large (F-003, F-009).
void RmBooks::check_devices(const std::string& key, const AskEntry& ask, bool is_exempt) const {
    const std::vector<std::int64_t>& sizes = nodes.at(ask.node).devices;
    if (ask.gpu == 0) return ask.on.empty() ? void() : fail(fmt::format("{} got devices that it did not want", key));
    if (sizes.empty()) return fail(fmt::format("{} wants gpu, and {} has none", key, ask.node));
    const std::int64_t each = std::min(ask.gpu, sizes.front()); // those of one node are equal
    world_.cover(ask.gpu < sizes.front() ? "devices: a part of one" : "devices: whole ones");
    if (static_cast<std::int64_t>(ask.on.size()) * each != ask.gpu)
        return fail(fmt::format("{} wants {} gpu, and has {} devices of {}", key, ask.gpu, ask.on.size(), ask.node));
    std::set<std::uint32_t> indices;
    for (const si::DeviceAmount& one : ask.on)
        if (one.index >= sizes.size() || one.amount != each || !indices.insert(one.index).second)
            return fail(fmt::format("{} has {} of device {} of {}", key, one.amount, one.index, ask.node));
    if (is_exempt) return;
    const std::vector<std::int64_t> used = used_devices(ask.node);
    for (std::size_t at = 0; at < used.size(); ++at)
        if (used[at] > sizes[at])
            return fail(fmt::format("{} of device {} of {} are in use after {} came", used[at], at, ask.node, key));
}

/// Whether it is a member of a gang where a placeholder was: that needs no room, also on a node that has become too
/// small (G-035; that a node never has more than fits was misread as true of these, too).
bool RmBooks::takes_the_place(const AskEntry& ask, const std::string& node) {
    const auto app = apps.find(ask.app);
    if (ask.placeholder || app == apps.end()) return false;
    const auto vacated = app->second.vacated.find(node);
    if (vacated == app->second.vacated.end() || vacated->second < ask.vcore) return false;
    vacated->second -= ask.vcore;
    return true;
}

/// A member of a gang comes only for a placeholder that went.
void RmBooks::check_member(const std::string& key, const AskEntry& ask) {
    const auto found = apps.find(ask.app);
    if (found == apps.end() || found->second.members == 0) return;
    AppEntry& app = found->second;
    if (ask.placeholder) {
        app.placeholders.insert(key);
        return;
    }
    app.real.insert(key);
    world_.cover("gang: member placed");
    if (app.disturbed || app.timed_out || static_cast<std::int64_t>(app.replaced.size()) >= app.members) return;
    if (app.real.size() > app.replaced.size())
        fail(fmt::format("{} of gang {} came for no placeholder: {} members, {} placeholders replaced", key, ask.app,
                         app.real.size(), app.replaced.size()));
}

/// A gang that runs is whole. What makes it so may be in the item behind the one that says so.
void RmBooks::check_gangs() {
    for (auto& [id, app] : apps) {
        if (!std::exchange(app.runs, false) || app.members == 0 || app.leaving) continue;
        if (app.disturbed || app.timed_out) continue;
        if (!app.real.empty() || !app.replaced.empty()) continue;
        world_.cover("gang: runs");
        if (static_cast<std::int64_t>(app.placeholders.size()) != app.members)
            return fail(fmt::format("gang {} runs with {} of {} members", id, app.placeholders.size(), app.members));
    }
}

void RmBooks::hear_rejected(const si::RejectedAllocation& rejected) {
    const auto found = asks.find(rejected.allocation_key);
    if (found == asks.end()) return;
    const auto app = apps.find(found->second.app);
    const bool over = app == apps.end() || app->second.ended || app->second.leaving;
    if (!over) return fail(fmt::format("ask {} was rejected: {}", rejected.allocation_key, rejected.reason));
    world_.cover("ask of an application that ended rejected");
    past_.insert(found->first);
    asks.erase(found);
}

// NOLINTNEXTLINE(readability-function-cognitive-complexity): a list of cases, one after the other
void RmBooks::hear_released(const si::AllocationRelease& released, std::vector<ToStop>& stop) {
    const std::string& key = released.allocation_key;
    const auto found = asks.find(key);
    world_.cover(fmt::format("released: {}", si::text(released.termination_type)));
    if (found == asks.end()) {
        if (past_.count(key) == 0) fail(fmt::format("{} was released, and never asked for", key));
        return;
    }
    AskEntry& ask = found->second;
    const auto app = apps.find(ask.app);
    const auto node = nodes.find(ask.node);
    const bool app_over = app == apps.end() || app->second.leaving || app->second.ended;
    const bool node_over = is_placed(ask) && (node == nodes.end() || node->second.leaving);
    const bool is_gang = app != apps.end() && app->second.members != 0;
    const auto gone = [&] {
        past_.insert(key);
        asks.erase(found);
    };
    // What was being stopped when the RM registered is reported as running, and may be told to stop once more.
    if (released.termination_type != TerminationType::StoppedByRm && ask.place == Place::Stopping &&
        std::exchange(ask.reported, false))
        return;
    switch (released.termination_type) {
    case TerminationType::StoppedByRm:
        if (ask.place != Place::Leaving && !app_over && !node_over)
            return fail(fmt::format("{} was released, and nobody wanted that", key));
        disturb(ask.app);
        return gone();
    case TerminationType::Timeout:
        if (ask.place == Place::Leaving) return;
        if (!is_gang) return fail(fmt::format("{} timed out, and is of no gang", key));
        app->second.timed_out = true;
        if (ask.place == Place::Pending) return gone();
        break;
    case TerminationType::PreemptedByScheduler:
        if (ask.place == Place::Leaving) return;
        if (ask.place != Place::Placed) return fail(fmt::format("{} was preempted, and was not running", key));
        disturb(ask.app);
        if (!spares) victims.push_back({key, ask.app, ask.node, heard_});
        break;
    case TerminationType::PlaceholderReplaced:
        if (ask.place == Place::Leaving) return;
        if (ask.place != Place::Placed || !ask.placeholder)
            return fail(fmt::format("{} is replaced, and was no placeholder", key));
        break;
    default: return fail(fmt::format("{} was released for an unknown reason", key));
    }
    if (ask.place == Place::Stopping) return fail(fmt::format("{} was told twice to stop", key));
    ask.place = Place::Stopping;
    ask.reported = false;
    stop.push_back({key, released.termination_type});
}

// --- the end --------------------------------------------------------------------------------------------------------

// NOLINTNEXTLINE(readability-function-cognitive-complexity): a list of cases, one after the other
void RmBooks::judge_rest() const {
    for (const auto& [key, ask] : asks) {
        const auto app = apps.find(ask.app);
        const bool is_of_one = app != apps.end() && !app->second.leaving && !app->second.ended;
        if (ask.place == Place::Leaving && !ask.node.empty() && is_of_one) // of what was pending it has none
            return fail(fmt::format("the release of {} was never answered", key));
    }
    for (const auto& [id, node] : nodes)
        if (!node.accepted && !node.leaving) return fail(fmt::format("node {} was never answered", id));
    for (const auto& [id, app] : apps) {
        if (app.leaving || app.ended) continue;
        if (!app.accepted) return fail(fmt::format("application {} was never answered", id));
        std::int64_t here = 0;
        for (const auto& [key, ask] : asks)
            if (ask.app == id && is_placed(ask)) ++here;
        if (app.members != 0 && !app.disturbed && app.hard && here != 0 && here < app.members && !app.timed_out)
            return fail(fmt::format("of gang {} only {} of {} members are there", id, here, app.members));
    }
    for (const Victim& victim : victims) {
        world_.cover(victim.landed ? "victim: another landed" : "victim: nobody landed");
        if (!victim.landed)
            return fail(fmt::format("{} had to leave {}, and nothing was placed for it", victim.key, victim.node));
    }
}

} // namespace yk::sim
