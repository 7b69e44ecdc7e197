// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/detached_rm.h"

#include <algorithm>

#include "protocol/wire/body_reader.h"
#include "protocol/wire/codec.h"
#include "tests/sim/served_rm.h"

namespace yk::sim {
namespace {

constexpr std::size_t kMostNodes = 4, kMostApps = 4, kMostAsks = 30, kMostOpen = 4;
constexpr Nanoseconds kPace = milliseconds{400}, kRestingPace = seconds{20};
constexpr Nanoseconds kSettle = seconds{2};

} // namespace

std::shared_ptr<Session> DetachedRm::new_session() const {
    return std::make_shared<Session>(world_, host_, rm_id_, Connection::Counters{rm_id_, {}});
}

void DetachedRm::start() {
    session_ = new_session();
    register_it();
    plan();
}

void DetachedRm::crash() {
    world_.trace("{}: its client crashed", rm_id_);
    world_.cover(fmt::format("client of the detached RM crashed while {}", host_.state_of(rm_id_)));
    session_->abandon();
    session_ = new_session();
    lost();
}

bool DetachedRm::is_calm() const {
    return !unsure_ && session_->open_changes() == 0 && synced_ == updates_.size();
}

// --- updates --------------------------------------------------------------------------------------------------------

void DetachedRm::plan() {
    world_.after(world_.between(milliseconds{5}, resting_ ? kRestingPace : kPace), [this] {
        act();
        plan();
    });
}

void DetachedRm::act() {
    if (unsure_) {
        // What the daemon has received it may still carry out, also of a client that is gone (that it does not was
        // misread): a request waits for one before it up to a second, and for a daemon that is stopped.
        if (world_.now() > std::max(lost_at_, world_.stalled_until()) + kSettle) find_out("its session was lost");
        return;
    }
    if (updates_.empty()) return register_it();
    if (session_->open_changes() >= kMostOpen || answered_ == 0) return;
    if (resting_ || world_.chance(0.25)) return sync();
    switch (world_.between(0, 9)) {
    case 0: return add_node();
    case 1: return change_node();
    case 2: return add_application();
    case 3:
    case 4:
    case 5: return add_asks();
    case 6: return ask_for_placements();
    default: return release();
    }
}

void DetachedRm::send(Update update) {
    update.effect(expected_);
    session_->change(update.kind, update.body, [this, life = life_, kind = update.kind](const Answer& answer) {
        if (life != life_) return;
        if (answer.lost) return lost();
        if (!answer.ok())
            return world_.fail(fmt::format("{}: {} refused: {} {}", rm_id_, si::info(kind).name, answer.error->name,
                                           answer.error->message));
        ++answered_;
    });
    updates_.push_back(std::move(update));
}

/// Nobody knows what became of the updates under way.
void DetachedRm::lost() {
    ++life_;
    unsure_ = true;
    lost_at_ = world_.now();
    least_ = answered_;
    syncing_ = false;
    placements_.clear();
}

void DetachedRm::register_it() {
    si::RegisterResourceManagerRequest request;
    request.rm_id = rm_id_;
    request.config = configuration_text({});
    request.detached.emplace();
    send({si::Kind::RegisterResourceManager, wire::encoded(request), [](State& state) {
              state = {};
              state.registered = true;
          }});
}

void DetachedRm::add_node() {
    if (expected_.nodes.size() >= kMostNodes) return;
    const std::string id = new_id("node");
    const std::int64_t vcore = world_.between(5, 20);
    si::NodeRequest request;
    request.rm_id = rm_id_;
    si::NodeInfo info;
    info.node_id = id;
    info.action = si::NodeAction::Create;
    info.schedulable_resource = si::Resources{{"vcore", vcore}};
    request.nodes.push_back(std::move(info));
    send({si::Kind::UpdateNode, wire::encoded(request), [id, vcore](State& state) { state.nodes[id] = vcore; }});
}

void DetachedRm::change_node() {
    if (expected_.nodes.empty()) return;
    const auto chosen =
        std::next(expected_.nodes.begin(), static_cast<std::ptrdiff_t>(world_.choose(expected_.nodes.size())));
    const std::string id = chosen->first;
    const std::int64_t vcore = world_.between(5, 20);
    si::NodeRequest request;
    request.rm_id = rm_id_;
    si::NodeInfo info;
    info.node_id = id;
    info.action = si::NodeAction::Update;
    info.schedulable_resource = si::Resources{{"vcore", vcore}};
    request.nodes.push_back(std::move(info));
    send({si::Kind::UpdateNode, wire::encoded(request), [id, vcore](State& state) { state.nodes[id] = vcore; }});
}

void DetachedRm::add_application() {
    if (expected_.apps.size() >= kMostApps) return;
    const std::string id = new_id("app");
    si::ApplicationRequest request;
    request.rm_id = rm_id_;
    si::AddApplicationRequest app;
    app.application_id = id;
    app.queue_name = "root.a";
    app.ugi = {"somebody", {"some"}};
    request.add.push_back(std::move(app));
    send({si::Kind::UpdateApplication, wire::encoded(request), [id](State& state) { state.apps.insert(id); }});
}

/// The first one of an application is never released.
void DetachedRm::add_asks() {
    if (expected_.apps.empty() || expected_.asks.size() > kMostAsks) return;
    const std::string app =
        *std::next(expected_.apps.begin(), static_cast<std::ptrdiff_t>(world_.choose(expected_.apps.size())));
    const bool first = std::none_of(expected_.asks.begin(), expected_.asks.end(),
                                    [&](const auto& each) { return each.second.app == app; });
    si::AllocationRequest request;
    request.rm_id = rm_id_;
    std::map<std::string, Object> added;
    for (std::int64_t i = world_.between(1, 4); i > 0; --i) {
        const std::string key = new_id("ask");
        if (first && added.empty()) anchors_.insert(key);
        si::AllocationAsk ask;
        ask.allocation_key = key;
        ask.application_id = app;
        ask.max_allocations = 1;
        const std::int64_t vcore = world_.between(1, 4);
        ask.resource_ask = si::Resources{{"vcore", vcore}};
        request.asks.push_back(std::move(ask));
        added[key] = {app, vcore};
    }
    send({si::Kind::UpdateAllocation, wire::encoded(request),
          [added](State& state) { state.asks.insert(added.begin(), added.end()); }});
}

void DetachedRm::release() {
    std::vector<std::string> keys;
    for (const auto& [key, ask] : expected_.asks)
        if (anchors_.count(key) == 0) keys.push_back(key);
    if (keys.empty()) return;
    si::AllocationRequest request;
    request.rm_id = rm_id_;
    std::set<std::string> gone;
    for (std::int64_t i = world_.between(1, 3); i > 0; --i) {
        const std::string& key = world_.one_of(keys);
        if (!gone.insert(key).second) continue;
        si::AllocationRelease each;
        each.application_id = expected_.asks.at(key).app;
        each.allocation_key = key;
        each.termination_type = si::TerminationType::StoppedByRm;
        request.releases.allocations_to_release.push_back(std::move(each));
    }
    send({si::Kind::UpdateAllocation, wire::encoded(request), [gone](State& state) {
              for (const std::string& key : gone) state.asks.erase(key);
          }});
}

// --- what is kept ---------------------------------------------------------------------------------------------------

/// What was answered before is kept once this is.
void DetachedRm::sync() {
    if (std::exchange(syncing_, true)) return;
    si::SyncRequest request;
    request.rm_id = rm_id_;
    session_->ask(si::Kind::Sync, wire::encoded(request),
                  [this, life = life_, answered = answered_, placements = placements_](const Answer& answer) {
                      if (life != life_) return;
                      syncing_ = false;
                      if (answer.ok()) {
                          world_.cover("detached: synced");
                          synced_ = std::max(synced_, answered);
                          for (const auto& [key, node] : placements) kept_[key] = node;
                      } else if (answer.error) {
                          world_.cover("detached: sync " + answer.error->name);
                      }
                  });
}

void DetachedRm::ask_for_placements() {
    si::SyncRequest request;
    request.rm_id = rm_id_;
    for (const auto& [key, ask] : expected_.asks) request.asks.push_back({ask.app, key, {}});
    if (request.asks.empty()) return;
    std::vector<std::string> keys;
    for (const auto& each : request.asks) keys.push_back(each.allocation_key);
    session_->ask(si::Kind::Sync, wire::encoded(request), [this, life = life_, keys](const Answer& answer) {
        if (life != life_ || !answer.ok()) return;
        const auto scanned = wire::scan_body(answer.body);
        const wire::Value reply = wire::decode_value(*scanned);
        const auto& list = reply["asks"];
        for (std::size_t i = 0; i < keys.size() && i < list.size(); ++i)
            if (list[i].value("outcome", "") == "placed") placements_[keys[i]] = list[i].value("nodeID", "");
    });
}

DetachedRm::State DetachedRm::after(std::size_t updates) const {
    State state;
    for (std::size_t i = 0; i < updates; ++i) updates_[i].effect(state);
    return state;
}

/// Empty: there is none.
// NOLINTNEXTLINE(readability-function-cognitive-complexity): a list of cases, one after the other
std::string DetachedRm::difference(const State& wanted, const std::optional<DaemonState>& has) const {
    if (wanted.registered != has.has_value()) return has ? "it is registered" : "it is not registered";
    if (!has) return {};
    for (const auto& [id, vcore] : wanted.nodes) {
        const auto found = has->nodes.find(id);
        if (found == has->nodes.end()) return fmt::format("node {} is missing", id);
        if (found->second.vcore != vcore) return fmt::format("node {} has {}, not {}", id, found->second.vcore, vcore);
    }
    for (const auto& [id, node] : has->nodes)
        if (wanted.nodes.count(id) == 0) return fmt::format("there is node {}", id);
    for (const std::string& id : wanted.apps)
        if (has->apps.count(id) == 0) return fmt::format("application {} is missing", id);
    for (const auto& [id, app] : has->apps)
        if (wanted.apps.count(id) == 0) return fmt::format("there is application {}", id);
    for (const auto& [key, ask] : wanted.asks) {
        const auto found = has->objects.find(key);
        if (found == has->objects.end()) return fmt::format("{} is missing", key);
        if (found->second.vcore != ask.vcore || found->second.app != ask.app) return fmt::format("{} has changed", key);
    }
    for (const auto& [key, object] : has->objects)
        if (wanted.asks.count(key) == 0) return fmt::format("there is {}", key);
    std::map<std::string, std::int64_t> sums; // of applications
    std::int64_t all = 0;
    for (const auto& [key, ask] : wanted.asks) sums[ask.app] += ask.vcore, all += ask.vcore;
    for (const auto& [id, has_app] : has->apps)
        if (has_app.pending + has_app.allocated != sums[id])
            return fmt::format("application {} has {} and {}, of {}", id, has_app.pending, has_app.allocated, sums[id]);
    if (const DaemonState::Sums& root = has->queues.at("root"); root.pending + root.allocated != all)
        return fmt::format("the queues have {} and {}, of {}", root.pending, root.allocated, all);
    return {};
}

/// Finds out how many of the updates the daemon has carried out.
void DetachedRm::find_out(const char* why) {
    if (!host_.is_up() || host_.is_busy()) return;
    const std::uint64_t life = life_;
    const auto found = look(world_, host_, rm_id_);
    if (!found.answered || life != life_ || !unsure_) return; // something else happened meanwhile
    const auto& has = found.state;
    std::string differs;
    for (std::size_t count = updates_.size() + 1; count-- > least_;) {
        const State state = after(count);
        differs = difference(state, has);
        if (!differs.empty()) continue;
        world_.trace("{}: {} of {} updates are there, {} synced", rm_id_, count, updates_.size(), synced_);
        if (count < updates_.size()) world_.cover("detached: the last updates were not carried out");
        for (const auto& [key, node] : kept_) {
            const auto object = has ? has->objects.find(key) : decltype(has->objects.find(key)){};
            if (state.asks.count(key) == 0 || !has || object == has->objects.end()) continue;
            if (object->second.node != node)
                return world_.fail(fmt::format("{}: {} was on {}, and is on '{}' after {}", rm_id_, key, node,
                                               object->second.node, why));
        }
        updates_.resize(count);
        answered_ = count;
        synced_ = std::min(synced_, count);
        expected_ = state;
        unsure_ = false;
        return;
    }
    world_.fail(
        fmt::format("{}: {} updates were sent, {} answered, {} kept for certain; after {} no number of them comes "
                    "to what is there ({})",
                    rm_id_, updates_.size(), answered_, synced_, why, differs));
}

void DetachedRm::daemon_started(bool power) {
    lost();
    world_.cover(power ? "detached: judged after a loss of power" : "detached: judged after a restart");
    if (power) {
        kept_.clear();
        synced_ = answered_ = 0;
    }
    least_ = synced_;
    find_out(power ? "a loss of power" : "a restart");
    session_->abandon();
    session_ = new_session();
}

void DetachedRm::judge_rest() {
    const auto has = look(world_, host_, rm_id_).state;
    if (const std::string differs = difference(expected_, has); !differs.empty())
        world_.fail(fmt::format("{}: at rest, {}", rm_id_, differs));
}

} // namespace yk::sim
