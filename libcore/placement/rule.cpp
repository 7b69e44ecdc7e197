#include "libcore/placement/rule.h"

#include <algorithm>

#include "libcore/config/names.h"
#include "libcore/scheduler/partition_state.h"

namespace yk::placement {

namespace {

constexpr std::string_view kRootPrefix = "root.";

RuleKind kind_of(std::string_view name) {
    const std::string known = config::lower(name);
    for (const RuleKind kind : {RuleKind::User, RuleKind::Fixed, RuleKind::Tag})
        if (known == text_of(kind)) return kind;
    return RuleKind::Provided;
}

bool starts_with(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

Yield no_match(std::string why) {
    return {Yield::Kind::NoMatch, std::move(why)};
}

Yield error(std::string why) {
    return {Yield::Kind::Error, std::move(why)};
}

/// C-323: a generated name is one part of a path.
std::string without_dots(std::string_view name) {
    std::string part;
    for (const char c : name) c == '.' ? part.append("_dot_") : part.append(1, c);
    return part;
}

/// C-323: each part must be a legal name; what is wrong, empty when nothing is.
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

/// C-346: nothing but the recovery rule may yield the recovery queue, or anything below it.
bool is_recovery(std::string_view path) {
    return path == kRecoveryPath || (starts_with(path, kRecoveryPath) && path[kRecoveryPath.size()] == '.');
}

} // namespace

std::string_view text_of(RuleKind kind) {
    switch (kind) {
    case RuleKind::User: return "user";
    case RuleKind::Provided: return "provided";
    case RuleKind::Fixed: return "fixed";
    case RuleKind::Tag: return "tag";
    }
    return {};
}

Rule::Rule(const config::PlacementRule& config)
    : kind_(kind_of(config.name)),
      create_(config.create),
      value_(config::lower(config.value)),
      filter_(config.filter),
      parent_(config.parent.empty() ? nullptr : std::make_unique<const Rule>(config.parent.front())) {}

bool Rule::is_qualified() const {
    return value_ == "root" || starts_with(value_, kRootPrefix);
}

/// C-326: the name, with the rule's own cheap test (C-322).
Yield Rule::name_for(const ApplicationSpec& spec) const {
    switch (kind_) {
    case RuleKind::User: return {Yield::Kind::Path, std::string{spec.user}};
    case RuleKind::Fixed: return {Yield::Kind::Path, value_};
    case RuleKind::Provided:
        if (spec.queue.empty()) return no_match("no queue was asked for");
        return {Yield::Kind::Path, std::string{spec.queue}};
    case RuleKind::Tag:
        for (const Tag& tag : spec.tags)
            if (!tag.value.empty() && config::lower(tag.key) == value_)
                return {Yield::Kind::Path, std::string{tag.value}};
        return no_match("the application has no tag " + value_ + " with a value");
    }
    return {};
}

/// C-324: where an unqualified name hangs.
Yield Rule::base(const ApplicationSpec& spec, const PartitionState& state) const {
    if (parent_ == nullptr) return {Yield::Kind::Path, "root"};
    Yield above = parent_->apply(spec, state);
    if (above.kind == Yield::Kind::NoMatch)
        return no_match("its parent rule " + std::string{text_of(parent_->kind_)} + " does not match: " + above.text);
    if (above.kind == Yield::Kind::Error) return above;
    if (const Queue* queue = state.find_queue(above.text); queue != nullptr && queue->leaf)
        return error("parent rule returned a leaf queue: " + queue->path);
    return above;
}

Yield Rule::path_for(std::string_view name, const ApplicationSpec& spec, const PartitionState& state) const {
    const bool fixed = kind_ == RuleKind::Fixed;
    const bool may_be_qualified = kind_ == RuleKind::Provided || kind_ == RuleKind::Tag;
    const bool qualified = fixed ? is_qualified() : may_be_qualified && starts_with(name, kRootPrefix);
    std::string path{name};
    if (!qualified) {
        if (!fixed) path = without_dots(name);
        if (std::string fault = fault_of(path); !fault.empty()) return error(std::move(fault));
        Yield above = base(spec, state);
        if (above.kind != Yield::Kind::Path) return above;
        path = above.text + "." + path;
    }
    if (std::string fault = fault_of(path); !fault.empty()) return error(std::move(fault));
    return {Yield::Kind::Path, config::lower(path)};
}

Yield Rule::apply(const ApplicationSpec& spec, const PartitionState& state) const {
    Yield name = name_for(spec);
    if (name.kind != Yield::Kind::Path) return name;
    if (!filter_.passes(spec.user, spec.groups))
        return no_match("its filter does not let user '" + std::string{spec.user} + "' pass");
    Yield path = path_for(name.text, spec, state);
    if (path.kind != Yield::Kind::Path) return path;
    if (is_recovery(path.text)) return no_match("queue " + path.text + " is for recovery only");
    if (!create_ && state.find_queue(path.text) == nullptr) // C-325
        return no_match("queue " + path.text + " does not exist and the rule may not create it");
    return path;
}

} // namespace yk::placement
