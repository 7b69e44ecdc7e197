// SPDX-License-Identifier: Apache-2.0
#include "libcore/placement/rule.h"

#include <algorithm>

#include "libcore/config/names.h"

namespace yk::placement {

namespace {

constexpr std::string_view kRootPrefix = "root.";

Yield no_match(std::string why) {
    return {Yield::Kind::NoMatch, std::move(why)};
}

Yield error(std::string why) {
    return {Yield::Kind::Error, std::move(why)};
}

/// A generated name with its dots replaced, since it is one part of a path (C-323).
std::string without_dots(std::string_view name) {
    std::string part;
    for (const char c : name) c == '.' ? part.append("_dot_") : part.append(1, c);
    return part;
}

/// What is wrong with the path, of which each part must be a legal name; empty when nothing is (C-323).
std::string fault_of(std::string_view path) {
    std::size_t parts = 0;
    for (std::size_t start = 0; start != std::string_view::npos;) {
        const std::size_t dot = path.find('.', start);
        const std::string_view part = path.substr(start, dot - start);
        if (!config::is_queue_name(part))
            return std::string{config::kInvalidQueueName} + ": '" + std::string{part} + "'";
        start = dot == std::string_view::npos ? dot : dot + 1;
        if (++parts > kMaxDepth)
            return "the queue path has more than " + std::to_string(kMaxDepth) + " levels: " + std::string{path};
    }
    return {};
}

/// Whether the path is the recovery queue or below it, which only the recovery rule may yield (C-346).
bool is_recovery(std::string_view path) {
    return path == kRecoveryPath || (path.starts_with(kRecoveryPath) && path[kRecoveryPath.size()] == '.');
}

} // namespace

Rule::Rule(const config::PlacementRule& config)
    : kind_(find_placement_rule_kind(config.name)),
      create_(config.create),
      value_(config::lower(config.value)),
      filter_(config.filter),
      parent_(config.parent.empty() ? nullptr : std::make_unique<const Rule>(config.parent.front())) {}

bool Rule::is_qualified() const {
    return value_ == "root" || value_.starts_with(kRootPrefix);
}

/// The path to which an unqualified name is added: that of the parent rule, else root (C-324).
Yield Rule::base(const ApplicationSpec& spec, const QueueTree& queues) const {
    if (parent_ == nullptr) return {Yield::Kind::Path, "root"};
    Yield above = parent_->apply(spec, queues);
    if (above.kind == Yield::Kind::NoMatch)
        return no_match("its parent rule " + std::string{parent_->kind_->name} + " does not match: " + above.text);
    if (above.kind == Yield::Kind::Error) return above;
    if (const Queue* queue = queues.find(above.text); queue != nullptr && queue->leaf)
        return error("parent rule returned a leaf queue: " + queue->path);
    return above;
}

Yield Rule::path_for(std::string_view name, const ApplicationSpec& spec, const QueueTree& queues) const {
    const bool is_path = kind_->value_is_path;
    const bool qualified = is_path ? is_qualified() : kind_->may_name_whole_paths && name.starts_with(kRootPrefix);
    std::string path{name};
    if (!qualified) {
        if (!is_path) path = without_dots(name);
        if (std::string fault = fault_of(path); !fault.empty()) return error(std::move(fault));
        Yield above = base(spec, queues);
        if (above.kind != Yield::Kind::Path) return above;
        path = above.text + "." + path;
    }
    if (std::string fault = fault_of(path); !fault.empty()) return error(std::move(fault));
    return {Yield::Kind::Path, config::lower(path)};
}

Yield Rule::apply(const ApplicationSpec& spec, const QueueTree& queues) const {
    QueueName name = kind_->name_for({spec.user, spec.queue, spec.tags}, value_); // before the filter (C-326)
    if (!name.found) return no_match(std::move(name.text));
    if (!filter_.passes(spec.user, spec.groups))
        return no_match("its filter does not let user '" + std::string{spec.user} + "' pass");
    Yield path = path_for(name.text, spec, queues);
    if (path.kind != Yield::Kind::Path) return path;
    if (is_recovery(path.text)) return no_match("queue " + path.text + " is for recovery only");
    if (!create_ && queues.find(path.text) == nullptr)
        return no_match("queue " + path.text + " does not exist and the rule may not create it");
    return path;
}

} // namespace yk::placement
