// SPDX-License-Identifier: Apache-2.0
// What went is compared with nothing any more, and its memory may go: seen by the address sanitizer.

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "tests/support/cluster.h"

namespace yk::testing {

TEST_CASE("applications that went leave the order of their queue whole when their memory goes") {
    constexpr std::size_t kMany = 6'000; // more than a Slab keeps
    Cluster c;
    c.nodes(1, "vcore:1");
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < kMany; ++i) ids.push_back(fmt::format("app-{}", i));
    ApplicationRequest applications, gone;
    AllocationRequest asks;
    for (std::size_t i = 0; i < kMany; ++i) {
        ApplicationSpec spec;
        spec.partition = "default", spec.id = ids[i], spec.queue = "root.a", spec.user = "u";
        applications.add.push_back(spec);
        AskSpec ask;
        ask.partition = "default", ask.application = ids[i], ask.key = ids[i], ask.resource = {{"vcore", 2}};
        asks.asks.push_back(ask);
        if (i % 500 != 0) gone.remove.push_back({"default", ids[i]});
    }
    c.core().apply(applications, c.now());
    c.core().apply(asks, c.now());
    c.cycles(1);
    c.core().apply(gone, c.now());
    c.cycles(1);
    for (int i = 0; i < 100; ++i) {
        const std::string id = fmt::format("late-{}", i);
        c.application(id).asks(id, 1, "vcore:2");
        c.cycles(1);
    }
    CHECK(c.partition().applications == 112);
}

TEST_CASE("dynamic queues that went leave the order of their siblings whole") {
    Cluster c{"[{name: p, parent: true}]", {}, "placementrules: [{name: provided, create: true}]"};
    c.nodes(1, "vcore:1");
    const auto add = [&c](int i) {
        const std::string id = fmt::format("app-{}", i);
        c.application(id, fmt::format("root.p.q-{:03}", i)).asks(id, 1, "vcore:2");
    };
    for (int i = 0; i < 100; ++i) add(i);
    c.cycles(1);
    for (int i = 0; i < 100; ++i)
        if (i % 9 != 0) c.remove(fmt::format("app-{}", i));
    c.advance(std::chrono::seconds{60});
    REQUIRE(c.queue("root.p.q-001").state == "gone");
    for (int i = 100; i < 200; ++i) add(i);
    c.cycles(1);
    CHECK(c.queue("root.p.q-199").pending == ResourceMapView{{"vcore", 2}});
}

} // namespace yk::testing
