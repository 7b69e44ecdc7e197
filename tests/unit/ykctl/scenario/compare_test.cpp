// SPDX-License-Identifier: Apache-2.0
#include "ykctl/scenario/compare.h"

#include <catch2/catch.hpp>

#include <string>

namespace yk::scenario {
namespace {

Value json(const std::string& text) {
    return Value::parse(text);
}

std::vector<Unmet> thing(const std::string& wanted, const std::string& found) {
    std::vector<Unmet> unmet;
    compare_thing("queues.root.a", json(wanted), json(found), unmet);
    return unmet;
}

TEST_CASE("scenario.md expect: only what is named is compared") {
    CHECK(thing(R"({"state":"Active"})", R"({"state":"Active","leaf":true})").empty());
    CHECK(thing(R"({"allocated":{"vcore":100}})", R"({"allocated":{"vcore":100,"memory":7}})").empty());
    CHECK(thing("{}", R"({"state":"Active"})").empty());
}

TEST_CASE("scenario.md expect: a resource that is absent counts as 0") {
    CHECK(thing(R"({"allocated":{"gpu":0}})", R"({"allocated":{"vcore":1}})").empty());
    CHECK(thing(R"({"allocated":{"gpu":0}})", R"({"allocated":{}})").empty());
    CHECK(thing(R"({"allocated":{"gpu":1}})", R"({"allocated":{}})") ==
          std::vector<Unmet>{{"queues.root.a.allocated.gpu", "1", "0"}});
}

TEST_CASE("scenario.md expect: null means none at all") {
    CHECK(thing(R"({"allocated":null})", R"({"allocated":{}})").empty());
    CHECK(thing(R"({"allocated":null})", R"({"allocated":{"vcore":0}})").empty());
    CHECK(thing(R"({"allocated":null})", R"({"allocated":{"vcore":1,"memory":0}})") ==
          std::vector<Unmet>{{"queues.root.a.allocated", "none", "{vcore: 1, memory: 0}"}});
}

TEST_CASE("scenario.md expect: a thing that is named must exist, unless exists: false") {
    CHECK(thing(R"({"state":"Active"})", "null") == std::vector<Unmet>{{"queues.root.a", "exists", "none"}});
    CHECK(thing("{}", "null").size() == 1);
    CHECK(thing(R"({"exists":false})", "null").empty());
    CHECK(thing(R"({"exists":true})", R"({"state":"Active"})").empty());
    CHECK(thing(R"({"exists":false})", R"({"state":"Active"})") ==
          std::vector<Unmet>{{"queues.root.a", "exists: false", "{state: Active}"}});
}

TEST_CASE("scenario.md expect: each unmet value has its own path") {
    CHECK(thing(R"({"state":"Active","leaf":true,"max":{"vcore":1,"memory":2}})",
                R"({"state":"Draining","leaf":false,"max":{"vcore":1,"memory":3}})") ==
          std::vector<Unmet>{{"queues.root.a.state", "Active", "Draining"},
                             {"queues.root.a.leaf", "true", "false"},
                             {"queues.root.a.max.memory", "2", "3"}});
}

TEST_CASE("scenario.md expect: lists hold others too, in any order") {
    std::vector<Unmet> unmet;
    compare_members("acceptedNodes", json(R"(["b","a"])"), json(R"(["a","b","c"])"), unmet);
    CHECK(unmet.empty());
    compare_members("acceptedNodes", json(R"(["a","x"])"), json(R"(["a","b"])"), unmet);
    CHECK(unmet == std::vector<Unmet>{{"acceptedNodes", "x", "[a, b]"}});
}

TEST_CASE("scenario.md expect: entries by key, with * for any") {
    std::vector<Unmet> unmet;
    compare_entries("allocationNodes", json(R"({"a":"*","b":"n"})"), json(R"({"a":"x","b":"n"})"), {}, unmet);
    compare_entries("allocationsOf", json(R"({"app":0})"), json("{}"), 0, unmet);
    CHECK(unmet.empty());
    compare_entries("allocationNodes", json(R"({"a":"*","b":"m"})"), json(R"({"b":"n"})"), {}, unmet);
    compare_entries("allocationsOf", json(R"({"app":2})"), json("{}"), 0, unmet);
    CHECK(unmet == std::vector<Unmet>{{"allocationNodes.a", "*", "none"},
                                      {"allocationNodes.b", "m", "n"},
                                      {"allocationsOf.app", "2", "0"}});
}

TEST_CASE("a long list is shown shortened") {
    Value list = Value::array();
    for (int i = 0; i < 1000; ++i) list.push_back("application-" + std::to_string(i));
    CHECK(shown(list).size() < 300);
    CHECK(shown(json("[]")) == "[]");
    CHECK(shown(json("{}")) == "{}");
}

} // namespace
} // namespace yk::scenario
