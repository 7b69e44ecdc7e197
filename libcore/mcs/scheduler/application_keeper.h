// SPDX-License-Identifier: Apache-2.0
#pragma once
// ApplicationKeeper: submits the applications of schedules to the core, asks for their replicas, releases them, and
// tries again later what the core has refused (rs ).
//
// Asks wait here until their application is accepted, and while too many placements wait for the database; one that is
// out of date by then is dropped.
//
// Owner: Scheduler. Thread: its owner's.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "libcore/mcs/replicas/core_requests.h"
#include "libcore/mcs/scheduler/schedule_memory.h"
#include "libcore/resource_state/backoff.h"

namespace yk::mcs {

class ApplicationKeeper {
public:
    struct Settings {
        rs::BackoffRange refused{std::chrono::seconds{1}, std::chrono::minutes{5}}; // until the next try
        std::size_t most_requests = 5'000; // that wait for the core when asks are added to them
    };

    /// Both must outlive it.
    ApplicationKeeper(ScheduleTable& table, CoreRequests& requests, const Settings& settings, std::uint64_t seed)
        : table_(table), requests_(requests), settings_(settings), chance_(seed) {}

    /// Whether the core takes what is new: it is there, and recovers nothing.
    void set_open(bool is_open) { is_open_ = is_open; }
    /// The core has gone, with all that it had.
    void clear();

    /// Submits the application, if it is wanted, is not there, and may be submitted again by now.
    void submit(ScheduleMemory& memory, Instant now);
    /// Submits it whatever there is, in a recovery.
    void restore(ScheduleMemory& memory);
    /// It is to go from this partition, with its asks and allocations.
    void withdraw(ScheduleMemory& memory, const std::string& partition);
    void release(const ScheduleMemory& memory, const std::vector<std::string>& keys);
    /// Those of the replicas that are pending are asked for. REQUIRES: they are in the database.
    void ask(const ScheduleMemory& memory, const std::vector<std::int64_t>& replicas);
    /// All that are pending.
    void ask_all(const ScheduleMemory& memory);
    /// Hands out asks that wait, while `may_ask`.
    void send_asks(bool may_ask);
    /// Whether send_asks(true) would do something.
    [[nodiscard]] bool has_asks() const { return is_open_ && !asks_.empty() && !is_full(); }

    /// The core has refused the application or an ask of it.
    void refused(ScheduleMemory& memory, const std::string& why, Instant now);
    /// What it has refused may be tried at once.
    static void forgive(ScheduleMemory& memory, Instant now);

private:
    struct Ask {
        std::string id;
        std::int64_t replica;
        std::string key;
    };

    [[nodiscard]] bool is_full() const { return requests_.size() >= settings_.most_requests; }
    void send(const Ask& ask);

    ScheduleTable& table_;
    CoreRequests& requests_;
    const Settings settings_;
    rs::Chance chance_;
    std::deque<Ask> asks_;
    bool is_open_ = false;
};

/// Whether the core has the application, or will have it.
[[nodiscard]] inline bool is_submitted(const ScheduleMemory& memory) {
    return memory.phase == ApplicationPhase::Submitted || memory.phase == ApplicationPhase::Accepted;
}

} // namespace yk::mcs
