// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/cases/gang.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "libcore/base/check.h"
#include "tests/bench/cases/cluster.h"
#include "tests/bench/workloads/workloads.h"
#include "tests/support/partition_access.h"

namespace yk::bench {

namespace {

constexpr std::uint32_t kConfirmEvery = 1000; // swaps: the RM answers late and in bulk

/// W2's cluster and queues. Asks 0 to n are placeholders, n to 2n the real ones, each of its application's size.
Workload make_workload(const GangParameters& p) {
    TreeParameters tree;
    tree.nodes = p.nodes;
    tree.applications = p.applications;
    tree.asks = 0;
    Workload workload = make_tree(tree);
    for (std::uint32_t i = 0; i < p.applications; ++i) {
        workload.applications[i].placeholders = p.members;
        workload.applications[i].placeholder_size = 1 + i % tree.shapes;
    }
    for (std::uint32_t i = 0; i < 2 * p.applications * p.members; ++i)
        workload.asks.push_back({i % p.applications, 1 + i % p.applications % tree.shapes});
    return workload;
}

/// Notes the placeholders that have to go.
class GangCallbacks final : public QuietCallbacks {
public:
    void allocation_made(const NewAllocation& allocation) noexcept override {
        last_made_ = Key::index_of(allocation.key);
        last_node_ = allocation.node;
        ++made_;
    }
    void allocations_released(std::span<const ReleasedAllocation> released) noexcept override {
        for (const ReleasedAllocation& each : released)
            if (each.type == TerminationType::PlaceholderReplaced) replaced_.push_back(Key::index_of(each.key));
    }
    [[nodiscard]] std::uint64_t made() const { return made_; }
    [[nodiscard]] std::uint32_t last_made() const { return last_made_; }
    [[nodiscard]] const std::string& last_node() const { return last_node_; }
    [[nodiscard]] const std::vector<std::uint32_t>& replaced() const { return replaced_; }
    void forget_replaced() { replaced_.clear(); }

private:
    std::uint64_t made_ = 0;
    std::uint32_t last_made_ = 0;
    std::string last_node_;
    std::vector<std::uint32_t> replaced_; // not confirmed yet
};

} // namespace

/// Plays the story once: `place` and `swap` make one step each and say whether there was one.
class GangRun::Player {
public:
    Player(const GangParameters& p, Step* steps)
        : p_(p), workload_(make_workload(p)), cluster_(workload_, callbacks_), steps_(steps) {
        for (const NodeRow& row : workload_.nodes) nodes_.emplace(row.id, nodes_.size());
    }

    void record() {
        submit(0);
        std::uint32_t count = 0;
        for (; cluster_.cycle(); ++count)
            steps_[count] = {callbacks_.last_made(), callbacks_.last_made(), node_index(callbacks_.last_node())};
        YK_CHECK(count == members(), "not all placeholders of W11 were placed");
        submit(members());
        while (cluster_.cycle()) {
            const PartitionState& state = cluster_.partition().state();
            const std::uint32_t placeholder = callbacks_.replaced().back();
            const Allocation& held = state.allocations[find(placeholder)];
            const Allocation& real = state.allocations[held.partner];
            steps_[count++] = {Key::index_of(real.key.view()), placeholder, node_index(state.nodes[real.node].id)};
            if (callbacks_.replaced().size() == kConfirmEvery) confirm();
        }
        YK_CHECK(count == 2 * members(), "not all placeholders of W11 were replaced");
        finish();
    }

    Sample run(Level level) {
        Sample sample;
        submit(0);
        const auto first = handles(0, level);
        time(sample, [&] {
            for (std::uint32_t i = 0; i < members(); ++i)
                if (level == Level::Core)
                    cluster_.cycle();
                else
                    place(first[i]);
        });
        submit(members());
        for (std::uint32_t at = 0; at < members(); at += kConfirmEvery) {
            const std::uint32_t end = std::min(at + kConfirmEvery, members());
            const auto known = handles(members() + at, level);
            time(sample, [&] {
                for (std::uint32_t i = at; i < end; ++i) {
                    const Handles& each = known[level == Level::Core ? 0 : i - at];
                    if (level == Level::Core)
                        cluster_.cycle();
                    else
                        swap(each);
                }
            });
            confirm();
        }
        sample.placed = callbacks_.made();
        sample.asked = 2 * members();
        finish();
        sample.peak_rss = peak_rss();
        sample.sound = cluster_.check().empty();
        return sample;
    }

private:
    struct Handles {
        AllocationId ask{}, placeholder{};
        NodeId node{};
    };

    template <class F>
    static void time(Sample& sample, F&& f) {
        Sample part;
        const Stopwatch watch;
        f();
        watch.stop(part);
        sample.seconds += part.seconds;
        sample.cpu_seconds += part.cpu_seconds;
    }

    [[nodiscard]] std::uint32_t members() const { return p_.applications * p_.members; }
    [[nodiscard]] std::uint32_t node_index(const std::string& id) const {
        return static_cast<std::uint32_t>(nodes_.at(id));
    }
    [[nodiscard]] const std::string& application_of(std::uint32_t ask) const {
        return workload_.applications[workload_.asks[ask].application].id;
    }
    void place(const Handles& known) {
        PartitionAccess::place(cluster_.partition(), known.ask, known.node, kNow);
        static_cast<void>(cluster_.partition().refreshed());
    }
    void swap(const Handles& known) {
        PartitionAccess::swap(cluster_.partition(), known.ask, known.placeholder, known.node, kNow);
        static_cast<void>(cluster_.partition().refreshed());
    }
    AllocationId find(std::uint32_t ask) {
        return cluster_.partition().state().find_ask(application_of(ask), Key{ask}.view());
    }
    /// Those of the placeholders, or of the next swaps; level core needs none.
    std::vector<Handles> handles(std::uint32_t from, Level level) {
        std::vector<Handles> result;
        if (level == Level::Core) return std::vector<Handles>(1);
        const std::uint32_t count = from == 0 ? members() : std::min(kConfirmEvery, 2 * members() - from);
        for (std::uint32_t i = from; i < from + count; ++i) {
            const Step& step = steps_[i];
            result.push_back({find(step.ask), find(step.placeholder),
                              cluster_.partition().state().nodes.find(workload_.nodes[step.node].id)});
        }
        return result;
    }

    void submit(std::uint32_t from) {
        for (std::uint32_t at = from; at < from + members(); at += kConfirmEvery) {
            std::vector<Key> keys;
            AllocationRequest request;
            for (std::uint32_t i = at; i < std::min(at + kConfirmEvery, from + members()); ++i) {
                keys.emplace_back(i);
                request.asks.push_back(cluster_.spec(workload_.asks[i]));
                request.asks.back().task_group = "members";
                request.asks.back().placeholder = from == 0;
            }
            for (std::size_t i = 0; i < keys.size(); ++i) request.asks[i].key = keys[i].view();
            cluster_.apply(request);
        }
    }

    void release(const std::vector<std::uint32_t>& asks, TerminationType type) {
        std::vector<Key> keys;
        AllocationRequest request;
        for (const std::uint32_t i : asks) keys.emplace_back(i);
        for (std::size_t i = 0; i < asks.size(); ++i)
            request.releases.push_back({{}, application_of(asks[i]), keys[i].view(), type, {}});
        cluster_.apply(request);
    }

    void confirm() {
        release(callbacks_.replaced(), TerminationType::PlaceholderReplaced);
        callbacks_.forget_replaced();
    }

    /// Every real allocation ends.
    void finish() {
        confirm();
        std::vector<std::uint32_t> reals(members());
        for (std::uint32_t i = 0; i < members(); ++i) reals[i] = members() + i;
        release(reals, TerminationType::StoppedByRm);
        YK_CHECK(cluster_.partition().state().allocation_count == 0, "W11 leaves allocations behind");
    }

    GangParameters p_;
    Workload workload_;
    GangCallbacks callbacks_;
    Cluster cluster_;
    Step* steps_;
    std::unordered_map<std::string, std::size_t> nodes_;
};

Result<void> GangRun::record() {
    steps_ = std::make_unique<Shared<Step>>(std::size_t{2} * p_.applications * p_.members);
    const std::string ended = in_child([&] { Player{p_, steps_->data()}.record(); });
    if (!ended.empty()) return Error::of("W11 " + ended);
    return {};
}

Result<Sample> GangRun::run(Level level) const {
    return isolated("W11", [&] { return Player{p_, steps_->data()}.run(level); });
}

} // namespace yk::bench
