// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/cases/churn.h"

#include <sys/resource.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "libcore/base/check.h"
#include "tests/bench/cases/cluster.h"
#include "tests/bench/measure/isolate.h"

namespace yk::bench {

namespace {

struct Step {
    std::uint32_t key = 0; // of the ask
    std::uint32_t application = 0;
};

/// A cluster in which allocations are exchanged one by one.
class Exchange {
public:
    Exchange(const Workload& workload, std::uint32_t steps, std::uint32_t waiting = 0)
        : cluster_(workload, callbacks_), workload_(workload) {
        next_key_ = static_cast<std::uint32_t>(workload.asks.size());
        applications_.reserve(std::size_t{steps} + waiting);
        latencies_.reserve(steps);
    }
    /// Asks 0 to `count` in small portions, so that every node holds a mixture; what does not fit is taken back.
    void fill(std::uint32_t count);
    void add_hopeless(std::uint32_t from, std::uint32_t to) {
        const std::uint64_t before = callbacks_.made();
        cluster_.submit(from, to);
        cluster_.settle();
        YK_CHECK(callbacks_.made() == before, "a hopeless ask was placed");
    }
    /// An ask that is not placed yet.
    void add_waiting(AskRow row) {
        applications_.push_back(row.application);
        cluster_.submit_one(Key{next_key_++}, row);
        ++waiting_;
    }
    /// Releases one allocation, asks for `row`, cycles once (or until idle).
    void step(std::uint32_t released, AskRow row, bool until_idle);
    void run(Sample& sample, const std::function<void()>& steps);
    [[nodiscard]] std::uint32_t live() const { return static_cast<std::uint32_t>(live_.size()); }
    [[nodiscard]] std::uint32_t application_of(std::uint32_t at) const { return live_[at].application; }

private:
    void note_placed(std::uint32_t key);
    /// Whether the kernel has let another process run instead of this thread since the last question.
    bool interrupted();

    CopyingCallbacks callbacks_;
    Cluster cluster_;
    const Workload& workload_;
    std::vector<Step> live_;
    std::vector<std::uint32_t> applications_; // of the asks that wait and of those of the steps
    std::vector<float> latencies_;
    std::uint32_t next_key_ = 0;
    std::uint64_t placed_ = 0, waiting_ = 0;
    long switches_ = 0;
    double seconds_ = 0;
    double pause_ = 0;
};

void Exchange::fill(std::uint32_t count) {
    constexpr std::uint32_t kPortion = 1000;
    std::vector<bool> placed(count);
    for (std::uint32_t from = 0; from < count; from += kPortion) {
        cluster_.submit(from, std::min(count, from + kPortion));
        while (cluster_.cycle()) {
            const std::uint32_t key = Key::index_of(callbacks_.last_key());
            placed[key] = true;
            live_.push_back({key, workload_.asks[key].application});
        }
    }
    for (std::uint32_t i = 0; i < count; ++i)
        if (!placed[i]) cluster_.release(Key{i}, workload_.asks[i].application);
    YK_CHECK(live_.size() > std::size_t{count} / 100 * 90, "the cluster takes much less than what should fill it");
}

void Exchange::step(std::uint32_t released, AskRow row, bool until_idle) {
    const Step gone = live_[released];
    live_[released] = live_.back();
    live_.pop_back();
    const std::uint32_t key = next_key_++;
    applications_.push_back(row.application);
    const Key gone_key{gone.key};
    const Key ask_key{key};

    const double start = wall_seconds();
    cluster_.release(gone_key, gone.application);
    const double asked = wall_seconds();
    cluster_.submit_one(ask_key, row);
    bool placed = cluster_.cycle();
    if (placed) note_placed(key);
    while (until_idle && placed) {
        placed = cluster_.cycle();
        if (placed) note_placed(key);
    }
    const double end = wall_seconds();
    if (!live_.empty() && live_.back().key == key) latencies_.push_back(static_cast<float>(end - asked));
    seconds_ += end - start;
    if (end - start > pause_ && !interrupted()) pause_ = end - start;
}

/// The ask of this step, or one that had to wait.
void Exchange::note_placed(std::uint32_t newest) {
    const std::uint32_t key = Key::index_of(callbacks_.last_key());
    const std::size_t first = next_key_ - applications_.size();
    YK_CHECK(key >= first && key <= newest, "a hopeless ask was placed");
    live_.push_back({key, applications_[key - first]});
    ++placed_;
}

bool Exchange::interrupted() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return std::exchange(switches_, usage.ru_nivcsw) != usage.ru_nivcsw;
}

void Exchange::run(Sample& sample, const std::function<void()>& steps) {
    const Stopwatch watch;
    steps();
    watch.stop(sample);
    YK_CHECK(callbacks_.refused() == 0, "the core refused an ask");
    sample.seconds = seconds_;
    sample.placed = placed_;
    sample.asked = applications_.size() - waiting_;
    sample.pause = pause_;
    sample.peak_rss = peak_rss();
    set_latencies(sample, latencies_);
}

Sample measure_churn(const ChurnParameters& parameters) {
    TreeParameters tree = parameters.tree;
    tree.asks = asks_to_fill(tree, parameters.percent_full);
    const Workload workload = make_tree(tree);
    Exchange exchange{workload, parameters.steps, parameters.waiting};
    exchange.fill(tree.asks);
    Random random{tree.nodes};
    const auto any_ask = [&] { return AskRow{random.below(tree.applications), 1 + random.below(tree.shapes)}; };
    for (std::uint32_t i = 0; i < parameters.waiting; ++i) exchange.add_waiting(any_ask());
    Sample sample;
    exchange.run(sample, [&] {
        for (std::uint32_t i = 0; i < parameters.steps; ++i) {
            const AskRow row = any_ask();
            exchange.step(random.below(exchange.live()), row, false);
        }
    });
    sample.idle_p999 = idle_p999(sample.p50, parameters.steps);
    return sample;
}

Sample measure_backlog(const BacklogParameters& parameters) {
    const Backlog backlog = make_backlog(parameters.hopeless, parameters.shapes);
    Exchange exchange{backlog.workload, parameters.steps};
    exchange.fill(backlog.filling);
    YK_CHECK(exchange.live() == backlog.filling, "the cluster of W4 is not full");
    exchange.add_hopeless(backlog.filling, static_cast<std::uint32_t>(backlog.workload.asks.size()));
    Random random{parameters.shapes};
    Sample sample;
    exchange.run(sample, [&] {
        for (std::uint32_t i = 0; i < parameters.steps; ++i) {
            const std::uint32_t released = random.below(exchange.live());
            exchange.step(released, {exchange.application_of(released), 1}, parameters.until_idle);
        }
    });
    YK_CHECK(sample.placed == parameters.steps, "a fitting ask was not placed");
    return sample;
}

} // namespace

std::uint32_t asks_to_fill(const TreeParameters& tree, std::uint32_t percent) {
    TreeParameters one_round = tree;
    one_round.nodes = 1;
    one_round.asks = 0;
    const Workload workload = make_tree(one_round);
    std::int64_t memory = 0; // of one ask of each shape
    for (std::size_t s = 1; s < workload.sizes.size(); ++s) memory += workload.sizes[s][0].second;
    const std::int64_t available = workload.sizes[0][0].second / 100 * percent * tree.nodes;
    YK_CHECK(memory >= tree.shapes, "asks that want no memory fill no cluster");
    return static_cast<std::uint32_t>(available / (memory / tree.shapes));
}

Result<Sample> run_churn(const ChurnParameters& parameters) {
    return isolated("W6", [&] { return measure_churn(parameters); });
}

Result<Sample> run_backlog(const BacklogParameters& parameters) {
    return isolated("W4", [&] { return measure_backlog(parameters); });
}

} // namespace yk::bench
