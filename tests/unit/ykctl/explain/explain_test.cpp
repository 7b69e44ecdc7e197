// SPDX-License-Identifier: Apache-2.0
// What `ykctl explain node`, `user` and `config` show of an answer.

#include "ykctl/explain/explain_kinds.h"

#include <catch2/catch.hpp>

using namespace yk::cli;
using yk::wire::Value;

namespace {

const Style kPlain{};

bool has_line(const std::string& text, const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

Value level(const char* queue, const char* kind, const char* name, const char* entry) {
    return {{"queue", queue}, {"kind", kind}, {"name", name},        {"entry", entry},
            {"used", {}},     {"running", 0}, {"maxApplications", 0}};
}

} // namespace

TEST_CASE("I-354 explain node: what stands against it, what is there, whom it is kept for") {
    const Value answer{
        {"verdict", "RESERVED"},
        {"reasons",
         {{{"code", "RESERVED_OTHER"}, {"object", "web"}, {"text", "kept for ask k of application web"}, {"asks", 2}},
          {{"code", "NODE_FIT"},
           {"object", "n1"},
           {"text", "of 4 pending asks 2 fit now; 2 lack vcore"},
           {"asks", 2}}}},
        {"details",
         {{"nodeID", "n1"},
          {"capacity", {{"memory", std::int64_t{64} << 30}, {"vcore", 16000}}},
          {"occupied", Value::object()},
          {"allocated", {{"vcore", 8000}}},
          {"available", {{"vcore", 8000}}},
          {"allocations", 3},
          {"foreign", 1},
          {"applications", {{{"applicationID", "db"}, {"allocations", 3}}}},
          {"reservations",
           {{{"applicationID", "web"}, {"allocationKey", "k"}, {"queue", "root.a"}, {"resource", {{"vcore", 12000}}}}}},
          {"pending", {{"asks", 4}, {"fitting", 2}}}}}};
    const std::string text = node_explanation_text(answer, kPlain);
    CHECK(has_line(text, "node n1 is RESERVED; 4 pending asks could go there, 2 fit now"));
    CHECK(has_line(text, " 1. RESERVED_OTHER  web  kept for ask k of application web   blocks 2 asks"));
    CHECK(has_line(text, " 2. NODE_FIT        n1   of 4 pending asks 2 fit now; 2 lack vcore   blocks 2 asks"));
    CHECK(has_line(text, "capacity:      64Gi 16 vcore"));
    CHECK(has_line(text, "occupied:      -"));
    CHECK(has_line(text, "allocations:   3, and 1 foreign"));
    CHECK(has_line(text, "applications:  db (3)"));
    CHECK(has_line(text, "reserved for:  k of app web (queue root.a): 12 vcore"));
    CHECK(has_line(node_explanation_text({{"verdict", "IDLE"}, {"details", {{"nodeID", "n2"}}}}, kPlain),
                   "node n2 is IDLE; no ask is pending that could go there"));
}

TEST_CASE("B-09 explain user: levels, limit, usage, headroom, and the group chosen") {
    Value own = level("root.a", "user", "ann", "*");
    own["max"] = {{"vcore", 3000}};
    own["used"] = {{"vcore", 3000}};
    own["headroom"] = {{"vcore", 0}};
    own["running"] = 1;
    Value group = level("root.a", "group", "dev", "dev");
    group["maxApplications"] = 5;
    const Value answer{{"verdict", "BLOCKED_BY_LIMIT"},
                       {"reasons",
                        {{{"code", "USER_LIMIT"},
                          {"object", "root.a"},
                          {"text", "user ann: max vcore 3000, used 3000"},
                          {"used", {{"vcore", 3000}}},
                          {"limit", {{"vcore", 3000}}}}}},
                       {"details",
                        {{"user", "ann"},
                         {"queue", "root.a"},
                         {"exists", true},
                         {"group", "dev"},
                         {"groupFrom", "root.a"},
                         {"headroom", {{"vcore", 0}}},
                         {"levels", {own, level("root", "user", "ann", ""), group}}}}};
    const std::string text = user_explanation_text(answer, kPlain);
    CHECK(has_line(text, "user ann in queue root.a is BLOCKED_BY_LIMIT; counts for group dev (limits of root.a)"));
    CHECK(has_line(text, " 1. USER_LIMIT  root.a  max vcore 3, used 3")); // in the unit of the configuration
    CHECK(has_line(text, "QUEUE   WHO        ENTRY  MAX        USED     HEADROOM   APPS run/max"));
    CHECK(has_line(text, "root.a  user ann   *      3 vcore    3 vcore  0 vcore    1/-"));
    CHECK(has_line(text, "root    user ann   -      unlimited  -        unlimited  0/-"));
    CHECK(has_line(text, "root.a  group dev  dev    unlimited  -        unlimited  0/5"));
    CHECK(has_line(text, "headroom of all levels: 0 vcore"));
    const Value other{{"verdict", "UNLIMITED"},
                      {"details", {{"user", "eve"}, {"queue", "root.a.eve"}, {"fault", "unknown\x1b user"}}}};
    const std::string free = user_explanation_text(other, kPlain);
    CHECK(has_line(free, "user eve in queue root.a.eve (not made yet) is UNLIMITED; counts for no group"));
    CHECK(has_line(free, "an application of this user would be rejected: unknown? user"));
    CHECK(has_line(free, "headroom of all levels: unlimited"));
}

TEST_CASE("I-354 explain config: what is written, where, and what is in force") {
    const Value set{{"verdict", "SET"},
                    {"details",
                     {{"path", "partitions[0].queues[0].resources.max"},
                      {"source", "q.yaml"},
                      {"written", true},
                      {"at", "q.yaml:4:9"},
                      {"value", {{"memory", "32Gi"}, {"vcore", "8"}}},
                      {"inForce", {{"memory", std::int64_t{32} << 30}, {"vcore", 8000}}},
                      {"effectiveMax", {{"vcore", 4000}}},
                      {"from", "root (line 3)"}}}};
    const std::string text = config_explanation_text(set, "root.resources.max", kPlain);
    CHECK(has_line(text, "root.resources.max is SET"));
    CHECK(has_line(text, "path:                   partitions[0].queues[0].resources.max"));
    CHECK(has_line(text, "written:                {memory: 32Gi, vcore: 8}"));
    CHECK(has_line(text, "at:                     q.yaml:4:9"));
    CHECK(has_line(text, "in force:               memory 32Gi, vcore 8"));
    CHECK(has_line(text, "with the queues above:  vcore 4"));
    CHECK(has_line(text, "from:                   root (line 3)"));
    CHECK(text.find("sent by") == std::string::npos);
}

TEST_CASE("I-354 explain config: long values, child templates, settings of the daemon") {
    const auto shown = [](Value details) {
        return config_explanation_text({{"verdict", "SET"}, {"details", std::move(details)}}, "x", kPlain);
    };
    CHECK(has_line(shown({{"written", true}, {"keys", {"name", "queues"}}}), "written:  the keys [name, queues]"));
    CHECK(has_line(shown({{"written", true}, {"entries", 500}}), "written:  500 items of a list"));
    CHECK(has_line(shown({{"written", true}, {"value", nullptr}, {"entries", 0}}), "written:  null"));
    CHECK(has_line(
        shown({{"inForce", {{"maxapplications", 2}, {"max", {{"vcore", 1000}}}, {"properties", {{"a", "b"}}}}}}),
        "in force:  maxapplications 2, max vcore 1, properties {a: b}"));
    CHECK(has_line(shown({{"inForce", false}}), "in force:  false"));
    CHECK(has_line(shown({{"inForce", 7}}), "in force:  7"));
    const Value setting{{"verdict", "IGNORED"},
                        {"reasons",
                         {{{"code", "IGNORED"}, {"text", "from default"}},
                          {{"code", "WARNING"}, {"text", "event.maxStreams: bad value 'x', the default is used"}}}},
                        {"details",
                         {{"key", "event.maxStreams"},
                          {"value", "x"},
                          {"source", "extraConfig of RM rm:1"},
                          {"inForce", "100"},
                          {"from", "default"},
                          {"change", "at once"}}}};
    const std::string text = config_explanation_text(setting, "event.maxStreams", kPlain);
    CHECK(has_line(text, "event.maxStreams is IGNORED"));
    CHECK(has_line(text, "written:    x"));
    CHECK(has_line(text, "sent by:    extraConfig of RM rm:1"));
    CHECK(has_line(text, "in force:   100"));
    CHECK(has_line(text, "from:       default"));
    CHECK(has_line(text, "to change:  at once"));
    CHECK(has_line(text, "warning:    event.maxStreams: bad value 'x', the default is used"));
}

TEST_CASE("explain user --group: repeated, or with commas") {
    CHECK(split_groups({"a,b", "c"}) == std::vector<std::string>{"a", "b", "c"});
    CHECK(split_groups({",", ""}).empty());
}
