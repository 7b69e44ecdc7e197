// SPDX-License-Identifier: Apache-2.0
#pragma once
// Settings of the framework, with the defaults of the specification (section 20). Plain values.

#include <cstddef>

#include "libcore/resource_state/backoff.h"

namespace yk::rs {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct ReconcileSettings {
    BackoffRange backoff{milliseconds{50}, seconds{60}};
    std::size_t batch = 256; // keys that are read together
    bool skip_known = true;  // an event that says what the cache has costs no read (rs R-037)
};

struct HandlerSettings {
    BackoffRange backoff{milliseconds{100}, minutes{5}};
    Duration deadline = seconds{30}; // a call that takes longer is announced as stalled
    unsigned dead_letter_after = 14; // failed attempts, about 9 minutes
    unsigned free_conflicts = 5;     // of them that are conflicts and do not count (rs R-090)
};

struct ResyncSettings {
    Duration period = minutes{10}; // 0: never by itself
    unsigned jitter_permille = 100;
    std::size_t page = 2000;
    std::size_t rows_per_second = 50'000;
    std::size_t pause_above_keys = 10'000;            // that wait for a live reconcile
    Duration pause_above_latency = milliseconds{100}; // of them, 99 of 100
    Duration unproven_after = seconds{5};             // a difference, where the log's head is not known (rs R-099)
};

struct StartSettings {
    Duration timeout = seconds{120}; // after that it goes on, but says so
    bool initial_add = true;         // handlers get what is there at the start
    unsigned full_reads = 5;         // that the log was purged under, before pages are made larger
};

struct Settings {
    ReconcileSettings reconcile;
    HandlerSettings handlers;
    ResyncSettings resync;
    StartSettings start;
    BackoffRange probe{milliseconds{100}, seconds{1}};     // of a database or log that is away
    BackoffRange poll{milliseconds{5}, milliseconds{100}}; // pauses of a log that has no events now
    std::size_t poll_batch = 4096;                         // events
    Duration unreadable_relist = minutes{1}; // at most so often for events that cannot be understood (rs R-055)
};

} // namespace yk::rs
