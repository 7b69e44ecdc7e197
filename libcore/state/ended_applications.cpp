// SPDX-License-Identifier: Apache-2.0
#include "libcore/state/ended_applications.h"

#include <algorithm>
#include <utility>

namespace yk {

namespace {

constexpr std::uint64_t kLeastCounts = 1024; // removed queues whose counts are kept, whatever the budget

} // namespace

std::uint64_t bytes_of(const EndedApplication& ended) {
    const ApplicationView& view = ended.view;
    std::uint64_t bytes =
        bytes_of(view.id) + bytes_of(view.queue) + bytes_of(view.user) + bytes_of(view.rejected_message);
    for (const std::string& group : view.groups) bytes += bytes_of(group);
    for (const PlaceholderDataView& data : view.placeholder_data) bytes += bytes_of(data.task_group);
    return bytes;
}

bool EndedApplications::is_too_much(std::size_t kept) const {
    return kept > 0 && (kept > settings_.budget.ended || meter_.has_too_many_names());
}

void EndedApplications::keep(EndedApplication ended) {
    meter_.add(Held::Names, bytes_of(ended));
    completed_.push_back(std::move(ended));
    while (is_too_much(completed_.size())) forget_completed();
}

void EndedApplications::keep_rejected(EndedApplication rejected) {
    const auto known = rejected_ids_.find(rejected.view.id);
    if (known != rejected_ids_.end()) forget(rejected_.find(known->second));
    meter_.add(Held::Names, bytes_of(rejected));
    rejected_ids_[rejected.view.id] = rejected.serial;
    rejected_.emplace(rejected.serial, std::move(rejected));
    while (is_too_much(rejected_.size())) forget(rejected_.begin());
}

void EndedApplications::forget_completed() {
    meter_.take(Held::Names, bytes_of(completed_.front()));
    completed_.pop_front();
}

EndedApplications::Rejected::iterator EndedApplications::forget(Rejected::iterator rejected) {
    meter_.take(Held::Names, bytes_of(rejected->second));
    rejected_ids_.erase(rejected->second.view.id);
    return rejected_.erase(rejected);
}

bool EndedApplications::forget_oldest() {
    if (completed_.empty() && rejected_.empty()) return false;
    if (rejected_.empty() || (!completed_.empty() && completed_.front().serial < rejected_.begin()->first))
        forget_completed();
    else
        forget(rejected_.begin());
    return true;
}

EndedApplication* EndedApplications::find(std::uint64_t serial) {
    const auto completed =
        std::lower_bound(completed_.begin(), completed_.end(), serial,
                         [](const EndedApplication& each, std::uint64_t s) { return each.serial < s; });
    if (completed != completed_.end() && completed->serial == serial) return &*completed;
    const auto rejected = rejected_.find(serial);
    return rejected == rejected_.end() ? nullptr : &rejected->second;
}

const EndedApplication* EndedApplications::find_completed(std::string_view id) const {
    const auto found = std::find_if(completed_.rbegin(), completed_.rend(),
                                    [id](const EndedApplication& each) { return each.view.id == id; });
    return found == completed_.rend() ? nullptr : &*found;
}

const EndedApplication* EndedApplications::find_rejected(std::string_view id) const {
    const auto known = rejected_ids_.find(std::string{id});
    return known == rejected_ids_.end() ? nullptr : &rejected_.at(known->second);
}

void EndedApplications::purge_expired() {
    const auto expired = [](const EndedApplication& ended) { return ended.state == ApplicationState::Expired; };
    for (const EndedApplication& each : completed_)
        if (expired(each)) meter_.take(Held::Names, bytes_of(each));
    std::erase_if(completed_, expired);
    for (auto each = rejected_.begin(); each != rejected_.end();)
        each = expired(each->second) ? forget(each) : std::next(each);
}

EndedCounts& EndedApplications::counts_of(const std::string& queue) {
    const auto known = counts_.find(queue);
    if (known != counts_.end()) return known->second;
    if (counts_.size() >= queues_.size() + std::max(kLeastCounts, settings_.budget.ended))
        std::erase_if(counts_,
                      [this](const auto& each) { return !each.first.empty() && queues_.find(each.first) == nullptr; });
    return counts_[queue];
}

} // namespace yk
