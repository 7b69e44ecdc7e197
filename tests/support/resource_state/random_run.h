// SPDX-License-Identifier: Apache-2.0
#pragma once
// RandomRun: the framework of libcore/resource_state with a database that changes, a log that loses, doubles, reorders
// and cuts events, calls that are run and taken over in any order, handlers that fail, and a program that is killed at
// any step, all as a seed wants it. Once faults have stopped for some periods, the cache has to be the database, and
// each handler must have been given an unbroken chain of states.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/resource_state/faulty_log.h"
#include "tests/support/resource_state/world.h"

namespace yk::testing {

/// What goes wrong in a run.
struct Troubles {
    FaultyChangeLog::Faults log;
    bool chained = false;
    unsigned store = 0, handler = 0, crash = 0, purge = 0, restore = 0; // per mille of the steps or calls
};

/// Kinds of runs, each with what has to come of it.
[[nodiscard]] Troubles no_troubles();
[[nodiscard]] Troubles log_troubles(bool chained);
[[nodiscard]] Troubles call_troubles();
[[nodiscard]] Troubles all_troubles(bool chained);

class ChainHandler;

class RandomRun {
public:
    RandomRun(const Troubles& troubles, std::uint64_t seed);
    ~RandomRun();
    RandomRun(const RandomRun&) = delete;
    RandomRun& operator=(const RandomRun&) = delete;

    /// What is wrong in the end; empty: nothing.
    [[nodiscard]] std::string play();
    [[nodiscard]] const std::vector<std::string>& notices() const { return notices_.lines; }
    [[nodiscard]] std::uint64_t repairs() const { return albums_->reconciler().counters().repairs; }
    [[nodiscard]] std::uint64_t losses() const { return log_.losses; }

private:
    struct Call {
        std::unique_ptr<rs::IoCall> call;
        bool was_run = false;
    };

    [[nodiscard]] bool happens(unsigned permille) { return chance_.next() % 1000 < permille; }
    [[nodiscard]] std::optional<rs::StoreError> fault();
    void begin();
    void step();
    bool take();
    bool run_call();
    bool finish_call();
    bool end_handler_call();
    void change();
    void restore();
    [[nodiscard]] std::string verdict();

    rs::Chance chance_;
    Troubles troubles_;
    rs::Settings settings_;
    MemoryDatabase database_;
    MemoryStore<Album> rows_{database_};
    FaultyChangeLog log_;
    KeptNotices notices_;
    Instant now_{1'000'000'000'000};
    std::unique_ptr<ChainHandler> handler_; // before the manager, which calls it
    std::unique_ptr<rs::StateManager> manager_;
    rs::ResourceInformer<Album>* albums_ = nullptr;
    std::vector<Call> calls_;
    std::map<std::string, Album, std::less<>> backup_;
    int epochs_ = 0;
};

} // namespace yk::testing
