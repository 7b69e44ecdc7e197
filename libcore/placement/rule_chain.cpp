// SPDX-License-Identifier: Apache-2.0
#include "libcore/placement/rule_chain.h"

#include "libcore/config/names.h"

namespace yk::placement {

namespace {

constexpr std::string_view kDefaultPath = "root.default";

struct Verdict {
    StepResult result = StepResult::Chosen;
    std::string text;
};

/// A queue below a draining one counts as draining (C-432).
bool is_draining(const Queue& queue) {
    for (const Queue* each = &queue; each != nullptr; each = each->parent)
        if (each->state != ObjectState::Active) return true;
    return false;
}

/// Whether the queue can take the application (C-330.1).
Verdict judge_existing(const Queue& queue, const ApplicationSpec& spec) {
    if (!queue.leaf) return {StepResult::NotLeaf, "queue " + queue.path + " is not a leaf"};
    if (!queue.grants_submit(spec.user, spec.groups))
        return {StepResult::NoAccess,
                "submit access to queue " + queue.path + " denied for user '" + std::string{spec.user} + "'"};
    if (is_draining(queue)) return {StepResult::Draining, "queue " + queue.path + " is draining"};
    return {};
}

/// Whether `path` can be created below the deepest queue that exists (C-330.2, C-240).
Verdict judge_missing(const Queue& above, const std::string& path, const ApplicationSpec& spec) {
    if (!above.grants_submit(spec.user, spec.groups))
        return {StepResult::NoAccess, "submit access to queue " + above.path + " denied during create of: " + path};
    if (above.leaf)
        return {StepResult::NotLeaf, "creation of queue " + path + " failed parent is already a leaf: " + above.path};
    if (is_draining(above))
        return {StepResult::Draining, "cannot add a child queue when queue is marked for deletion: " + above.path};
    return {};
}

/// Takes the path for `outcome` if it may be used; fills `step` either way.
bool choose(const std::string& path, const ApplicationSpec& spec, const QueueTree& queues, Outcome& outcome,
            Step& step) {
    Queue* deepest = &queues.find_deepest(path);
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

/// The reason of the rejection: every rule with why it did not match (B-08).
std::string refusal(const std::vector<Step>& steps) {
    std::string text = "application rejected: no placement rule matched (";
    for (const Step& step : steps) text += (&step == &steps.front() ? "" : "; ") + step.rule + ": " + step.text;
    return text + ")";
}

/// Places a forced application in the recovery queue, whatever the ACLs (C-345).
void recover(const QueueTree& queues, Outcome& outcome) {
    outcome.path = kRecoveryPath;
    outcome.queue = queues.find(kRecoveryPath);
    if (outcome.queue == nullptr) outcome.above = &queues.root();
    outcome.steps.push_back({"recovery", outcome.path, StepResult::Chosen, {}});
}

/// Tries root.default if it exists; it is never created (C-340).
void fall_back(const ApplicationSpec& spec, const QueueTree& queues, Outcome& outcome) {
    if (queues.find(kDefaultPath) == nullptr) return;
    Step step{std::string{kDefaultPath}, {}, {}, {}};
    choose(step.rule, spec, queues, outcome, step);
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

Outcome RuleChain::place(const ApplicationSpec& spec, const QueueTree& queues) const {
    Outcome outcome;
    const bool forced = spec.forced || is_forced(spec.tags);
    for (const Rule& rule : rules_) {
        Yield yield = rule.apply(spec, queues);
        Step step{std::to_string(&rule - rules_.data()) + " " + std::string{rule.kind().name}, {}, {}, {}};
        const bool chosen = yield.kind == Yield::Kind::Path && choose(yield.text, spec, queues, outcome, step);
        if (yield.kind != Yield::Kind::Path) {
            const bool error = yield.kind == Yield::Kind::Error;
            step.result = error ? StepResult::Error : StepResult::NoMatch;
            step.text = std::move(yield.text);
            if (error && !forced) outcome.reason = step.text; // ends the chain (C-331)
        }
        outcome.steps.push_back(std::move(step));
        if (chosen || !outcome.reason.empty()) return outcome;
    }
    if (forced)
        recover(queues, outcome);
    else
        fall_back(spec, queues, outcome);
    if (!outcome.found()) outcome.reason = refusal(outcome.steps);
    return outcome;
}

} // namespace yk::placement
