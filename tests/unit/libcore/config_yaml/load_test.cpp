// SPDX-License-Identifier: Apache-2.0
// What loading makes of a configuration, and how problems are presented (B-01 to B-04).

#include "libcore/config_yaml/load.h"

#include <catch2/catch.hpp>

#include "libcore/config/checksum.h"

using namespace yk;
using namespace yk::config_yaml;

namespace {

LoadOutcome load_partition(const std::string& partition) {
    return load("partitions: [" + partition + "]", "config");
}

std::vector<std::string> warnings_of(const std::string& partition) {
    const LoadOutcome outcome = load_partition(partition);
    INFO(render(outcome, ""));
    REQUIRE(outcome.configuration);
    std::vector<std::string> messages;
    for (const Problem& problem : outcome.problems) {
        CHECK(problem.severity == Severity::Warning);
        messages.push_back(problem.path + ": " + problem.message);
    }
    return messages;
}

void check_one_warning(const std::string& partition, const std::string& expected) {
    const auto messages = warnings_of(partition);
    REQUIRE(messages.size() == 1);
    CHECK_THAT(messages[0], Catch::Contains(expected));
}

} // namespace

TEST_CASE("C-042 and C-043 the root is inserted, or taken and spelt in lower case") {
    const auto root_of = [](const std::string& queues) {
        const LoadOutcome outcome = load_partition("{queues: " + queues + "}");
        REQUIRE(outcome.configuration);
        return outcome.configuration->partitions[0].root;
    };
    const config::Queue inserted = root_of("[{name: a, submitacl: bob}, {name: B}]");
    CHECK(inserted.name == "root");
    CHECK(inserted.parent);
    CHECK(inserted.submit_acl.empty());
    REQUIRE(inserted.children.size() == 2);
    CHECK(inserted.children[0].submit_acl == "bob");
    CHECK(inserted.children[1].name == "B"); // C-049: the spelling of the file is kept

    CHECK(root_of("[{name: a}]").children.size() == 1);
    CHECK(root_of("[]").children.empty());
    CHECK(root_of("[]").is_parent());
    const config::Queue taken = root_of("[{name: ROOT, submitacl: '*', queues: [{name: a}]}]");
    CHECK(taken.name == "root");
    CHECK(taken.parent);
    CHECK(taken.submit_acl == "*");
    CHECK(taken.children.size() == 1);
}

TEST_CASE("C-048 parent by flag or by children") {
    const LoadOutcome outcome =
        load_partition("{queues: [{name: a, parent: true}, {name: b, parent: false, queues: [{name: c}]}, {name: d}]}");
    const auto& queues = outcome.configuration->partitions[0].root.children;
    CHECK(queues[0].is_parent());
    CHECK(queues[1].is_parent());
    CHECK_FALSE(queues[1].parent); // the flag is not written back
    CHECK_FALSE(queues[2].is_parent());
}

TEST_CASE("C-103 limits of the partition become those of the root") {
    const LoadOutcome partition_only =
        load_partition("{limits: [{limit: x, users: [u], maxapplications: 3}], queues: [{name: a}]}");
    REQUIRE(partition_only.configuration);
    CHECK(partition_only.configuration->partitions[0].limits.size() == 1);
    REQUIRE(partition_only.configuration->partitions[0].root.limits.size() == 1);
    CHECK(partition_only.configuration->partitions[0].root.limits[0].users == std::vector<std::string>{"u"});
    const LoadOutcome root_only =
        load_partition("{queues: [{name: root, limits: [{users: [u], maxapplications: 3}]}]}");
    CHECK(root_only.configuration->partitions[0].limits.empty());
}

TEST_CASE("C-116 the example loads") {
    const LoadOutcome outcome = load(R"(partitions:
  - queues:
      - name: root
        submitacl: "*"
        limits:
          - limit: all
            users: ["*"]
            maxresources: {memory: 100G}
            maxapplications: 10
        queues:
          - name: a
            resources: {max: {memory: 50G, vcore: 20}}
            limits:
              - limit: one
                users: [bob]
                maxresources: {memory: 40G, vcore: 20}
                maxapplications: 5
              - limit: groups
                groups: [dev, "*"]
                maxresources: {memory: 50G}
)",
                                     "queues.yaml");
    INFO(render(outcome, ""));
    REQUIRE(outcome.configuration);
    CHECK(outcome.problems.empty());
    const config::Queue& a = outcome.configuration->partitions[0].root.children[0];
    CHECK(a.resources.max == config::ResourceMap{{"memory", 50'000'000'000}, {"vcore", 20'000}});
    CHECK(a.limits[1].groups == std::vector<std::string>{"dev", "*"});
    CHECK(a.mark.line == 11);
}

TEST_CASE("C-230 templates: entries without key or value go, one that sets nothing is none") {
    const auto template_of = [](const std::string& text) {
        const LoadOutcome outcome = load_partition("{queues: [{name: a, parent: true, childtemplate: " + text + "}]}");
        REQUIRE(outcome.configuration);
        return outcome.configuration->partitions[0].root.children[0].child_template;
    };
    CHECK_FALSE(template_of("{}"));
    CHECK_FALSE(template_of(""));
    CHECK_FALSE(template_of("{maxapplications: 0, properties: {a: , '': b}, resources: {max: {}}}"));
    CHECK(template_of("{resources: {guaranteed: {vcore: 0}}}")); // present, and sets nothing
    const auto present = template_of("{maxapplications: 10, properties: {application.sort.policy: fair, x: ''}}");
    REQUIRE(present);
    CHECK(present->max_applications == 10);
    CHECK(present->properties == std::map<std::string, std::string>{{"application.sort.policy", "fair"}});
}

TEST_CASE("B-10 C-230 templates that are applied again, templates that inherit properties") {
    const auto load_template = [](const std::string& text) {
        return load_partition("{queues: [{name: a, parent: true, childtemplate: {" + text + "}}]}");
    };
    const auto template_of = [&](const std::string& text) {
        const LoadOutcome outcome = load_template(text);
        REQUIRE(outcome.configuration);
        return outcome.configuration->partitions[0].root.children[0].child_template;
    };
    CHECK_FALSE(template_of("maxapplications: 1")->apply_to_existing);
    CHECK_FALSE(template_of("maxapplications: 1, applytoexisting: , inheritproperties: false")->inherit_properties);
    CHECK(template_of("maxapplications: 1, applytoexisting: true")->apply_to_existing);
    CHECK_FALSE(template_of("maxapplications: 1, applytoexisting: true")->inherit_properties);
    CHECK(template_of("inheritproperties: true")->inherit_properties); // enough to be one
    CHECK_FALSE(template_of("applytoexisting: true, inheritproperties: false"));
    for (const char* key : {"applytoexisting", "inheritproperties"}) {
        const auto bad = load_template(std::string{key} + ": often").problems.at(0);
        CHECK_THAT(bad.message, Catch::StartsWith("expected true or false: "));
        CHECK(bad.path == std::string{"partitions[0].queues[0].childtemplate."} + key);
        CHECK(bad.mark.line == 1);
        CHECK(bad.mark.column == static_cast<int>(66 + std::string{key}.size()));
    }
    CHECK_THAT(
        load_template("applyToExisting: true").problems.at(0).message,
        Catch::StartsWith("unknown key \"applyToExisting\" in childtemplate, did you mean \"applytoexisting\"?"));
    CHECK_THAT(load_template("inheritpropertys: true").problems.at(0).message,
               Catch::Contains("did you mean \"inheritproperties\"?"));
    CHECK_THAT(load_partition("{queues: [{name: a, inheritproperties: true}]}").problems.at(0).message,
               Catch::Contains("it belongs in childtemplate"));
}

TEST_CASE("C-382 preemption flags") {
    const auto partition = [](const std::string& flags) {
        return load_partition("{queues: [], preemption: {" + flags + "}}").configuration->partitions[0];
    };
    CHECK(partition("").preemption_enabled);
    CHECK_FALSE(partition("").quota_preemption_enabled);
    CHECK_FALSE(partition("enabled: false").preemption_enabled);
    CHECK(partition("quotapreemptionenabled: true").quota_preemption_enabled);
}

TEST_CASE("C-501 accepted") {
    for (const char* partition :
         {"{queues: [{name: x123456789012345678901234567890123456789012345678901234567890123}, {name: "
          "'a_b:c#d/e@f-9'}]}",
          "{queues: []}",
          "{queues: [{name: root, limits: [{users: [u], maxapplications: 9}], queues: [{name: a, limits: [{users: [u], "
          "maxapplications: 1}]}]}]}",
          "{queues: [], placementrules: [{name: user, filter: {users: [a, a]}}]}",
          "{queues: [{name: a, limits: [{users: [u], maxapplications: 5}]}]}"}) {
        INFO(partition);
        CHECK(load_partition(partition).configuration);
    }
}

TEST_CASE("B-03 the first problem is the original's, the others follow by position") {
    const LoadOutcome outcome = load("partitions:\n"
                                     "  - nodesortpolicy: {type: x}\n"               // 3rd check
                                     "    placementrules: [{name: 1a}]\n"            // 2nd
                                     "    queues: [{name: a, submitacl: 'a b c'}]\n" // 1st
                                     "    usergroupresolver: {type: y}\n",           // 4th
                                     "queues.yaml");
    REQUIRE_FALSE(outcome.configuration);
    std::vector<int> lines;
    for (const Problem& problem : outcome.problems)
        if (problem.severity == Severity::Error) lines.push_back(problem.mark.line);
    CHECK(lines == std::vector<int>{4, 2, 3, 5});
    CHECK(outcome.first_error().where == "queues.yaml:4:35");
    CHECK_THAT(outcome.first_error().message, Catch::StartsWith("partitions[0].queues[0].submitacl: multiple spaces"));
}

TEST_CASE("B-03 schema problems do not hide those of validation, nor cause others") {
    const LoadOutcome outcome = load_partition("{queus: [], name: a.b}");
    REQUIRE(outcome.problems.size() == 2);
    CHECK_THAT(outcome.problems[0].message, Catch::Contains("did you mean \"queues\"?"));
    CHECK_THAT(outcome.problems[1].message, Catch::Contains("invalid partition name"));
    CHECK(load("partitons: []", "x").problems.size() == 1);
}

TEST_CASE("B-01 rendered problems: source, line, column, path, the line and a caret") {
    const std::string text = "partitions:\n"
                             "  - queues:\n"
                             "      - name: root\n"
                             "        submitacl: '*'\n"
                             "        queues:\n"
                             "          - name: a\n"
                             "            resources: {max: {memory: 5K}}\n";
    CHECK(render(load(text, "queues.yaml"), text) ==
          "queues.yaml:7:39: error: partitions[0].queues[0].queues[0].resources.max.memory: invalid suffix \"5K\" (did "
          "you mean \"5k\"?)\n"
          "                resources: {max: {memory: 5K}}\n"
          "                                          ^\n"
          "1 error, 0 warnings\n");
    CHECK(render(load("partitions: [{queues: [{name: root, submitacl: '*'}]}]", "x"), "").empty());
    const LoadOutcome nothing = load(" ", "x");
    CHECK_THAT(render(nothing, " "), Catch::StartsWith("x: error: no partition defined"));
}

TEST_CASE("B-01 the caret stands below its character in lines with tabs and wide texts, long lines are cut") {
    const std::string text = "partitions: [{queues: [{name: \"\u00e4\",\tsample: 1}]}]";
    const std::string rendered = render(load(text, "x"), text);
    CHECK_THAT(rendered, Catch::Contains("\n    " + std::string(34, ' ') + "\t^\n"));
    const std::string wide = "partitions: [{queues: [{name: a, sample: " + std::string(5000, 'x') + "}]}]";
    CHECK(render(load(wide, "x"), wide).size() < 1200);
}

TEST_CASE("B-04 warnings") {
    const std::string open = "submitacl: '*', ";
    check_one_warning("{queues: [{name: root, " + open + "properties: {priority.ofset: 1}}]}",
                      "queues[0].properties.priority.ofset: unknown property \"priority.ofset\", did you mean");
    check_one_warning("{queues: [{name: root, " + open + "properties: {priority.offset: ten}}]}", "bad value \"ten\"");
    check_one_warning("{queues: [{name: root, " + open + "properties: {application.sort.policy: stateaware}}]}",
                      "deprecated");
    check_one_warning("{queues: [{name: root, submitacl: 'bob,9a'}]}", "the name \"9a\" is not legal in an ACL");
    check_one_warning("{queues: [{name: root, " + open + "queues: [{name: a, childtemplate: {maxapplications: 1}}]}]}",
                      "childtemplate of a leaf is ignored");
    check_one_warning("{queues: [{name: root, " + open + "childtemplate: {applytoexisting: true}}]}",
                      "a childtemplate that sets nothing counts as none, so nothing is applied");
    check_one_warning("{queues: [{name: root, " + open + "queues: [{name: a, resources: {guaranteed: {memory: 0}}}]}]}",
                      "a guarantee of 0");
    check_one_warning("{queues: [{name: root, " + open +
                          "queues: [{name: a, parent: true, resources: {max: {memory: 1}}, childtemplate: {resources: "
                          "{max: {memory: 2}}}}]}]}",
                      "maximum map[memory:2] is above what the queue and its parents allow, map[memory:1]");
    check_one_warning("{queues: [{name: root, " + open + "}], placementrules: [{name: user, value: x}]}",
                      "value is ignored by a rule user");
    check_one_warning("{queues: [{name: root, " + open +
                          "}], placementrules: [{name: user, filter: {users: [a, 9b]}}]}",
                      "the name \"9b\" is not a legal user name and is dropped");
    check_one_warning("{queues: [{name: root, " + open +
                          "}], placementrules: [{name: provided, create: true}, {name: provided}]}",
                      "the rule can never match");
}

TEST_CASE("B-04 a resource whose name is nearly that of memory or vcore") {
    const std::string doubt = "a resource of its own; did you mean 'vcore'?";
    check_one_warning("{queues: [{name: root, submitacl: '*', queues: [{name: a, resources: {max: {vcores: 10}}}]}]}",
                      doubt);
    check_one_warning(
        "{queues: [{name: root, submitacl: '*', queues: [{name: a, resources: {guaranteed: {Vcore: 10}}}]}]}", doubt);
    check_one_warning(
        "{limits: [{limit: x, users: ['*'], maxresources: {vcore: 1, memroy: 1Gi}}], queues: [{name: root, "
        "submitacl: '*'}]}",
        "did you mean 'memory'?");
    CHECK(
        warnings_of("{queues: [{name: root, submitacl: '*', queues: [{name: a, resources: {max: {vcore: 1, memory: 1, "
                    "nvidia.com/gpu: 1, pods: 5, disk: 2, mem: 5}}}]}]}")
            .empty());
}

TEST_CASE("B-04 a file without anything in it is doubtful, where a file is checked") {
    const LoadOutcome outcome = load_file("", "queues.yaml");
    CHECK(outcome.configuration);
    REQUIRE(outcome.problems.size() == 1);
    CHECK(render_line(outcome.problems[0], outcome.source) ==
          "queues.yaml: warning: the file is empty: the built-in configuration counts, with queues made by tags");
    CHECK(load_or_default("", "queues.yaml").problems.empty());
    CHECK(load_file("partitions: [{name: default, queues: [{name: root, submitacl: '*'}]}]", "f").problems.empty());
}

TEST_CASE("B-04 and C-137 queues that nobody may submit to, once per highest one") {
    check_one_warning("{queues: [{name: a}, {name: b}]}", "nobody may submit to root");
    check_one_warning("{queues: [{name: a, submitacl: bob}, {name: b, queues: [{name: c}, {name: d}]}]}",
                      "nobody may submit to root.b:");
    CHECK(warnings_of("{queues: [{name: root, adminacl: ' ops', queues: [{name: c}]}]}").empty());
}

TEST_CASE("B-03 C-137 no access for want of a key that was refused is no second problem") {
    const auto problems_of = [](const std::string& queues) {
        std::vector<std::string> paths;
        for (const Problem& problem : load_partition("{queues: " + queues + "}").problems)
            paths.push_back(problem.path.substr(std::string_view{"partitions[0]."}.size()));
        return paths;
    };
    using Paths = std::vector<std::string>;
    CHECK(problems_of("[{name: a, submitAcl: '*'}]") == Paths{"queues[0].submitAcl"});
    CHECK(problems_of("[{name: root, submitacl: ['*'], queues: [{name: a}]}]") == Paths{"queues[0].submitacl"});
    CHECK(problems_of("[{name: root, queues: {a: {submitacl: '*'}}}]") == Paths{"queues[0].queues"});
    CHECK(problems_of("[{name: a, adminACL: x}, {name: b}]") == Paths{"queues[0].adminACL", "queues[1]"});
}

TEST_CASE("C-444 the checksum of the text is part of the configuration") {
    const std::string text = "partitions: [{queues: []}]";
    CHECK(load(text, "x").configuration->checksum == config::checksum(text));
}

TEST_CASE("B-02 control characters of a text cannot reach the terminal through a message") {
    const LoadOutcome outcome = load_partition(R"({queues: [{name: "a\e[2J\n\x9b\x7f"}]})");
    REQUIRE_FALSE(outcome.configuration);
    CHECK_THAT(outcome.problems[0].message, Catch::Contains(R"(got "a\x1b[2J\x0a\x9b\x7f")"));
}
