#include "ykd/service/dump_rules.h"

#include <algorithm>

#include "libcore/config/filter.h"
#include "libcore/config/names.h"

namespace yk::service {
namespace {

using wire::Value;

/// One entry with a special character is an expression, everything else are names, of which illegal ones are dropped.
void add_entries(Value& filter, const char* list_key, const char* expression_key,
                 const std::vector<std::string>& entries, bool (*is_legal)(std::string_view)) {
    if (entries.empty()) return;
    if (entries.size() == 1 &&
        config::classify_filter_entry(entries.front(), is_legal) == config::FilterEntry::Expression) {
        filter[expression_key] = entries.front();
        return;
    }
    std::vector<std::string> names;
    std::copy_if(entries.begin(), entries.end(), std::back_inserter(names), is_legal);
    std::sort(names.begin(), names.end());
    filter[list_key] = names;
}

Value filter_value(const config::Filter& filter) {
    Value value{{"type", config::lower(filter.type) == "deny" ? "deny" : "allow"}};
    add_entries(value, "userList", "userExp", filter.users, config::is_user_name);
    add_entries(value, "groupList", "groupExp", filter.groups, config::is_group_name);
    return value;
}

Value parameters_value(const config::PlacementRule& rule, const std::string& name) {
    Value parameters{{"create", rule.create ? "true" : "false"}};
    if (name == "tag") parameters["tagName"] = rule.value;
    if (name == "fixed") {
        const std::string queue = config::lower(rule.value);
        parameters["queue"] = queue;
        parameters["qualified"] = queue == "root" || queue.rfind("root.", 0) == 0 ? "true" : "false"; // C-303
    }
    return parameters;
}

Value rule_value(const config::PlacementRule& rule) {
    const std::string name = config::lower(rule.name);
    Value value{{"name", name}, {"parameters", parameters_value(rule, name)}};
    const Value filter = filter_value(rule.filter);
    if (filter.size() > 1 || filter["type"] == "deny") value["filter"] = filter;
    if (!rule.parent.empty()) value["parentRule"] = rule_value(rule.parent.front());
    return value;
}

} // namespace

Value rules_value(const config::Partition& partition) {
    Value rules = Value::array();
    for (const config::PlacementRule& rule : partition.placement_rules) rules.push_back(rule_value(rule));
    if (rules.empty()) {
        config::PlacementRule implicit;
        implicit.name = "provided";
        rules.push_back(rule_value(implicit));
    }
    rules.push_back({{"name", "recovery"}, {"parameters", {{"queue", "root." + std::string(config::kRecoveryQueue)}}}});
    return rules;
}

} // namespace yk::service
