// SPDX-License-Identifier: Apache-2.0
#pragma once
// Placement: which queue an application is placed in (sections 10 and 11 of config.md). The rules of a partition run in
// order; the first path that may be used wins. Reads the queues, changes nothing: the caller makes the queues.

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

/// Whether the tags force the application: it goes to the recovery queue when no rule takes it (C-345).
[[nodiscard]] bool is_forced(const Tags& tags);

/// Immutable; a reload replaces it as a whole (C-446).
class RuleChain {
public:
    /// Without rules: `provided` without create. The recovery rule is always the last one (C-315).
    explicit RuleChain(const std::vector<config::PlacementRule>& rules = {});

    /// Where the application is placed, or why it is rejected, with what became of each rule (C-330 to C-346).
    [[nodiscard]] Outcome place(const ApplicationSpec& spec, const QueueTree& queues) const;
    [[nodiscard]] const std::vector<Rule>& rules() const { return rules_; }

private:
    std::vector<Rule> rules_;
};

} // namespace yk::placement
