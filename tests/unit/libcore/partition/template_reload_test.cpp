// SPDX-License-Identifier: Apache-2.0
// config.md B-10: child templates that are applied again at a reload, and those that inherit properties.

#include <catch2/catch.hpp>

#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

using Texts = std::map<std::string, std::string>;
const char* const kProvided = "placementrules: [{name: provided, create: true}]";

/// root.p is a parent with this template and these further settings.
std::string with_template(const std::string& fields, const std::string& more = {}) {
    return "[{name: p, parent: true" + (more.empty() ? "" : ", " + more) + ", childtemplate: {" + fields + "}}]";
}

Cluster dynamic(const std::string& queues, const std::string& root = {}) {
    return Cluster{queues, root, kProvided};
}

void reload(Cluster& c, const std::string& queues, const std::string& root = {}) {
    REQUIRE(c.configure(queues, root, kProvided) == "ok");
}

} // namespace

TEST_CASE("B-10 C-446 a template with applytoexisting changes the leafs that are there, and events tell of it") {
    Cluster c = dynamic(with_template("maxapplications: 1, resources: {max: {vcore: 1m}}"));
    c.application("one", "root.p.x").application("two", "root.p.d.y").application("rest", "root.other");
    c.events();
    reload(c, with_template("applytoexisting: true, maxapplications: 3, properties: {application.sort.policy: fair}, "
                            "resources: {max: {vcore: 3m}, guaranteed: {vcore: 1m}}"));
    CHECK(c.events() == Lines{"QUEUE root.p.d.y SET QUEUE_MAX", "QUEUE root.p.d.y SET QUEUE_GUARANTEED",
                              "QUEUE root.p.x SET QUEUE_MAX", "QUEUE root.p.x SET QUEUE_GUARANTEED"});
    for (const char* path : {"root.p.x", "root.p.d.y"}) {
        INFO(path);
        CHECK(c.queue(path).max == Map{{"vcore", 3}});
        CHECK(c.queue(path).guaranteed == Map{{"vcore", 1}});
        CHECK(c.queue(path).max_applications == 3);
        CHECK(c.queue(path).sort_policy == "fair");
        CHECK_FALSE(c.queue(path).managed);
    }
    for (const char* path : {"root.p.d", "root.other"}) { // a parent, and one below no template
        INFO(path);
        CHECK_FALSE(c.queue(path).max);
        CHECK(c.queue(path).max_applications == 0);
        CHECK(c.queue(path).properties.empty());
    }
    reload(c, with_template("applytoexisting: true, maxapplications: 3, properties: {application.sort.policy: fair}, "
                            "resources: {max: {vcore: 3m}, guaranteed: {vcore: 1m}}",
                            "properties: {k: v}"));
    CHECK(c.events().empty()); // nothing that is told of changed
    reload(c, with_template("applytoexisting: true, properties: {k: v}"));
    CHECK_FALSE(c.queue("root.p.x").max);
    CHECK_FALSE(c.queue("root.p.x").guaranteed);
    CHECK(c.queue("root.p.x").max_applications == 0);
    CHECK(c.queue("root.p.x").sort_policy == "fifo");
    CHECK(c.queue("root.p.x").properties == Texts{{"k", "v"}});
}

TEST_CASE("B-10 C-236 without the flag, or without the template, leafs keep their values") {
    Cluster c = dynamic(with_template("applytoexisting: true, maxapplications: 1"));
    c.application("one", "root.p.x");
    reload(c, with_template("applytoexisting: false, maxapplications: 2"));
    CHECK(c.queue("root.p.x").max_applications == 1);
    reload(c, "[{name: p, parent: true}]");
    CHECK(c.queue("root.p.x").max_applications == 1);
    reload(c, with_template("applytoexisting: true")); // sets nothing, so it is none (C-230)
    CHECK(c.queue("root.p.x").max_applications == 1);
}

TEST_CASE("B-10 C-235 it is the nearest template that decides, also of a queue that drains") {
    const std::string again = "childtemplate: {applytoexisting: true, maxapplications: 5}";
    Cluster c = dynamic("[{name: p, parent: true, childtemplate: {maxapplications: 1}}, {name: q, parent: true}]");
    c.application("one", "root.p.x").application("two", "root.q.x");
    reload(c, "[{name: p, parent: true, childtemplate: {maxapplications: 2}}, {name: q, parent: true}]", again);
    CHECK(c.queue("root.p.x").max_applications == 1);
    CHECK(c.queue("root.q.x").max_applications == 5);
    reload(c, "[]", "childtemplate: {applytoexisting: true, maxapplications: 6}"); // both drain
    CHECK(c.queue("root.p.x").max_applications == 1);
    CHECK(c.queue("root.q.x").max_applications == 6);
    reload(c, "[{name: p, parent: true}, {name: q, parent: true}]", again);
    CHECK(c.queue("root.p.x").max_applications == 5);
    CHECK(c.queue("root.q.x").max_applications == 5);
}

TEST_CASE("B-10 C-237 what tags have set is not changed by a template, each value by itself") {
    Cluster c = dynamic(with_template("maxapplications: 1, resources: {max: {vcore: 9m}}"));
    c.play("apps new id=a queue=root.p.max tagmax=vcore:4");
    c.play("apps new id=b queue=root.p.guaranteed tagguaranteed=vcore:2");
    c.play("apps new id=c queue=root.p.apps");
    c.play("apps new id=d queue=root.p.apps tagapps=8"); // later, when it is there
    c.play("apps new id=e queue=root.p.apps");           // without tags: they stay
    c.play("apps new id=f queue=root.p.bad tagmax=vcore:0");
    const std::string again =
        "applytoexisting: true, maxapplications: 3, resources: {max: {vcore: 7m}, guaranteed: {vcore: 1m}}";
    c.events();
    reload(c, with_template(again));
    CHECK(c.events() == Lines{"QUEUE root.p.apps SET QUEUE_MAX", "QUEUE root.p.apps SET QUEUE_GUARANTEED",
                              "QUEUE root.p.bad SET QUEUE_MAX", "QUEUE root.p.bad SET QUEUE_GUARANTEED",
                              "QUEUE root.p.guaranteed SET QUEUE_MAX", "QUEUE root.p.max SET QUEUE_GUARANTEED"});
    CHECK(c.queue("root.p.max").max == Map{{"vcore", 4}});
    CHECK(c.queue("root.p.max").guaranteed == Map{{"vcore", 1}});
    CHECK(c.queue("root.p.max").max_applications == 3);
    CHECK(c.queue("root.p.guaranteed").max == Map{{"vcore", 7}});
    CHECK(c.queue("root.p.guaranteed").guaranteed == Map{{"vcore", 2}});
    CHECK(c.queue("root.p.apps").max == Map{{"vcore", 7}});
    CHECK(c.queue("root.p.apps").max_applications == 8);
    CHECK(c.queue("root.p.bad").max == Map{{"vcore", 7}});
    CHECK(c.queue("root.p.max").tags_set_max);
    CHECK_FALSE(c.queue("root.p.max").tags_set_guaranteed);
    CHECK(c.queue("root.p.apps").tags_set_max_applications);
    // the file's own settings end what tags have said (C-242)
    reload(c, "[{name: p, parent: true, queues: [{name: max, resources: {max: {vcore: 6m}}}]}]");
    CHECK(c.queue("root.p.max").max == Map{{"vcore", 6}});
    CHECK_FALSE(c.queue("root.p.max").tags_set_max);
}

TEST_CASE("B-10 a raised maximum lets asks in at the next cycle, one below usage takes nothing away") {
    Cluster c = dynamic(with_template("resources: {max: {vcore: 2m}}"));
    c.nodes(1, "vcore:10").application("app", "root.p.x").asks("app", 5, "vcore:1");
    CHECK(c.cycles(5) == 2);
    reload(c, with_template("applytoexisting: true, resources: {max: {vcore: 4m}}"));
    CHECK(c.cycles(5) == 2);
    reload(c, with_template("applytoexisting: true, resources: {max: {vcore: 1m}}"));
    CHECK(c.cycles(5) == 0);
    CHECK(c.allocations_of("app") == 4);
    CHECK(c.preempted().empty());
    c.release("app", "app-0").release("app", "app-1").release("app", "app-2");
    CHECK(c.cycles(5) == 0);
    c.release("app", c.placed("app"));
    CHECK(c.cycles(5) == 1);
    reload(c, with_template("applytoexisting: true, maxapplications: 1"));
    CHECK(c.queue("root.p.x").headroom == Map{{"vcore", 9}}); // of the nodes alone
}

TEST_CASE("B-10 a raised maximum of applications lets one run at the next cycle") {
    Cluster c = dynamic(with_template("maxapplications: 1"));
    c.nodes(1, "vcore:10").application("a", "root.p.x").application("b", "root.p.x");
    c.asks("a", 1, "vcore:1").asks("b", 1, "vcore:1");
    CHECK(c.cycles(3) == 1);
    reload(c, with_template("applytoexisting: true, maxapplications: 2"));
    CHECK(c.cycles(3) == 1);
}

TEST_CASE("B-10 the order of applications is that of the new properties at once") {
    Cluster c = dynamic(with_template("properties: {application.sort.policy: fifo}"));
    c.nodes(1, "vcore:10").application("a", "root.p.x").application("b", "root.p.x");
    c.asks("a", 3, "vcore:1").asks("b", 3, "vcore:1");
    CHECK(c.cycles(2) == 2);
    CHECK(c.allocations_of("a") == 2);
    reload(c, with_template("applytoexisting: true, properties: {application.sort.policy: fair}"));
    CHECK(c.cycles(2) == 2);
    CHECK(c.allocations_of("b") == 2);
}

TEST_CASE(
    "B-10 C-153 D-46 with inheritproperties dynamic queues have their parent's properties as configured ones do") {
    const std::string parent = "properties: {priority.policy: fence, priority.offset: '100', preemption.policy: "
                               "disabled, quota.preemption.delay: 15s, key: value}";
    Cluster c = dynamic(with_template("inheritproperties: true", parent));
    c.application("a", "root.p.x").application("b", "root.p.d.e.y");
    const Texts inherited{{"priority.policy", "default"},
                          {"priority.offset", "0"},
                          {"preemption.policy", "disabled"},
                          {"quota.preemption.delay", "15s"},
                          {"key", "value"}};
    for (const char* path : {"root.p.x", "root.p.d", "root.p.d.e", "root.p.d.e.y"}) {
        INFO(path);
        CHECK(c.queue(path).properties == inherited);
        CHECK_FALSE(c.queue(path).preemption_enabled);
        CHECK_FALSE(c.queue(path).priority_fence);
    }
    Cluster off = dynamic(with_template("inheritproperties: false, maxapplications: 1", parent));
    off.application("a", "root.p.d.x");
    CHECK(off.queue("root.p.d").properties.empty());
    CHECK(off.queue("root.p.d.x").properties.empty());
    CHECK(off.queue("root.p.d.x").preemption_enabled);
}

TEST_CASE("B-10 the properties of the template come before those of the parent, in leafs only") {
    Cluster c = dynamic(with_template("inheritproperties: true, properties: {application.sort.policy: fifo, t: '1'}",
                                      "properties: {application.sort.policy: fair, k: v}"));
    c.application("a", "root.p.d.x");
    CHECK(c.queue("root.p.d").properties == Texts{{"application.sort.policy", "fair"}, {"k", "v"}});
    CHECK(c.queue("root.p.d.x").properties == Texts{{"application.sort.policy", "fifo"}, {"k", "v"}, {"t", "1"}});
    CHECK(c.queue("root.p.d.x").sort_policy == "fifo");
}

TEST_CASE("B-10 C-156 with both keys a reload hands changed properties down, and takes them away again") {
    const auto properties = [](const std::string& root, const std::string& p) {
        return std::pair{"[{name: p, parent: true, properties: {" + p + "}}]",
                         "properties: {" + root + "}, childtemplate: {applytoexisting: true, inheritproperties: true}"};
    };
    const auto [queues, root] = properties("a: '1'", "b: '1'");
    Cluster c = dynamic(queues, root);
    c.application("one", "root.p.d.x").application("two", "root.y");
    const auto [queues2, root2] = properties("a: '2', preemption.policy: disabled", "c: '1'");
    reload(c, queues2, root2);
    for (const char* path : {"root.p.d", "root.p.d.x"})
        CHECK(c.queue(path).properties == Texts{{"a", "2"}, {"c", "1"}, {"preemption.policy", "disabled"}});
    CHECK(c.queue("root.y").properties == Texts{{"a", "2"}, {"preemption.policy", "disabled"}});
    CHECK_FALSE(c.queue("root.p.d.x").preemption_enabled);
    // only inherited by what is made from now on
    reload(c, "[{name: p, parent: true, properties: {c: '3'}}]", "childtemplate: {inheritproperties: true}");
    c.application("three", "root.p.z");
    CHECK(c.queue("root.p.d.x").properties.at("c") == "1");
    CHECK(c.queue("root.p.z").properties == Texts{{"c", "3"}});
    // applied, but not inherited any more
    reload(c, "[{name: p, parent: true, properties: {c: '3'}}]",
           "childtemplate: {applytoexisting: true, properties: {t: '1'}}");
    CHECK(c.queue("root.p.d").properties.empty());
    CHECK(c.queue("root.p.d.x").properties == Texts{{"t", "1"}});
}

TEST_CASE("B-10 C-241 the recovery queue takes part in neither") {
    const std::string all = "properties: {application.sort.policy: fair}, childtemplate: {applytoexisting: true, "
                            "inheritproperties: true, maxapplications: 1, resources: {max: {vcore: 1m}}}";
    Cluster c = dynamic("[]", all);
    c.play("apps new id=a tags=application.create.force:true");
    reload(c, "[{name: new}]", all);
    const QueueView queue = c.queue("root.@recovery@");
    CHECK_FALSE(queue.max);
    CHECK(queue.max_applications == 0);
    CHECK(queue.sort_policy == "fifo");
    CHECK(queue.properties.empty());
}

TEST_CASE("B-10 C-242 C-435 a dynamic queue that the file names or that goes is not the template's any more") {
    Cluster c = dynamic(with_template("maxapplications: 1"));
    c.application("a", "root.p.x").application("b", "root.p.d.y");
    reload(c, "[{name: p, childtemplate: {applytoexisting: true, maxapplications: 4}, queues: [{name: x, "
              "maxapplications: 9}, {name: d, parent: true, properties: {k: v}, childtemplate: {applytoexisting: true, "
              "inheritproperties: true}}]}]");
    CHECK(c.queue("root.p.x").max_applications == 9);
    CHECK(c.queue("root.p.d").managed);
    CHECK(c.queue("root.p.d.y").max_applications == 0);
    CHECK(c.queue("root.p.d.y").properties == Texts{{"k", "v"}});
    c.remove("a").remove("b");
    const std::string again = "childtemplate: {applytoexisting: true, maxapplications: 4}";
    const auto leaf = load_configuration("partitions: [{queues: [{name: root, " + again + ", queues: [{name: p}]}]}]");
    REQUIRE(leaf.ok());
    CHECK(c.core().template_changes("default", *leaf).empty()); // what is below it is not used and goes
    reload(c, "[{name: p}]", again);
    CHECK(c.queue("root.p.d.y").state == "gone");
    CHECK(c.queue("root.p").leaf);
}

TEST_CASE("B-10 B-06 what a configuration would change in dynamic queues is known before, and nothing changes yet") {
    Cluster c = dynamic(with_template("maxapplications: 1, resources: {max: {vcore: 1m}}", "properties: {k: v}"));
    c.application("a", "root.p.d.x");
    c.play("apps new id=b queue=root.p.y tagmax=vcore:5");
    const std::string wanted = with_template(
        "applytoexisting: true, inheritproperties: true, resources: {max: {vcore: 2m}, guaranteed: {vcore: "
        "0}}, properties: {t: '1'}",
        "properties: {k: w}");
    const auto loaded =
        load_configuration("partitions: [{name: DEFAULT, queues: [{name: root, queues: " + wanted + "}]}]");
    REQUIRE(loaded.ok());
    c.events();
    const auto changes = c.core().template_changes("default", *loaded);
    REQUIRE(changes.size() == 3);
    CHECK(changes[0].path == "root.p.d");
    CHECK(changes[0].before.properties.empty());
    CHECK(changes[0].after.properties == Texts{{"k", "w"}});
    CHECK_FALSE(changes[0].after.resources.max);
    CHECK(changes[1].path == "root.p.d.x");
    CHECK(changes[1].owner == "root.p");
    CHECK(changes[1].before.resources.max == Map{{"vcore", 1}});
    CHECK(changes[1].after.resources.max == Map{{"vcore", 2}});
    CHECK_FALSE(changes[1].after.resources.guaranteed);
    CHECK(changes[1].before.max_applications == 1);
    CHECK(changes[1].after.max_applications == 0);
    CHECK(changes[1].after.properties == Texts{{"k", "w"}, {"t", "1"}});
    CHECK(changes[2].path == "root.p.y");
    CHECK(changes[2].after.resources.max == Map{{"vcore", 5}});
    CHECK(c.events().empty());
    CHECK(c.queue("root.p.d.x").max == Map{{"vcore", 1}});
    reload(c, wanted);
    for (const ReappliedView& each : changes) {
        INFO(each.path);
        CHECK(c.queue(each.path).max == each.after.resources.max);
        CHECK(c.queue(each.path).guaranteed == each.after.resources.guaranteed);
        CHECK(c.queue(each.path).max_applications == each.after.max_applications);
        CHECK(c.queue(each.path).properties == each.after.properties);
    }
    CHECK(c.core().template_changes("other", *loaded).empty());
}

} // namespace yk::testing
