#pragma once
// One placement rule with its parents, compiled (C-300 to C-326). A rule yields a path, nothing, or an error.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "libcore/config/config.h"
#include "libcore/placement/filter.h"
#include "libcore/scheduler/command.h"

namespace yk {
struct PartitionState;
}

namespace yk::placement {

enum class RuleKind : std::uint8_t { User, Provided, Fixed, Tag };
[[nodiscard]] std::string_view text_of(RuleKind kind); // as in the configuration, lower case

/// A path of more levels than this is refused: pictures of the tree are nested, and so is what walks it.
inline constexpr std::size_t kMaxDepth = 64;

/// What a rule says to an application.
struct Yield {
    enum class Kind : std::uint8_t { NoMatch, Path, Error };
    Kind kind = Kind::NoMatch;
    std::string text; // Path: the path, lower case; else why, for a person
};

/// Immutable. REQUIRES of the configuration: validated; an unknown name counts as `provided`.
class Rule {
public:
    explicit Rule(const config::PlacementRule& config);

    /// C-322 to C-326, C-346. Reads queues only.
    [[nodiscard]] Yield apply(const ApplicationSpec& spec, const PartitionState& state) const;

    [[nodiscard]] RuleKind kind() const { return kind_; }
    [[nodiscard]] bool creates() const { return create_; }
    /// The queue of `fixed`, lower case, or the name of the tag, lower case.
    [[nodiscard]] const std::string& value() const { return value_; }
    [[nodiscard]] bool is_qualified() const; // C-303; of `fixed`
    [[nodiscard]] const Filter& filter() const { return filter_; }
    [[nodiscard]] const Rule* parent() const { return parent_.get(); }

private:
    [[nodiscard]] Yield name_for(const ApplicationSpec& spec) const;
    [[nodiscard]] Yield path_for(std::string_view name, const ApplicationSpec& spec, const PartitionState& state) const;
    [[nodiscard]] Yield base(const ApplicationSpec& spec, const PartitionState& state) const;

    RuleKind kind_;
    bool create_;
    std::string value_;
    Filter filter_;
    std::unique_ptr<const Rule> parent_;
};

} // namespace yk::placement
