// SPDX-License-Identifier: Apache-2.0
// What a simulated RM does of its own accord.

#include <algorithm>
#include <array>

#include "protocol/si/tool_requests.h"
#include "protocol/wire/codec.h"
#include "tests/sim/served_rm.h"

namespace yk::sim {
namespace {

using Place = AskEntry::Place;

constexpr std::size_t kMostNodes = 5, kMostApps = 8, kMostOpen = 6;
constexpr std::ptrdiff_t kMostObjects = 60;

} // namespace

std::vector<std::string> ServedRm::live_apps() const {
    std::vector<std::string> live;
    for (const auto& [id, app] : books_.apps)
        if (!app.leaving && !app.ended) live.push_back(id);
    return live;
}

std::vector<std::string> ServedRm::live_nodes() const {
    std::vector<std::string> live;
    for (const auto& [id, node] : books_.nodes)
        if (!node.leaving) live.push_back(id);
    return live;
}

void ServedRm::plan_change() {
    if (std::exchange(change_planned_, true)) return;
    world_.after(world_.between(milliseconds{5}, manners_.pace), [this] {
        change_planned_ = false;
        if (resting_) return;
        when_awake([this] {
            const bool may = state_ == State::Running && session_->open_changes() < kMostOpen;
            if (may) change();
            plan_change();
        });
    });
}

void ServedRm::change() {
    if (resting_) return;
    using Do = void (ServedRm::*)();
    struct Choice {
        std::int64_t weight;
        Do what;
    };
    const std::array<Choice, 11> choices{{{8, &ServedRm::add_node},
                                          {4, &ServedRm::change_node},
                                          {manners_.removes_nodes ? 2 : 0, &ServedRm::remove_node},
                                          {10, &ServedRm::add_application},
                                          {manners_.gangs ? 6 : 0, &ServedRm::add_gang},
                                          {manners_.gangs ? 10 : 0, &ServedRm::add_members},
                                          {2, &ServedRm::remove_application},
                                          {30, &ServedRm::add_asks},
                                          {30, &ServedRm::release},
                                          {manners_.removes_nodes ? 0 : 8, &ServedRm::repeat_ask},
                                          {4, &ServedRm::look}}};
    std::int64_t sum = 0;
    for (const Choice& each : choices) sum += each.weight;
    std::int64_t at = world_.between(0, sum - 1);
    for (const Choice& each : choices) {
        at -= each.weight;
        if (at < 0) return (this->*each.what)();
    }
}

// --- nodes ----------------------------------------------------------------------------------------------------------

void ServedRm::add_node() {
    if (live_nodes().size() >= kMostNodes) return;
    const std::string id = new_id("node");
    NodeEntry& node = books_.nodes[id];
    node.vcore = node.most = world_.between(4, 16);
    if (manners_.devices && world_.chance(0.7))
        node.devices.assign(static_cast<std::size_t>(world_.between(1, 3)), world_.chance(0.7) ? 4 : 2);
    const std::int64_t more = world_.sabotages(sabotage::kSmallNode, 1) ? 1 : 0;
    si::NodeRequest request;
    request.rm_id = rm_id_;
    request.nodes.push_back(message_of(id, node));
    request.nodes.back().schedulable_resource->front().second += more;
    send(si::Kind::UpdateNode, wire::encoded(request));
}

void ServedRm::change_node() {
    const auto live = live_nodes();
    if (live.empty()) return;
    const std::string& id = world_.one_of(live);
    NodeEntry& node = books_.nodes.at(id);
    si::NodeRequest request;
    request.rm_id = rm_id_;
    si::NodeInfo info;
    info.node_id = id;
    if (world_.chance(0.5)) {
        node.vcore = world_.between(4, 16);
        node.most = std::max(node.most, node.vcore);
        info.action = si::NodeAction::Update;
        info.schedulable_resource = message_of(id, node).schedulable_resource;
    } else {
        node.schedulable = !node.schedulable;
        info.action = node.schedulable ? si::NodeAction::Schedulable : si::NodeAction::Drain;
    }
    request.nodes.push_back(std::move(info));
    send(si::Kind::UpdateNode, wire::encoded(request), true);
}

void ServedRm::remove_node() {
    const auto live = live_nodes();
    if (live.size() < 2) return;
    const std::string& id = world_.one_of(live);
    books_.nodes.at(id).leaving = true;
    for (auto& [key, ask] : books_.asks)
        if (ask.place != Place::Pending && ask.node == id) {
            books_.disturb(ask.app);
            ask.place = Place::Leaving;
        }
    for (auto& [app_id, app] : books_.apps) app.disturbed = true; // something may just be placed there
    si::NodeRequest request;
    request.rm_id = rm_id_;
    si::NodeInfo info;
    info.node_id = id;
    info.action = si::NodeAction::Decommission;
    request.nodes.push_back(std::move(info));
    send(si::Kind::UpdateNode, wire::encoded(request), true);
}

// --- applications ---------------------------------------------------------------------------------------------------

void ServedRm::add_application() {
    if (live_apps().size() >= kMostApps) return;
    const std::string id = new_id("app");
    AppEntry& app = books_.apps[id];
    app.queue = world_.chance(0.5) ? "root.a" : "root.b";
    si::ApplicationRequest request;
    request.rm_id = rm_id_;
    request.add.push_back(message_of(id, app));
    send(si::Kind::UpdateApplication, wire::encoded(request));
}

/// An application with its placeholders.
void ServedRm::add_gang() {
    if (live_apps().size() >= kMostApps) return;
    const std::string id = new_id("gang");
    AppEntry& app = books_.apps[id];
    app.queue = "root.gangs";
    app.members = world_.between(2, 4);
    app.member_size = world_.between(1, 3);
    if (manners_.devices && world_.chance(0.3)) app.member_gpu = world_.between(1, 2);
    app.hard = world_.chance(0.5);
    si::ApplicationRequest request;
    request.rm_id = rm_id_;
    request.add.push_back(message_of(id, app));
    send(si::Kind::UpdateApplication, wire::encoded(request));
    si::AllocationRequest placeholders;
    placeholders.rm_id = rm_id_;
    for (std::int64_t i = 0; i < app.members; ++i) {
        const std::string key = new_id("ph");
        AskEntry& ask = books_.asks[key];
        ask.app = id;
        ask.vcore = app.member_size;
        ask.gpu = app.member_gpu;
        ask.placeholder = true;
        ask.group = "members";
        if (i == 0 && world_.sabotages(sabotage::kHalfGang, 1)) continue;
        placeholders.asks.push_back(message_of(key, ask));
    }
    send(si::Kind::UpdateAllocation, wire::encoded(placeholders));
}

/// The real ones of a gang that runs.
void ServedRm::add_members() {
    std::vector<std::string> gangs;
    for (const std::string& id : live_apps()) {
        const AppEntry& app = books_.apps.at(id);
        if (app.members != 0 && static_cast<std::int64_t>(app.placeholders.size()) == app.members && app.real.empty() &&
            !app.timed_out)
            gangs.push_back(id);
    }
    if (gangs.empty()) return;
    const std::string& id = world_.one_of(gangs);
    const AppEntry& app = books_.apps.at(id);
    for (const auto& [key, ask] : books_.asks)
        if (ask.app == id && !ask.placeholder) return;
    si::AllocationRequest request;
    request.rm_id = rm_id_;
    for (std::int64_t i = 0; i < app.members; ++i) {
        const std::string key = new_id("member");
        AskEntry& ask = books_.asks[key];
        ask.app = id;
        ask.vcore = app.member_size;
        ask.gpu = app.member_gpu;
        ask.group = "members";
        request.asks.push_back(message_of(key, ask));
    }
    send(si::Kind::UpdateAllocation, wire::encoded(request));
}

void ServedRm::remove_application() {
    const auto live = live_apps();
    if (live.empty()) return;
    const std::string& id = world_.one_of(live);
    books_.apps.at(id).leaving = true;
    for (auto& [key, ask] : books_.asks)
        if (ask.app == id) ask.place = Place::Leaving;
    si::ApplicationRequest request;
    request.rm_id = rm_id_;
    request.remove.push_back({id, {}});
    send(si::Kind::UpdateApplication, wire::encoded(request), true);
}

// --- asks -----------------------------------------------------------------------------------------------------------

std::int64_t ServedRm::some_gpu() {
    constexpr std::array<std::int64_t, 5> kSizes{1, 2, 3, 4, 8}; // a device has 2 or 4
    return manners_.devices && world_.chance(0.5) ? kSizes.at(world_.choose(kSizes.size())) : 0;
}

void ServedRm::add_asks() {
    std::vector<std::string> live;
    for (const std::string& id : live_apps())
        if (books_.apps.at(id).members == 0) live.push_back(id);
    const auto objects = std::count_if(books_.asks.begin(), books_.asks.end(),
                                       [](const auto& each) { return each.second.place != Place::Leaving; });
    if (live.empty() || objects > kMostObjects) return;
    const std::string& app = world_.one_of(live);
    si::AllocationRequest request;
    request.rm_id = rm_id_;
    const std::int64_t count = world_.between(1, manners_.most_asks);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::string key = new_id("ask");
        AskEntry& ask = books_.asks[key];
        ask.app = app;
        ask.vcore = world_.between(1, 4);
        ask.gpu = some_gpu();
        ask.priority = static_cast<std::int32_t>(world_.between(0, 2));
        request.asks.push_back(message_of(key, ask));
    }
    send(si::Kind::UpdateAllocation, wire::encoded(request));
}

/// Some of what there is, placed or not.
void ServedRm::release() {
    std::vector<std::string> keys;
    for (const auto& [key, ask] : books_.asks) {
        const auto app = books_.apps.find(ask.app);
        const bool over = app == books_.apps.end() || app->second.leaving || app->second.ended;
        if (!over && (ask.place == Place::Pending || ask.place == Place::Placed)) keys.push_back(key);
    }
    if (keys.empty()) return;
    si::AllocationRequest request;
    request.rm_id = rm_id_;
    bool spares = false;
    for (std::int64_t i = world_.between(1, 4); i > 0; --i) {
        const std::string& key = world_.one_of(keys);
        AskEntry& ask = books_.asks.at(key);
        if (ask.place == Place::Leaving) continue;
        if (ask.place == Place::Pending) {
            world_.cover("release of what is pending");
            spares = true;
        }
        ask.place = Place::Leaving;
        books_.disturb(ask.app);
        si::AllocationRelease each;
        each.application_id = ask.app;
        each.allocation_key = key;
        each.termination_type = si::TerminationType::StoppedByRm;
        request.releases.allocations_to_release.push_back(std::move(each));
    }
    send(si::Kind::UpdateAllocation, wire::encoded(request), spares);
}

/// The same ask again, as an update that changes nothing.
void ServedRm::repeat_ask() {
    for (const auto& [key, ask] : books_.asks) {
        const auto app = books_.apps.find(ask.app);
        if (ask.place != Place::Pending || ask.placeholder || app == books_.apps.end() || app->second.ended) continue;
        si::AllocationRequest request;
        request.rm_id = rm_id_;
        request.asks.push_back(message_of(key, ask));
        return send(si::Kind::UpdateAllocation, wire::encoded(request));
    }
}

/// Requests that change nothing.
void ServedRm::look() {
    const auto ignore = [](const Answer&) {};
    if (world_.chance(0.5)) {
        si::SyncRequest request;
        request.rm_id = rm_id_;
        return session_->ask(si::Kind::Sync, wire::encoded(request), ignore);
    }
    si::PingRequest request;
    request.rm_id = rm_id_;
    session_->ask(si::Kind::Ping, wire::encoded(request), ignore);
}

} // namespace yk::sim
