// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random configurations, as structs, that are valid by construction: every key of the schema, awkward texts wherever a
// text is free, quantities that shrink from level to level.

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "libcore/config/config.h"
#include "libcore/policies/node_sort_policy.h"
#include "libcore/policies/placement_rule_kind.h"

namespace yk::testing {

class ValidConfiguration {
public:
    explicit ValidConfiguration(std::uint32_t seed) : random_(seed) {}

    config::Configuration make() {
        config::Configuration configuration;
        const int count = below(3) + 1;
        for (int i = 0; i < count; ++i) configuration.partitions.push_back(partition(i));
        return configuration;
    }

private:
    using Texts = std::vector<std::string>;

    int below(int limit) { return std::uniform_int_distribution<int>{0, limit - 1}(random_); }
    bool maybe() { return below(2) == 0; }
    const std::string& of(const Texts& all) {
        return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
    }

    template <class Row>
    const Row& any(std::span<const Row> table) {
        return table[static_cast<std::size_t>(below(static_cast<int>(table.size())))];
    }

    /// Any characters at all, the awkward ones more often.
    std::string text() {
        static const Texts parts{"a",  "Z",  "0", " ",  "\t", "\n",   "'",      "\"",     "\\",     ":",
                                 "#",  "-",  "?", "*",  "&",  "!",    "|",      ">",      "%",      "@",
                                 "`",  "{",  "}", "[",  "]",  ",",    "\u00e4", "\u2028", "\u0085", "~",
                                 "<<", "no", "1", "\r", "=",  "\x01", "\x7f",   "\ufeff", "null",   "."};
        std::string result;
        for (int i = below(6); i > 0; --i) result += of(parts);
        return result;
    }
    std::string acl() { return of({"*", " ", "bob,eve", "bob,eve ops", " ops,dev", "bob *", "a$,x@y sys:g,d.e"}); }
    config::ResourceMap resource(std::int64_t least) {
        config::ResourceMap map;
        map["vcore"] = least + below(1500);
        if (maybe()) map["memory"] = least + below(1000);
        return map;
    }

    config::Partition partition(int index) {
        config::Partition partition;
        partition.name = index == 0 ? "default" : "P" + std::to_string(index);
        partition.root = queue("root", 3);
        partition.root.parent = true;
        partition.root.resources = {};
        partition.preemption_enabled = maybe();
        partition.quota_preemption_enabled = maybe();
        partition.node_sort_policy = &any(node_sort_policies());
        if (maybe()) partition.resource_weights = {{"vcore", below(100) / 7.0}, {text() + "x", 1e-9 * below(1000)}};
        if (maybe()) partition.user_group_resolver = "os";
        for (int i = below(3); i > 0; --i) partition.placement_rules.push_back(rule());
        if (maybe()) partition.limits = partition.root.limits;
        return partition;
    }
    config::Queue queue(std::string name, int depth) {
        config::Queue queue;
        queue.name = std::move(name);
        queue.parent = maybe();
        if (maybe()) queue.resources.max = resource(10'000 * (depth + 1));
        if (maybe()) queue.resources.guaranteed = resource(1);
        queue.max_applications = static_cast<std::uint64_t>(depth + 1);
        for (int i = below(4); i > 0; --i) queue.properties[text() + "k"] = text();
        for (int i = below(4); i > 0; --i) queue.properties.insert(property());
        if (maybe()) queue.submit_acl = acl();
        if (maybe()) queue.admin_acl = acl();
        if (maybe())
            queue.child_template =
                config::ChildTemplate{7, {{"key", text() + "v"}, property()}, {{}, resource(0)}, maybe(), maybe()};
        add_limits(queue, depth);
        for (int i = depth > 0 ? below(3) : 0; i > 0; --i)
            queue.children.push_back(this->queue("Q" + std::to_string(i), depth - 1));
        if (!queue.children.empty()) queue.resources.guaranteed.reset();
        return queue;
    }
    /// One that means something, now and then with a value that does not.
    std::pair<std::string, std::string> property() {
        static const std::vector<std::pair<std::string, Texts>> known{
            {"application.sort.policy", {"fifo", "fair", "stateaware", "FAIR"}},
            {"application.sort.priority", {"enabled", "disabled", "Disabled"}},
            {"priority.policy", {"default", "fence", "none"}},
            {"priority.offset", {"0", "-7", "2147483647", "1e3"}},
            {"preemption.policy", {"default", "fence", "disabled", "off"}},
            {"preemption.delay", {"1s", "1h30m", "0s", "10"}},
            {"quota.preemption.delay", {"0", "5s", "-1s"}},
            {"application.unschedasks.backoff", {"0", "3", "x"}},
            {"application.unschedasks.backoff.delay", {"300ms", "forever"}}};
        const auto& [key, values] = known[static_cast<std::size_t>(below(static_cast<int>(known.size())))];
        return {key, of(values)};
    }
    void add_limits(config::Queue& queue, int depth) {
        if (maybe()) return;
        config::Limit first{text(), {"u"}, {"g"}, resource(2000 * depth + 1), 1, {}};
        if (maybe()) {
            first.users.emplace_back("*");
            first.groups.emplace_back("*");
            queue.limits.push_back(std::move(first));
            return;
        }
        queue.limits.push_back(std::move(first));
        config::Limit all{text(), {"*"}, {}, resource(2000 * depth + 1), 1, {}};
        if (maybe()) all.groups.emplace_back("*");
        queue.limits.push_back(std::move(all));
    }
    config::PlacementRule rule() {
        config::PlacementRule rule;
        const PlacementRuleKind& kind = any(placement_rule_kinds());
        rule.name = kind.name;
        if (maybe()) rule.name.front() = static_cast<char>(rule.name.front() - 'a' + 'A');
        rule.create = maybe();
        rule.value = kind.value_is_path ? "pool" : text() + "v";
        if (maybe()) rule.filter = {of({"", "deny", "ALLOW"}), filter(), {"g"}};
        if (maybe()) rule.parent.push_back(this->rule());
        const config::PlacementRule* first = &rule;
        while (!first->parent.empty()) first = &first->parent.front();
        if (find_placement_rule_kind(first->name)->value_is_path) rule.create = true; // there is no queue of that path
        return rule;
    }
    /// A name, an expression, or a list that is not looked at (C-305).
    Texts filter() {
        const int kind = below(3);
        if (kind == 0) return {"bob"};
        if (kind == 1) return {"^de[vw].*$|x{2}"};
        return {text(), text()};
    }

    std::mt19937 random_;
};

} // namespace yk::testing
