// SPDX-License-Identifier: Apache-2.0
#pragma once
// The constants of the scheduler that tests and operators may change (scheduling.md, table of constants; C-468).

#include <chrono>

#include "libcore/base/time.h"
#include "libcore/ports/budget.h"

namespace yk {

/// What only saves time. Tests switch these off to show that no decision depends on them.
struct Shortcuts {
    bool blocks = true;               // a failed search for a shape is remembered from cycle to cycle
    bool summaries = true;            // a search skips groups of nodes by the largest amounts in them
    bool groups = true;               // equal asks of an application have one entry in its order
    std::size_t listed_victims = 256; // with more candidates for preemption their nodes are searched in an index
};

struct Settings {
    Duration reservation_delay = std::chrono::seconds{2};     // age of an ask that may reserve (S-403)
    Duration reservation_timeout = std::chrono::minutes{60};  // age of a reservation that may be dropped (S-413)
    Duration completing_timeout = std::chrono::seconds{30};   // from Completing to Completed (S-152)
    Duration terminated_timeout = std::chrono::hours{72};     // from the end to Expired (S-153)
    Duration expired_purge_interval = std::chrono::hours{24}; // expired applications are dropped (S-583)
    Duration queue_clean_interval = std::chrono::seconds{10}; // empty queues are removed (S-560)
    Duration inspection_interval = std::chrono::seconds{1};   // outstanding asks are looked for (S-520)
    Duration placeholder_timeout = std::chrono::minutes{15};  // of an application that sets none (G-007)
    Duration preemption_throttle = std::chrono::seconds{15};  // between two attempts of an ask (P-023)
    Duration preemption_unplaced = std::chrono::seconds{15};  // victims left, the ask still waits (P-079)
    Duration quota_interval = std::chrono::seconds{1};        // queues over their max are looked for (P-110)
    Duration release_confirm = std::chrono::minutes{5}; // a release not confirmed by then is announced again; 0: never
    Duration predicate_event_interval = std::chrono::seconds{15}; // between two events of an ask (S-605)
    bool quota_checks = true;                                     // P-111; off with a manual schedule
    bool reservations_disabled = false;                           // only required nodes are reserved (S-402)
    bool inspect_outstanding = true;                              // S-520; off with a manual schedule
    bool events_enabled = true;                                   // event.trackingEnabled
    Budget budget{};
    Shortcuts shortcuts{};
};

} // namespace yk
