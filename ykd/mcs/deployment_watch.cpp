// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/deployment_watch.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "libcore/base/number.h"

namespace yk::service {
namespace {

/// What somebody who saw neither sees of two changes of the same Deployment, one after the other.
ChangeWhat both(ChangeWhat first, ChangeWhat second) {
    return first == ChangeWhat::Added && second == ChangeWhat::Modified ? ChangeWhat::Added : second;
}

/// One change for each life of a Deployment, where its last one stood.
std::vector<DeploymentChange> merged(std::vector<DeploymentChange> all) {
    std::unordered_map<std::string_view, std::size_t> last; // by uid
    std::vector<bool> is_over(all.size());
    for (std::size_t each = 0; each < all.size(); ++each) {
        const auto [known, is_new] = last.try_emplace(all[each].uid, each);
        if (is_new) continue;
        const std::size_t before = std::exchange(known->second, each);
        all[each].what = both(all[before].what, all[each].what);
        is_over[before] = true;
    }
    std::vector<DeploymentChange> left;
    for (std::size_t each = 0; each < all.size(); ++each)
        if (!is_over[each]) left.push_back(all[each]); // a copy: `last` looks into `all`
    return left;
}

} // namespace

std::string_view name_of(ChangeWhat what) {
    constexpr std::array<std::string_view, 3> kNames{"added", "modified", "deleted"};
    return kNames[static_cast<std::size_t>(what)];
}

DeploymentWatch::DeploymentWatch(std::string life, std::size_t most_kept)
    : life_(std::move(life)),
      most_kept_(most_kept),
      on_deployment_([this](ChangeWhat what, const mcs::Deployment& row) { note(what, row); }),
      on_scale_([this](ChangeWhat, const mcs::DeploymentScale& row) { note_child(row.owner); }),
      on_schedule_([this](ChangeWhat, const mcs::DeploymentSchedule& row) { note_child(row.owner); }) {}

void DeploymentWatch::attach(Deployments& deployments, Scales& scales, Schedules& schedules, Instant now) {
    deployments_ = &deployments.cache();
    rs::HandlerOptions options;
    options.wants_every_version = true;
    options.wants_initial = false;
    deployments.add_handler(on_deployment_, options, now);
    scales.add_handler(on_scale_, options, now);
    schedules.add_handler(on_schedule_, options, now);
}

// --- changes ---------------------------------------------------------------------------------------------------------

void DeploymentWatch::note(ChangeWhat what, const mcs::Deployment& deployment) {
    changes_.push_back({what, deployment.meta.id, deployment.name, deployment.meta.uid, deployment.partition});
    if (changes_.size() > most_kept_) changes_.pop_front();
    ++last_;
}

void DeploymentWatch::note_child(const mcs::Owner& owner) {
    const auto deployment = deployments_->get(owner.id);
    if (deployment && deployment->meta.uid == owner.uid) note(ChangeWhat::Modified, *deployment);
}

/// `LIFE-NUMBER`
std::string DeploymentWatch::cursor_at(std::uint64_t number) const {
    return life_ + "-" + std::to_string(number);
}

std::optional<std::uint64_t> DeploymentWatch::number_of(const std::string& cursor) const {
    if (!cursor.starts_with(life_ + "-")) return std::nullopt;
    const auto number = to_number<std::uint64_t>(std::string_view{cursor}.substr(life_.size() + 1));
    const bool is_known = number && *number <= last_ && *number >= last_ - changes_.size();
    return is_known ? number : std::nullopt;
}

DeploymentWatch::Page DeploymentWatch::read(const std::string& cursor, std::size_t most, std::string_view of) const {
    if (cursor.empty()) return {false, {}, cursor_at(last_), false};
    const auto after = number_of(cursor);
    if (!after) return {true, {}, cursor_at(last_), false};
    const std::size_t first = changes_.size() - static_cast<std::size_t>(last_ - *after);
    const std::size_t end = std::min(changes_.size(), first + kMostLookedAt);
    std::vector<DeploymentChange> found;
    std::size_t at = first;
    for (; at < end && found.size() < most; ++at)
        if (of.empty() || changes_[at].id == of || changes_[at].name == of) found.push_back(changes_[at]);
    return {false, merged(std::move(found)), cursor_at(*after + (at - first)), at < changes_.size()};
}

// --- waiting ---------------------------------------------------------------------------------------------------------

/// One whose cursor is not known is called at the next turn.
bool DeploymentWatch::wait(const std::string& cursor, Instant until, Waiter waiter) {
    if (waiting_.size() >= kMostWaiting) waiting_.remove_if([](const Waiting& each) { return each.waiter.is_gone(); });
    if (waiting_.size() >= kMostWaiting) return false;
    waiting_.push_back({number_of(cursor).value_or(last_ + 1), until, std::move(waiter)});
    return true;
}

/// Those who are called may wait again, in the same list.
bool DeploymentWatch::turn(Instant now) {
    std::list<Waiting> called;
    for (auto at = waiting_.begin(); at != waiting_.end();) {
        const auto next = std::next(at);
        if (at->after != last_ || now >= at->until) called.splice(called.end(), waiting_, at);
        at = next;
    }
    for (const Waiting& each : called) each.waiter.call(now);
    return !called.empty();
}

std::optional<Instant> DeploymentWatch::next_due() const {
    std::optional<Instant> due;
    for (const Waiting& each : waiting_) due = due ? std::min(*due, each.until) : each.until;
    return due;
}

void DeploymentWatch::stop(Instant now) {
    for (const Waiting& each : std::exchange(waiting_, {})) each.waiter.call(now);
}

} // namespace yk::service
