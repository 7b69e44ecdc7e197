// SPDX-License-Identifier: Apache-2.0
#include "libcore/config/diff.h"

#include <catch2/catch.hpp>

#include "libcore/config_yaml/load.h"

using namespace yk;
using namespace yk::config;

namespace {

std::vector<Difference> diff_texts(const std::string& before, const std::string& now) {
    const auto good = [](const std::string& text) {
        auto outcome = config_yaml::load(text, "config");
        INFO(config_yaml::render(outcome, text));
        REQUIRE(outcome.configuration);
        return *outcome.configuration;
    };
    return diff(good(before), good(now));
}

std::vector<Difference> diff_queues(const std::string& before, const std::string& now) {
    return diff_texts("partitions: [{queues: [" + before + "]}]", "partitions: [{queues: [" + now + "]}]");
}

std::vector<std::string> texts(const std::vector<Difference>& differences) {
    std::vector<std::string> list;
    for (const Difference& difference : differences) list.push_back(difference.text);
    return list;
}

} // namespace

TEST_CASE("B-06 queues added and draining, descendants included") {
    const auto found =
        diff_queues("{name: a, queues: [{name: x}]}, {name: b}", "{name: B}, {name: c, queues: [{name: y}]}");
    CHECK(texts(found) ==
          std::vector<std::string>{"default root.c: parent queue is added", "default root.c.y: leaf queue is added",
                                   "default root.a: queue drains, it is not in the new configuration",
                                   "default root.a.x: queue drains, it is not in the new configuration"});
    CHECK(found[0].kind == DifferenceKind::QueueAdded);
    CHECK(found[0].path == "root.c");
    CHECK(found[2].kind == DifferenceKind::QueueDraining);
}

TEST_CASE("B-06 changed values with old and new") {
    const auto found = diff_queues("{name: a, resources: {max: {memory: 1k}}, properties: {priority.offset: 1, x: y}}",
                                   "{name: a, resources: {max: {memory: 2k}, guaranteed: {vcore: 1}}, maxapplications: "
                                   "5, submitacl: '*', properties: {priority.offset: 2}}");
    CHECK(texts(found) ==
          std::vector<std::string>{
              "default root.a: max {memory: 1k} -> {memory: 2k}", "default root.a: guaranteed not set -> {vcore: 1}",
              "default root.a: maxapplications not set -> 5", "default root.a priority.offset: property \"1\" -> \"2\"",
              "default root.a x: property \"y\" -> not set", "default root.a: submitacl not set -> *"});
    CHECK(found[0].old_value == "{memory: 1k}");
    CHECK(found[0].new_value == "{memory: 2k}");
    CHECK(kind_name(found[0].kind) == "max");
}

TEST_CASE("B-06 type changes, limits, templates, rules, node sorting, preemption") {
    CHECK(texts(diff_queues("{name: a}", "{name: a, parent: true}")) ==
          std::vector<std::string>{"default root.a: type leaf -> parent"});
    CHECK(texts(diff_queues("{name: a}", "{name: a, limits: [{users: [u], maxapplications: 1}]}")) ==
          std::vector<std::string>{"default root.a: limits not set -> [{limit: '', users: [u], maxapplications: 1}]"});
    CHECK(
        texts(diff_queues("{name: a, parent: true}", "{name: a, parent: true, childtemplate: {maxapplications: 2}}")) ==
        std::vector<std::string>{"default root.a: childtemplate not set -> {maxapplications: 2}"});
    CHECK(texts(diff_queues("{name: a, parent: true, childtemplate: {maxapplications: 2, inheritproperties: true}}",
                            "{name: a, parent: true, childtemplate: {maxapplications: 2, applytoexisting: true}}")) ==
          std::vector<std::string>{"default root.a: childtemplate {maxapplications: 2, inheritproperties: true} -> "
                                   "{maxapplications: 2, applytoexisting: true}"}); // the keys of B-10 are seen
    CHECK(texts(diff_texts("partitions: [{queues: []}]",
                           "partitions: [{queues: [], placementrules: [{name: user, create: true}], nodesortpolicy: "
                           "{type: binpacking, resourceweights: {vcore: 0.5}}, preemption: {enabled: false}}]")) ==
          std::vector<std::string>{"default: placement rules not set -> [{name: user, create: true}]",
                                   "default: node sort policy fair -> binpacking {vcore: 0.5}",
                                   "default: preemption enabled true, quota preemption false -> enabled false, quota "
                                   "preemption false"});
}

TEST_CASE("B-06 and F-020: what is expected of the asks to come is told in full") {
    const auto with = [](const std::string& fragmentation) {
        return "partitions: [{queues: [], nodesortpolicy: {type: fragmentation, fragmentation: {" + fragmentation +
               "}}}]";
    };
    CHECK(texts(diff_texts(with("resource: gpu"), with("halflife: 12h, others: [vcore, memory]"))) ==
          std::vector<std::string>{
              "default: fragmentation {resource: gpu} -> {halflife: 12h0m0s, others: [vcore, memory]}"});
    const std::string asks = "workload: [{resources: {gpu: 1000, vcore: 4}, devices: {gpu: 2x500}, weight: ";
    CHECK(
        texts(diff_texts(with(asks + "3}]"), with(asks + "4}]"))) ==
        std::vector<std::string>{
            "default: fragmentation {workload: [{resources: {gpu: 1000, vcore: 4}, devices: {gpu: 2x500}, weight: 3}]} "
            "-> {workload: [{resources: {gpu: 1000, vcore: 4}, devices: {gpu: 2x500}, weight: 4}]}"});
    CHECK(diff_texts(with(asks + "3}]"), with(asks + "3}]")).empty());
}

TEST_CASE("B-06 partitions added and removed") {
    CHECK(texts(diff_texts("partitions: [{queues: []}, {name: gpu, queues: []}]",
                           "partitions: [{queues: []}, {name: arm, queues: []}]")) ==
          std::vector<std::string>{"arm: partition is added",
                                   "gpu: partition is removed with its nodes and applications"});
}

TEST_CASE("B-13 order of queues, spelling of names and equal values in other units are no difference") {
    CHECK(diff_queues("{name: a, resources: {max: {vcore: 1}}}, {name: B}",
                      "{name: b}, {name: A, resources: {max: {vcore: 1000m}}}")
              .empty());
}
