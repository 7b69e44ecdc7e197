// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cluster: a core with its recorder and clock, built and questioned as the daemon does it, so that a test reads like
// the story it tells:
//
//   Cluster c{"[{name: a, resources: {max: {vcore: 10m}}}]"};
//   c.nodes(2, "vcore:8").application("app", "root.a").asks("app", 2, "vcore:6");
//   c.cycles(2);
//   CHECK(c.allocations_of("app") == 1);
//
// After every step all invariants of the core are checked, after the first three hundred of them after each thirtieth
// and at the end; a broken one ends the test program with its words.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libcore/cluster/cluster_context.h"
#include "libcore/reports/snapshot.h"
#include "tests/support/notices.h"
#include "tests/support/player.h"
#include "tests/support/recorder.h"
#include "tests/support/recovery_text.h"

namespace yk::testing {

using Map = ResourceMapView; // what a test says of a resource

class Cluster {
public:
    /// `queues`: the children of root, as YAML. `root`: further settings of the root queue, `partition`: of the
    /// partition, both as `key: value` in flow style.
    explicit Cluster(const std::string& queues = "[{name: a}]", const std::string& root = {},
                     const std::string& partition = {}, const Settings& settings = manual_settings());
    Cluster(Cluster&&) = default;
    Cluster& operator=(Cluster&&) = default;
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;
    ~Cluster();

    // --- steps ------------------------------------------------------------------------------------------------------
    /// Any command in the text form of command_text.h; returns its outcome.
    std::string play(const std::string& command);
    Cluster& nodes(int count, const std::string& capacity); // n-0, n-1, ...
    Cluster& node(const std::string& id, const std::string& capacity, const std::string& action = "create");
    Cluster& application(const std::string& id, const std::string& queue = "root.a");
    /// `more`: further fields, such as `prio=3` or `tags=creationTime:100`.
    Cluster& ask(const std::string& app, const std::string& key, const std::string& size, const std::string& more = {});
    Cluster& asks(const std::string& app, int count, const std::string& size); // APP-0, APP-1, ...
    Cluster& existing(const std::string& app, const std::string& key, const std::string& size, const std::string& node,
                      const std::string& more = {});
    /// One that may be taken (allowPreemptSelf), from `seconds` on the clock of creation times.
    Cluster& victim(const std::string& app, const std::string& key, const std::string& size, const std::string& node,
                    int seconds, const std::string& more = {});
    Cluster& release(const std::string& app, const std::string& key, int type = 1);
    Cluster& remove(const std::string& app);
    int cycles(int count); // how many allocations they made
    Cluster& advance(Duration by);
    /// The RM can be asked from now on.
    Cluster& asks_rm(bool predicates = true, bool preemption = false);
    /// `answer ` and this; `ok`, or `late`.
    std::string answer(const std::string& text);
    /// The same partition with other queues; `ok`, `refused` or the loader's error.
    std::string configure(const std::string& queues, const std::string& root = {}, const std::string& partition = {});

    // --- recovery (docs/spec/interface.md, section 3) ---------------------------------------------------------------
    Cluster& begin_recovery(bool force_applications = true);
    Cluster& forget_tombstones();
    Cluster& end_recovery();
    /// What there is for comparison with what the RM counts: `nodes=1 apps=1 allocations=2 asks=0`, and behind that
    /// what is not as it should be (recovery_text.h).
    [[nodiscard]] std::string recovery() const { return text_of(core_->recovery().view()); }

    // --- questions --------------------------------------------------------------------------------------------------
    [[nodiscard]] ApplicationView app(const std::string& id) const; // state `gone` when there is none
    [[nodiscard]] QueueView queue(const std::string& path) const;   // state `gone` when there is none
    [[nodiscard]] NodeView node_view(const std::string& id) const;
    [[nodiscard]] PartitionView partition() const { return yk::partition_view(*core_->read("default")); }
    [[nodiscard]] std::string state_of(const std::string& app_id) const { return app(app_id).state; }
    [[nodiscard]] std::string log_of(const std::string& app) const; // states after New, with blanks between
    [[nodiscard]] int allocations_of(const std::string& app) const;
    [[nodiscard]] std::string node_of(const std::string& app, const std::string& key) const; // empty: not placed
    [[nodiscard]] std::string placed(const std::string& app) const; // keys of its allocations, sorted
    [[nodiscard]] std::string reserved_on(const std::string& node) const;
    [[nodiscard]] std::string preempted() const; // keys of all victims that are not gone, sorted
    /// The calls that the RM has to answer since the last time (notices.h); its other notices are forgotten.
    Lines asked();
    /// The reasons in the log of a pending ask as `text (count)`, with `; ` between.
    [[nodiscard]] std::string reasons(const std::string& app, const std::string& key) const;
    /// What the RM was notified of since the last time: `allocated app/k on n-0` (notices.h).
    Lines notices();
    /// The same with details: `released app/k: TIMEOUT # [why]`.
    Lines notices_in_full();
    /// Events since the last time as `TYPE object CHANGE DETAIL ref`; those of users and groups only on request.
    Lines events(bool users_too = false);
    /// The same with their messages: `TYPE object CHANGE DETAIL # message`; those of users and groups are left out.
    Lines event_messages();
    /// Those of asks (S-605) since the last time, wording included.
    Lines ask_events() { return std::exchange(outputs_->events.requests, {}); }
    [[nodiscard]] std::int64_t seconds() const { return now_.ns / 1'000'000'000; }
    [[nodiscard]] ClusterContext& core() { return *core_; }
    [[nodiscard]] Instant now() const { return now_; }

    /// As the daemon's with a manual schedule: no inspection of outstanding asks.
    [[nodiscard]] static Settings manual_settings();

private:
    static constexpr int kAllChecked = 300; // steps
    void check(const std::string& step) const;

    struct Outputs {
        Notices notices;
        Recorder::Port events;
    };
    std::unique_ptr<Outputs> outputs_; // the core refers to them
    std::unique_ptr<ClusterContext> core_;
    Instant now_ = kStart;
    int steps_ = 0;
};

} // namespace yk::testing
