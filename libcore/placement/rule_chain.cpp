#include "libcore/placement/rule_chain.h"

#include "libcore/config/names.h"
#include "libcore/scheduler/partition_state.h"

namespace yk::placement {

namespace {

constexpr std::string_view kDefaultPath = "root.default";

struct Verdict {
    StepResult result = StepResult::Chosen;
    std::string text;
};

/// C-432: a queue below a draining one counts as draining.
bool is_draining(const Queue& queue) {
    for (const Queue* each = &queue; each != nullptr; each = each->parent)
        if (each->state != ObjectState::Active) return true;
    return false;
}

/// C-330.1: whether the queue can take the application.
Verdict judge_existing(const Queue& queue, const ApplicationSpec& spec) {
    if (!queue.leaf) return {StepResult::NotLeaf, "queue " + queue.path + " is not a leaf"};
    if (!queue.grants_submit(spec.user, spec.groups))
        return {StepResult::NoAccess,
                "submit access to queue " + queue.path + " denied for user '" + std::string{spec.user} + "'"};
    if (is_draining(queue)) return {StepResult::Draining, "queue " + queue.path + " is draining"};
    return {};
}

/// C-330.2, C-240: whether `path` can be created below the deepest queue that exists.
Verdict judge_missing(const Queue& above, const std::string& path, const ApplicationSpec& spec) {
    if (!above.grants_submit(spec.user, spec.groups))
        return {StepResult::NoAccess, "submit access to queue " + above.path + " denied during create of: " + path};
    if (above.leaf)
        return {StepResult::NotLeaf, "creation of queue " + path + " failed parent is already a leaf: " + above.path};
    if (is_draining(above))
        return {StepResult::Draining, "cannot add a child queue when queue is marked for deletion: " + above.path};
    return {};
}

/// Takes the path if it may be used. `step`: what is told of it.
bool choose(const std::string& path, const ApplicationSpec& spec, const PartitionState& state, Outcome& outcome,
            Step& step) {
    Queue* deepest = state.find_deepest(path);
    const bool exists = deepest->path == path;
    Verdict verdict = exists ? judge_existing(*deepest, spec) : judge_missing(*deepest, path, spec);
    step.path = path;
    step.result = verdict.result;
    step.text = std::move(verdict.text);
    if (step.result != StepResult::Chosen) return false;
    (exists ? outcome.queue : outcome.above) = deepest;
    outcome.path = path;
    return true;
}

/// Every rule with why it did not match (B-08).
std::string refusal(const std::vector<Step>& steps) {
    std::string text = "application rejected: no placement rule matched (";
    for (const Step& step : steps) text += (&step == &steps.front() ? "" : "; ") + step.rule + ": " + step.text;
    return text + ")";
}

/// C-345: for a forced application only, without a look at access.
void recover(const PartitionState& state, Outcome& outcome) {
    outcome.path = kRecoveryPath;
    outcome.queue = state.find_queue(kRecoveryPath);
    if (outcome.queue == nullptr) outcome.above = state.root.get();
    outcome.steps.push_back({"recovery", outcome.path, StepResult::Chosen, {}});
}

/// C-340. Never created.
void fall_back(const ApplicationSpec& spec, const PartitionState& state, Outcome& outcome) {
    if (state.find_queue(kDefaultPath) == nullptr) return;
    Step step{std::string{kDefaultPath}, {}, {}, {}};
    choose(step.rule, spec, state, outcome, step);
    outcome.steps.push_back(std::move(step));
}

} // namespace

std::string_view text_of(StepResult result) {
    switch (result) {
    case StepResult::NoMatch: return "NO_MATCH";
    case StepResult::NotLeaf: return "NOT_LEAF";
    case StepResult::Draining: return "DRAINING";
    case StepResult::NoAccess: return "NO_ACCESS";
    case StepResult::Error: return "ERROR";
    case StepResult::Chosen: return "CHOSEN";
    }
    return {};
}

bool is_forced(const Tags& tags) {
    for (const Tag& tag : tags) {
        if (config::lower(tag.key) != "application.create.force") continue;
        for (const std::string_view yes : {"1", "t", "T", "true", "True", "TRUE"})
            if (tag.value == yes) return true;
    }
    return false;
}

RuleChain::RuleChain(const std::vector<config::PlacementRule>& rules) {
    for (const config::PlacementRule& rule : rules) rules_.emplace_back(rule);
    if (rules_.empty()) rules_.emplace_back(config::PlacementRule{"provided", false, {}, {}, {}, {}});
}

Outcome RuleChain::place(const ApplicationSpec& spec, const PartitionState& state) const {
    Outcome outcome;
    const bool forced = is_forced(spec.tags);
    for (const Rule& rule : rules_) {
        Yield yield = rule.apply(spec, state);
        Step step{std::to_string(&rule - rules_.data()) + " " + std::string{text_of(rule.kind())}, {}, {}, {}};
        const bool chosen = yield.kind == Yield::Kind::Path && choose(yield.text, spec, state, outcome, step);
        if (yield.kind != Yield::Kind::Path) {
            const bool error = yield.kind == Yield::Kind::Error;
            step.result = error ? StepResult::Error : StepResult::NoMatch;
            step.text = std::move(yield.text);
            if (error && !forced) outcome.reason = step.text; // C-331
        }
        outcome.steps.push_back(std::move(step));
        if (chosen || !outcome.reason.empty()) return outcome;
    }
    if (forced)
        recover(state, outcome);
    else
        fall_back(spec, state, outcome);
    if (!outcome.found()) outcome.reason = refusal(outcome.steps);
    return outcome;
}

} // namespace yk::placement
