#pragma once
// Placement: which queue an application goes to (config.md sections 10 and 11). The rules of a partition run in order;
// the first path that may be used wins. Reads the partition, changes nothing: whoever asks makes the queues.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/placement/rule.h"

namespace yk {
class Queue;
}

namespace yk::placement {

/// What became of one rule.
enum class StepResult : std::uint8_t { NoMatch, NotLeaf, Draining, NoAccess, Error, Chosen };
[[nodiscard]] std::string_view text_of(StepResult result); // as in explanations: NO_MATCH, NOT_LEAF, ...

struct Step {
    std::string rule; // `0 provided`, `recovery`, `root.default`
    std::string path; // what it yielded; empty: nothing
    StepResult result = StepResult::NoMatch;
    std::string text; // why it was not chosen, for a person
};

struct Outcome {
    Queue* queue = nullptr; // the leaf, when it exists
    Queue* above = nullptr; // else the queue below which `path` is to be created
    std::string path;       // lower case
    std::string reason;     // why there is none (C-331, C-341)
    std::vector<Step> steps;

    [[nodiscard]] bool found() const { return queue != nullptr || above != nullptr; }
};

/// C-345.
[[nodiscard]] bool is_forced(const Tags& tags);

/// Immutable; a reload replaces it as a whole (C-446).
class RuleChain {
public:
    /// C-315: without rules, `provided` without create. The recovery rule is always there, and last.
    explicit RuleChain(const std::vector<config::PlacementRule>& rules = {});

    /// C-330 to C-346.
    [[nodiscard]] Outcome place(const ApplicationSpec& spec, const PartitionState& state) const;
    [[nodiscard]] const std::vector<Rule>& rules() const { return rules_; }

private:
    std::vector<Rule> rules_;
};

} // namespace yk::placement
