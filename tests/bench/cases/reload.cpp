// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/cases/reload.h"

#include <fmt/format.h>

#include "libcore/base/check.h"
#include "tests/bench/cases/cluster.h"
#include "tests/bench/cases/sinks.h"
#include "tests/bench/measure/isolate.h"

namespace yk::bench {

namespace {

/// Every group, the last first in version 1: whose group an application counts for is decided anew.
std::string groups_text(const ReloadParameters& p, std::uint32_t version) {
    std::string names;
    for (std::uint32_t i = 0; i < p.groups; ++i)
        names += fmt::format("{}group-{}", i == 0 ? "" : ", ", version == 0 ? i : p.groups - 1 - i);
    return p.groups == 0 ? ""
                         : fmt::format(", {{groups: [{}], maxresources: {{vcore: {}}}}}", names, 100'000 + version);
}

/// `version` moves every number, and one leaf of each parent.
std::string config_text(const ReloadParameters& p, std::uint32_t version) {
    std::string text = fmt::format("partitions:\n"
                                   "- name: default\n"
                                   "  queues:\n"
                                   "  - name: root\n"
                                   "    submitacl: '*'\n"
                                   "    limits: [{{users: ['*'], maxresources: {{vcore: {}}}}}{}]\n"
                                   "    queues:\n",
                                   50'000 + version, groups_text(p, version));
    for (std::uint32_t parent = 0; parent < p.parents; ++parent) {
        text += fmt::format("    - name: p{}\n      queues:\n", parent);
        for (std::uint32_t leaf = 0; leaf < p.leaves; ++leaf)
            text += fmt::format("      - {{name: l{}, resources: {{max: {{vcore: {}}}}}}}\n",
                                leaf + (leaf == p.leaves - 1 ? version : 0), 1000 + version);
    }
    return text;
}

Sample measure_reload(const ReloadParameters& p) {
    const Workload workload = make_reload_workload(p);
    CopyingCallbacks callbacks;
    Cluster cluster{workload, callbacks};
    cluster.submit(0, p.applications);
    cluster.settle();
    YK_CHECK(callbacks.made() == p.applications, "the cluster of the reload does not run every application");
    const std::string text = config_text(p, 1);
    Sample sample;
    const Stopwatch watch;
    sample.pause = cluster.reload(text);
    watch.stop(sample);
    sample.placed = sample.asked = 1;
    sample.peak_rss = peak_rss();
    sample.sound = cluster.check().empty();
    return sample;
}

} // namespace

Workload make_reload_workload(const ReloadParameters& p) {
    Workload workload;
    workload.config = config_text(p, 0);
    workload.sizes = {{{"vcore", 64'000}}, {{"vcore", 1000}}};
    for (std::uint32_t i = 0; i < p.applications / 50; ++i) workload.nodes.push_back({fmt::format("node-{:05}", i), 0});
    const std::uint32_t leaves = p.parents * p.leaves;
    for (std::uint32_t i = 0; i < p.applications; ++i) {
        const std::uint32_t leaf = i % leaves;
        ApplicationRow row;
        row.id = fmt::format("application-{:06}", i);
        row.queue = fmt::format("root.p{}.l{}", leaf / p.leaves, leaf % p.leaves);
        row.user = fmt::format("user-{}", i % p.users);
        if (p.groups > 0) row.group = fmt::format("group-{}", i % p.groups);
        if (i < p.moving) row.second_group = fmt::format("group-{}", (i + 1) % p.groups);
        workload.applications.push_back(std::move(row));
        workload.asks.push_back({i, 1});
    }
    return workload;
}

Result<Sample> run_reload(const ReloadParameters& parameters) {
    return isolated("R1", [&] { return measure_reload(parameters); });
}

} // namespace yk::bench
