// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/replicas/node_changes.h"

#include <catch2/catch.hpp>

namespace yk::testing {

using namespace mcs;

namespace {

mcs::Node node(bool is_schedulable = true) {
    mcs::Node made;
    made.meta.id = "n1";
    made.meta.uid = "u1";
    made.attributes = {{"rack", "r1"}};
    made.capacity = {{"memory", 100}};
    made.occupied = {{"memory", 10}};
    made.is_schedulable = is_schedulable;
    return made;
}

std::vector<NodeAction> actions(const mcs::Node* registered, const mcs::Node* wanted) {
    std::vector<NodeAction> found;
    for (const ChangeNode& each : node_changes(registered, wanted)) {
        CHECK(each.node_id == "n1");
        found.push_back(each.action);
    }
    return found;
}

using Actions = std::vector<NodeAction>;

} // namespace

TEST_CASE("rs R-125 a node that comes is created with all that its row has, one that goes is decommissioned") {
    const mcs::Node there = node();
    const auto created = node_changes(nullptr, &there);
    REQUIRE(created.size() == 1);
    CHECK(created[0].action == NodeAction::Create);
    CHECK(created[0].content == ChangeNode::Content{there.attributes, there.capacity, there.occupied});
    CHECK(actions(&there, nullptr) == Actions{NodeAction::Decommission});
    CHECK(actions(nullptr, nullptr).empty());
}

TEST_CASE("rs R-125 a node that comes unschedulable never takes anything") {
    const mcs::Node draining = node(false);
    CHECK(actions(nullptr, &draining) == Actions{NodeAction::CreateDrain});
}

TEST_CASE("rs R-125 what changed of a node decides what is asked for") {
    const mcs::Node before = node();
    CHECK(actions(&before, &before).empty());
    for (auto change :
         {+[](mcs::Node& each) { each.capacity["memory"] = 200; }, +[](mcs::Node& each) { each.occupied.clear(); },
          +[](mcs::Node& each) { each.attributes["rack"] = "r2"; }}) {
        mcs::Node after = node();
        change(after);
        const auto changes = node_changes(&before, &after);
        REQUIRE(changes.size() == 1);
        CHECK(changes[0].action == NodeAction::Update);
        CHECK(changes[0].content == ChangeNode::Content{after.attributes, after.capacity, after.occupied});
    }
    const mcs::Node draining = node(false);
    CHECK(actions(&before, &draining) == Actions{NodeAction::Drain});
    CHECK(actions(&draining, &before) == Actions{NodeAction::Schedulable});
}

TEST_CASE("rs R-125 a version or a time alone is no change of a node") {
    const mcs::Node before = node();
    mcs::Node after = node();
    after.meta.version = 7;
    after.times.updated_ms = 5;
    CHECK(actions(&before, &after).empty());
}

TEST_CASE("rs R-125 nothing is placed by a capacity that counts no longer: drain first, free last") {
    const mcs::Node before = node();
    mcs::Node smaller = node(false);
    smaller.capacity["memory"] = 1;
    CHECK(actions(&before, &smaller) == Actions{NodeAction::Drain, NodeAction::Update});
    CHECK(actions(&smaller, &before) == Actions{NodeAction::Update, NodeAction::Schedulable});
}

TEST_CASE("rs R-125 a node of another life, or in another partition, is another node") {
    const mcs::Node before = node();
    mcs::Node again = node();
    again.meta.uid = "u2";
    CHECK(actions(&before, &again) == Actions{NodeAction::Decommission, NodeAction::Create});
    mcs::Node moved = node();
    moved.attributes["si/node-partition"] = "gpu";
    CHECK(actions(&before, &moved) == Actions{NodeAction::Decommission, NodeAction::Create});
}

} // namespace yk::testing
