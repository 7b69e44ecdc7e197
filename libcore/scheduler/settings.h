#pragma once
// The constants of the scheduler that tests and operators may change (scheduling.md, table of constants; C-468).

#include <chrono>

#include "libcore/base/time.h"
#include "libcore/scheduler/budget.h"

namespace yk {

/// What only saves time. Tests switch these off to show that no decision depends on them.
struct Shortcuts {
    bool blocks = true;               // what failed for a shape is remembered from cycle to cycle
    bool summaries = true;            // a search skips nodes by what their neighbourhood is known to have
    bool groups = true;               // equal asks of an application stand in its order as one
    std::size_t listed_victims = 256; // so few candidates are listed; for more, nodes are searched for in an index
};

struct Settings {
    Duration reservation_delay = std::chrono::seconds{2};     // S-403
    Duration reservation_timeout = std::chrono::minutes{60};  // S-413
    Duration completing_timeout = std::chrono::seconds{30};   // S-152
    Duration terminated_timeout = std::chrono::hours{72};     // S-153
    Duration expired_purge_interval = std::chrono::hours{24}; // S-583
    Duration queue_clean_interval = std::chrono::seconds{10}; // S-560
    Duration inspection_interval = std::chrono::seconds{1};   // S-520
    Duration placeholder_timeout = std::chrono::minutes{15};  // gang; G-nnn
    Duration preemption_throttle = std::chrono::seconds{15};  // P-023
    Duration preemption_unplaced = std::chrono::seconds{15};  // P-079
    Duration quota_interval = std::chrono::seconds{1};        // P-110
    Duration release_confirm = std::chrono::minutes{5}; // a release not confirmed by then is announced again; 0: never
    Duration predicate_event_interval = std::chrono::seconds{15}; // S-605
    bool quota_checks = true;                                     // P-111; off with a manual schedule
    bool reservations_disabled = false;                           // S-402
    bool inspect_outstanding = true;                              // S-520; off with a manual schedule
    bool events_enabled = true;                                   // event.trackingEnabled
    Budget budget{};
    Shortcuts shortcuts{};
};

} // namespace yk
