// SPDX-License-Identifier: Apache-2.0
// config.md sections 9 and 17: dynamic queues, child templates, quota tags; partitions that come and go.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/model/object_state.h"
#include "libcore/reports/metrics.h"
#include "libcore/reports/snapshot.h"
#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

const char* const kProvided = "placementrules: [{name: provided, create: true}]";

Cluster dynamic(const std::string& queues, const std::string& root = {}) {
    return Cluster{queues, root, kProvided};
}

bool has(const std::vector<std::string>& lines, const std::string& text) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

} // namespace

TEST_CASE("C-232 missing levels become dynamic parents, the last one a dynamic leaf, in lower case") {
    Cluster c = dynamic("[{name: p, parent: true}]");
    c.events();
    c.application("app", "root.P.X.y");
    CHECK(c.app("app").queue == "root.p.x.y");
    CHECK_FALSE(c.queue("root.p.x").leaf);
    CHECK_FALSE(c.queue("root.p.x").managed);
    CHECK(c.queue("root.p.x.y").leaf);
    CHECK_FALSE(c.queue("root.p.x.y").managed);
    const auto events = c.events();
    CHECK(has(events, "QUEUE root.p.x ADD QUEUE_DYNAMIC"));
    CHECK(has(events, "QUEUE root.p.x.y ADD QUEUE_DYNAMIC"));
}

TEST_CASE("C-230 C-233 C-234 which template a dynamic leaf gets") {
    Cluster c = dynamic(
        "[{name: parent, parent: true, childtemplate: {resources: {max: {vcore: 21}}}}, {name: plain, parent: true}, "
        "{name: nothing, parent: true, childtemplate: {maxapplications: 0, resources: {guaranteed: {}}, properties: "
        "{key: ''}}}, "
        "{name: zero, parent: true, childtemplate: {resources: {guaranteed: {vcore: 0}}}}]",
        "childtemplate: {maxapplications: 10, properties: {application.sort.policy: fair, x: y}, resources: "
        "{guaranteed: {vcore: 1}, max: {vcore: 20, memory: 600G}}}");
    for (const char* path : {"root.parent.x", "root.plain.y.z", "root.x", "root.nothing.x", "root.zero.x"})
        c.application(path, path);
    const QueueView own = c.queue("root.parent.x");
    CHECK(own.max == Map{{"vcore", 21000}});
    CHECK(own.max_applications == 0);
    CHECK(own.sort_policy == "fifo");
    CHECK(own.properties.empty());
    for (const char* path : {"root.plain.y.z", "root.x", "root.nothing.x"}) {
        INFO(path);
        const QueueView leaf = c.queue(path);
        CHECK(leaf.max == Map{{"vcore", 20000}, {"memory", 600'000'000'000}});
        CHECK(leaf.guaranteed == Map{{"vcore", 1000}});
        CHECK(leaf.max_applications == 10);
        CHECK(leaf.sort_policy == "fair");
        CHECK(leaf.properties.size() == 2);
    }
    const QueueView between = c.queue("root.plain.y");
    CHECK_FALSE(between.max);
    CHECK(between.max_applications == 0);
    CHECK(between.properties.empty());
    const QueueView zero = c.queue("root.zero.x"); // present, sets nothing, hides the one above
    CHECK_FALSE(zero.max);
    CHECK_FALSE(zero.guaranteed);
    CHECK(zero.max_applications == 0);
}

TEST_CASE("C-477 a parent shows the template in force") {
    Cluster c = dynamic("[{name: p, parent: true, queues: [{name: q, parent: true}, {name: leaf}]}, {name: other}]",
                        "childtemplate: {maxapplications: 3}");
    CHECK(c.queue("root.p.q").child_template->owner == "root");
    CHECK(c.queue("root.p.q").child_template->max_applications == 3);
    CHECK_FALSE(c.queue("root.p.leaf").child_template);
}

TEST_CASE("C-158 C-233 a dynamic leaf does not inherit its parent's properties") {
    Cluster c = dynamic("[{name: p, parent: true, properties: {application.sort.policy: fair, key: value}}]");
    c.application("app", "root.p.x");
    CHECK(c.queue("root.p.x").sort_policy == "fifo");
    CHECK(c.queue("root.p.x").properties.empty());
}

TEST_CASE("C-235 C-236 the template is looked up at creation; existing leafs keep their values") {
    Cluster c = dynamic("[{name: p, parent: true}]", "childtemplate: {maxapplications: 1}");
    c.application("one", "root.p.d.x");
    CHECK(c.queue("root.p.d.x").max_applications == 1);
    REQUIRE(c.configure("[{name: p, parent: true, childtemplate: {maxapplications: 2}}]",
                        "childtemplate: {maxapplications: 1}", kProvided) == "ok");
    c.application("two", "root.p.d.y"); // below a dynamic parent that is older than the template
    CHECK(c.queue("root.p.d.x").max_applications == 1);
    CHECK(c.queue("root.p.d.y").max_applications == 2);
    REQUIRE(c.configure("[{name: p, parent: true}]", {}, kProvided) == "ok");
    c.application("three", "root.p.d.z");
    CHECK(c.queue("root.p.d.z").max_applications == 0);
}

TEST_CASE("C-237 quota tags change a dynamic leaf, each by itself") {
    Cluster c = dynamic("[{name: conf, resources: {max: {vcore: 9m}}}]",
                        "childtemplate: {resources: {max: {vcore: 50}, guaranteed: {vcore: 1m}}}");
    c.play("apps new id=a queue=root.ns tagmax=vcore:3,memory:50 tagapps=4");
    CHECK(c.queue("root.ns").max == Map{{"vcore", 3}, {"memory", 50}});
    CHECK(c.queue("root.ns").guaranteed == Map{{"vcore", 1}}); // D-16: the template's stays
    CHECK(c.queue("root.ns").max_applications == 4);
    c.events();
    c.play("apps new id=b queue=root.ns tagguaranteed=memory:1");
    CHECK(c.queue("root.ns").max == Map{{"vcore", 3}, {"memory", 50}});
    CHECK(c.queue("root.ns").guaranteed == Map{{"memory", 1}});
    const auto events = c.events();
    CHECK(has(events, "QUEUE root.ns SET QUEUE_GUARANTEED"));
    CHECK_FALSE(has(events, "QUEUE_MAX"));
    c.play("apps new id=c queue=root.ns tagmax=vcore:0 tagguaranteed=vcore:-1"); // not positive
    CHECK(c.queue("root.ns").max == Map{{"vcore", 3}, {"memory", 50}});
    CHECK(c.queue("root.ns").guaranteed == Map{{"memory", 1}});
    c.play("apps new id=d queue=root.conf tagmax=vcore:3 tagapps=4");
    CHECK(c.queue("root.conf").max == Map{{"vcore", 9}});
    CHECK(c.queue("root.conf").max_applications == 0);
    c.play("apps new id=e queue=root.x.y tags=application.create.force:1 user=- tagmax=vcore:3");
    CHECK(c.queue("root.x.y").max == Map{{"vcore", 3}});
}

TEST_CASE("C-237 a raised quota lets the asks in that it held back") {
    Cluster c = dynamic("[]");
    c.node("n", "vcore:10");
    c.play("apps new id=a queue=root.ns tagmax=vcore:2");
    c.asks("a", 5, "vcore:1");
    CHECK(c.cycles(5) == 2);
    c.play("apps new id=b queue=root.ns tagmax=vcore:4");
    CHECK(c.cycles(5) == 2);
    c.play("apps new id=d queue=root.ns tagapps=1");
    c.asks("b", 1, "vcore:1");
    CHECK(c.cycles(3) == 0);
    c.play("apps new id=e queue=root.ns tagmax=vcore:10 tagapps=2");
    CHECK(c.cycles(3) == 2);
}

TEST_CASE("C-159 C-238 S-491 a refused gang leaves no queue made or changed behind") {
    Cluster c = dynamic("[{name: fair, parent: true, childtemplate: {properties: {application.sort.policy: fair}}}, "
                        "{name: small, parent: true, resources: {max: {vcore: 4m}}}]");
    c.notices();
    c.play("apps new id=a queue=root.fair.x gang=vcore:1");
    CHECK(has(c.notices_in_full(),
              "queue root.fair.x cannot run application a with task group request: unsupported sort type"));
    CHECK(c.queue("root.fair.x").state == "gone");
    c.play("apps new id=b queue=root.small.x.y gang=vcore:5");
    CHECK(has(c.notices_in_full(),
              "queue root.small.x.y cannot fit application b: task group request map[vcore:5] larger "
              "than max queue allocation map[vcore:4]"));
    CHECK(c.queue("root.small.x").state == "gone");
    c.application("c", "root.small.z");
    c.play("apps new id=d queue=root.small.z gang=vcore:3 tagmax=vcore:2 tagapps=7");
    CHECK(c.state_of("d") == "Rejected");
    CHECK_FALSE(c.queue("root.small.z").max);
    CHECK(c.queue("root.small.z").max_applications == 0);
    c.play("apps new id=e queue=root.small.z gang=vcore:3 tagmax=vcore:3");
    CHECK(c.state_of("e") == "New");
}

TEST_CASE("C-157 C-241 the recovery queue: fifo, no limits, no template, gone when it is empty") {
    Cluster c = dynamic("[]", "childtemplate: {maxapplications: 1, properties: {application.sort.policy: fair}, "
                              "resources: {max: {vcore: 1}}}");
    c.play("apps new id=a tags=application.create.force:true tagmax=vcore:1 tagapps=1");
    const QueueView queue = c.queue("root.@recovery@");
    CHECK(queue.leaf);
    CHECK_FALSE(queue.managed);
    CHECK_FALSE(queue.max);
    CHECK(queue.max_applications == 0);
    CHECK(queue.sort_policy == "fifo");
    CHECK(queue.properties.empty());
    c.remove("a");
    c.advance(std::chrono::seconds{10});
    CHECK(c.queue("root.@recovery@").state == "gone");
}

TEST_CASE("C-242 a dynamic queue that the file names becomes managed with the file's settings") {
    Cluster c = dynamic("[{name: p, parent: true, childtemplate: {maxapplications: 2}}]");
    c.application("a", "root.p.x");
    REQUIRE(c.configure("[{name: p, parent: true, properties: {k: v}, queues: [{name: X, resources: {max: {vcore: "
                        "1m}}}]}]",
                        {}, kProvided) == "ok");
    const QueueView queue = c.queue("root.p.x");
    CHECK(queue.managed);
    CHECK(queue.max == Map{{"vcore", 1}});
    CHECK(queue.max_applications == 0);
    CHECK(queue.properties.at("k") == "v");
    CHECK(queue.applications == 1);
}

TEST_CASE("C-431 C-432 C-434 the cleaner takes empty dynamic queues, children before parents") {
    Cluster c = dynamic("[{name: p, parent: true}]");
    c.application("a", "root.p.d.x").application("b", "root.p.d.y");
    c.remove("a").advance(std::chrono::seconds{10});
    CHECK(c.queue("root.p.d.x").state == "gone");
    CHECK(c.queue("root.p.d.y").state == "Active");
    REQUIRE(c.configure("[]", {}, kProvided) == "ok");
    CHECK(c.queue("root.p").state == "Draining");
    CHECK(c.queue("root.p.d").state == "Active"); // dynamic queues are not marked
    c.application("c", "root.p.d.y");             // and take nobody
    CHECK(c.state_of("c") == "Rejected");
    c.events();
    c.remove("b").advance(std::chrono::seconds{10});
    CHECK(c.queue("root.p").state == "gone");
    const auto events = c.events();
    CHECK(has(events, "QUEUE root.p.d.y REMOVE QUEUE_DYNAMIC"));
    CHECK(has(events, "QUEUE root.p REMOVE"));
}

TEST_CASE("C-435 a dynamic leaf with applications cannot become a parent") {
    Cluster c = dynamic("[{name: p, parent: true}]");
    c.application("a", "root.p.x");
    CHECK(c.configure("[{name: p, queues: [{name: x, queues: [{name: y}]}]}]", {}, kProvided) == "refused");
    CHECK_FALSE(c.queue("root.p.x").managed);
    CHECK(c.state_of("a") == "New");
}

TEST_CASE("C-430 the states of queues and partitions") {
    using S = ObjectState;
    struct Row {
        S from;
        std::optional<S> start, remove, stop;
    };
    const Row rows[] = {{S::Active, S::Active, S::Draining, S::Stopped},
                        {S::Draining, S::Active, S::Draining, std::nullopt},
                        {S::Stopped, S::Active, std::nullopt, S::Stopped}};
    for (const Row& row : rows) {
        INFO(text_of(row.from));
        CHECK(next_state(row.from, ObjectEvent::Start) == row.start);
        CHECK(next_state(row.from, ObjectEvent::Remove) == row.remove);
        CHECK(next_state(row.from, ObjectEvent::Stop) == row.stop);
    }
}

TEST_CASE("C-438 the root stays, whatever the file says") {
    Cluster c{"[{name: a, queues: [{name: b}]}]"};
    REQUIRE(c.configure("[]") == "ok");
    c.advance(std::chrono::seconds{30});
    CHECK(c.queue("root.a").state == "gone");
    CHECK(c.queue("root").state == "Active");
    CHECK_FALSE(c.queue("root").leaf);
}

TEST_CASE("C-449 a configuration that is only looked at says, counts and changes nothing") {
    Cluster c{"[{name: a, resources: {max: {vcore: 5m}}}]"};
    c.nodes(1, "vcore:10").application("app").ask("app", "k", "vcore:1").cycles(1);
    c.notices();
    c.events(true);
    const auto metrics = [&c] {
        std::string text;
        for (const QueueMetrics& queue : partition_metrics(*c.core().read("default")).queues) {
            text += fmt::format("{} {} {} {}:", queue.path, queue.applications, queue.running, queue.max_applications);
            for (const auto& [id, value] : queue.allocated) text += fmt::format(" {}={}", id, value);
            for (const auto& [id, value] : queue.max.value_or(MetricAmounts{}))
                text += fmt::format(" {}<{}", id, value);
            text += '\n';
        }
        return text + fmt::format("{} {}", c.core().counters().submitted, c.core().counters().rejected);
    };
    const std::string before = metrics();
    const auto other = load_configuration("partitions: [{queues: [{name: a, maxapplications: 3, limits: [{users: [u], "
                                          "maxapplications: 1}]}, {name: b}]}, {name: two, queues: []}]");
    REQUIRE(other.ok());
    const auto next = c.core().next_timer();
    CHECK(c.core().check_configuration(*other).ok());
    CHECK(c.notices() == Lines{});
    CHECK(c.events(true).empty());
    CHECK(metrics() == before);
    CHECK(c.core().read("two") == nullptr);
    CHECK(c.core().next_timer() == next);
    CHECK(c.queue("root.b").state == "gone");
    CHECK(c.core().partition_names() == Lines{"default"});
}

TEST_CASE("C-367 the groups of an application are those it was submitted with") {
    Cluster c;
    c.play("apps new id=one queue=root.a user=bob groups=dev,all");
    c.play("apps new id=two queue=root.a user=bob groups=ops");
    REQUIRE(c.configure("[{name: a}, {name: b}]") == "ok");
    CHECK(c.app("one").groups == Lines{"dev", "all"});
    CHECK(c.app("two").groups == Lines{"ops"});
}

TEST_CASE("C-440 a refused configuration leaves rules, ACLs and templates as they were, in every partition") {
    Notices notices;
    Recorder::Port events;
    ClusterContext core("rm", Cluster::manual_settings(), notices, events);
    const auto configure = [&](const std::string& first, const std::string& second) {
        return play_configuration(core, "partitions: [{name: default, " + first + "}, {name: two, " + second + "}]",
                                  kStart);
    };
    const std::string open = "placementrules: [{name: provided, create: true}], queues: [{name: root, submitacl: '*'}]";
    REQUIRE(configure(open, open) == "ok");
    const auto add = [&](const std::string& fields) {
        static_cast<void>(play(core, *parse_command("apps new " + fields), kStart));
    };
    add("id=a queue=root.x part=two");
    // the second partition refuses: root.x has an application
    CHECK(configure("queues: [{name: root, submitacl: nobody, childtemplate: {maxapplications: 1}}]",
                    "queues: [{name: x, queues: [{name: y}]}]") == "refused");
    add("id=b queue=root.new");
    CHECK(application_view(*core.read("default"), "b")->queue == "root.new");
    CHECK(queue_view(*core.read("default"), "root.new", false)->max_applications == 0);
}

TEST_CASE("C-436 C-437 I-183 a partition that is gone tells its RM; a new one starts empty") {
    Notices notices;
    Recorder::Port events;
    ClusterContext core("rm", Cluster::manual_settings(), notices, events);
    const std::string one = "{name: default, queues: [{name: root, submitacl: '*', queues: [{name: a}]}]}";
    const std::string two = "{name: two, queues: [{name: root, submitacl: '*', queues: [{name: a}]}]}";
    REQUIRE(play_configuration(core, "partitions: [" + one + ", " + two + "]", kStart) == "ok");
    for (const char* command : {"nodes create id=n part=two res=vcore:5", "apps new id=x part=two queue=root.a",
                                "alloc ask app=x part=two key=k res=vcore:1", "cycle 1"})
        static_cast<void>(play(core, *parse_command(command), kStart));
    static_cast<void>(notices.take());
    REQUIRE(play_configuration(core, "partitions: [" + one + "]", kStart) == "ok");
    CHECK(core.read("two") == nullptr);
    Lines lines;
    for (const Notice& notice : notices.take()) lines.push_back(notice.in_full());
    CHECK(has(lines, "released x/k of [rm]two: STOPPED_BY_RM"));
    CHECK(has(lines, "application x of [rm]two is Failing # at 1000000000000000000, PartitionRemoved"));
    CHECK(play_configuration(core, "partitions: []", kStart) != "ok"); // C-009: not the last one
    CHECK(core.read("default") != nullptr);
    REQUIRE(play_configuration(core, "partitions: [" + one + ", " + two + "]", kStart) == "ok");
    CHECK(partition_view(*core.read("two")).nodes == 0);
    CHECK(partition_view(*core.read("two")).state == "Active");
}

} // namespace yk::testing
