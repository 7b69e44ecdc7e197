// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scheduler/application_comparison.h"

#include <utility>

#include "libcore/mcs/replicas/application_requests.h"

namespace yk::mcs {
namespace {

constexpr unsigned kEnough = 2; // lists

/// Not one that was submitted again since: that counts from its acceptance.
bool is_removed(const ScheduleMemory& memory) {
    return memory.phase == ApplicationPhase::Accepted && memory.unlisted >= kEnough;
}

} // namespace

void ApplicationComparison::take(const ApplicationsListed& list) {
    removed_.clear();
    unknown_.clear();
    table_.for_each([](ScheduleMemory& memory) { ++memory.unlisted; });
    std::unordered_map<std::string, bool> unknown;
    for (const Held& each : list.held) {
        if (ScheduleMemory* const memory = table_.find_application(each.application_id)) {
            memory->unlisted = 0;
        } else if (is_application_of_mcs(each.application_id)) {
            const auto before = unknown_taken_.find(each.application_id);
            const bool is_taken = before != unknown_taken_.end() && before->second;
            if (before != unknown_taken_.end() && !is_taken) unknown_.push_back(each);
            unknown.emplace(each.application_id, is_taken);
        }
    }
    unknown_taken_ = std::move(unknown);
    std::as_const(table_).for_each([&](const ScheduleMemory& memory) {
        if (is_removed(memory)) removed_.push_back(memory.row.meta.id);
    });
}

void ApplicationComparison::clear() {
    removed_.clear();
    unknown_.clear();
    unknown_taken_.clear();
}

ScheduleMemory* ApplicationComparison::take_removed() {
    while (!removed_.empty()) {
        ScheduleMemory* const memory = table_.find(removed_.back());
        removed_.pop_back();
        if (memory != nullptr && is_removed(*memory)) return memory;
    }
    return nullptr;
}

std::optional<ApplicationComparison::Held> ApplicationComparison::take_unknown() {
    while (!unknown_.empty()) {
        Held each = std::move(unknown_.back());
        unknown_.pop_back();
        if (table_.find_application(each.application_id) != nullptr) continue;
        unknown_taken_[each.application_id] = true;
        return each;
    }
    return std::nullopt;
}

} // namespace yk::mcs
