// SPDX-License-Identifier: Apache-2.0
#pragma once
// DetachedRm: a simulated resource manager without a process, whose books the daemon keeps (--state). Somebody sends
// its updates. After whatever happened to the daemon, it must have what a beginning of these updates comes to: all that
// was synced, and perhaps more. After a loss of power it may be less, but never a part of an update.
//
// Owner: run_seed(). Thread: one.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/checker.h"
#include "tests/sim/session.h"

namespace yk::sim {

class DetachedRm {
public:
    DetachedRm(World& world, DaemonHost& host, std::string rm_id)
        : world_(world), host_(host), rm_id_(std::move(rm_id)) {}

    void start();
    /// Whoever sends its updates ends, and somebody else begins.
    void crash();
    void rest() { resting_ = true; }
    /// The daemon was started again, perhaps after a loss of power.
    void daemon_started(bool power);
    /// Judges what the daemon has when nothing is under way: all.
    void judge_rest();
    [[nodiscard]] bool is_calm() const;
    [[nodiscard]] const std::string& id() const { return rm_id_; }

private:
    struct Object {
        std::string app;
        std::int64_t vcore = 0;
    };
    /// What exists after some of the updates.
    struct State {
        bool registered = false;
        std::map<std::string, std::int64_t> nodes; // id -> vcore
        std::set<std::string> apps;
        std::map<std::string, Object> asks; // and allocations
    };
    /// One update.
    struct Update {
        si::Kind kind{};
        std::string body;
        std::function<void(State&)> effect;
    };

    void plan();
    void act();
    void send(Update update);
    void sync();
    void ask_for_placements();
    void add_node();
    void change_node();
    void add_application();
    void add_asks();
    void release();
    void register_it();
    /// Finds out how many of the updates the daemon has carried out. It is a fault if no number comes to what it has.
    void find_out(const char* why);
    [[nodiscard]] State after(std::size_t updates) const;
    [[nodiscard]] std::string difference(const State& wanted, const std::optional<DaemonState>& has) const;
    [[nodiscard]] std::string new_id(const char* prefix) { return fmt::format("{}-{}-{}", rm_id_, prefix, ++serial_); }
    void lost();
    [[nodiscard]] std::shared_ptr<Session> new_session() const;

    World& world_;
    DaemonHost& host_;
    const std::string rm_id_;
    std::shared_ptr<Session> session_;
    std::vector<Update> updates_; // that were sent
    State expected_;              // after all of them
    std::size_t answered_ = 0, synced_ = 0;
    std::size_t least_ = 0; // so many updates must be there, while nobody is sure how many are
    std::map<std::string, std::string> placements_, kept_; // key -> node, as the daemon said, and as it must keep them
    std::set<std::string> anchors_;                        // asks that are never released, so that no application ends
    Simulator::Clock::time_point lost_at_{};               // nobody is sure since then
    std::uint64_t serial_ = 0, life_ = 0;
    bool resting_ = false, unsure_ = false, syncing_ = false;
};

} // namespace yk::sim
