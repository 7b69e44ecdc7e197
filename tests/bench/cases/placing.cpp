// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/cases/placing.h"

#include <cstdio>
#include <unordered_map>

#include "libcore/base/check.h"
#include "tests/bench/cases/cluster.h"
#include "tests/support/partition_access.h"

namespace yk::bench {

std::string name_of(Level level) {
    switch (level) {
    case Level::Core: return "core";
    case Level::Order: return "order";
    case Level::Floor: return "floor";
    case Level::Wire: return "wire";
    }
    return {};
}

class Placing::Recorder final : public QuietCallbacks {
public:
    Recorder(const Workload& workload, Placement* out) : out_(out) {
        for (const NodeRow& row : workload.nodes) nodes_.emplace(row.id, nodes_.size());
    }
    void allocation_made(const NewAllocation& allocation) noexcept override {
        const auto node = static_cast<std::uint32_t>(nodes_.at(std::string{allocation.node}));
        out_[count_++] = {Key::index_of(allocation.key), node};
    }
    [[nodiscard]] std::uint32_t count() const { return count_; }

private:
    std::unordered_map<std::string, std::size_t> nodes_;
    Placement* out_;
    std::uint32_t count_ = 0;
};

Result<void> Placing::record() {
    asked_ = static_cast<std::uint32_t>(make_().asks.size());
    sequence_ = std::make_unique<Shared<Placement>>(asked_);
    const Shared<std::uint32_t> placed;
    const std::string ended = in_child([&] {
        const Workload workload = make_();
        Recorder recorder{workload, sequence_->data()};
        Cluster cluster{workload, recorder};
        cluster.submit(0, asked_);
        cluster.settle();
        for (const std::string& broken : cluster.check()) std::fprintf(stderr, "broken: %s\n", broken.c_str());
        *placed = recorder.count();
    });
    if (!ended.empty()) return Error::of("the core " + ended);
    placed_ = *placed;
    return {};
}

Result<Sample> Placing::run(Level level) const {
    const Shared<Sample> sample;
    const std::string ended = in_child([&] { *sample = level == Level::Core ? run_core() : run_known(level); });
    if (!ended.empty()) return Error::of("level " + name_of(level) + " " + ended);
    return *sample;
}

Sample Placing::run_core() const {
    const Workload workload = make_();
    CopyingCallbacks callbacks;
    Cluster cluster{workload, callbacks};
    if (filing_ == Filing::Before) static_cast<void>(cluster.partition().refreshed());
    const std::uint64_t empty = heap_in_use();
    cluster.submit(0, asked_);
    const std::uint64_t waiting = heap_in_use();
    Sample sample;
    const Stopwatch watch;
    while (callbacks.made() < placed_ && cluster.cycle()) {
    }
    watch.stop(sample);
    sample.placed = callbacks.made();
    sample.asked = asked_;
    sample.peak_rss = peak_rss();
    sample.bytes_per_ask = static_cast<double>(waiting - empty) / asked_;
    if (placed_ > 0) sample.bytes_per_placed = static_cast<double>(heap_in_use() - empty) / placed_;
    return sample;
}

Sample Placing::run_known(Level level) const {
    const Workload workload = make_();
    CopyingCallbacks callbacks;
    Cluster cluster{workload, callbacks};
    cluster.submit(0, asked_);
    PartitionContext& partition = cluster.partition();
    std::vector<std::pair<AllocationId, NodeId>> handles;
    handles.reserve(placed_);
    for (std::uint32_t i = 0; i < placed_; ++i) {
        const Placement& placement = (*sequence_)[i];
        const std::string& application = workload.applications[workload.asks[placement.ask].application].id;
        handles.emplace_back(partition.state().find_ask(application, Key{placement.ask}.view()),
                             partition.state().nodes.find(workload.nodes[placement.node].id));
        YK_CHECK(handles.back().first.valid() && handles.back().second.valid(), "a recorded placement is unknown");
    }
    Sample sample;
    const Stopwatch watch;
    for (const auto& [ask, node] : handles) {
        PartitionAccess::place(partition, ask, node, kNow);
        if (level != Level::Floor) static_cast<void>(partition.refreshed());
    }
    watch.stop(sample);
    sample.placed = callbacks.made();
    sample.asked = asked_;
    sample.peak_rss = peak_rss();
    return sample;
}

} // namespace yk::bench
