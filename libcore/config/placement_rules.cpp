// Placement rules: names, values, filters, and the static paths of `fixed` rules against the queues.

#include <algorithm>
#include <unordered_map>

#include "libcore/config/checks.h"
#include "libcore/config/filter.h"
#include "libcore/config/names.h"

namespace yk::config::checks {

namespace {

constexpr std::string_view kRootPrefix = "root.";

/// C-303.
bool is_qualified(std::string_view value) {
    return value == "root" || value.substr(0, kRootPrefix.size()) == kRootPrefix;
}

bool is_fixed(const RuleDocument& rule) {
    return lower(rule.name.value) == "fixed";
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

    /// C-300: parents before the filter of the rule itself.
    void check(const RuleDocument& rule) {
        check_name(rule);
        for (const RuleDocument& parent : rule.parent) check(parent);
        check_filter(rule);
        check_value(rule);
    }

private:
    /// C-300 and C-301.
    void check_name(const RuleDocument& rule) {
        const std::string& name = rule.name.value;
        const std::string known = lower(name);
        const std::string path = rule.path + ".name";
        if (!is_identifier(name))
            report_.error(rule.name.mark, path,
                          "invalid rule name " + name +
                              ", a name must be a valid identifier (known: user, provided, "
                              "fixed, tag)");
        else if (known == "recovery")
            report_.error(rule.name.mark, path,
                          "recovery rule cannot be part of the config, failing placement rule config");
        else if (known != "user" && known != "provided" && known != "fixed" && known != "tag")
            report_.error(rule.name.mark, path,
                          "unknown rule name specified " + name +
                              ", failing placement rule config (known: user, "
                              "provided, fixed, tag)");
    }

    /// C-304 and C-305.
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

    /// C-302 and C-303.
    void check_value(const RuleDocument& rule) {
        const std::string name = lower(rule.name.value);
        const std::string path = rule.path + ".value";
        const Mark mark = rule.value.mark.line != 0 ? rule.value.mark : rule.mark;
        if (name == "fixed")
            check_fixed(rule, mark, path);
        else if (name == "tag" && rule.value.value.empty())
            report_.error(mark, path, "a tag queue rule must have a tag name set (key \"value\")");
        else if ((name == "user" || name == "provided") && !rule.value.value.empty())
            report_.warning(mark, path, "value is ignored by a rule " + name);
    }

    void check_fixed(const RuleDocument& rule, Mark mark, const std::string& path) {
        const std::string& value = rule.value.value;
        if (value.empty()) {
            report_.error(mark, path, "a fixed queue rule must have a queue name set (key \"value\")");
            return;
        }
        if (!is_path(value)) report_.error(mark, path, std::string{kInvalidQueueName} + ", got " + in_quotes(value));
        if (!is_qualified(lower(value)) || rule.parent.empty()) return;
        const auto fixed_only = [](const RuleDocument* each) {
            while (!each->parent.empty() && is_fixed(each->parent.front())) each = &each->parent.front();
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

/// C-313: by lower case path.
void index_queues(const Queue& queue, const std::string& path, QueuesByPath& index) {
    index.emplace(path, &queue);
    for (const Queue& child : queue.children) index_queues(child, path + '.' + lower(child.name), index);
}

/// C-310: a rule with its parents, innermost first.
struct Chain {
    std::string text;        // `fixed->tag->user`
    std::string static_path; // lower case; empty: the chain starts with another rule than fixed, or has a bad value
    bool dynamic = false;    // something follows the static path
};

Chain chain_of(const RuleDocument& rule) {
    std::vector<const RuleDocument*> rules{&rule};
    while (!rules.back()->parent.empty()) rules.push_back(&rules.back()->parent.front());
    std::reverse(rules.begin(), rules.end());
    Chain chain;
    for (const RuleDocument* each : rules) {
        chain.text += (chain.text.empty() ? "" : "->") + each->name.value;
        chain.dynamic = chain.dynamic || !is_fixed(*each);
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

/// The table of C-311: what is wrong with the path, empty when nothing is.
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
