// SPDX-License-Identifier: Apache-2.0
#pragma once
// One placement rule with its parents, compiled (C-300 to C-326). A rule yields a path, nothing, or an error.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "libcore/config/config.h"
#include "libcore/model/queue_tree.h"
#include "libcore/placement/filter.h"
#include "libcore/policies/placement_rule_kind.h"
#include "libcore/ports/command.h"

namespace yk::placement {

/// A path of more levels than this is refused: snapshots of the tree nest, and so do the functions that walk it.
inline constexpr std::size_t kMaxDepth = 64;

/// The result of a rule for an application.
struct Yield {
    enum class Kind : std::uint8_t { NoMatch, Path, Error };
    Kind kind = Kind::NoMatch;
    std::string text; // Path: the path, lower case; else why, for a person
};

/// Immutable. REQUIRES: the configuration is validated, so that the kind is known.
class Rule {
public:
    explicit Rule(const config::PlacementRule& config);

    /// The path that the rule yields for the application. Only reads the queues (C-322 to C-326, C-346).
    [[nodiscard]] Yield apply(const ApplicationSpec& spec, const QueueTree& queues) const;

    [[nodiscard]] const PlacementRuleKind& kind() const { return *kind_; }
    [[nodiscard]] bool creates() const { return create_; }
    /// Its meaning depends on the kind: a queue, the name of a tag; lower case.
    [[nodiscard]] const std::string& value() const { return value_; }
    /// Whether the value is `root` or begins with `root.`; for a kind whose value is a path (C-303).
    [[nodiscard]] bool is_qualified() const;
    [[nodiscard]] const Filter& filter() const { return filter_; }
    [[nodiscard]] const Rule* parent() const { return parent_.get(); }

private:
    [[nodiscard]] Yield path_for(std::string_view name, const ApplicationSpec& spec, const QueueTree& queues) const;
    [[nodiscard]] Yield base(const ApplicationSpec& spec, const QueueTree& queues) const;

    const PlacementRuleKind* kind_;
    bool create_;
    std::string value_;
    Filter filter_;
    std::unique_ptr<const Rule> parent_;
};

} // namespace yk::placement
