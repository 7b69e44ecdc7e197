// SPDX-License-Identifier: Apache-2.0
// config.md sections 10 and 11: which queue an application goes to.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/reports/explain.h"
#include "libcore/reports/snapshot.h"
#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

/// A partition with rules, and applications that are submitted to it one after another.
class Placing {
public:
    Placing(const std::string& rules, const std::string& queues, const std::string& root_acl = "*")
        : core_("rm", Cluster::manual_settings(), said_.callbacks, said_.events) {
        REQUIRE(configure(rules, queues, root_acl) == "ok");
    }

    std::string configure(const std::string& rules, const std::string& queues, const std::string& root_acl = "*") {
        return play_configuration(
            core_,
            fmt::format("partitions: [{{placementrules: {}, queues: [{{name: root, submitacl: '{}', queues: {}}}]}}]",
                        rules, root_acl, queues),
            kStart);
    }
    /// `fields` of `apps new`; the queue it landed in, or `rejected`.
    std::string place(const std::string& fields) {
        const std::string id = fmt::format("app-{}", ++serial_);
        static_cast<void>(said_.take());
        const auto command = parse_command("apps new id=" + id + " " + fields);
        REQUIRE(command.ok());
        static_cast<void>(play(core_, *command, kStart));
        const auto broken = core_.check();
        REQUIRE(broken.empty());
        const ApplicationView view = *application_view(*core_.read("default"), id);
        reason_ = view.rejected_message;
        return view.state == "Rejected" ? "rejected" : view.queue;
    }
    [[nodiscard]] bool reason_has(const std::string& text) const { return reason_.find(text) != std::string::npos; }
    [[nodiscard]] const std::string& reason() const { return reason_; }
    [[nodiscard]] bool exists(const std::string& path) {
        return queue_view(*core_.read("default"), path, false).has_value();
    }
    [[nodiscard]] ClusterContext& core() { return core_; }

private:
    Recorder said_;
    ClusterContext core_;
    int serial_ = 0;
    std::string reason_;
};

} // namespace

TEST_CASE("C-320 C-321 who passes a filter") {
    struct Row {
        const char* filter;
        const char* user;
        const char* groups;
        bool passes;
    };
    const Row rows[] = {
        {"{}", "bob", "dev", true},
        {"{type: allow}", "bob", "dev", true},
        {"{type: deny}", "bob", "dev", false},
        {"{type: DENY}", "bob", "dev", false}, // in any case of letters (C-321)
        {"{users: [bob]}", "bob", "dev", true},
        {"{users: [bob]}", "bobby", "dev", false}, // a name is matched exactly
        {"{type: Deny, users: [bob]}", "bob", "dev", false},
        {"{type: deny, users: [bob]}", "ann", "dev", true},
        {"{users: ['dev*']}", "wade", "x", true}, // searched, not anchored
        {"{users: ['^dev$']}", "dev1", "x", false},
        {"{users: ['bob$']}", "jacob", "x", false},
        {"{users: ['bob$']}", "jimbob", "x", true}, // a legal name, but an expression
        {"{users: ['BOB*']}", "bob", "x", false},
        {"{users: ['(?i)BOB*']}", "bob", "x", true},
        {"{users: ['x*', ann]}", "xx", "x", false}, // two entries are names, illegal ones are dropped
        {"{users: ['x*', ann]}", "ann", "x", true},
        {"{users: ['x*', 'y*']}", "xx", "x", false}, // all dropped, and still configured
        {"{groups: [dev]}", "bob", "ops,dev", true},
        {"{groups: [dev]}", "dev", "ops", false},
        {"{groups: ['^team-']}", "bob", "all,team-red", true},
        {"{groups: ['^a,t']}", "bob", "a,t", false}, // one at a time
        {"{type: deny, users: [eve], groups: [guests, temps]}", "bob", "all,temps", false},
    };
    for (const Row& row : rows) {
        INFO(row.filter << ' ' << row.user << ' ' << row.groups);
        Placing p{fmt::format("[{{name: fixed, value: a, filter: {}}}]", row.filter), "[{name: a}]"};
        const bool passes = p.place(fmt::format("user={} groups={}", row.user, row.groups)) == "root.a";
        CHECK(passes == row.passes);
    }
}

TEST_CASE("C-323 C-324 C-326 the path that a rule makes") {
    struct Row {
        const char* rules;
        const char* application;
        const char* queue;
    };
    const Row rows[] = {
        {"[{name: user, create: true}]", "user=finance.test", "root.finance_dot_test"},
        {"[{name: provided, create: true, parent: {name: user, create: true}}]", "queue=my_q user=dev",
         "root.dev.my_q"},
        {"[{name: provided, create: true, parent: {name: user}}]", "queue=root.dev_q user=dev", "root.dev_q"},
        {"[{name: tag, value: namespace, create: true}]", "tags=namespace:testing", "root.testing"},
        {"[{name: tag, value: Namespace, create: true}]", "tags=NAMESPACE:root.p.x", "root.p.x"},
        {"[{name: fixed, value: testparent.testchild, create: true}]", "", "root.testparent.testchild"},
        {"[{name: Fixed, value: Root.P.Night, create: true}]", "", "root.p.night"},
        {"[{name: provided, create: true}]", "queue=root.unkno!wn", "rejected"},
        {"[{name: provided, create: true}]", "queue=Root.x", "root.root_dot_x"},
        {"[{name: provided, create: true}]", "queue=root.", "rejected"},
        {"[{name: provided, create: true}]", "queue=root", "root.root"},
        {"[{name: provided, create: true}]", "", "rejected"},
        {"[{name: tag, value: t, create: true}]", "tags=t:", "rejected"},
        // not root.root (D-23)
        {"[{name: user, create: true, parent: {name: fixed, value: root}}]", "user=bob", "root.bob"},
        {"[{name: user, create: true, parent: {name: fixed, value: rootbeer, create: true}}]", "user=bob",
         "root.rootbeer.bob"}, // not only `root` begins so (D-19)
        {"[{name: user, create: true, parent: {name: tag, value: t}}]", "user=bob tags=t:nowhere", "rejected"},
        {"[{name: user, create: true, parent: {name: tag, value: t}}]", "user=bob tags=t:p", "root.p.bob"},
    };
    for (const Row& row : rows) {
        INFO(row.rules << ' ' << row.application);
        Placing p{row.rules, "[{name: p, parent: true}]"};
        CHECK(p.place(row.application) == row.queue);
    }
}

TEST_CASE("C-324 a leaf as the base is an error") {
    Placing p{"[{name: provided, create: true, parent: {name: user}}, {name: fixed, value: a}]",
              "[{name: bob}, {name: a}]"};
    CHECK(p.place("queue=x user=bob") == "rejected");
    CHECK(p.reason_has("parent rule returned a leaf queue: root.bob"));
    CHECK(p.place("queue=x user=ann") == "root.a");
}

TEST_CASE("C-322 C-325 no match goes on, without create only what exists matches") {
    Placing p{"[{name: user}, {name: user, create: true, filter: {users: [bob]}}, {name: fixed, value: a}]",
              "[{name: a}, {name: ann}]"};
    CHECK(p.place("user=ann") == "root.ann");
    CHECK(p.place("user=ANN") == "root.ann"); // existence knows no case
    CHECK(p.place("user=bob") == "root.bob");
    CHECK(p.place("user=eve") == "root.a");
    CHECK_FALSE(p.exists("root.eve"));
}

TEST_CASE("C-330 a path that cannot be used is passed over") {
    Placing p{"[{name: provided, create: true}, {name: fixed, value: last}]",
              "[{name: par, submitacl: '*', queues: [{name: x, submitacl: '*'}]}, {name: closed, submitacl: ann}, "
              "{name: drain, submitacl: '*'}, {name: last, submitacl: '*'}]",
              ""};
    CHECK(p.place("queue=root.drain user=bob") == "root.drain"); // keeps it
    CHECK(p.place("queue=root.par user=bob") == "root.last");    // a parent
    CHECK(p.place("queue=root.closed user=bob") == "root.last"); // access
    CHECK(p.place("queue=root.closed user=ann") == "root.closed");
    CHECK(p.place("queue=root.new user=bob") == "root.last"); // nobody may create below root
    CHECK(p.place("queue=root.par.new user=bob") == "root.par.new");
    CHECK(p.place("queue=root.par.x.y user=bob") == "root.last"); // D-24: below a leaf
    CHECK(p.configure("[{name: provided, create: true}, {name: fixed, value: last}]", "[{name: last, submitacl: '*'}]",
                      "") == "ok");
    CHECK(p.place("queue=root.drain user=bob") == "root.last");
    CHECK(p.place("queue=root.par.new2 user=bob") == "root.last"); // below a draining queue
    CHECK(p.place("queue=root.par.new user=bob") == "root.last");  // D-41: a dynamic leaf below a draining parent
    CHECK_FALSE(p.exists("root.par.new2"));
}

TEST_CASE("C-331 an error ends placement; C-345 of a forced application it is no match") {
    Placing p{"[{name: tag, value: t, create: true}, {name: fixed, value: a}]", "[{name: a}]"};
    CHECK(p.place("tags=t:un!known") == "rejected");
    CHECK(p.reason() == "failed to place application app-1: invalid queue name, max 64 characters consisting of "
                        "alphanumeric characters and '-', '_', '#', '@', '/', ':' allowed: 'un!known'");
    CHECK(p.place("tags=t:un!known,application.create.force:true") == "root.a");
}

TEST_CASE("C-341 B-08 a refusal names every rule and why it did not match") {
    Placing p{"[{name: provided}, {name: tag, value: namespace}, {name: user, create: true, filter: {users: [ann]}}, "
              "{name: fixed, value: closed}]",
              "[{name: closed, submitacl: ann}, {name: default, submitacl: ann}]", ""};
    CHECK(p.place("queue=root.x user=bob groups=") == "rejected");
    CHECK(
        p.reason() ==
        "failed to place application app-1: application rejected: no placement rule matched (0 provided: queue root.x "
        "does not exist and the rule may not create it; 1 tag: the application has no tag namespace with a value; "
        "2 user: its filter does not let user 'bob' pass; 3 fixed: submit access to queue root.closed denied for user "
        "'bob'; root.default: submit access to queue root.default denied for user 'bob')");
}

TEST_CASE("C-240 why a queue is not created") {
    Placing p{"[{name: provided, create: true}]",
              "[{name: open, parent: true, submitacl: '*'}, {name: leaf, submitacl: "
              "'*'}]",
              ""};
    CHECK(p.place("queue=root.x user=bob") == "rejected");
    CHECK(p.reason_has("submit access to queue root denied during create of: root.x"));
    CHECK(p.place("queue=root.leaf.x user=bob") == "rejected");
    CHECK(p.reason_has("creation of queue root.leaf.x failed parent is already a leaf: root.leaf"));
    CHECK(p.place("queue=root.open.x user=bob") == "root.open.x");
    CHECK(p.configure("[{name: provided, create: true}]", "[{name: leaf, submitacl: '*'}]", "") == "ok");
    CHECK(p.place("queue=root.open.y user=bob") == "rejected");
    CHECK(p.reason_has("cannot add a child queue when queue is marked for deletion: root.open"));
}

TEST_CASE("C-345 what counts as forced") {
    for (const char* yes : {"1", "t", "T", "true", "True", "TRUE"}) {
        Placing p{"[]", "[]"};
        CHECK(p.place(fmt::format("tags=Application.Create.FORCE:{}", yes)) == "root.@recovery@");
    }
    for (const char* no : {"0", "yes", "tRUE", "false", ""}) {
        Placing p{"[]", "[{name: default}]"};
        CHECK(p.place(fmt::format("tags=application.create.force:{}", no)) == "root.default");
    }
}

TEST_CASE("C-136 C-346 nobody is placed in the recovery queue by name") {
    Placing p{"[{name: provided, create: true}, {name: tag, value: t, create: true, parent: {name: fixed, value: "
              "'@recovery@', create: true}}]",
              "[{name: default}]"};
    CHECK(p.place("queue=root.@recovery@ tags=t:x") == "root.default");
    CHECK(p.place("queue=@Recovery@") == "root.default");
    CHECK(p.place("queue=root.@recovery@.x") == "root.default");
    CHECK_FALSE(p.exists("root.@recovery@"));
    CHECK(p.place("tags=application.create.force:1 queue=root.a!") == "root.@recovery@");
    CHECK(p.place("queue=root.@recovery@") == "root.default");
}

TEST_CASE("C-340 C-350 C-502 the outcomes of a small rule set") {
    struct Row {
        const char* application;
        const char* without; // root.default
        const char* with;
    };
    const Row rows[] = {
        {"user=any-user", "rejected", "root.default"},
        {"user=any-user queue=provided", "root.provided", "root.provided"},
        {"user=any-user queue=root.provided", "root.provided", "root.provided"},
        {"user=any-user queue=unknown", "rejected", "root.default"},
        {"user=any-user queue=root.parent", "rejected", "root.default"},
        {"user=deny-user queue=root.acldeny", "rejected", "root.default"},
        {"user=any-user queue=unknown tags=namespace:namespace", "root.namespace", "root.namespace"},
        {"user=deny-user queue=unknown tags=namespace:namespace", "rejected", "root.default"},
        {"user=any-user queue=root.provided tags=application.create.force:true", "root.provided", "root.provided"},
        {"user=any-user queue=unknown tags=namespace:namespace,application.create.force:true", "root.namespace",
         "root.namespace"},
        {"user=deny-user queue=unknown tags=namespace:namespace,application.create.force:true", "root.@recovery@",
         "root.@recovery@"},
        {"user=any-user queue=root.parent tags=application.create.force:true", "root.@recovery@", "root.@recovery@"},
        {"user=any-user queue=unknown tags=application.create.force:true", "root.@recovery@", "root.@recovery@"},
    };
    const std::string rules = "[{name: provided}, {name: tag, value: namespace, create: true}]";
    const std::string queues = "{name: provided, submitacl: '*'}, {name: acldeny, submitacl: ' '}, "
                               "{name: parent, parent: true, submitacl: '*'}";
    for (const Row& row : rows) {
        INFO(row.application);
        Placing without{rules, "[" + queues + "]", "any-user"};
        CHECK(without.place(row.application) == row.without);
        Placing with{rules, "[" + queues + ", {name: default, submitacl: '*'}]", "any-user"};
        CHECK(with.place(row.application) == row.with);
    }
}

TEST_CASE("C-315 without rules there is one, provided without create") {
    Placing p{"[]", "[{name: a}]"};
    CHECK(p.place("queue=a") == "root.a");
    CHECK(p.place("queue=root.b") == "rejected");
    const auto rules = rule_views(*p.core().read("default"));
    REQUIRE(rules.size() == 2);
    CHECK(rules[0].name == "provided");
    CHECK(rules[1].name == "recovery");
}

TEST_CASE("C-301 C-302 rule names and values know no case") {
    Placing p{"[{name: TAG, value: Ns, create: true}, {name: FIXED, value: A}]", "[{name: a}]"};
    CHECK(p.place("tags=nS:B") == "root.b");
    CHECK(p.place("") == "root.a");
}

TEST_CASE("C-360 an application whose user cannot be resolved is rejected before any rule") {
    Placing p{"[]", "[{name: a}]"};
    CHECK(p.place("queue=root.a fault=nobody-knows") == "rejected");
    CHECK(p.reason() == "nobody-knows");
}

TEST_CASE("C-446 C-447 new rules hold for the next application") {
    Placing p{"[{name: user, create: true}]", "[{name: a}]"};
    CHECK(p.place("user=bob queue=root.a") == "root.bob");
    CHECK(p.configure("[{name: tag, value: t, create: true}]", "[{name: a}]") == "ok");
    CHECK(p.place("user=bob queue=root.a") == "rejected");
    CHECK(p.place("tags=t:x") == "root.x");
    CHECK(application_view(*p.core().read("default"), "app-1")->queue == "root.bob");
}

TEST_CASE("B-08 explain placement says what a submission would do, and does nothing") {
    Placing p{"[{name: provided}, {name: user, create: true, parent: {name: fixed, value: p}}]",
              "[{name: p, parent: true}]"};
    ApplicationSpec spec;
    spec.queue = "root.p";
    spec.user = "bob";
    const auto explained = explain_placement(*p.core().read(spec.partition), spec);
    CHECK(explained.queue == "root.p.bob");
    CHECK(explained.created == std::vector<std::string>{"root.p.bob"});
    REQUIRE(explained.steps.size() == 2);
    CHECK(explained.steps[0].code == "NOT_LEAF");
    CHECK(explained.steps[0].path == "root.p");
    CHECK(explained.steps[1].code == "CHOSEN");
    CHECK_FALSE(p.exists("root.p.bob"));
    spec.partition = "other";
    CHECK(p.core().read(spec.partition) == nullptr);
}

TEST_CASE("C-475 the rules as they are dumped") {
    Placing p{
        "[{name: Tag, value: NS, create: true, filter: {type: deny}, parent: {name: fixed, value: root.p}}, {name: "
        "user, filter: {users: [b, a], groups: ['x*']}}]",
        "[{name: p, parent: true}]"};
    using Parameters = std::vector<std::pair<std::string, std::string>>;
    const auto rules = rule_views(*p.core().read("default"));
    REQUIRE(rules.size() == 3);
    CHECK(rules[0].name == "tag");
    CHECK(rules[0].parameters == Parameters{{"create", "true"}, {"tagName", "ns"}});
    REQUIRE(rules[0].filter); // D-44: an empty deny filter is shown
    CHECK(rules[0].filter->type == "deny");
    REQUIRE(rules[0].parent.size() == 1);
    CHECK(rules[0].parent[0].parameters == Parameters{{"create", "false"}, {"queue", "root.p"}, {"qualified", "true"}});
    CHECK_FALSE(rules[0].parent[0].filter);
    REQUIRE(rules[1].filter);
    CHECK(rules[1].filter->users == std::vector<std::string>{"a", "b"}); // sorted
    CHECK(rules[1].filter->group_expression == "x*");
    CHECK(rules[2].parameters == Parameters{{"queue", "root.@recovery@"}});
}

TEST_CASE("a path of too many levels is refused") {
    std::string path = "root";
    for (int i = 0; i < 64; ++i) path += ".x";
    Placing p{"[{name: provided, create: true}]", "[]"};
    CHECK(p.place("queue=" + path) == "rejected");
    CHECK(p.reason_has("has more than 64 levels"));
    CHECK(p.place("queue=" + path.substr(0, path.size() - 2)) == path.substr(0, path.size() - 2));
}

} // namespace yk::testing
