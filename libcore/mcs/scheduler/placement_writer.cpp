// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scheduler/placement_writer.h"

#include <algorithm>

#include "libcore/base/check.h"
#include "libcore/base/fault_point.h"

namespace yk::mcs {
namespace {

[[nodiscard]] PlacementWriter::Changes take_out(std::map<std::int64_t, PlacementChange>& waiting, std::size_t most) {
    PlacementWriter::Changes taken;
    while (!waiting.empty() && taken.size() < most) {
        taken.push_back(std::move(waiting.begin()->second));
        waiting.erase(waiting.begin());
    }
    return taken;
}

} // namespace

void PlacementWriter::add(const ScheduleKey& key, const Changes& changes, std::optional<ScheduleState> state,
                          Instant now) {
    if (changes.empty()) return;
    Batch& batch = batches_[key];
    if (batch.waiting.empty()) batch.since = now;
    waiting_ -= batch.waiting.size();
    for (const PlacementChange& each : changes) batch.waiting.insert_or_assign(each.replica, each);
    waiting_ += batch.waiting.size();
    if (state) batch.state = state;
}

PlacementWriter::Changes PlacementWriter::take(const ScheduleKey& key) {
    const auto found = batches_.find(key);
    if (found == batches_.end()) return {};
    YK_CHECK(!found->second.is_writing, "a schedule is written once at a time");
    Changes taken = take_out(found->second.waiting, found->second.waiting.size());
    waiting_ -= taken.size();
    batches_.erase(found);
    return taken;
}

bool PlacementWriter::is_writing(const ScheduleKey& key) const {
    const auto found = batches_.find(key);
    return found != batches_.end() && found->second.is_writing;
}

void PlacementWriter::clear() {
    batches_.clear();
    waiting_ = 0;
    ++term_;
}

void PlacementWriter::turn(const rs::Lease& lease, Instant now) {
    if (refused_.is(lease.epoch)) return end_all(Fenced{"another instance leads"}, now);
    if (!lease.is_valid) return;
    for (auto& [key, batch] : batches_)
        if (!batch.is_writing && due(batch) <= now) write(key, batch, lease, now);
}

std::optional<Instant> PlacementWriter::next_due() const {
    std::optional<Instant> earliest;
    for (const auto& [key, batch] : batches_)
        if (!batch.is_writing) earliest = earliest ? std::min(*earliest, due(batch)) : due(batch);
    return earliest;
}

Instant PlacementWriter::due(const Batch& batch) const {
    const bool is_full = batch.waiting.size() >= settings_.most_changes;
    return std::max(is_full ? batch.since : batch.since + settings_.gather, batch.retry_at);
}

void PlacementWriter::write(const ScheduleKey& key, Batch& batch, const rs::Lease& lease, Instant now) {
    Changes changes = take_out(batch.waiting, settings_.most_changes);
    waiting_ -= changes.size();
    under_way_ += changes.size();
    batch.is_writing = true;
    batch.since = now;
    const std::optional<ScheduleState> state = std::exchange(batch.state, std::nullopt);
    queue_.add({std::string{kSchedulerService}, lease.epoch}, ChangePlacements{key.id, key.uid, changes, state},
               [this, key, changes, state, epoch = lease.epoch, term = term_](const WriteOutcome& outcome, Instant at) {
                   refused_.see(outcome, epoch);
                   under_way_ -= changes.size();
                   if (term == term_) finish(key, changes, state, outcome, at);
                   YK_FAULT(PlacementWritten);
               });
    YK_FAULT(PlacementHandedOut);
}

void PlacementWriter::finish(const ScheduleKey& key, const Changes& changes, std::optional<ScheduleState> state,
                             const WriteOutcome& outcome, Instant now) {
    const auto found = batches_.find(key);
    YK_CHECK(found != batches_.end() && found->second.is_writing, "what is being written is kept until it ends");
    Batch& batch = found->second;
    batch.is_writing = false;
    if (std::holds_alternative<Transient>(outcome)) return put_back(batch, changes, state, now);
    batch.failures = 0;
    batch.retry_at = {};
    if (batch.waiting.empty()) batches_.erase(found);
    on_end_(key, changes, outcome, now);
}

/// What came meanwhile is newer.
void PlacementWriter::put_back(Batch& batch, const Changes& changes, std::optional<ScheduleState> state, Instant now) {
    waiting_ -= batch.waiting.size();
    for (const PlacementChange& each : changes) batch.waiting.try_emplace(each.replica, each);
    waiting_ += batch.waiting.size();
    if (!batch.state) batch.state = state;
    batch.retry_at = now + rs::backoff(settings_.retry, batch.failures++, chance_);
}

/// Those with a write under way are ended when that is answered.
void PlacementWriter::end_all(const Fenced& outcome, Instant now) {
    std::vector<std::pair<ScheduleKey, Changes>> ended;
    for (auto& [key, batch] : batches_)
        if (!batch.waiting.empty()) ended.emplace_back(key, take_out(batch.waiting, batch.waiting.size()));
    waiting_ = 0;
    std::erase_if(batches_, [](const auto& each) { return !each.second.is_writing; });
    for (const auto& [key, changes] : ended) on_end_(key, changes, outcome, now);
}

} // namespace yk::mcs
