// SPDX-License-Identifier: Apache-2.0
// What must be refused, with the text of the first problem (C-500, C-067, C-116 and the statements named).

#include <algorithm>

#include <catch2/catch.hpp>

#include "libcore/config_yaml/load.h"

using namespace yk;
using namespace yk::config_yaml;

namespace {

struct Row {
    const char* partition; // flow style, behind the dash
    const char* message;
};

LoadOutcome load_partition(const std::string& partition) {
    return load("partitions:\n  - " + partition + '\n', "queues.yaml");
}

void check_refused(const Row& row) {
    INFO(row.partition);
    const LoadOutcome outcome = load_partition(row.partition);
    REQUIRE_FALSE(outcome.configuration);
    INFO(outcome.problems.front().message);
    CHECK_THAT(outcome.problems.front().message, Catch::Contains(row.message));
    CHECK(outcome.problems.front().mark.line == 2);
    CHECK(outcome.problems.front().mark.column > 0);
    CHECK(outcome.problems.front().severity == Severity::Error);
}

void check_loads(const std::string& partition) {
    INFO(partition);
    const LoadOutcome outcome = load_partition(partition);
    INFO(render(outcome, ""));
    CHECK(outcome.configuration);
}

const Row kC500[] = {
    {"{name: default}", "queue config is not set"},
    {"{queues: [{name: root, resources: {max: {memory: 1}}}]}", "root queue must not have resource limits set"},
    {"{queues: [{name: a}, {name: A}]}", "duplicate child name found with name 'A', level 1"},
    {"{queues: [{name: a.b}]}", "invalid queue name"},
    {R"({queues: [{name: a, submitacl: "a b c"}]})", "multiple spaces found in ACL: 'a b c'"},
    {"{queues: [{name: a, resources: {max: {memory: 5K}}}]}", "invalid suffix"},
    {"{queues: [{name: a, resources: {guaranteed: {memory: 2}, max: {memory: 1}}}]}",
     "guaranteed resource map[memory:2] is larger than maximum resource map[memory:1] for queue a"},
    {"{queues: [{name: a, resources: {max: {memory: 1}}, queues: [{name: b, resources: {max: {memory: 2}}}]}]}",
     "max resource of parent map[memory:1] is smaller than maximum resource map[memory:2] for queue b"},
    {"{queues: [{name: a, resources: {guaranteed: {memory: 1}}, queues: [{name: b, resources: {guaranteed: {memory: "
     "2}}}]}]}",
     "guaranteed resource of parent map[memory:1] is smaller than sum of guaranteed resources map[memory:2] of the "
     "children for queue a"},
    {"{queues: [{name: a, resources: {max: {memory: 1}}, queues: [{name: b, resources: {guaranteed: {memory: 2}}}]}]}",
     "max resource map[memory:1] is smaller than sum of guaranteed resources map[memory:2] of the children for queue "
     "a"},
    {"{queues: [{name: a, maxapplications: 1, queues: [{name: b, maxapplications: 2}]}]}",
     "parent maxApplications must be larger"},
    {"{queues: [{name: a, maxapplications: 1, queues: [{name: b}]}]}", "maxApplications is either undefined or zero"},
    {"{queues: [{name: root, limits: [{limit: x, maxapplications: 1}]}]}",
     "empty user and group lists defined in limit"},
    {"{queues: [{name: root, limits: [{users: [u]}]}]}",
     "invalid resource combination for limit  all resource limits are null"},
    {"{queues: [{name: root, limits: [{limit: x, users: [u], maxresources: {memory: 0}}]}]}",
     "MaxResources should be greater than zero in 'x' limit"},
    {R"({queues: [{name: root, limits: [{users: ["*", u], maxapplications: 1}]}]})",
     "should not set no wildcard user u after wildcard user limit"},
    {R"({queues: [{name: root, limits: [{groups: ["*"], maxapplications: 1}]}]})",
     "should not specify only one group limit that is using the wildcard"},
    {"{queues: [{name: a, maxapplications: 1, limits: [{limit: x, users: [u], maxapplications: 2}]}]}",
     "invalid MaxApplications settings for limit x"},
    {"{limits: [{users: [u], maxapplications: 1}], queues: [{name: root, limits: [{users: [u], maxapplications: 2}]}]}",
     "partition limits and root queue limits are not equivalent"},
    {"{queues: [{name: root}], nodesortpolicy: {type: FAIR}}", "undefined policy: FAIR"},
    {"{queues: [{name: root}], nodesortpolicy: {resourceweights: {memory: -1}}}",
     "negative resource weight for memory is not allowed"},
    {"{queues: [{name: root}], placementrules: [{name: 1a}]}",
     "invalid rule name 1a, a name must be a valid identifier"},
    {"{queues: [{name: root}], placementrules: [{name: user, filter: {type: no}}]}", "invalid rule filter type"},
    {"{queues: [{name: root}], placementrules: [{name: user, filter: {users: [99test]}}]}",
     "invalid rule filter user list"},
    {"{queues: [{name: root}], placementrules: [{name: fixed, value: a}]}", "create is 'false'"},
    {"{queues: [{name: a, parent: true}], placementrules: [{name: fixed, value: a}]}", "which is not a leaf"},
    {"{queues: [{name: a}], placementrules: [{name: fixed, value: a.b, create: true}]}",
     "because the last queue (a) in the hierarchy is a leaf"},
    {"{queues: [{name: root, sample: 1}]}", "field sample not found"}};

} // namespace

TEST_CASE("C-500 C-502 every row is refused with its text as the first problem, and with our place") {
    for (const Row& row : kC500) {
        check_refused(row);
        const LoadOutcome outcome = load_partition(row.partition);
        const Problem& first = outcome.problems.front();
        const std::string shown = render(outcome, "partitions:\n  - " + std::string{row.partition} + '\n');
        INFO(shown);
        CHECK_THAT(shown, Catch::StartsWith("queues.yaml:2:" + std::to_string(first.mark.column) + ": "));
        CHECK_THAT(first.path, Catch::StartsWith("partitions[0]"));
    }
}

TEST_CASE("C-502 the place is that of the offending text") {
    const auto marked = [](const char* partition, const std::string& text) {
        INFO(partition);
        const LoadOutcome outcome = load_partition(partition);
        const std::size_t column = std::string{"  - "}.append(partition).rfind(text);
        CHECK(outcome.problems.front().mark.column == static_cast<int>(column) + 1);
    };
    marked("{queues: [{name: a, resources: {max: {memory: 5K}}}]}", "5K");
    marked("{queues: [{name: a}, {name: A}]}", "A}");
    marked("{queues: [{name: a.b}]}", "a.b");
    marked(R"({queues: [{name: a, submitacl: "a b c"}]})", "\"a b c\"");
    marked("{queues: [{name: root}], nodesortpolicy: {type: FAIR}}", "FAIR");
    marked("{queues: [{name: root}], nodesortpolicy: {resourceweights: {memory: -1}}}", "-1");
    marked("{queues: [{name: root}], placementrules: [{name: 1a}]}", "1a");
    marked("{queues: [{name: root}], placementrules: [{name: user, filter: {type: no}}]}", "no");
    marked("{queues: [{name: root, sample: 1}]}", "sample");
}

TEST_CASE("C-500 and C-030 two partitions without a name") {
    const LoadOutcome outcome =
        load("partitions:\n  - {queues: [{name: root}]}\n  - {queues: [{name: root}]}\n", "queues.yaml");
    REQUIRE_FALSE(outcome.configuration);
    CHECK(outcome.problems[0].message == "duplicate partition name found with name default");
    CHECK(outcome.problems[0].mark.line == 3);
}

TEST_CASE("C-030 and C-031 partition names") {
    check_refused({"{name: '[rm]x', queues: []}", "invalid partition name \"[rm]x\""});
    check_refused({"{name: a.b, queues: []}", "invalid partition name"});
    const LoadOutcome outcome = load("partitions: [{name: gpu, queues: []}, {name: GPU, queues: []}]", "x");
    CHECK_THAT(outcome.problems[0].message, Catch::Contains("duplicate partition name found with name GPU"));
    CHECK(load("partitions: [{name: DEFAULT, queues: []}]", "x").configuration->partitions[0].name == "default");
}

TEST_CASE("C-044 to C-046 reserved and repeated queue names") {
    check_refused({"{queues: [{name: root}, {name: a}]}", "queue name root is reserved"});
    check_refused({"{queues: [{name: root, queues: [{name: Root}]}]}", "queue name Root is reserved"});
    check_refused({"{queues: [{name: a, queues: [{name: root}]}]}", "queue name root is reserved"});
    check_refused({"{queues: [{name: '@RECOVERY@'}]}", "queue name @RECOVERY@ is reserved"});
    check_refused({"{queues: [{name: p, queues: [{name: Dev}, {name: dEV}]}]}",
                   "duplicate child name found with name 'dEV', level 2"});
    check_loads("{queues: [{name: a, queues: [{name: x}]}, {name: b, queues: [{name: x}]}]}");
}

TEST_CASE("C-047 the root takes no resources, not even an empty mapping") {
    check_refused({"{queues: [{name: root, resources: {max: {}}}]}", "root queue must not have resource limits set"});
    check_refused({"{queues: [{name: root, resources: {guaranteed: {}}}]}", "root queue must not have"});
    check_loads("{queues: [{name: root, resources: {}}]}");
    check_loads("{queues: [{name: root, resources: {max: }}]}");
    check_loads("{queues: [{name: root, resources: }]}");
}

TEST_CASE("C-067 guaranteed and max over three levels") {
    const auto tree = [](const std::string& a, const std::string& b, const std::string& c) {
        const auto resources = [](const std::string& set) { return set.empty() ? set : ", resources: {" + set + "}"; };
        return "{queues: [{name: a" + resources(a) + ", queues: [{name: b" + resources(b) + ", queues: [{name: c" +
               resources(c) + "}]}]}]}";
    };
    const auto refused = [](const std::string& partition, const char* message) {
        check_refused({partition.c_str(), message});
    };
    refused(tree("max: {memory: 100}", "", "max: {memory: 150}"),
            "max resource of parent map[memory:100] is smaller than maximum resource map[memory:150] for queue c");
    refused(tree("guaranteed: {memory: 100}", "", "guaranteed: {memory: 150}"),
            "guaranteed resource of parent map[memory:100] is smaller than sum of guaranteed resources "
            "map[memory:150] of the children for queue a");
    refused(tree("guaranteed: {memory: 10}", "guaranteed: {memory: 50}", ""), "map[memory:50]");
    refused("{queues: [{name: a, resources: {max: {memory: 80}}, queues: [{name: b, resources: {guaranteed: {memory: "
            "50}}}, {name: c, resources: {guaranteed: {memory: 40}}}]}]}",
            "max resource map[memory:80] is smaller than sum of guaranteed resources map[memory:90]");
    refused(tree("", "guaranteed: {memory: 50}, max: {memory: 10}", ""), "for queue b");
    check_loads(tree("max: {memory: 1}", "max: {memory: 1}", ""));
    check_loads(tree("guaranteed: {memory: 1}", "guaranteed: {memory: 1}", "guaranteed: {memory: 1}"));
}

TEST_CASE("C-062 an all-zero max is a limit, an all-zero guarantee is none") {
    check_refused({"{queues: [{name: a, resources: {max: {gpu: 0}}, queues: [{name: b, resources: {max: {gpu: 1}}}]}]}",
                   "max resource of parent map[gpu:0] is smaller"});
    check_loads("{queues: [{name: a, resources: {guaranteed: {memory: 0}}, queues: [{name: b, resources: {guaranteed: "
                "{memory: 5}}}]}]}");
    check_loads("{queues: [{name: a, resources: {max: {}}, queues: [{name: b, resources: {max: {gpu: 1}}}]}]}");
}

TEST_CASE("C-065 types that only children guarantee reach the grandparent") {
    check_refused(
        {"{queues: [{name: a, resources: {guaranteed: {vcore: 1}}, queues: [{name: b, resources: {guaranteed: "
         "{memory: 5}}, queues: [{name: c, resources: {guaranteed: {vcore: 2}}}]}]}]}",
         "guaranteed resource of parent map[vcore:1000] is smaller than sum of guaranteed resources "
         "map[memory:5 vcore:2000] of the children for queue a"});
}

TEST_CASE("C-066 types that the parent does not guarantee are not compared") {
    check_loads(
        "{queues: [{name: a, resources: {guaranteed: {memory: 100}}, queues: [{name: b, resources: {guaranteed: "
        "{memory: 50, vcore: 50}}}, {name: c, resources: {guaranteed: {memory: 50, vcore: 50}}}]}]}");
}

TEST_CASE("C-064 a sum beyond 63 bits saturates instead of wrapping") {
    const std::string most = "{guaranteed: {memory: 9223372036854775807}}";
    check_refused(
        {("{queues: [{name: a, resources: {max: {memory: 9}}, queues: [{name: b}, {name: c, queues: [{name: d, "
          "resources: " +
          most + "}, {name: e, resources: " + most + "}]}]}]}")
             .c_str(),
         "map[memory:9223372036854775807]"});
}

TEST_CASE("C-070 max applications: the larger one is tested first, the root takes part") {
    check_refused({"{queues: [{name: root, maxapplications: 3, queues: [{name: a, maxapplications: 4}]}]}",
                   "parent maxApplications must be larger than child maxApplications"});
    check_refused({"{queues: [{name: a, maxapplications: 10, queues: [{name: b, queues: [{name: c, maxapplications: "
                   "5}]}]}]}",
                   "maxApplications is either undefined or zero, which is not allowed when parent queue's "
                   "maxApplications is defined"});
    check_loads("{queues: [{name: root, maxapplications: 3, queues: [{name: a, maxapplications: 3}, {name: b, "
                "maxapplications: 3}]}]}");
}

TEST_CASE("C-093 to C-096 names in limits") {
    const auto limit = [](const std::string& rest) { return "{queues: [{name: root, limits: [" + rest + "]}]}"; };
    const auto refused = [&](const std::string& rest, const char* message) {
        check_refused({limit(rest).c_str(), message});
    };
    refused("{users: [99test], maxapplications: 1}", "invalid limit user name '99test' in limit definition");
    refused("{groups: [g@d], maxapplications: 1}", "invalid limit group name 'g@d' in limit definition");
    refused("{users: [u, u], maxapplications: 1}", "duplicated user name 'u', already exists");
    refused("{groups: [g], maxapplications: 1}, {groups: [g], maxapplications: 2}", "duplicated group name 'g'");
    refused(R"({users: ["*"], maxapplications: 1}, {users: ["*"], maxapplications: 1})", "duplicated user name '*'");
    refused(R"({users: ["*"], maxapplications: 1}, {users: [u], maxapplications: 1})",
            "should not set no wildcard user u after wildcard user limit");
    refused(R"({groups: [g, "*", h], maxapplications: 1})",
            "should not set no wildcard group h after wildcard group limit");
    refused("{users: [], groups: [], maxapplications: 1}", "empty user and group lists defined in limit ''");
    check_loads(
        limit(R"({users: [bob, "*"], groups: [bob], maxapplications: 1}, {groups: ["*"], maxapplications: 1})"));
    check_loads(limit(R"({users: ["*"], maxapplications: 1})"));
    check_loads(limit("{users: [u], maxresources: {memory: 1, vcore: 0}}"));
}

TEST_CASE("C-091 limits entry by entry in file order, each in the order C-092 to C-099") {
    const auto first_is = [](const std::string& limits, const char* message) {
        const std::string partition =
            "{queues: [{name: a, maxapplications: 1, resources: {max: {memory: 1}}, limits: [" + limits + "]}]}";
        check_refused({partition.c_str(), message});
    };
    first_is("{limit: x, maxresources: {memory: 0}}", "empty user and group lists defined in limit 'x'");
    first_is("{users: [9x], groups: [9y], maxapplications: 1}", "invalid limit user name '9x'");
    first_is("{users: [9x, 9x], maxapplications: 2}", "invalid limit user name '9x'");
    first_is(R"({users: [u, "*", u], maxapplications: 1})", "duplicated user name 'u'");
    first_is(R"({users: [u, "*", v]})", "should not set no wildcard user v");
    first_is(R"({groups: ["*"], maxresources: {memory: 0}})", "should not specify only one group limit");
    first_is("{users: [u], groups: [9y]}", "invalid limit group name '9y'");
    first_is("{limit: x, users: [u], maxresources: {memory: 0}, maxapplications: 2}",
             "MaxResources should be greater than zero in 'x' limit");
    first_is("{limit: x, users: [u], maxresources: {memory: 2}, maxapplications: 2}",
             "invalid MaxApplications settings for limit x");
    first_is("{limit: x, users: [u], maxresources: {memory: 2}}, {limit: y}",
             "invalid MaxResources settings for limit x");
    first_is("{limit: x, users: [u]}, {limit: y, users: [9x], maxapplications: 1}",
             "invalid resource combination for limit x");
    check_loads("{queues: [{name: a, limits: [{users: [u], maxapplications: 1}]}, "
                "{name: b, limits: [{users: [u], maxapplications: 1}]}]}"); // unique per queue
}

TEST_CASE("C-099 limits against the effective max and the nearest max applications") {
    check_refused({"{queues: [{name: a, resources: {max: {memory: 10}}, limits: [{users: [u], maxresources: {memory: "
                   "11}}]}]}",
                   "invalid MaxResources settings for limit  exeecd current the queue MaxResources"});
    check_refused({"{queues: [{name: a, resources: {max: {memory: 10}}, queues: [{name: b, limits: [{limit: x, users: "
                   "[u], maxresources: {memory: 11}}]}]}]}",
                   "invalid MaxResources settings for limit x exeecd current the queue MaxResources"});
    check_refused({"{queues: [{name: a, resources: {max: {memory: 5K}}, limits: [{users: [u], maxapplications: 1}]}]}",
                   "parse queue a max resource failed: invalid suffix"});
    check_loads("{queues: [{name: root, maxapplications: 1, limits: [{users: [u], maxapplications: 9}]}]}");
}

TEST_CASE("C-103 equal limits of partition and root") {
    check_loads(
        "{limits: [{limit: s, users: [u], maxresources: {memory: 10, vcore: 1}}], queues: [{name: root, limits: "
        "[{limit: s, users: [u], maxresources: {vcore: 1, memory: 10}}]}]}");
    check_refused({"{limits: [{users: [u], maxresources: {vcore: 1}}], queues: [{name: root, limits: [{users: [u], "
                   "maxresources: {vcore: 1000m}}]}]}",
                   "are not equivalent"}); // same text, not same value
}

TEST_CASE("C-110 to C-115 limits over the hierarchy") {
    const auto two = [](const std::string& above, const std::string& below) {
        return "{queues: [{name: root, limits: [" + above + "], queues: [{name: m, queues: [{name: b, limits: [" +
               below + "]}]}]}]}";
    };
    const auto refused = [&](const std::string& above, const std::string& below, const char* message) {
        check_refused({two(above, below).c_str(), message});
    };
    refused("{users: [u], maxresources: {memory: 10}}", "{users: [u], maxresources: {memory: 11}}",
            "user u max resource map[memory:11] of queue b is greater than immediate or ancestor parent maximum "
            "resource map[memory:10]");
    refused(R"({users: ["*"], maxresources: {memory: 10}})", "{users: [u], maxresources: {memory: 11}}",
            "user u max resource map[memory:11] of queue b is greater than wildcard maximum resource map[memory:10] of "
            "immediate or ancestor parent queue");
    refused("{groups: [g], maxapplications: 2}", "{groups: [g], maxapplications: 3}",
            "group g max applications 3 of queue b is greater than immediate or ancestor parent max applications 2");
    refused(
        R"({groups: [g, "*"], maxapplications: 2})", "{groups: [h], maxapplications: 3}",
        "group h max applications 3 of queue b is greater than wildcard max applications 2 of immediate or ancestor "
        "parent queue");
    refused(R"({users: ["*"], maxresources: {memory: 10}})", R"({users: ["*"], maxresources: {memory: 11}})",
            "user * max resource map[memory:11] of queue b is greater than immediate or ancestor parent maximum");
    // C-111: a wildcard below and a name above are not compared
    check_loads(two("{users: [u], maxapplications: 2}", R"({users: ["*"], maxapplications: 9})"));
    // C-112 and C-115: what is not set below passes
    check_loads(
        two("{users: [u], maxresources: {memory: 10}, maxapplications: 2}", "{users: [u], maxapplications: 2}"));
    check_loads(two("{users: [u], maxapplications: 2}", "{users: [u], maxresources: {memory: 10}}"));
    // a named entry shields the name from the wildcard of the same queue
    check_loads(two(R"({users: [u], maxresources: {memory: 10}}, {users: ["*"], maxapplications: 2})",
                    "{users: [u], maxapplications: 9}"));
}

TEST_CASE("C-110 the value passed on is the minimum, siblings are independent") {
    check_refused(
        {"{queues: [{name: root, limits: [{users: [u], maxresources: {memory: 10}}], queues: [{name: b, limits: "
         "[{users: [u], maxresources: {vcore: 1}}], queues: [{name: c, limits: [{users: [u], maxresources: "
         "{memory: 11}}]}]}]}]}",
         "maximum resource map[memory:10 vcore:1000]"});
    check_loads("{queues: [{name: a, limits: [{users: [u], maxapplications: 1}]}, {name: b, limits: [{users: [u], "
                "maxapplications: 9}]}]}");
}

TEST_CASE("C-231 template quantities are checked with the file") {
    check_refused(
        {"{queues: [{name: a, parent: true, childtemplate: {resources: {max: {memory: 5K}}}}]}", "invalid suffix"});
    check_refused(
        {"{queues: [{name: a, parent: true, childtemplate: {resources: {guaranteed: {memory: 2}, max: {memory: "
         "1}}}}]}",
         "guaranteed resource map[memory:2] is larger than maximum resource map[memory:1] for queue a"});
    check_loads("{queues: [{name: a, parent: true, resources: {max: {memory: 1}}, childtemplate: {resources: {max: "
                "{memory: 2}}}}]}");
}

TEST_CASE("C-300 to C-305 placement rules") {
    const auto refused = [](const std::string& rules, const char* message) {
        check_refused(
            {("{queues: [{name: root, queues: [{name: a}]}], placementrules: [" + rules + "]}").c_str(), message});
    };
    refused("{name: ''}", "invalid rule name , a name must be a valid identifier");
    refused("{name: user, parent: {name: us er}}", "invalid rule name us er");
    refused("{name: test}", "unknown rule name specified test, failing placement rule config");
    refused("{name: Recovery}", "recovery rule cannot be part of the config, failing placement rule config");
    refused("{name: fixed}", "a fixed queue rule must have a queue name set");
    for (const char* rule : {"{name: fixed}", "{name: fixed, value: 'a b'}", "{name: user, parent: {name: fixed}}"}) {
        INFO(rule); // and not its path, too
        const auto text = std::string{"partitions: [{queues: [{name: root, submitacl: '*', queues: [{name: a}]}], "
                                      "placementrules: ["} +
                          rule + "]}]";
        CHECK(load(text, "config").problems.size() == 1);
    }
    refused("{name: FIXED, value: 'a b', create: true}", "invalid queue name");
    refused("{name: fixed, value: 'a..b', create: true}", "invalid queue name");
    refused("{name: tag}", "a tag queue rule must have a tag name set");
    refused("{name: fixed, value: root.x, create: true, parent: {name: user}}",
            "cannot have a fixed queue rule with qualified queue getName and a parent rule");
    refused("{name: fixed, value: root.a, parent: {name: fixed, value: a}}",
            "illegal fully qualified 'fixed' rule with value root.a");
    refused("{name: user, filter: {groups: ['a b']}}",
            "invalid rule filter group list is not a proper list or regexp: [a b]");
    // the parent's filter comes before the rule's own
    refused("{name: user, filter: {type: x}, parent: {name: user, filter: {type: y}}}", "invalid rule filter type y");
}

TEST_CASE("C-310 to C-314 static paths") {
    const auto partition = [](const std::string& rule) {
        return "{queues: [{name: Leaf}, {name: parent, parent: true}, {name: Above, queues: [{name: x}]}], "
               "placementrules: [" +
               rule + "]}";
    };
    const auto refused = [&](const std::string& rule, const char* message) {
        check_refused({partition(rule).c_str(), message});
    };
    refused("{name: fixed, value: above}",
            "placement rule no. #0 (fixed) references a queue (root.above) which is not a leaf");
    refused("{name: user, create: true, parent: {name: Fixed, value: leaf}}",
            "placement rule no. #0 (Fixed->user) references a queue (root.leaf) which is not a parent");
    refused("{name: user, parent: {name: tag, value: t, parent: {name: fixed, value: root.LEAF}}}",
            "(fixed->tag->user) references a queue (root.leaf) which is not a parent");
    refused("{name: fixed, value: above.y}", "references non-existing queues (root.above.y) and create is 'false'");
    refused("{name: fixed, value: parent.y}", "references non-existing queues (root.parent.y) and create is 'false'");
    refused(
        "{name: fixed, value: leaf.y.z, create: true}",
        "references non-existing queues (root.leaf.y.z) which cannot be created because the last queue (Leaf) in the "
        "hierarchy is a leaf");
    refused("{name: provided}, {name: fixed, value: root}", "placement rule no. #1 (fixed) references a queue (root)");
    for (const char* rule :
         {"{name: fixed, value: LEAF}", "{name: fixed, value: above.y, create: true}",
          "{name: fixed, value: parent.y.z, create: true}", "{name: user, parent: {name: fixed, value: above}}",
          "{name: fixed, value: x, parent: {name: fixed, value: root.above}}",
          "{name: fixed, value: rootbeer, create: true}", // C-303: not qualified
          "{name: user, parent: {name: fixed, value: test, parent: {name: provided}}}"})
        check_loads(partition(rule));
}

TEST_CASE("C-364 C-368 user group resolvers; this build has no LDAP") {
    check_refused({"{queues: [], usergroupresolver: {type: OS}}", "unknown user group resolver OS"});
    check_refused({"{queues: [], usergroupresolver: {type: ldap}}", "not part of this build"});
    check_loads("{queues: [], usergroupresolver: {type: os}}");
    check_loads("{queues: [], usergroupresolver: {type: ''}}");
}

TEST_CASE("C-380 and C-381 node sort policy") {
    check_refused({"{queues: [], nodesortpolicy: {type: fair, resourceweights: {memory: heavy}}}", "cannot unmarshal"});
    const LoadOutcome outcome =
        load_partition("{queues: [], nodesortpolicy: {type: binpacking, resourceweights: {memory: 0, vcore: 0.5}}}");
    REQUIRE(outcome.configuration);
    const config::Partition& partition = outcome.configuration->partitions[0];
    CHECK(partition.node_sort_policy->name == "binpacking");
    CHECK(partition.resource_weights == std::map<std::string, double>{{"memory", 0.0}, {"vcore", 0.5}});
}

TEST_CASE("a partition with more resource types than the core can name is refused") {
    const auto types = [](int count) {
        std::string text = "{queues: [{name: a, resources: {max: {t0: 1";
        for (int i = 1; i < count; ++i) text += ", t" + std::to_string(i) + ": 1";
        return text + "}}}]}";
    };
    check_loads(types(64));
    check_refused({types(65).c_str(), "names 65 resource types, the limit is 64"});
}

TEST_CASE("A10 more partitions than one message could list are refused") {
    const auto partitions = [](int count) {
        std::string text = "partitions:\n";
        for (int i = 0; i < count; ++i) text += "  - {name: p" + std::to_string(i) + ", queues: []}\n";
        return load(text, "queues.yaml");
    };
    CHECK(partitions(256).configuration);
    const LoadOutcome refused = partitions(257);
    REQUIRE_FALSE(refused.configuration);
    const auto is_error = [](const config::Problem& problem) { return problem.severity == config::Severity::Error; };
    CHECK(std::count_if(refused.problems.begin(), refused.problems.end(), is_error) == 1);
    CHECK(refused.problems[0].message == "there are 257 partitions, the limit is 256");
    CHECK(refused.problems[0].mark.line == 258);
}
