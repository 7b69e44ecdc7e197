// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/cases/cluster.h"

#include <malloc.h>

#include <algorithm>

#include "libcore/base/check.h"
#include "libcore/config_yaml/load.h"
#include "tests/bench/measure/measure.h"

namespace yk::bench {

Cluster::Cluster(const Workload& workload, QuietCallbacks& callbacks)
    : workload_(workload), callbacks_(callbacks), core_("rm", workload.settings, callbacks, events_) {
    for (const Amounts& size : workload.sizes) {
        Quantities quantities;
        for (const auto& [name, value] : size) quantities.push_back({name, value});
        sizes_.push_back(std::move(quantities));
    }
    one_ask_.asks.resize(1);
    one_release_.releases.resize(1);
    configure();
    register_nodes();
    register_applications();
    YK_CHECK(callbacks_.refused() == 0, "the core refused part of the workload");
}

void Cluster::configure() {
    const config_yaml::LoadOutcome loaded = config_yaml::load(workload_.config, "workload");
    if (!loaded.configuration) std::fprintf(stderr, "%s\n", config_yaml::render(loaded, workload_.config).c_str());
    YK_CHECK(loaded.configuration.has_value(), "the configuration of a workload is wrong");
    YK_CHECK(core_.configure(*loaded.configuration, kNow).ok(), "the core refused the configuration of a workload");
}

double Cluster::reload(const std::string& text) {
    const config_yaml::LoadOutcome loaded = config_yaml::load(text, "workload");
    YK_CHECK(loaded.configuration.has_value(), "the second configuration of a workload is wrong");
    const double start = wall_seconds();
    YK_CHECK(core_.configure(*loaded.configuration, kNow).ok(), "the core refused a second configuration");
    cycle();
    return wall_seconds() - start;
}

void Cluster::register_nodes() {
    NodeRequest request;
    for (const NodeRow& row : workload_.nodes)
        request.nodes.push_back(
            {row.id, NodeAction::Create, std::nullopt, sizes_[row.size], std::nullopt, std::nullopt, {}, std::nullopt});
    core_.apply(request, kNow);
}

void Cluster::register_applications() {
    ApplicationRequest request;
    for (const ApplicationRow& row : workload_.applications) {
        ApplicationSpec spec;
        spec.id = row.id;
        spec.queue = row.queue;
        spec.user = row.user;
        spec.groups = {row.group};
        if (!row.second_group.empty()) spec.groups.push_back(row.second_group);
        if (row.placeholders > 0) {
            for (const auto& [name, value] : workload_.sizes[row.placeholder_size])
                spec.placeholder_ask.push_back({name, value * row.placeholders});
        }
        request.add.push_back(spec);
    }
    core_.apply(request, kNow);
}

AskSpec Cluster::spec(AskRow row) const {
    AskSpec spec;
    spec.application = workload_.applications[row.application].id;
    spec.resource = sizes_[row.size];
    return spec;
}

void Cluster::submit(std::uint32_t from, std::uint32_t to) {
    constexpr std::uint32_t kBatch = 1000;
    while (from < to) {
        const std::uint32_t end = std::min(to, from + kBatch);
        std::vector<Key> keys;
        AllocationRequest request;
        for (std::uint32_t i = from; i < end; ++i) {
            keys.emplace_back(i);
            request.asks.push_back(spec(workload_.asks[i]));
        }
        for (std::size_t i = 0; i < keys.size(); ++i) request.asks[i].key = keys[i].view();
        core_.apply(request, kNow);
        from = end;
    }
    YK_CHECK(callbacks_.refused() == 0, "the core refused an ask");
}

void Cluster::submit_one(const Key& key, AskRow row) {
    AskSpec& ask = one_ask_.asks.front();
    ask.key = key.view();
    ask.application = workload_.applications[row.application].id;
    ask.resource.assign(sizes_[row.size].begin(), sizes_[row.size].end());
    core_.apply(one_ask_, kNow);
}

void Cluster::release(const Key& key, std::uint32_t application) {
    ReleaseSpec& release = one_release_.releases.front();
    release.key = key.view();
    release.application = workload_.applications[application].id;
    release.type = TerminationType::StoppedByRm;
    core_.apply(one_release_, kNow);
}

void Cluster::apply(const AllocationRequest& request) {
    core_.apply(request, kNow);
    YK_CHECK(callbacks_.refused() == 0, "the core refused part of a request");
}

std::uint64_t heap_in_use() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

} // namespace yk::bench
