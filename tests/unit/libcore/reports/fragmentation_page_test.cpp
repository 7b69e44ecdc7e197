// SPDX-License-Identifier: Apache-2.0
// How fragmented a partition is, as it is shown (devices-fragmentation.md, F-034).

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "libcore/reports/fragmentation.h"
#include "tests/support/cluster.h"

namespace yk::testing {
namespace {

FragmentationView in_pages(Cluster& c, std::size_t size) {
    FragmentationView all;
    ViewCursor place;
    bool is_first = true;
    for (std::size_t budget = 0; budget == 0;) {
        budget = size;
        auto page = fragmentation_page(*c.core().read("default"), true, place, budget);
        if (std::exchange(is_first, false))
            all = std::move(page);
        else
            add_page(all, std::move(page));
    }
    return all;
}

std::string text(const FragmentationView& view) {
    const auto amounts = [](double idle, const FragmentCausesView& of) {
        return fmt::format("{} of {}: {} {} {} {} {}", of.sum(), idle, of.devices, of.others, of.both, of.attribute,
                           of.unasked);
    };
    std::string all =
        fmt::format("{} beside {}{}\n", view.resource, fmt::join(view.others, " "), view.is_learnt ? ", learnt" : "");
    for (const ExpectedAsksView& each : view.expected)
        all += fmt::format("{} with {}: {}\n", each.amount, each.others.at("vcore"), each.share);
    all += amounts(view.idle, view.fragments) + "\n";
    for (const NodeFragmentsView& each : view.nodes) all += each.node + " " + amounts(each.idle, each.fragments) + "\n";
    return all;
}

/// Three nodes with two devices of 1000: one is empty, one has half a device in use, one is short of cores. And one
/// that has none, one that is drained.
Cluster with_policy(const std::string& policy, const std::string& more = {}) {
    Cluster c{"[{name: a}]", {}, "nodesortpolicy: {type: " + policy + more + "}"};
    c.application("app");
    c.play("nodes create id=half res=vcore:8 dev=gpu:1000/1000");
    c.existing("app", "half", "vcore:1,gpu:500", "half");
    c.play("nodes create id=short res=vcore:2 dev=gpu:1000/1000");
    c.play("nodes create id=empty res=vcore:8 dev=gpu:1000/1000");
    c.play("nodes create id=none res=vcore:8");
    c.play("nodes create id=drained res=vcore:8 dev=gpu:1000/1000");
    c.node("drained", "vcore:8", "drain");
    return c;
}

constexpr const char* kGiven = ", fragmentation: {workload: [{resources: {gpu: 1000, vcore: 4m}, weight: 3}, "
                               "{resources: {vcore: 1m}, weight: 1}]}";

} // namespace

TEST_CASE("F-034 I-518 a partition's fragments by cause and by node, in pages of any size and under any policy") {
    for (const char* policy : {"fragmentation", "fair", "binpacking"}) {
        INFO(policy);
        Cluster c = with_policy(policy, kGiven);
        const std::string whole = text(in_pages(c, std::numeric_limits<std::size_t>::max()));
        // Of each four asks three want a device: 500 of `half` are on one that is too small for them, and all of
        // `short` is lost for cores. One wants none.
        CHECK(whole == "gpu beside vcore\n"
                       "1000 with 4: 0.75\n"
                       "0 with 1: 0.25\n"
                       "3250 of 5500: 375 1500 0 0 1375\n"
                       "empty 500 of 2000: 0 0 0 0 500\n"
                       "half 750 of 1500: 375 0 0 0 375\n"
                       "none 0 of 0: 0 0 0 0 0\n"
                       "short 2000 of 2000: 0 1500 0 0 500\n");
        for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{4}})
            CHECK(text(in_pages(c, size)) == whole);
    }
}

TEST_CASE("F-021 F-034 what is expected is learnt where nothing else is said, under any policy") {
    for (const char* policy : {"fragmentation", "fair"}) {
        INFO(policy);
        Cluster c = with_policy(policy);
        for (int at = 0; at < 3; ++at) c.ask("app", "one-" + std::to_string(at), "vcore:4,gpu:1000");
        c.cycles(1); // the policy takes up what it has learnt
        const auto view = in_pages(c, 2);
        CHECK(view.is_learnt);
        CHECK(view.resource == "gpu");
        CHECK(std::any_of(view.expected.begin(), view.expected.end(),
                          [](const ExpectedAsksView& each) { return each.amount == 1000 && each.share > 0.5; }));
    }
}

} // namespace yk::testing
