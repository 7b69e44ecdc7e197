// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_rules.h"

#include <fmt/format.h>

#include "libcore/policies/placement_rule_kind.h"
#include "tests/support/random_config.h"

namespace yk::testing {

namespace {

/// Every place where `before` stands gets what `make` says behind it.
template <class Make>
void insert_after(std::string& text, const std::string& before, const Make& make) {
    for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before, at)) {
        at += before.size();
        text.insert(at, make());
    }
}

std::string some_rules(Random& random) {
    std::vector<std::string> rules{
        "{name: provided}",
        "{name: provided, create: true, filter: {users: ['^u[0-4]$']}}",
        "{name: tag, value: ns, create: true, parent: {name: user, create: true}}",
        "{name: user, create: true, filter: {type: deny, groups: [g1, g2]}}",
        "{name: provided, create: true, parent: {name: tag, value: ns, create: true}}",
        "{name: fixed, value: pool.shared, create: true, filter: {groups: [g3]}}",
    };
    for (const PlacementRuleKind& kind : placement_rule_kinds()) {
        const char* value = kind.missing_value.empty() ? "" : kind.value_is_path ? ", value: pool.all" : ", value: ns";
        rules.push_back(fmt::format("{{name: {}{}, create: true}}", kind.name, value));
    }
    std::string text;
    for (std::int64_t i = random.between(1, 4); i > 0; --i) text += (text.empty() ? "" : ", ") + random.of(rules);
    return "placementrules: [" + text + "], ";
}

std::string some_template(Random& random) {
    std::vector<std::string> templates{
        "",
        "",
        ", childtemplate: {maxapplications: 2}",
        ", childtemplate: {resources: {max: {vcore: 30m}}}",
        ", childtemplate: {properties: {application.sort.policy: fair}, resources: {guaranteed: {vcore: 5m}}}",
        ", childtemplate: {applytoexisting: true, maxapplications: 3, resources: {max: {vcore: 60m}}}",
        ", childtemplate: {applytoexisting: true, inheritproperties: true, properties: {priority.offset: '5'}}"};
    return random.of(templates);
}

void add_to_application(Element& element, Random& random) {
    element.fields["user"] = fmt::format("u{}", random.between(0, 9));
    element.fields["groups"] = fmt::format("g{},g{}", random.between(0, 5), random.between(0, 5));
    if (random.chance(20)) element.fields["queue"] += fmt::format(".d{}", random.between(0, 3));
    if (random.chance(10)) element.fields["queue"].clear();
    std::string tags;
    // the names of queues that a later configuration may have
    if (random.chance(60)) tags = fmt::format("ns:{}q{}", random.chance(50) ? "root." : "", random.between(0, 30));
    if (random.chance(10)) tags += tags.empty() ? "application.create.force:1" : ",application.create.force:1";
    if (!tags.empty()) element.fields["tags"] = tags;
    if (random.chance(10)) element.fields["tagmax"] = fmt::format("vcore:{}", random.between(0, 200));
    if (random.chance(10)) element.fields["tagguaranteed"] = fmt::format("vcore:{}", random.between(1, 50));
    if (random.chance(10)) element.fields["tagapps"] = std::to_string(random.between(1, 3));
}

} // namespace

void add_rules(std::vector<Command>& commands, std::uint64_t seed) {
    Random random(seed);
    for (Command& command : commands) {
        if (command.kind == CommandKind::Config) {
            for (const char* partition : {"{name: default, ", "{name: second, "})
                insert_after(command.text, partition, [&] { return some_rules(random); });
            insert_after(command.text, "{name: root, submitacl: '*'", [&] { return some_template(random); });
        }
        if (command.kind != CommandKind::Applications) continue;
        for (Element& element : command.elements)
            if (element.verb == "new") add_to_application(element, random);
    }
}

} // namespace yk::testing
