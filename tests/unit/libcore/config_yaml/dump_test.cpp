// SPDX-License-Identifier: Apache-2.0
// The canonical form (C-473), and that it reads as what it was made from.

#include "libcore/config_yaml/dump.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <functional>
#include <random>

#include "libcore/config/checksum.h"
#include "libcore/config/diff.h"
#include "libcore/config_yaml/load.h"
#include "tests/support/valid_configuration.h"

using namespace yk;
using namespace yk::config_yaml;

namespace {

config::Configuration load_good(const std::string& text) {
    LoadOutcome outcome = load(text, "config");
    INFO(text);
    INFO(render(outcome, text));
    REQUIRE(outcome.configuration);
    return *outcome.configuration;
}

void check_round_trip(config::Configuration configuration) {
    configuration.checksum.clear();
    const std::string text = dump(configuration);
    config::Configuration again = load_good(text);
    again.checksum.clear();
    CHECK(dump(again) == text);
    CHECK(config::diff(configuration, again).empty());
}

std::uint32_t seed() {
    const char* given = std::getenv("YK_SEED");
    return given != nullptr ? static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10)) : std::random_device{}();
}

} // namespace

TEST_CASE("C-473 canonical form: keys in schema order, empty values left out") {
    const config::Configuration configuration = load_good(R"(
partitions:
  - usergroupresolver: {type: os}
    nodesortpolicy: {resourceweights: {vcore: 0.5, memory: 2}, type: fair}
    preemption: {enabled: no, quotapreemptionenabled: on}
    limits: [{users: [u, "*"], maxresources: {vcore: 1500m}}]
    placementrules:
      - {value: namespace, parent: {name: user}, filter: {users: [a, b]}, create: true, name: tag}
    queues:
      - {submitacl: "*", name: a, resources: {max: {vcore: 2Ki, memory: 1Mi}, guaranteed: {vcore: 1}},
         properties: {priority.offset: 10}, maxapplications: 5, queues: [{name: "9", maxapplications: 1}],
         childtemplate: {inheritproperties: true, applytoexisting: true, maxapplications: 3}}
)");
    CHECK(dump(configuration) == R"(partitions:
  - name: default
    queues:
      - name: root
        parent: true
        queues:
          - name: a
            resources:
              guaranteed:
                vcore: 1
              max:
                memory: 1048576
                vcore: 2048
            maxapplications: 5
            properties:
              priority.offset: 10
            submitacl: '*'
            childtemplate:
              maxapplications: 3
              applytoexisting: true
              inheritproperties: true
            queues:
              - name: 9
                maxapplications: 1
        limits:
          - limit: ''
            users: [u, '*']
            maxresources:
              vcore: 1500m
    placementrules:
      - name: tag
        create: true
        filter:
          type: ''
          users: [a, b]
        parent:
          name: user
        value: namespace
    limits:
      - limit: ''
        users: [u, '*']
        maxresources:
          vcore: 1500m
    preemption:
      enabled: false
      quotapreemptionenabled: true
    nodesortpolicy:
      type: fair
      resourceweights:
        memory: 2
        vcore: 0.5
    usergroupresolver:
      type: os
checksum: )" + configuration.checksum +
                                     '\n');
    check_round_trip(configuration);
}

TEST_CASE("C-473 a dump fed back has the same checksum from then on") {
    const config::Configuration once = load_good(dump(load_good(std::string{default_text()})));
    const config::Configuration twice = load_good(dump(once));
    CHECK(once.checksum == twice.checksum);
    CHECK(dump(once) == dump(twice));
}

TEST_CASE("C-473 C-444 dumped, loaded, dumped: the same but for the checksum, which is that of another text") {
    const config::Configuration written = load_good("# mine\npartitions: [{queues: [{name: a, maxapplications: 5}]}]");
    const std::string first = dump(written);
    CHECK_THAT(first, Catch::Contains("\nchecksum: " + written.checksum + "\n"));
    const config::Configuration again = load_good(first);
    CHECK(config::diff(written, again).empty());
    CHECK(again.checksum == config::checksum(first));
    CHECK(again.checksum != written.checksum);
    const auto without_checksum = [](const config::Configuration& one) {
        const std::string text = dump(one);
        return text.substr(0, text.find("checksum: "));
    };
    CHECK(without_checksum(again) == without_checksum(written));
    CHECK(load_good(dump(again)).checksum == again.checksum); // equal from here on
}

TEST_CASE("C-473 a configuration without partitions") {
    CHECK(dump({}) == "partitions: []\n");
}

TEST_CASE("scalar_text: plain where it is safe, quoted otherwise") {
    for (const std::string plain : {"a", "root.a", "priority.offset", "10", "-", "true"}) {
        const bool quoted = plain == "-";
        CHECK(scalar_text(plain) == (quoted ? "'-'" : plain));
    }
    CHECK(scalar_text("") == "''");
    CHECK(scalar_text("*") == "'*'");
    CHECK(scalar_text("null") == "'null'");
    CHECK(scalar_text("<<") == "'<<'");
    CHECK(scalar_text("it's") == "'it''s'");
    CHECK(scalar_text("a: b") == "'a: b'");
    CHECK(scalar_text("a:") == "'a:'");
    CHECK(scalar_text("a #b") == "'a #b'");
    CHECK(scalar_text("a\nb\"") == "\"a\\x0ab\\\"\"");
    CHECK(scalar_text("\u00e4\u2028") == "\"\u00e4\\u2028\"");
}

TEST_CASE("B-13 dump then load is the identity, for random configurations") {
    const std::uint32_t first = seed();
    for (std::uint32_t i = 0; i < 300; ++i) {
        INFO("YK_SEED=" << first + i);
        check_round_trip(testing::ValidConfiguration{first + i}.make());
    }
}

TEST_CASE("dump and diff see a change of every field") {
    using config::Configuration;
    using config::Queue;
    const auto child = [](Configuration& c) -> Queue& { return c.partitions[0].root.children[0]; };
    const std::vector<std::function<void(Configuration&)>> changes{
        [](Configuration& c) { c.partitions[0].name = "other"; },
        [](Configuration& c) { c.partitions.emplace_back().name = "second"; },
        [](Configuration& c) { c.partitions[0].preemption_enabled = false; },
        [](Configuration& c) { c.partitions[0].quota_preemption_enabled = true; },
        [](Configuration& c) { c.partitions[0].node_sort_policy = find_node_sort_policy("binpacking"); },
        [](Configuration& c) { c.partitions[0].resource_weights["vcore"] = 2; },
        [](Configuration& c) { c.partitions[0].user_group_resolver = "os"; },
        [](Configuration& c) { c.partitions[0].placement_rules.clear(); },
        [](Configuration& c) { c.partitions[0].placement_rules[0].name = "provided"; },
        [](Configuration& c) { c.partitions[0].placement_rules[0].create = true; },
        [](Configuration& c) { c.partitions[0].placement_rules[0].value = "other"; },
        [](Configuration& c) { c.partitions[0].placement_rules[0].filter.type = "deny"; },
        [](Configuration& c) { c.partitions[0].placement_rules[0].filter.users = {"u"}; },
        [](Configuration& c) { c.partitions[0].placement_rules[0].filter.groups = {"g"}; },
        [](Configuration& c) { c.partitions[0].placement_rules[0].parent.emplace_back().name = "user"; },
        [&](Configuration& c) { child(c).name = "b"; },
        [&](Configuration& c) { child(c).parent = true; },
        [&](Configuration& c) { child(c).children.emplace_back().name = "c"; },
        [](Configuration& c) { c.partitions[0].root.children.clear(); },
        [&](Configuration& c) {
            child(c).resources.max = config::ResourceMap{{"memory", 6}};
        },
        [&](Configuration& c) { child(c).resources.max.reset(); },
        [&](Configuration& c) {
            child(c).resources.guaranteed = config::ResourceMap{{"memory", 1}};
        },
        [&](Configuration& c) { child(c).max_applications = 1; },
        [&](Configuration& c) { child(c).properties["priority.offset"] = "2"; },
        [&](Configuration& c) { child(c).properties.clear(); },
        [&](Configuration& c) { child(c).submit_acl = "bob"; },
        [&](Configuration& c) { child(c).admin_acl = "bob"; },
        [&](Configuration& c) {
            child(c).child_template = config::ChildTemplate{1, {}, {}};
        },
        [&](Configuration& c) {
            child(c).child_template = config::ChildTemplate{0, {{"k", "v"}}, {}};
        },
        [&](Configuration& c) { child(c).child_template->apply_to_existing = true; },
        [&](Configuration& c) { child(c).child_template->inherit_properties = true; },
        [&](Configuration& c) { child(c).limits[0].description = "y"; },
        [&](Configuration& c) { child(c).limits[0].users = {"v"}; },
        [&](Configuration& c) { child(c).limits[0].groups = {"g"}; },
        [&](Configuration& c) {
            child(c).limits[0].max_resources = config::ResourceMap{{"memory", 4}};
        },
        [&](Configuration& c) { child(c).limits[0].max_applications = 2; }};
    const Configuration before = load_good("partitions: [{placementrules: [{name: tag, value: x}], queues: [{name: a, "
                                           "resources: {max: {memory: 5}}, properties: {priority.offset: 1}, "
                                           "childtemplate: {maxapplications: 2}, limits: "
                                           "[{limit: x, users: [u], maxapplications: 1}]}]}]");
    for (std::size_t i = 0; i < changes.size(); ++i) {
        INFO("change " << i);
        Configuration after = before;
        changes[i](after);
        CHECK_FALSE(config::diff(before, after).empty());
        CHECK(dump(before) != dump(after));
    }
}
