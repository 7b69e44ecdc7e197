// SPDX-License-Identifier: Apache-2.0
// Large pictures are made in pieces, so that no request stops scheduling for long (adr 0008): what comes together is
// the same however large the pieces are, and what goes or comes in between harms nothing.

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <limits>

#include "libcore/partition/partition_context.h"
#include "libcore/reports/metrics.h"
#include "libcore/reports/pages.h"
#include "tests/unit/libcore/partition/usage.h"

#include "tests/support/tamper.h"

namespace yk::testing {

namespace {

constexpr std::size_t kWhole = std::numeric_limits<std::size_t>::max();

Cluster busy() {
    Cluster c{"[{name: a, limits: [{users: [ann], maxresources: {vcore: 1k}}, {groups: [dev, ops], maxapplications: "
              "9}]}, {name: a-b, parent: true, queues: [{name: x}, {name: y}]}, {name: b, queues: [{name: x}]}]"};
    c.nodes(3, "vcore:100");
    int n = 0;
    for (const char* queue : {"root.a", "root.a-b.x", "root.a-b.y", "root.b.x"})
        for (const char* who : {"ann groups=dev", "bob groups=ops,dev", "cid groups="}) {
            const std::string app = "app-" + std::to_string(++n);
            c.play(fmt::format("apps new id={} queue={} user={}", app, queue, who));
            c.existing(app, "k", "vcore:" + std::to_string(n), "n-" + std::to_string(n % 3));
            if (n % 2 == 0) c.ask(app, "more", "vcore:1");
        }
    return c;
}

std::string text(const UsageQueueView& queue) {
    std::string all = queue.path + fmt::format(" {} [{}]", queue.usage.empty() ? 0 : queue.usage.at("vcore"),
                                               fmt::join(queue.running, " "));
    if (queue.max) all += " max";
    if (queue.max_applications != 0) all += " " + std::to_string(queue.max_applications);
    for (const UsageQueueView& child : queue.children) all += "\n" + text(child);
    return all;
}

std::string text(const std::vector<UsageView>& views) {
    std::string all;
    for (const UsageView& view : views) {
        all += fmt::format("{} {}", view.name, fmt::join(view.applications, " "));
        for (const auto& [application, group] : view.groups) all += " " + application + ":" + group;
        all += "\n" + text(view.root) + "\n";
    }
    return all;
}

/// `between` runs before each piece but the first.
UsagePage usage_in_chunks(
    Cluster& c, bool groups, std::size_t size, const std::string& only = {},
    const std::function<void()>& between = [] {}) {
    UsagePage all;
    ViewCursor place;
    for (std::size_t budget = 0, pages = 0; budget == 0; ++pages) {
        if (pages > 0) between();
        budget = size;
        const PartitionState* state = c.core().read("default");
        if (state == nullptr) break;
        UsagePage page = usage_page(*state, groups, only, place, budget);
        all.groups = page.groups;
        all.views.insert(all.views.end(), page.views.begin(), page.views.end());
        all.links.insert(all.links.end(), page.links.begin(), page.links.end());
        REQUIRE(pages < 1000);
    }
    join_usage(all);
    return all;
}

PartitionMetrics metrics_in_chunks(Cluster& c, std::size_t size) {
    PartitionMetrics all;
    ViewCursor place;
    for (std::size_t budget = 0; budget == 0;) {
        budget = size;
        metrics_page(*c.core().read("default"), place, budget, all);
    }
    join_kept(all);
    return all;
}

std::vector<HealthCheckView> health_in_chunks(Cluster& c, std::size_t size) {
    std::vector<HealthCheckView> checks;
    HealthCursor place;
    for (std::size_t budget = 0; budget == 0;) {
        budget = size;
        c.core().health_page(place, budget, checks);
    }
    return checks;
}

} // namespace

TEST_CASE("C-400 C-403 I-405 the applications that count, in pieces of any size") {
    Cluster c = busy();
    for (const std::size_t size : {std::size_t{1}, std::size_t{5}, kWhole}) {
        std::vector<std::string> all;
        ViewCursor place;
        for (std::size_t budget = 0; budget == 0;) {
            budget = size;
            for (const ChargedApplicationView& one : charged_page(*c.core().read("default"), place, budget))
                all.push_back(fmt::format("{} {} {}[{}] {} {} {}", one.id, one.queue, one.user,
                                          fmt::join(one.groups, " "), one.group, one.usage.at("vcore"), one.running));
        }
        std::sort(all.begin(), all.end());
        REQUIRE(all.size() == 12);
        CHECK(all[0] == "app-1 root.a ann[dev] dev 1 true");
        CHECK(all[1] == "app-10 root.b.x ann[dev]  10 true");
        CHECK(all[4] == "app-2 root.a bob[ops dev] dev 2 true");
    }
}

TEST_CASE("C-476 I-405 users and groups in pieces of any size are the users and groups") {
    Cluster c = busy();
    for (const bool groups : {false, true}) {
        const std::string whole =
            text(groups ? usage_views(*c.core().read("default"), true) : usage_views(*c.core().read("default"), false));
        CHECK(whole.find(groups ? "dev app-1" : "app-1:dev") != std::string::npos);
        for (const std::size_t size : {std::size_t{1}, std::size_t{3}, std::size_t{7}, kWhole})
            CHECK(text(usage_in_chunks(c, groups, size).views) == whole);
    }
    const auto views = usage_views(*c.core().read("default"), false);
    REQUIRE(names(views) == Lines{"ann", "bob", "cid"});
    for (const UsageView& view : views) {
        CHECK(text(usage_in_chunks(c, false, 2, view.name).views) == text(std::vector{view}));
        CHECK(view.root.running.size() == 4);
    }
    CHECK(usage_in_chunks(c, false, 2, "nobody").views.empty());
}

TEST_CASE("C-476 users and applications that come and go between two pieces") {
    Cluster c = busy();
    int step = 0;
    const auto disturb = [&] {
        ++step;
        c.play(fmt::format("apps new id=late-{0} queue=root.a user=aaa-{0} groups=", step));
        c.existing(fmt::format("late-{}", step), "k", "vcore:1", "n-0");
        if (step <= 12) c.remove(fmt::format("app-{}", step));
    };
    const UsagePage all = usage_in_chunks(c, false, 4, {}, disturb);
    CHECK(step > 2);
    for (const UsageView& view : all.views) CHECK_FALSE(view.name.empty());
    CHECK(all.links.empty());
    CHECK(c.core().check().empty());
}

TEST_CASE("I-516 metrics in pieces of any size are the same numbers") {
    Cluster c = busy();
    c.remove("app-3").release("app-4", "k").application("lost", "root.nowhere").application("app-1", "root.b.x");
    const PartitionMetrics whole = partition_metrics(*c.core().read("default"));
    CHECK(whole.ended.at("").rejected == 1);
    CHECK(whole.ended.at("root.b.x").rejected == 1);
    CHECK(whole.rejected_by_none == 1);
    REQUIRE(whole.queues.size() == 7);
    CHECK(whole.allocations == 10);
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{5}}) {
        const PartitionMetrics all = metrics_in_chunks(c, size);
        REQUIRE(all.queues.size() == whole.queues.size());
        CHECK(all.states == whole.states);
        CHECK(all.resource_names == whole.resource_names);
        CHECK(all.node_usage == whole.node_usage);
        CHECK(all.nodes_open == 3);
        CHECK(all.rejected_by_none == whole.rejected_by_none);
        CHECK(all.ended == whole.ended);
        for (std::size_t i = 0; i < all.queues.size(); ++i) {
            CHECK(all.queues[i].path == whole.queues[i].path);
            CHECK(all.queues[i].states == whole.queues[i].states);
        }
    }
}

TEST_CASE("I-445 health in pieces of any size finds the same, also in several partitions") {
    Cluster c = busy();
    auto& state = const_cast<PartitionState&>(c.core().find_partition("default")->state());
    const auto texts = [](const std::vector<HealthCheckView>& checks) {
        Lines lines;
        for (const HealthCheckView& check : checks)
            lines.push_back(check.name + (check.succeeded ? " ok " : " failed ") + check.diagnosis);
        return lines;
    };
    CHECK(texts(health_in_chunks(c, 1)) == texts(health_of(c.core())));
    tamper(state.nodes[state.nodes.find("n-1")].occupied).set(0, 3);
    tamper(state.queues.find("root.a-b.x")->allocated).set(0, 1);
    state.users[state.applications[state.find_application("app-7")].user_usage].usage.set(0, 1);
    const Lines whole = texts(health_of(c.core()));
    CHECK(std::count_if(whole.begin(), whole.end(),
                        [](const std::string& line) { return line.find(" failed ") != std::string::npos; }) == 3);
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{5}})
        CHECK(texts(health_in_chunks(c, size)) == whole);
}

} // namespace yk::testing
