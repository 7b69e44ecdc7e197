// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operator: somebody who sets levels of loggers while the daemon runs, and wants them after each restart of it. He also
// counts its starts. What was answered with `kept` must be there; what was not answered may be (I-270, I-271).
//
// Owner: run_seed(). Thread: one.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "tests/sim/session.h"

namespace yk::sim {

class Operator {
public:
    Operator(World& world, DaemonHost& host) : world_(world), host_(host) {}

    void start();
    /// His program ends, and another one begins.
    void crash();
    /// From now on he changes nothing.
    void rest() { resting_ = true; }
    [[nodiscard]] bool is_calm() const { return session_->open_changes() == 0; }
    /// The daemon was started again, with a disk that works: judges what it has kept.
    void daemon_started();
    /// Judges what it has when nothing is under way.
    void judge_rest() { judge(possible_, "at rest"); }

private:
    using Levels = std::map<std::string, std::string>;

    void plan();
    void act();
    void lost();
    void on_answer(const Answer& answer, const std::set<Levels>& before, const std::set<Levels>& after);
    void judge(std::set<Levels>& allowed, const char* when);

    World& world_;
    DaemonHost& host_;
    std::shared_ptr<Session> session_;
    std::set<Levels> possible_{{}}; // one of these is what the daemon has set; of a change without an answer both
    std::set<Levels> under_way_;    // what a change that is not answered comes to
    std::set<Levels> kept_{{}};     // one of these it has after a restart: what was kept last, and all since
    Simulator::Clock::time_point lost_at_{};
    std::uint64_t boots_ = 0, incarnation_ = 0; // when it was judged last
    bool resting_ = false;
};

} // namespace yk::sim
