// SPDX-License-Identifier: Apache-2.0
// Placement rules: names, values, filters, and the static paths of `fixed` rules against the queues.

#include <algorithm>
#include <unordered_map>

#include "libcore/config/filter.h"
#include "libcore/config/names.h"
#include "libcore/policies/placement_rule_kind.h"
#include "libcore/validation/checks.h"

namespace yk::config::checks {

namespace {

constexpr std::string_view kRootPrefix = "root.";

/// Whether the value is a whole path, from the root on (C-303).
bool is_qualified(std::string_view value) {
    return value == "root" || value.substr(0, kRootPrefix.size()) == kRootPrefix;
}

/// Whether the value of the rule is a path, which is known before there is an application.
bool is_static(const RuleDocument& rule) {
    const PlacementRuleKind* kind = find_placement_rule_kind(rule.name.value);
    return kind != nullptr && kind->value_is_path;
}

/// `user, provided, fixed, tag`
std::string known_names() {
    std::string names;
    for (const PlacementRuleKind& kind : placement_rule_kinds()) {
        if (!names.empty()) names += ", ";
        names += kind.name;
    }
    return names;
}

std::vector<std::string> split_path(std::string_view path) {
    std::vector<std::string> parts;
    while (true) {
        const auto dot = path.find('.');
        parts.emplace_back(path.substr(0, dot));
        if (dot == std::string_view::npos) return parts;
        path.remove_prefix(dot + 1);
    }
}

bool is_path(std::string_view value) {
    const auto parts = split_path(value);
    return std::all_of(parts.begin(), parts.end(), is_queue_name);
}

// --- one rule ---------------------------------------------------------------------------------------------------

class RuleCheck {
public:
    RuleCheck(std::size_t& expressions, Report& report) : expressions_(expressions), report_(report) {}

    /// Checks the parents before the filter of the rule itself, since the order decides which error is the first
    /// (C-300).
    void check(const RuleDocument& rule) {
        check_name(rule);
        for (const RuleDocument& parent : rule.parent) check(parent);
        check_filter(rule);
        check_value(rule);
    }

private:
    /// The name must be that of a kind of rule (C-300, C-301).
    void check_name(const RuleDocument& rule) {
        const std::string& name = rule.name.value;
        const std::string path = rule.path + ".name";
        if (!is_identifier(name))
            report_.error(rule.name.mark, path,
                          "invalid rule name " + name + ", a name must be a valid identifier (known: " + known_names() +
                              ")");
        else if (lower(name) == "recovery")
            report_.error(rule.name.mark, path,
                          "recovery rule cannot be part of the config, failing placement rule config");
        else if (find_placement_rule_kind(name) == nullptr)
            report_.error(rule.name.mark, path,
                          "unknown rule name specified " + name +
                              ", failing placement rule config (known: " + known_names() + ")");
    }

    /// The type must be known, and a single entry a name or an expression (C-304, C-305).
    void check_filter(const RuleDocument& rule) {
        const FilterDocument& filter = rule.filter;
        const std::string type = lower(filter.type.value);
        if (!type.empty() && type != "allow" && type != "deny")
            report_.error(filter.type.mark, rule.path + ".filter.type",
                          "invalid rule filter type " + filter.type.value +
                              ", filter type  must be either '', allow or deny");
        check_list(filter.users, "user", is_user_name, rule.path + ".filter.users");
        check_list(filter.groups, "group", is_group_name, rule.path + ".filter.groups");
    }

    void check_list(const std::vector<Text>& list, const std::string& kind, bool (*is_legal)(std::string_view),
                    const std::string& path) {
        if (list.size() == 1) check_single(list[0], kind, is_legal, path);
        if (list.size() < 2) return;
        for (const Text& name : list)
            if (!is_legal(name.value))
                report_.warning(name.mark, path,
                                "the name " + in_quotes(name.value) + " is not a legal " + kind +
                                    " name and is dropped (only a single entry can be an expression)");
    }

    void check_single(const Text& entry, const std::string& kind, bool (*is_legal)(std::string_view),
                      const std::string& path) {
        if (is_legal(entry.value)) return;
        if (++expressions_ > kMaxExpressions) {
            if (expressions_ == kMaxExpressions + 1)
                report_.error(entry.mark, path,
                              "the configuration has more than " + std::to_string(kMaxExpressions) +
                                  " regular expressions in filters");
            return;
        }
        if (classify_filter_entry(entry.value, is_legal) == FilterEntry::Invalid)
            report_.error(entry.mark, path,
                          "invalid rule filter " + kind + " list is not a proper list or regexp: [" + entry.value +
                              "]");
    }

    /// The value must be there if the kind needs one, and a whole path excludes parent rules (C-302, C-303).
    void check_value(const RuleDocument& rule) {
        const PlacementRuleKind* kind = find_placement_rule_kind(rule.name.value);
        if (kind == nullptr) return; // reported already
        const std::string path = rule.path + ".value";
        const Mark mark = rule.value.mark.line != 0 ? rule.value.mark : rule.mark;
        if (!kind->missing_value.empty() && rule.value.value.empty())
            report_.error(mark, path, std::string{kind->missing_value});
        else if (kind->missing_value.empty() && !rule.value.value.empty())
            report_.warning(mark, path, "value is ignored by a rule " + std::string{kind->name});
        else if (kind->value_is_path)
            check_path(rule, mark, path);
    }

    void check_path(const RuleDocument& rule, Mark mark, const std::string& path) {
        const std::string& value = rule.value.value;
        if (!is_path(value)) report_.error(mark, path, std::string{kInvalidQueueName} + ", got " + in_quotes(value));
        if (!is_qualified(lower(value)) || rule.parent.empty()) return;
        const auto fixed_only = [](const RuleDocument* each) {
            while (!each->parent.empty() && is_static(each->parent.front())) each = &each->parent.front();
            return each->parent.empty();
        };
        report_.error(mark, path,
                      fixed_only(&rule)
                          ? "illegal fully qualified 'fixed' rule with value " + value
                          : "cannot have a fixed queue rule with qualified queue getName and a parent rule, got " +
                                value);
    }

    std::size_t& expressions_;
    Report& report_;
};

// --- static paths -----------------------------------------------------------------------------------------------

using QueuesByPath = std::unordered_map<std::string, const Queue*>;

/// Adds the queue and all below it to `index`, by path in lower case (C-313).
void index_queues(const Queue& queue, const std::string& path, QueuesByPath& index) {
    index.emplace(path, &queue);
    for (const Queue& child : queue.children) index_queues(child, path + '.' + lower(child.name), index);
}

/// A rule with its parents, in the order in which their values make the path: the outermost parent first (C-310).
struct Chain {
    std::string text; // `fixed->tag->user`
    /// In lower case; empty: the first rule needs an application, or a value is bad.
    std::string static_path;
    bool dynamic = false; // a rule that needs an application follows
};

Chain chain_of(const RuleDocument& rule) {
    std::vector<const RuleDocument*> rules{&rule};
    while (!rules.back()->parent.empty()) rules.push_back(&rules.back()->parent.front());
    std::reverse(rules.begin(), rules.end());
    Chain chain;
    for (const RuleDocument* each : rules) {
        chain.text += (chain.text.empty() ? "" : "->") + each->name.value;
        chain.dynamic = chain.dynamic || !is_static(*each);
        if (chain.dynamic) continue;
        const std::string value = lower(each->value.value);
        if (!is_path(value)) return {}; // reported already
        if (is_qualified(value))
            chain.static_path = value;
        else
            chain.static_path = (chain.static_path.empty() ? "root" : chain.static_path) + '.' + value;
    }
    return chain;
}

/// What is wrong with the path, empty when nothing is (the table of C-311).
std::string static_path_problem(const Chain& chain, bool create, const QueuesByPath& queues) {
    const std::string& path = chain.static_path;
    if (const auto found = queues.find(path); found != queues.end()) {
        const bool parent = found->second->is_parent();
        if (parent == chain.dynamic) return {};
        return "references a queue (" + path + ") which is not a " + (chain.dynamic ? "parent" : "leaf");
    }
    std::string above = path;
    auto last = queues.end();
    while (last == queues.end()) { // ends at root, which always exists
        above.erase(above.rfind('.'));
        last = queues.find(above);
    }
    const std::string missing = "references non-existing queues (" + path + ") ";
    if (!last->second->is_parent())
        return missing + "which cannot be created because the last queue (" + last->second->name +
               ") in the hierarchy is a leaf";
    return create ? std::string{} : missing + "and create is 'false'";
}

} // namespace

void check_placement_rules(const std::vector<RuleDocument>& rules, const Queue& root, std::size_t& expressions,
                           Report& report) {
    RuleCheck check{expressions, report};
    for (const RuleDocument& rule : rules) check.check(rule);
    QueuesByPath queues;
    index_queues(root, "root", queues);
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const Chain chain = chain_of(rules[i]);
        if (chain.static_path.empty()) continue;
        if (const std::string problem = static_path_problem(chain, rules[i].create, queues); !problem.empty())
            report.error(rules[i].mark, rules[i].path,
                         "placement rule no. #" + std::to_string(i) + " (" + chain.text + ") " + problem);
    }
}

} // namespace yk::config::checks
