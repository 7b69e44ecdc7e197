// SPDX-License-Identifier: Apache-2.0
// devices-fragmentation.md section 1: resources that come in devices.

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "libcore/reports/explain.h"
#include "libcore/reports/snapshot.h"
#include "libcore/resources/node_devices.h"
#include "tests/support/cluster.h"
#include "tests/unit/libcore/partition/restoration_story.h"

namespace yk::testing {
namespace {

/// How much of each device is in use: `500 0 1000!`; `!`: it is lost.
std::string used(const Cluster& c, const std::string& node, const std::string& resource = "gpu") {
    std::string text;
    const auto devices = c.node_view(node).devices;
    const auto found = devices.find(resource);
    if (found == devices.end()) return "none";
    for (const DeviceView& each : found->second)
        text += fmt::format("{}{}{}", text.empty() ? "" : " ", each.used, each.lost ? "!" : "");
    return text;
}

/// What the RM was notified of as placed since the last time.
Lines allocated(Cluster& c) {
    Lines lines = c.notices();
    std::erase_if(lines, [](const std::string& line) { return line.rfind("allocated", 0) != 0; });
    return lines;
}

/// A cluster with one application and a node with four devices.
struct FourDevices : Cluster {
    explicit FourDevices(const std::string& more = "") {
        application("a");
        play("nodes create id=n res=vcore:100,gpu:4000 dev=gpu:1000/1000/1000/1000" + more);
        notices();
        events();
    }
    /// What was placed when an ask was tried at once.
    Lines ask_for(const std::string& key, const std::string& amount, const std::string& more = "") {
        ask("a", key, "vcore:1,gpu:" + amount, more);
        cycles(3);
        return allocated(*this);
    }
};

} // namespace

TEST_CASE("F-001 a node lists devices; their sum is its capacity") {
    Cluster c;
    c.play("nodes create id=given res=vcore:1,gpu:3 dev=gpu:1/2");
    c.play("nodes create id=set res=vcore:1 dev=gpu:1000/1000,fpga:7");
    CHECK(c.node_view("given").capacity == Map{{"gpu", 3}, {"vcore", 1}});
    CHECK(c.node_view("set").capacity == Map{{"fpga", 7}, {"gpu", 2000}, {"vcore", 1}});
    c.notices();
    std::string many = "1";
    for (int i = 0; i < 63; ++i) many += "/1";
    c.play("nodes create id=full res=vcore:1 dev=gpu:" + many);
    CHECK(c.notices() == Lines{"accepted node full"});
    struct Row {
        std::string node, fragment;
    };
    const Row rows[] = {{"id=x res=gpu:5 dev=gpu:1/1", "has devices of gpu with 2 in all, but a capacity of 5"},
                        {"id=x res=vcore:1 dev=gpu:1/" + many, "has 65 devices of gpu; at most 64"},
                        {"id=x res=vcore:1 dev=gpu:1/-1", "negative size"},
                        {"id=x res=vcore:1 dev=gpu:1/1 groups=[[0,1],[64]]", "list of lists of devices"},
                        {"id=x res=vcore:1 dev=gpu:1/1 groups=0,1", "such as [[0,1],[2,3]]"}};
    for (const Row& row : rows) {
        INFO(row.node);
        c.play("nodes create " + row.node);
        const auto answer = c.notices_in_full();
        REQUIRE(answer.size() == 1);
        CHECK(answer[0].find("rejected node x: P_DEVICES") == 0);
        CHECK(answer[0].find(row.fragment) != std::string::npos);
        CHECK(c.partition().nodes == 3);
    }
    c.play("nodes update id=given res=vcore:1,gpu:4");
    CHECK(head_of(c.notices_in_full().at(0)) == "failed to UPDATE node given: P_DEVICES");
    CHECK(c.node_view("given").capacity == Map{{"gpu", 3}, {"vcore", 1}});
}

TEST_CASE("F-002 nodes with devices and without them take the same asks") {
    FourDevices c;
    c.node("m", "vcore:100,gpu:4000");
    c.play("nodes drain id=n");
    CHECK(c.ask_for("on-amounts", "2500") == Lines{"allocated a/on-amounts on m"});
    c.play("nodes schedulable id=n | drain id=m");
    c.notices();
    CHECK(c.ask_for("on-devices", "2000") == Lines{"allocated a/on-devices on n, devices gpu 0 (1000), gpu 1 (1000)"});
}

TEST_CASE("F-003 an amount is a share of one device or whole devices") {
    FourDevices c;
    CHECK(c.ask_for("share", "300") == Lines{"allocated a/share on n, devices gpu 0 (300)"});
    CHECK(c.ask_for("one", "1000") == Lines{"allocated a/one on n, devices gpu 1 (1000)"});
    CHECK(c.ask_for("neither", "1500").empty());
    CHECK(c.ask_for("two", "2000") == Lines{"allocated a/two on n, devices gpu 2 (1000), gpu 3 (1000)"});
    CHECK(c.ask_for("three", "3000").empty()); // 700 are left
    CHECK(c.ask_for("rest", "700") == Lines{"allocated a/rest on n, devices gpu 0 (700)"});
    CHECK(used(c, "n") == "1000 1000 1000 1000");
    CHECK(c.ask_for("none", "0") == Lines{"allocated a/none on n"});
}

TEST_CASE("F-003 an ask states its devices itself") {
    FourDevices c;
    CHECK(c.ask_for("two", "1000", "dev=gpu:2x500") == Lines{"allocated a/two on n, devices gpu 0 (500), gpu 1 (500)"});
    CHECK(c.ask_for("three", "1500", "dev=gpu:3x500") ==
          Lines{"allocated a/three on n, devices gpu 0 (500), gpu 1 (500), gpu 2 (500)"});
    CHECK(c.ask_for("big", "1200", "dev=gpu:1x1200").empty());
    CHECK(c.ask_for("four", "2400", "dev=gpu:4x600").empty());
    CHECK(used(c, "n") == "1000 1000 500 0");
    struct Row {
        const char *stated, *fragment;
    };
    const Row rows[] = {{"gpu:3x500", "states 3 x 500 of gpu, but asks for 1000"},
                        {"gpu:0x500", "it can be 1 to 64 devices"},
                        {"gpu:65x500", "it can be 1 to 64 devices"},
                        {"gpu:2x0", "it can be 1 to 64 devices"},
                        {"fpga:1x5", "states 1 x 5 of fpga, but asks for 0"},
                        {"gpu:0@500/1@500", "no node that they are on"}};
    for (const Row& row : rows) {
        INFO(row.stated);
        c.ask("a", "x", "vcore:1,gpu:1000", std::string{"dev="} + row.stated);
        const auto answer = c.notices_in_full();
        REQUIRE(answer.size() == 1);
        CHECK(answer[0].find("P_DEVICES") != std::string::npos);
        CHECK(answer[0].find(row.fragment) != std::string::npos);
    }
}

TEST_CASE("F-003 asks that state other devices are of another shape") {
    FourDevices c;
    CHECK(c.ask_for("whole", "3000").size() == 1);
    CHECK(c.ask_for("one", "1000", "dev=gpu:2x500").empty()); // one device is left
    CHECK(c.ask_for("other", "1000") == Lines{"allocated a/other on n, devices gpu 3 (1000)"});
}

TEST_CASE("F-004 queues and users count amounts") {
    FourDevices c;
    c.ask_for("share", "300");
    CHECK(c.queue("root").allocated == Map{{"gpu", 300}, {"vcore", 1}});
}

TEST_CASE("F-005 a share goes to the fullest device, whole devices to one group") {
    FourDevices c{" groups=[[0,3],[1,2]]"};
    CHECK(c.ask_for("first", "400") == Lines{"allocated a/first on n, devices gpu 0 (400)"});
    CHECK(c.ask_for("second", "500") == Lines{"allocated a/second on n, devices gpu 0 (500)"});
    CHECK(c.ask_for("third", "500") == Lines{"allocated a/third on n, devices gpu 1 (500)"});
    CHECK(c.ask_for("fourth", "200") == Lines{"allocated a/fourth on n, devices gpu 1 (200)"});
    SECTION("the group that has fewest free devices, as long as they are enough") {
        c.ask("a", "one", "gpu:1000");
        c.cycles(1);
        CHECK(allocated(c) == Lines{"allocated a/one on n, devices gpu 3 (1000)"});
    }
    SECTION("no group has enough: the first ones") {
        CHECK(c.ask_for("both", "2000") == Lines{"allocated a/both on n, devices gpu 2 (1000), gpu 3 (1000)"});
    }
}

TEST_CASE("F-005 whole devices of one group before those of two") {
    FourDevices c{" groups=[[0,2],[1,3]]"};
    c.ask_for("share", "400");
    CHECK(c.ask_for("two", "2000") == Lines{"allocated a/two on n, devices gpu 1 (1000), gpu 3 (1000)"});
}

TEST_CASE("F-006 an allocation names its devices in dumps and events") {
    FourDevices c;
    c.ask_for("two", "1000", "dev=gpu:2x500");
    const auto events = c.event_messages();
    CHECK(std::count_if(events.begin(), events.end(), [](const std::string& line) {
              return line.find("gpu 0 (500), 1 (500)") != std::string::npos;
          }) == 1);
    const AllocationView placed = c.node_view("n").allocations.at(0);
    REQUIRE(placed.devices.size() == 2);
    CHECK(placed.devices[1].resource == "gpu");
    CHECK(placed.devices[1].index == 1);
    CHECK(placed.devices[1].amount == 500);
    c.play("alloc release app=a key=two type=1");
    CHECK(used(c, "n") == "0 0 0 0");
}

TEST_CASE("F-006 the RM says on which devices an allocation is") {
    FourDevices c;
    c.existing("a", "there", "gpu:1300", "n", "dev=gpu:2@1000/3@300");
    CHECK(allocated(c) == Lines{"allocated a/there on n, devices gpu 2 (1000), gpu 3 (300)"});
    c.existing("a", "chosen", "gpu:700", "n");
    CHECK(allocated(c) == Lines{"allocated a/chosen on n, devices gpu 3 (700)"});
    CHECK(used(c, "n") == "0 0 1000 1000");
    CHECK_FALSE(c.node_view("n").device_conflict);
    c.play("alloc place app=a key=x res=gpu:500 node=n dev=gpu:0@200/0@300");
    CHECK(c.notices_in_full().at(0).find("names device 0 of gpu twice") != std::string::npos);
    c.play("alloc place app=a key=x res=gpu:500 node=n dev=gpu:0@200/1@200");
    CHECK(c.notices_in_full().at(0).find("has 400 of devices of gpu, but 500 in all") != std::string::npos);
}

TEST_CASE("F-006 what should have a device and has none is a conflict until it has") {
    FourDevices c;
    c.existing("a", "there", "gpu:800", "n", "dev=gpu:1@800");
    c.existing("a", "too", "gpu:800", "n", "dev=gpu:1@800");
    c.notices();
    CHECK(used(c, "n") == "0 800 0 0");
    CHECK(c.node_view("n").device_conflict);
    CHECK(c.ask_for("waits", "500").empty()); // there are three free devices
    CHECK(c.ask_for("without", "0") == Lines{"allocated a/without on n"});
    SECTION("the other one goes") {
        c.play("alloc release app=a key=there type=1");
        CHECK(used(c, "n") == "0 800 0 0");
        CHECK_FALSE(c.node_view("n").device_conflict);
        c.cycles(1);
        CHECK(allocated(c) == Lines{"allocated a/waits on n, devices gpu 0 (500)"});
    }
    SECTION("it goes itself") {
        c.play("alloc release app=a key=too type=1");
        c.cycles(1);
        CHECK(allocated(c) == Lines{"allocated a/waits on n, devices gpu 0 (500)"});
    }
    SECTION("the RM reports it anew") {
        c.play("alloc place app=a key=too res=gpu:800 node=n dev=gpu:2@800");
        c.cycles(1);
        CHECK(allocated(c) == Lines{"allocated a/waits on n, devices gpu 0 (500)"});
    }
}

TEST_CASE("F-006 an amount that no number of devices gives is a conflict") {
    FourDevices c;
    c.existing("a", "odd", "gpu:1500", "n");
    CHECK(allocated(c) == Lines{"allocated a/odd on n"});
    CHECK(c.node_view("n").device_conflict);
    c.play("nodes update id=n res=vcore:100 dev=gpu:1500/1500");
    CHECK_FALSE(c.node_view("n").device_conflict);
    CHECK(used(c, "n") == "1500 0");
}

TEST_CASE("F-006 foreign allocations stand on devices, too, and may use more than there is") {
    FourDevices c;
    c.play("alloc place key=f res=gpu:700 node=n tags=foreign:default dev=gpu:1@700");
    c.play("alloc place key=g res=gpu:600 node=n tags=foreign:default dev=gpu:1@600");
    c.play("alloc place key=h res=gpu:200 node=n tags=foreign:default");
    CHECK(used(c, "n") == "200 1300 0 0");
    CHECK_FALSE(c.node_view("n").device_conflict);
    CHECK(c.ask_for("share", "300") == Lines{"allocated a/share on n, devices gpu 0 (300)"});
    c.play("alloc release key=g type=1");
    CHECK(c.ask_for("rest", "300") == Lines{"allocated a/rest on n, devices gpu 1 (300)"});
}

TEST_CASE("F-008 devices that vanish while they are used are lost") {
    FourDevices c;
    c.ask_for("two", "2000");
    c.ask_for("one", "1000");
    c.play("nodes update id=n res=vcore:100 dev=gpu:1000/1000");
    CHECK(used(c, "n") == "1000 1000 1000!");
    CHECK(c.node_view("n").capacity == Map{{"gpu", 2000}, {"vcore", 100}});
    CHECK(c.ask_for("more", "100").empty());
    c.play("alloc release app=a key=two type=1");
    c.cycles(1);
    CHECK(allocated(c) == Lines{"allocated a/more on n, devices gpu 0 (100)"});
    CHECK(used(c, "n") == "100 0 1000!");
    SECTION("forgotten once nothing uses them") {
        c.play("alloc release app=a key=one type=1");
        CHECK(used(c, "n") == "100 0");
        CHECK(c.ask_for("both", "2000").empty());
    }
    SECTION("back again") {
        c.play("nodes update id=n dev=gpu:1000/1000/1000/1000");
        CHECK(used(c, "n") == "100 0 1000 0");
    }
    SECTION("a device that is listed with nothing stays in the list") {
        c.play("nodes update id=n dev=gpu:1000/1000/1000/0");
        c.play("alloc release app=a key=one type=1");
        CHECK(used(c, "n") == "100 0 0 0");
    }
    SECTION("no devices any more") {
        c.play("nodes update id=n dev=");
        CHECK(used(c, "n") == "none");
        CHECK(c.ask_for("amount", "700") == Lines{"allocated a/amount on n"});
    }
}

TEST_CASE("F-008 a smaller device that is used beyond its size is lost") {
    FourDevices c;
    c.ask_for("share", "800");
    c.play("nodes update id=n res=vcore:100 dev=gpu:500/1000");
    CHECK(used(c, "n") == "800! 0");
    CHECK(c.ask_for("other", "700") == Lines{"allocated a/other on n, devices gpu 1 (700)"});
}

TEST_CASE("F-001 a node that had none lists devices while something is there") {
    Cluster c;
    c.application("a");
    c.node("n", "vcore:10,gpu:2000");
    c.existing("a", "k", "gpu:800", "n");
    c.play("alloc place key=f res=gpu:500 node=n tags=foreign:default");
    c.play("nodes update id=n dev=gpu:1000/1000");
    CHECK(used(c, "n") == "800 500");
}

TEST_CASE("F-003 explain: neither a part of one device nor whole devices") {
    FourDevices c;
    const auto explain = [&](const std::string& key) {
        return explain_ask(*c.core().read("default"), "a", key, c.now());
    };
    c.ask_for("odd", "1500");
    const Explanation odd = explain("odd");
    CHECK(odd.verdict == "IMPOSSIBLE");
    REQUIRE(odd.reasons.size() == 1);
    CHECK(odd.reasons[0].code == "DEVICE_SHAPE");
    CHECK(odd.reasons[0].text ==
          "1500 of gpu is neither a part of one device nor whole devices of a node; devices have 1000");
    c.ask_for("many", "1000", "dev=gpu:5x200");
    CHECK(explain("many").reasons.at(0).text == "no node has 5 devices of gpu with 200 each; devices have 1000");
    c.ask_for("four", "1200", "dev=gpu:4x300");
    c.ask_for("big", "800");
    const Explanation big = explain("big");
    CHECK(big.verdict == "WAITING");
    REQUIRE(big.reasons.size() == 1);
    CHECK(big.reasons[0].code == "NODE_FIT");
    CHECK(big.reasons[0].text.find("1 has enough in all, but not on the devices that it wants") != std::string::npos);
    CHECK(big.reasons[0].nodes->fragmented == 1);
}

TEST_CASE("F-006 explain names what has no devices") {
    FourDevices c;
    c.existing("a", "there", "gpu:800", "n", "dev=gpu:1@800").existing("a", "too", "gpu:800", "n", "dev=gpu:1@800");
    c.ask_for("waits", "500");
    const Explanation ask = explain_ask(*c.core().read("default"), "a", "waits", c.now());
    REQUIRE(!ask.reasons.empty());
    CHECK(ask.reasons[0].code == "DEVICE_CONFLICT");
    const NodeExplanation node = explain_node(*c.core().read("default"), "n");
    REQUIRE(!node.reasons.empty());
    CHECK(node.reasons[0].code == "DEVICE_CONFLICT");
    CHECK(node.reasons[0].text == "without the devices that they should have: too");
}

TEST_CASE("F-006 what waits in quarantine keeps its devices") {
    RecoveryStory c;
    c.play("nodes create id=n res=vcore:100 dev=gpu:1000/1000");
    c.existing("late", "k", "gpu:600", "n", "dev=gpu:1@600");
    CHECK(used(c, "n") == "0 600");
    c.application("late");
    CHECK(used(c, "n") == "0 600");
    CHECK(allocated(c) == Lines{"allocated late/k on n, devices gpu 1 (600)"});
    c.existing("later", "k", "gpu:400", "n", "dev=gpu:1@400");
    c.play("alloc release app=later key=k type=1");
    CHECK(used(c, "n") == "0 600");
}

TEST_CASE("F-007 a required node preempts on the device that costs fewest victims") {
    Cluster c;
    c.application("a").play("nodes create id=n res=vcore:100 dev=gpu:1000/1000");
    c.victim("a", "x", "gpu:400", "n", 50, "dev=gpu:0@400").victim("a", "y", "gpu:300", "n", 40, "dev=gpu:0@300");
    c.victim("a", "z", "gpu:900", "n", 30, "dev=gpu:1@900");
    c.ask("a", "pinned", "gpu:1000", "prio=5 tags=yunikorn.apache.org/requiredNode:n");
    c.cycles(3);
    CHECK(c.preempted() == "z");
    c.release("a", "z", 3);
    c.cycles(2);
    CHECK(c.node_of("a", "pinned") == "n");
    CHECK(used(c, "n") == "700 1000");
}

TEST_CASE("F-007 nobody goes for an ask that no number of victims would give its devices") {
    Cluster c;
    c.application("a").play("nodes create id=n res=vcore:100 dev=gpu:1000/1000");
    c.victim("a", "x", "gpu:400", "n", 50, "dev=gpu:0@400");
    c.existing("a", "high", "gpu:300", "n", "prio=9 dev=gpu:0@300")
        .existing("a", "other", "gpu:300", "n", "prio=9 dev=gpu:1@300");
    c.ask("a", "pinned", "gpu:1000", "prio=5 tags=yunikorn.apache.org/requiredNode:n");
    c.cycles(3);
    CHECK(c.preempted().empty());
}

TEST_CASE("F-007 a real ask goes elsewhere when the devices of its placeholder are none that it wants") {
    Cluster c;
    c.play("nodes create id=n res=vcore:100 dev=gpu:1000/1000 | create id=m res=vcore:100 dev=gpu:1000/1000");
    c.play("apps new id=g queue=root.a gang=gpu:1000");
    c.ask("g", "ph", "gpu:1000", "dev=gpu:2x500 placeholder=1 group=t");
    c.cycles(1);
    const std::string first = c.node_of("g", "ph");
    CHECK(used(c, first) == "500 500");
    c.ask("g", "real", "gpu:1000", "group=t");
    c.cycles(1);
    c.release("g", "ph", 4);
    CHECK(c.node_of("g", "real") == first); // both halves are free once the placeholder is gone
    CHECK(used(c, first) == "1000 0");
}

TEST_CASE("F-009 an allocation that gets another size stays on its device where that is enough") {
    FourDevices c;
    c.existing("a", "k", "gpu:500", "n", "dev=gpu:2@500");
    c.ask("a", "k", "gpu:900");
    CHECK(used(c, "n") == "0 0 900 0");
    c.ask("a", "k", "gpu:2000");
    CHECK(used(c, "n") == "1000 1000 0 0");
    c.play("alloc place app=a key=k res=gpu:2000 node=n dev=gpu:2@1000/3@1000");
    CHECK(used(c, "n") == "0 0 1000 1000");
    c.ask("a", "k", "gpu:1100");
    CHECK(c.node_view("n").device_conflict);
    CHECK(used(c, "n") == "0 0 0 0");
    c.ask("a", "k", "gpu:100");
    CHECK(used(c, "n") == "100 0 0 0");
    CHECK_FALSE(c.node_view("n").device_conflict);
}

TEST_CASE("F-009 amounts at the end of the integers neither wrap nor stay behind") {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    NodeDevices devices;
    devices.set_kind(0, std::array{std::int64_t{1000}});
    Resource size;
    size.set(0, kMost);
    const std::vector<DeviceUse> said{{0, {0, kMost}}};
    for (const DeviceOwner owner : {1U, 2U}) devices.take(owner, {size, kNothingStated}, said, false);
    for (const DeviceOwner owner : {1U, 2U}) { // what one had is still there when the other has gone
        CHECK(devices.find(0)->devices[0].used == kMost);
        devices.give_back(owner);
        CHECK(devices.check().empty());
    }
    CHECK(devices.find(0)->devices[0].used == 0);

    FourDevices c;
    const std::string most = std::to_string(kMost);
    c.existing("a", "k", "gpu:" + most, "n", "dev=gpu:2x" + most);
    CHECK(c.node_view("n").device_conflict);
    c.release("a", "k");
    CHECK(c.ask_for("share", "300").back() == "allocated a/share on n, devices gpu 0 (300)");
    c.play("nodes update id=n dev=gpu:" + most + "/" + most);
    CHECK(c.node_view("n").capacity.at("gpu") == kMost);
}

TEST_CASE("F-001 a node brings allocations that are on its devices") {
    Cluster c;
    c.application("a").play(
        "nodes create id=n res=vcore:10 dev=gpu:1000/1000 | existing app=a key=k res=gpu:600 dev=gpu:1@600");
    CHECK(used(c, "n") == "0 600");
}

} // namespace yk::testing
