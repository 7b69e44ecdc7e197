// SPDX-License-Identifier: Apache-2.0
#pragma once
// LiveLoad: changes of Deployments at a steady rate, each of another one, and how long each takes from its commit to
// the cache and to the end of the handler's call.
//
// They are made by the process that follows, as by a daemon that serves users, or by another one.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <sys/types.h>

#include "tests/bench/measure/isolate.h"
#include "tests/bench/resource_state/follower.h"

namespace yk::bench {

class LiveLoad {
public:
    enum class Writer : std::uint8_t { Here, Apart };
    struct Plan {
        double rate = 1000;        // changes per second
        std::size_t most = 10'000; // changes
        Writer writer = Writer::Here;
        Rows rows; // of the database
    };

    /// The other process begins, and waits. To be called before this one opens the database.
    LiveLoad(const BenchDatabase& database, Plan plan);
    ~LiveLoad();
    LiveLoad(const LiveLoad&) = delete;
    LiveLoad& operator=(const LiveLoad&) = delete;

    /// Makes the changes, until all are made or `is_over`, and has `follower` apply all of them.
    [[nodiscard]] Result<void> run(Follower& follower, const std::function<bool()>& is_over);

    // --- afterwards -----------------------------------------------------------------------------
    [[nodiscard]] std::size_t changes() const { return made_; }
    [[nodiscard]] double per_second() const; // from the first one given to the last one applied
    /// Milliseconds from commit to cache, of the changes that were committed within a time.
    [[nodiscard]] std::vector<double> to_cache(std::int64_t from = 0, std::int64_t to = INT64_MAX) const;
    /// Milliseconds from commit to the end of the handler's call.
    [[nodiscard]] std::vector<double> to_handler() const;

private:
    void write_apart(const BenchDatabase& database, int go);
    [[nodiscard]] Result<void> run_here(Follower& follower, const std::function<bool()>& is_over);
    [[nodiscard]] Result<void> await_applied(Follower& follower);
    [[nodiscard]] std::vector<double> times_to(const std::vector<std::int64_t>& ends, std::int64_t from,
                                               std::int64_t to) const;

    const Plan plan_;
    const Shared<std::int64_t> committed_; // when, by change; 0: it is not
    std::vector<std::int64_t> cached_, handled_;
    std::size_t made_ = 0, applied_ = 0, handled_count_ = 0;
    std::int64_t began_ = 0, ended_ = 0;
    int go_ = -1; // a byte to it begins the other process
    pid_t writer_ = -1;
};

} // namespace yk::bench
