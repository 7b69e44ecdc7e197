// SPDX-License-Identifier: Apache-2.0
// Snapshots of the placement rules (C-475), and what they would decide for an application (B-08).

#include "libcore/reports/explain.h"

namespace yk {

namespace {

std::optional<FilterView> filter_view(const placement::Filter& filter) {
    if (!filter.filters()) return std::nullopt;
    FilterView view;
    view.type = filter.is_allow() ? "allow" : "deny";
    view.users.assign(filter.users().names().begin(), filter.users().names().end());
    view.groups.assign(filter.groups().names().begin(), filter.groups().names().end());
    view.user_expression = filter.users().expression();
    view.group_expression = filter.groups().expression();
    return view;
}

RuleView rule_view(const placement::Rule& rule) {
    const auto word = [](bool value) { return std::string{value ? "true" : "false"}; };
    RuleView view;
    view.name = rule.kind().name;
    view.parameters.emplace_back("create", word(rule.creates()));
    const PlacementRuleKind& kind = rule.kind();
    if (!kind.value_name.empty()) view.parameters.emplace_back(kind.value_name, rule.value());
    if (kind.value_is_path) view.parameters.emplace_back("qualified", word(rule.is_qualified()));
    view.filter = filter_view(rule.filter());
    if (rule.parent() != nullptr) view.parent.push_back(rule_view(*rule.parent()));
    return view;
}

} // namespace

std::vector<RuleView> rule_views(const PartitionState& state) {
    std::vector<RuleView> views;
    for (const placement::Rule& rule : state.rules.rules()) views.push_back(rule_view(rule));
    RuleView recovery;
    recovery.name = "recovery";
    recovery.parameters.emplace_back("queue", kRecoveryPath);
    views.push_back(std::move(recovery));
    return views;
}

PlacementExplanation explain_placement(const PartitionState& state, const ApplicationSpec& spec) {
    PlacementExplanation explanation;
    if (!spec.user_fault.empty()) {
        explanation.reason = spec.user_fault;
        return explanation;
    }
    const placement::Outcome placed = state.rules.place(spec, state.queues);
    for (const placement::Step& step : placed.steps)
        explanation.steps.push_back({step.rule, step.path, std::string{text_of(step.result)}, step.text});
    explanation.reason = placed.reason;
    if (!placed.found()) return explanation;
    explanation.queue = placed.path;
    if (placed.queue != nullptr) return explanation;
    for (std::size_t dot = placed.path.find('.', placed.above->path.size() + 1); dot != std::string::npos;
         dot = placed.path.find('.', dot + 1))
        explanation.created.push_back(placed.path.substr(0, dot));
    explanation.created.push_back(placed.path);
    return explanation;
}

} // namespace yk
