// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/cases/preempting.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "libcore/base/check.h"
#include "tests/bench/cases/cluster.h"
#include "tests/bench/measure/isolate.h"

namespace yk::bench {

namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::uint32_t kShapes = 20;
constexpr std::int32_t kUrgent = 10;
constexpr std::uint32_t kFilling = 28; // of the 20 shapes: more than a node holds

/// Notes who was asked to go, and what was placed.
class VictimCallbacks final : public QuietCallbacks {
public:
    void allocation_made(const NewAllocation& allocation) noexcept override { made_ = Key::index_of(allocation.key); }
    void allocations_released(std::span<const ReleasedAllocation> released) noexcept override {
        for (const ReleasedAllocation& each : released) victims_.push_back(Key::index_of(each.key));
    }
    [[nodiscard]] std::uint32_t last_made() const { return made_; }
    [[nodiscard]] std::vector<std::uint32_t> take_victims() { return std::exchange(victims_, {}); }

private:
    std::uint32_t made_ = 0;
    std::vector<std::uint32_t> victims_;
};

/// Size 0: a node, 1 to 20: asks, as in W2 but of memory 1 to 4 GiB; or equal ones, `per_node` to a node.
std::vector<Amounts> make_sizes(const PreemptingParameters& p) {
    constexpr std::int64_t kMemory = 65536 * kMiB;
    constexpr std::int64_t kVcore = 32'000;
    std::vector<Amounts> sizes{{{"memory", kMemory}, {"vcore", kVcore}, {"pods", 110}}};
    for (std::uint32_t s = 0; s < kShapes; ++s) {
        std::int64_t memory = 1024 * (1 + s % 4) * kMiB;
        std::int64_t vcore = 100 * (1 + s % 5);
        if (p.per_node > 0) {
            memory = kMemory / p.per_node;
            vcore = kVcore / p.per_node;
        }
        sizes.push_back({{"memory", memory}, {"vcore", vcore}, {"pods", 1}});
    }
    return sizes;
}

/// Half of the cluster is guaranteed to the starved leaves; the others use all of it. `safe` is within its guarantee.
std::string make_config(const PreemptingParameters& p) {
    const std::int64_t memory = std::int64_t{65536} * kMiB * p.nodes;
    std::string text = fmt::format("partitions:\n"
                                   "- name: default\n"
                                   "  queues:\n"
                                   "  - name: root\n"
                                   "    submitacl: '*'\n"
                                   "    queues:\n"
                                   "    - {{name: safe, resources: {{guaranteed: {{memory: {}}}}}}}\n",
                                   p.candidates > 0 ? memory : 0);
    for (const char* half : {"low", "high"}) {
        text += fmt::format("    - name: {}\n      queues:\n", half);
        for (std::uint32_t leaf = 0; leaf < p.leaves; ++leaf)
            text += fmt::format("      - {{name: leaf-{}, resources: {{guaranteed: {{memory: {}}}}}}}\n", leaf,
                                p.candidates > 0 && *half == 'l' ? 1 : memory / (2 * p.leaves));
    }
    return text;
}

Workload make_workload(const PreemptingParameters& p) {
    Workload workload;
    workload.settings.reservations_disabled = true; // the search for victims is measured, not that for a node to keep
    workload.sizes = make_sizes(p);
    workload.config = make_config(p);
    for (std::uint32_t i = 0; i < p.nodes; ++i) workload.nodes.push_back({fmt::format("node-{:05}", i), 0});
    for (const char* half : {"low", "high"})
        for (std::uint32_t leaf = 0; leaf < p.leaves; ++leaf)
            workload.applications.push_back(
                {fmt::format("{}-{}", half, leaf), fmt::format("root.{}.leaf-{}", half, leaf)});
    workload.applications.push_back({"safe", "root.safe"});
    const std::uint32_t victims = p.nodes * (p.per_node > 0 ? p.per_node : kFilling);
    const std::uint32_t every = p.candidates > 0 ? std::max(victims / p.candidates, 1U) : 1;
    for (std::uint32_t i = 0; i < victims; ++i)
        workload.asks.push_back({i % every == 0 ? i / every % p.leaves : 2 * p.leaves, 1 + i % kShapes});
    for (std::uint32_t i = 0; i < p.asks; ++i)
        workload.asks.push_back({p.leaves + i % p.leaves, 1 + i / p.leaves % kShapes});
    return workload;
}

class Preempting {
public:
    explicit Preempting(const PreemptingParameters& p)
        : p_(p),
          workload_(make_workload(p)),
          cluster_(workload_, callbacks_),
          old_(std::to_string(kNow.ns / 1'000'000'000 - 60)) {}

    void fill() {
        const auto count = static_cast<std::uint32_t>(workload_.asks.size()) - p_.asks;
        std::vector<bool> placed(count);
        for (std::uint32_t from = 0; from < count; from += kPortion) {
            submit(from, std::min(count, from + kPortion), false);
            while (cluster_.cycle()) placed[callbacks_.last_made()] = true;
        }
        for (std::uint32_t i = 0; i < count; ++i)
            if (!placed[i]) cluster_.release(Key{i}, workload_.asks[i].application);
    }

    PreemptingSample run() {
        const auto first = static_cast<std::uint32_t>(workload_.asks.size()) - p_.asks;
        submit(first, first + p_.asks, true);
        PreemptingSample result;
        std::vector<float> latencies;
        for (bool more = true; more;) {
            Sample cycle;
            const Stopwatch watch;
            more = cluster_.cycle();
            watch.stop(cycle);
            result.sample.placed += more ? 1 : 0;
            const std::vector<std::uint32_t> victims = callbacks_.take_victims();
            if (victims.empty()) continue;
            more = true;
            ++result.decisions;
            result.victims += victims.size();
            latencies.push_back(static_cast<float>(cycle.cpu_seconds));
            result.sample.seconds += cycle.seconds;
            result.sample.cpu_seconds += cycle.cpu_seconds;
            confirm(victims);
        }
        result.sample.asked = p_.asks;
        result.sample.peak_rss = peak_rss();
        result.sample.sound = cluster_.check().empty();
        set_latencies(result.sample, latencies);
        return result;
    }

private:
    static constexpr std::uint32_t kPortion = 1000;

    void submit(std::uint32_t from, std::uint32_t to, bool urgent) {
        std::vector<Key> keys;
        AllocationRequest request;
        for (std::uint32_t i = from; i < to; ++i) {
            keys.emplace_back(i);
            AskSpec spec = cluster_.spec(workload_.asks[i]);
            spec.allow_preempt_self = !p_.opted_out;
            spec.allow_preempt_other = urgent;
            if (urgent) {
                spec.priority = kUrgent;
                spec.tags = {{"creationTime", old_}};
            }
            request.asks.push_back(spec);
        }
        for (std::size_t i = 0; i < keys.size(); ++i) request.asks[i].key = keys[i].view();
        cluster_.apply(request);
    }

    void confirm(const std::vector<std::uint32_t>& victims) {
        AllocationRequest request;
        std::vector<Key> keys;
        for (const std::uint32_t i : victims) keys.emplace_back(i);
        for (std::size_t i = 0; i < victims.size(); ++i)
            request.releases.push_back({{},
                                        workload_.applications[workload_.asks[victims[i]].application].id,
                                        keys[i].view(),
                                        TerminationType::PreemptedByScheduler,
                                        {}});
        cluster_.apply(request);
    }

    PreemptingParameters p_;
    Workload workload_;
    VictimCallbacks callbacks_;
    Cluster cluster_;
    std::string old_;
};

} // namespace

Result<PreemptingSample> run_preempting(const PreemptingParameters& parameters) {
    const Shared<PreemptingSample> sample;
    const std::string ended = in_child([&] {
        Preempting preempting{parameters};
        preempting.fill();
        *sample = preempting.run();
    });
    if (!ended.empty()) return Error::of("W7 " + ended);
    return *sample;
}

} // namespace yk::bench
