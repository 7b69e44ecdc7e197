// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scheduler/application_keeper.h"

#include <utility>

#include "libcore/mcs/replicas/application_requests.h"

namespace yk::mcs {
namespace {

constexpr std::size_t kMostMessage = 500; // bytes; it is kept in the row

} // namespace

void ApplicationKeeper::clear() {
    is_open_ = false;
    asks_.clear();
    requests_.clear();
    table_.for_each([](ScheduleMemory& memory) { memory.phase = ApplicationPhase::Absent; });
}

void ApplicationKeeper::submit(ScheduleMemory& memory, Instant now) {
    if (is_open_ && !is_submitted(memory) && memory.counts.wanted() > 0 && now >= memory.submit_at) restore(memory);
}

void ApplicationKeeper::restore(ScheduleMemory& memory) {
    requests_.add(application_of(memory.row, memory.status.application));
    memory.phase = ApplicationPhase::Submitted;
    memory.asked.clear();
}

void ApplicationKeeper::withdraw(ScheduleMemory& memory, const std::string& partition) {
    if (is_submitted(memory)) requests_.add(RemoveApplication{memory.row.application_id, partition});
    memory.phase = ApplicationPhase::Absent;
}

void ApplicationKeeper::release(const ScheduleMemory& memory, const std::vector<std::string>& keys) {
    if (!is_submitted(memory)) return;
    for (const std::string& key : keys)
        requests_.add(ReleaseReplica{memory.row.application_id, memory.status.application.partition, key});
}

void ApplicationKeeper::ask(const ScheduleMemory& memory, const std::vector<std::int64_t>& replicas) {
    if (memory.phase != ApplicationPhase::Accepted) return; // all are asked for when it is
    for (const std::int64_t replica : replicas) {
        const Placement* const placement = memory.find(replica);
        if (placement != nullptr && placement->state == PlacementState::Pending)
            asks_.push_back({memory.row.meta.id, replica, placement->allocation_key});
    }
}

void ApplicationKeeper::ask_all(const ScheduleMemory& memory) {
    for (const Placement& each : memory.row.placements)
        if (each.state == PlacementState::Pending)
            asks_.push_back({memory.row.meta.id, each.replica, each.allocation_key});
}

void ApplicationKeeper::send_asks(bool may_ask) {
    while (may_ask && has_asks()) {
        const Ask first = std::move(asks_.front());
        asks_.pop_front();
        send(first);
    }
}

void ApplicationKeeper::send(const Ask& ask) {
    ScheduleMemory* const memory = table_.find(ask.id);
    if (memory == nullptr || memory->phase != ApplicationPhase::Accepted) return;
    const Placement* const placement = memory->find(ask.replica);
    if (placement == nullptr || placement->allocation_key != ask.key || placement->state != PlacementState::Pending)
        return;
    constexpr std::int64_t kNone = -1;
    std::int64_t& asked = memory->asked.try_emplace(ask.replica, kNone).first->second;
    if (std::exchange(asked, placement->attempt) == placement->attempt) return;
    requests_.add(ask_of(memory->row.application_id, memory->status, *placement));
}

/// Many asks that are refused together are one failure.
void ApplicationKeeper::refused(ScheduleMemory& memory, const std::string& why, Instant now) {
    memory.message = why.substr(0, kMostMessage);
    if (now < memory.submit_at) return;
    memory.submit_at = now + rs::backoff(settings_.refused, memory.refusals++, chance_);
}

void ApplicationKeeper::forgive(ScheduleMemory& memory, Instant now) {
    memory.refusals = 0;
    memory.submit_at = now;
}

} // namespace yk::mcs
