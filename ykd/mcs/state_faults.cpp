// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/state_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "libcore/base/pluralize.h"

namespace yk::service {
namespace {

constexpr int kMostPeriods = 3;
constexpr unsigned kMostRestarts = 5;

std::int64_t seconds_of(Duration time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

std::string rows_fault(const std::vector<rs::KindStatus>& kinds) {
    std::size_t count = 0;
    std::string first;
    for (const rs::KindStatus& kind : kinds) {
        count += kind.broken_rows;
        if (first.empty() && !kind.broken.empty())
            first = fmt::format("{} {}: {}", kind.name, kind.broken.front().id, kind.broken.front().why);
    }
    if (count == 0) return {};
    return fmt::format("{} cannot be understood, of which the last good content counts, first {}; mend it in the "
                       "database, ykctl mcs status -o json names more",
                       pluralize(count, "row"), first);
}

std::string resync_fault(const std::vector<rs::KindStatus>& kinds, Duration period, Instant running_since,
                         Instant now) {
    for (const rs::KindStatus& kind : kinds) {
        const Duration age = now - std::max(kind.read_whole.value_or(running_since), running_since);
        if (age / kMostPeriods <= period) continue;
        return fmt::format(
            "the rows of {} were not read as a whole for {} s, though mcs.resync.period is {} s{}; raise "
            "mcs.resync.rowsPerSecond if there are too many",
            kind.name, seconds_of(age), seconds_of(period),
            kind.last_scan && kind.last_scan->was_aborted ? ": " + kind.last_scan->fault : "");
    }
    return {};
}

std::string restarts_fault(const rs::StateManager::StartTrouble& trouble) {
    const std::string count = pluralize(trouble.restarts, "time");
    if (trouble.reason == name_of(rs::RelistReason::Purged))
        return fmt::format("the first read of all rows began again {}, the last time since the change log is purged "
                           "before it ends; raise mcs.log.retention and mcs.log.maxRows",
                           count);
    return fmt::format("the first read of all rows began again {}, the last time for this reason: {}; until that is "
                       "mended it is tried again, and nothing is done for deployments",
                       count, trouble.reason);
}

std::string start_fault(const rs::StateManager& manager, Duration patience, Instant now) {
    if (manager.is_running()) return {};
    if (const auto trouble = manager.start_trouble(); trouble.restarts >= kMostRestarts) return restarts_fault(trouble);
    const Duration age = manager.staleness(now);
    if (age < patience) return {};
    return fmt::format("the first read of all rows takes {} s already, and until it ends nothing is done for "
                       "deployments; ykctl mcs status shows how far it is",
                       seconds_of(age));
}

} // namespace

StateFaults faults_of(const rs::StateManager& manager, const rs::Settings& settings, Instant running_since,
                      Instant now) {
    const std::vector<rs::KindStatus> kinds = manager.status();
    StateFaults faults{rows_fault(kinds), {}, start_fault(manager, settings.start.timeout, now)};
    if (manager.is_running() && manager.is_store_up() && settings.resync.period > Duration{})
        faults.resync = resync_fault(kinds, settings.resync.period, running_since, now);
    return faults;
}

} // namespace yk::service
