// SPDX-License-Identifier: Apache-2.0
// The strict parser: C-001 to C-012, B-05, B-11.

#include <catch2/catch.hpp>

#include "libcore/config_yaml/load.h"
#include "libcore/config_yaml/tree.h"

using namespace yk;
using namespace yk::config_yaml;

namespace {

LoadOutcome load_text(const std::string& text) {
    return load(text, "queues.yaml");
}

/// The one problem of a text.
Problem problem_of(const std::string& text) {
    const LoadOutcome outcome = load_text(text);
    INFO(render(outcome, text));
    REQUIRE_FALSE(outcome.configuration);
    return outcome.problems.front();
}

const config::Queue& first_child(const LoadOutcome& outcome) {
    return outcome.configuration->partitions[0].root.children[0];
}

} // namespace

TEST_CASE("C-002 an unknown key is refused with its place and path") {
    const Problem problem = problem_of("partitions:\n  - queues:\n      - name: root\n        sample: 1\n");
    CHECK(problem.mark.line == 4);
    CHECK(problem.mark.column == 9);
    CHECK(problem.path == "partitions[0].queues[0].sample");
    CHECK_THAT(problem.message, Catch::StartsWith("unknown key \"sample\" in queue, known: name, parent"));
    CHECK_THAT(problem.message, Catch::Contains("field sample not found in type configs.QueueConfig"));
}

TEST_CASE("C-003 and B-05 keys are lower case; the nearest one is suggested") {
    const auto message = [](const std::string& queue) {
        return problem_of("partitions: [{queues: [{name: root, " + queue + "}]}]").message;
    };
    CHECK_THAT(message("submitAcl: x"),
               Catch::StartsWith("unknown key \"submitAcl\" in queue, did you mean \"submitacl\"?"));
    CHECK_THAT(message("queus: []"), Catch::Contains("did you mean \"queues\"?"));
    CHECK_THAT(message("users: [u]"), Catch::Contains("it belongs in limit or filter"));
    CHECK_THAT(problem_of("Partitions: []").message, Catch::Contains("did you mean \"partitions\"?"));
}

TEST_CASE("C-012 keys of old releases") {
    CHECK_THAT(problem_of("partitions: [{statedumpfilepath: x, queues: []}]").message, Catch::Contains("was removed"));
    CHECK_THAT(problem_of("partitions: [{users: [u], queues: []}]").message, Catch::Contains("users not found"));
    CHECK_THAT(problem_of("partitions: [{preemption: {policy: fence}, queues: []}]").message,
               Catch::Contains("policy not found"));
    CHECK_THAT(problem_of("partitions: [{nodesortpolicy: fair, queues: []}]").message,
               Catch::Contains("cannot unmarshal !!str `fair` into configs.NodeSortingPolicy"));
}

TEST_CASE("C-004 the same key twice") {
    const Problem problem = problem_of("partitions:\n  - name: a\n    queues: []\n    name: b\n");
    CHECK(problem.message == "mapping key \"name\" already defined at line 2, column 5");
    CHECK(problem.mark.line == 4);
    CHECK(problem.path == "partitions[0].name");
    CHECK_THAT(problem_of("partitions: [{queues: [{name: a, properties: {k: 1, k: 2}}]}]").message,
               Catch::Contains("mapping key \"k\" already defined"));
}

TEST_CASE("C-005 values of the wrong kind") {
    const auto message = [](const std::string& partition) {
        return problem_of("partitions: [{" + partition + "}]").message;
    };
    CHECK_THAT(message("placementrules: [{name: user, create: bogus}], queues: []"),
               Catch::Contains("cannot unmarshal !!str `bogus` into bool"));
    CHECK_THAT(message("placementrules: [{name: user, create: 'true'}], queues: []"), Catch::Contains("into bool"));
    CHECK_THAT(message("queues: {name: root}"), Catch::Contains("cannot unmarshal !!map into []configs.QueueConfig"));
    CHECK_THAT(message("queues: [{name: a, resources: {max: 10}}]"),
               Catch::Contains("cannot unmarshal !!int `10` into map[string]string"));
    CHECK_THAT(message("queues: [{name: [a]}]"), Catch::Contains("cannot unmarshal !!seq into string"));
    CHECK_THAT(message("queues: [{name: a, limits: [{users: bob}]}]"), Catch::Contains("into []string"));
    CHECK_THAT(message("queues: [a-long-scalar]"), Catch::Contains("!!str `a-long-...` into configs.QueueConfig"));
}

TEST_CASE("C-005 booleans in every spelling of YAML") {
    const auto create = [](const std::string& value) {
        const LoadOutcome outcome =
            load_text("partitions: [{queues: [], placementrules: [{name: user, create: " + value + "}]}]");
        REQUIRE(outcome.configuration);
        return outcome.configuration->partitions[0].placement_rules[0].create;
    };
    for (const char* value : {"true", "True", "TRUE", "yes", "Yes", "on", "ON", "y", "Y"}) CHECK(create(value));
    for (const char* value : {"false", "False", "FALSE", "no", "NO", "off", "Off", "n", "N", "~", ""})
        CHECK_FALSE(create(value));
}

TEST_CASE("C-005 a tag says what a scalar is") {
    const auto rule = [](const std::string& create) {
        return "partitions: [{queues: [], placementrules: [{name: user, create: " + create + "}]}]";
    };
    CHECK(load_text(rule("!!bool true")).configuration);
    CHECK(load_text(rule("!!null null")).configuration);
    for (const char* text : {"!!str true", "!mine true"})
        CHECK_THAT(problem_of(rule(text)).message, Catch::Contains("cannot unmarshal !!str `true` into bool"));
    CHECK_THAT(problem_of(rule("!mine null")).message, Catch::Contains("cannot unmarshal !!str `null` into bool"));
}

TEST_CASE("C-006 unsigned fields") {
    const auto text = [](const std::string& value) {
        return "partitions: [{queues: [{name: a, maxapplications: " + value + "}]}]";
    };
    CHECK(first_child(load_text(text("18446744073709551615"))).max_applications == 18446744073709551615ULL);
    CHECK(first_child(load_text(text("010"))).max_applications == 10);
    CHECK(first_child(load_text(text(""))).max_applications == 0);
    for (const char* value : {"-1", "+1", "many", "10.7", "1e3", "0x10", "'5'", "18446744073709551616", "[1]"})
        CHECK_THAT(problem_of(text(value)).message, Catch::Contains("into uint64"));
}

TEST_CASE("C-007 scalars are taken verbatim, null is the empty text") {
    const auto max = [](const std::string& value) {
        return "partitions: [{queues: [{name: a, resources: {max: {memory: " + value + "}}}]}]";
    };
    for (const char* value : {"10", "\"10\"", "'10'", " 10 "})
        CHECK(first_child(load_text(max(value))).resources.max->at("memory") == 10);
    for (const char* value : {"", "~", "null", "\"\"", "1.5"})
        CHECK_THAT(problem_of(max(value)).message, Catch::StartsWith("invalid quantity \""));
    CHECK(first_child(load_text("partitions: [{queues: [{name: 010, properties: {priority.offset: 10}}]}]"))
              .properties.at("priority.offset") == "10");
    const LoadOutcome limit = load_text("partitions:\n- queues:\n  - name: root\n    limits:\n    - limit:\n      "
                                        "users: [u]\n      maxapplications: 1\n");
    REQUIRE(limit.configuration);
    CHECK(limit.configuration->partitions[0].root.limits[0].description.empty());
}

TEST_CASE("C-008 anchors, aliases and merge keys") {
    const LoadOutcome outcome = load_text(R"(
partitions:
  - queues:
      - name: b
        resources: &r {max: {memory: 10}, guaranteed: {memory: 9}}
      - &c
        name: c
        resources:
          <<: *r
          guaranteed: {memory: "5"}
        submitacl: bob
      - <<: [{name: d, adminacl: eve}, *c]
)");
    INFO(render(outcome, ""));
    REQUIRE(outcome.configuration);
    const auto& children = outcome.configuration->partitions[0].root.children;
    CHECK(children[1].resources.max->at("memory") == 10);
    CHECK(children[1].resources.guaranteed->at("memory") == 5);
    CHECK(children[2].name == "d"); // the earlier mapping wins
    CHECK(children[2].admin_acl == "eve");
}

TEST_CASE("C-008 syntax errors have a place and a hint") {
    const Problem star = problem_of("partitions: [{queues: [{name: root, submitacl: *}]}]");
    CHECK_THAT(star.message, Catch::Contains("must be quoted: \"*\""));
    CHECK(star.mark.column == 49);
    CHECK_THAT(problem_of("partitions:\n\t- name: default\n").message, Catch::Contains("indented with a tab"));
    CHECK_THAT(problem_of("partitions: [{name: \"x}]").message, Catch::Contains("a quote is not closed"));
    CHECK_THAT(problem_of("partitions: [{name: x}").message, Catch::Contains("not closed"));
    CHECK_THAT(problem_of("a: *unknown").message, Catch::StartsWith("syntax error: "));
    CHECK_THAT(problem_of("<<: 5").message, Catch::Contains("map merge requires map or sequence of maps"));
    CHECK_THAT(problem_of("? [a]\n: b\n").message, Catch::Contains("a key must be text"));
    CHECK_THAT(problem_of("a: &x [*x]").message, Catch::Contains("inside its own anchor"));
    CHECK_THAT(problem_of("a: \x01").message, Catch::Contains("control characters are not allowed (U+0001)"));
    CHECK_THAT(problem_of("a: \xff").message, Catch::Contains("byte 0xff is not UTF-8"));
    CHECK_THAT(problem_of(std::string("a: b\0", 5)).message, Catch::Contains("U+0000"));
}

TEST_CASE("C-001 a second document is refused") {
    const Problem problem = problem_of("partitions: [{queues: []}]\n---\npartitions: []\n");
    CHECK_THAT(problem.message, Catch::Contains("second document"));
    CHECK(problem.mark.line == 2);
    const auto both =
        load_text("partitions: [{queues: [{name: a, submitacl: '*', resources: {max: {vcore: 1q}}}]}]\n---\nno: [\n");
    REQUIRE(both.problems.size() == 2); // it hides no fault of the first one, and is not read itself
    CHECK_THAT(both.problems[0].message, Catch::Contains("second document"));
    CHECK_THAT(both.problems[1].message, Catch::Contains("1q"));
    CHECK_FALSE(both.configuration);
    CHECK(load_text("---\npartitions: [{queues: []}]\n...\n").configuration);
}

TEST_CASE("C-009 texts without a partition") {
    for (const std::string text :
         {" ", "\n", "# only a comment\n", "---\n", "partitions: []", "partitions:", "{}", "checksum: 00"}) {
        INFO(text);
        CHECK_THAT(problem_of(text).message, Catch::StartsWith("no partition defined"));
    }
    const LoadOutcome empty = load("", "x");
    REQUIRE(empty.configuration);
    CHECK(empty.configuration->partitions.empty());
}

TEST_CASE("C-010 the built-in configuration") {
    const LoadOutcome outcome = load_or_default("", "queues.yaml");
    REQUIRE(outcome.configuration);
    CHECK(outcome.problems.empty());
    const config::Partition& partition = outcome.configuration->partitions.at(0);
    CHECK(partition.name == "default");
    CHECK(partition.root.name == "root");
    CHECK(partition.root.submit_acl == "*");
    CHECK(partition.root.is_parent());
    CHECK(partition.placement_rules.at(0).name == "tag");
    CHECK(partition.placement_rules.at(0).value == "namespace");
    CHECK(partition.placement_rules.at(0).create);
    CHECK(load_or_default("partitions: [{name: x, queues: []}]", "x").configuration->partitions[0].name == "x");
}

TEST_CASE("C-011 a checksum key is accepted and ignored") {
    const LoadOutcome outcome = load_text("checksum: \"00\"\npartitions: [{queues: []}]\n");
    REQUIRE(outcome.configuration);
    CHECK(outcome.configuration->checksum.size() == 64);
}

TEST_CASE("B-11 size, depth and aliases are bounded") {
    CHECK_THAT(problem_of(std::string(kMaxTextBytes + 1, ' ')).message, Catch::Contains("the limit is 1048576"));
    CHECK_THAT(problem_of("a: " + std::string(64, '[') + std::string(64, ']')).message,
               Catch::Contains("nested deeper than 64 levels"));
    CHECK_THAT(problem_of("- " + std::string(100'000, '[')).message, Catch::Contains("not closed"));
    CHECK_THAT(problem_of(std::string(251, 'k') + ": 1").message, Catch::Contains("a key is longer than 250 bytes"));

    std::string many = "partitions: [";
    for (std::size_t i = 0; i < kMaxNodes; ++i) many += "x,";
    CHECK_THAT(problem_of(many + "]").message, Catch::Contains("more than 150000 nodes"));
    // A10: before yaml-cpp keeps a token for each of them
    for (const char* each : {"[", "{", "a,", "[]"}) {
        std::string text = "partitions: [";
        while (text.size() < 400'000) text += each;
        CHECK_THAT(problem_of(text).message, Catch::Contains("more than 150000 nodes: it has more brackets"));
    }

    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 30; ++i) {
        const std::string below = "*a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + below + ", " + below + "]\n";
    }
    CHECK_THAT(problem_of(bomb).message, Catch::Contains("aliases stand for more than 10000 nodes"));

    std::string large = "a: &a " + std::string(1000, 'x') + "\nb:\n";
    for (int i = 0; i < 2000; ++i) large += "- *a\n";
    CHECK_THAT(problem_of(large).message, Catch::Contains("1048576 bytes in total"));
}

TEST_CASE("B-11 thousands of problems are cut off with a note") {
    std::string text = "partitions:\n- queues:\n";
    for (int i = 0; i < 5000; ++i) text += "  - {name: a.b}\n";
    const LoadOutcome outcome = load_text(text);
    REQUIRE(outcome.problems.size() == config::Report::kMaxShown);
    CHECK_THAT(outcome.problems.back().message, Catch::EndsWith("further problems are not shown"));
}

TEST_CASE("B-11 expressions are bounded in number and size") {
    const auto rules = [](int count, const std::string& expression) {
        std::string text = "partitions: [{queues: [], placementrules: [";
        for (int i = 0; i < count; ++i) text += "{name: user, filter: {users: ['" + expression + "']}}, ";
        return text + "]}]";
    };
    CHECK(load_text(rules(256, "a.*")).configuration);
    const LoadOutcome outcome = load_text(rules(1000, "a.*"));
    CHECK(outcome.problems.front().message == "the configuration has more than 256 regular expressions in filters");
    CHECK_THAT(problem_of(rules(1, "(\\pL{50}){10}")).message, Catch::Contains("is not a proper list or regexp"));
}
