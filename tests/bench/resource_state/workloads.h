// SPDX-License-Identifier: Apache-2.0
#pragma once
// The workloads of resource state, one function each. Every one makes its database, measures in a process of its own,
// and fails where what it measured was not right: a change that was not applied, a cache that differs from the database
// at the end, or a repair.

#include "tests/bench/resource_state/figures.h"

namespace yk::bench {

// --- starting.cpp ----------------------------------------------------------------------------------------------------
[[nodiscard]] Result<Figures> run_cache_memory(const RunPlace& place); // rs-01
[[nodiscard]] Result<Figures> run_start(const RunPlace& place);        // rs-02

// --- following.cpp ---------------------------------------------------------------------------------------------------
[[nodiscard]] Result<Figures> run_backlog_of_log(const RunPlace& place); // rs-03 and rs-05
[[nodiscard]] Result<Figures> run_reads_of_cache(const RunPlace& place); // rs-11
[[nodiscard]] Result<Figures> run_queue_memory(const RunPlace& place);   // rs-12

// --- relaying.cpp ----------------------------------------------------------------------------------------------------
[[nodiscard]] Result<Figures> run_relay(const RunPlace& place); // rs-06

// --- live.cpp --------------------------------------------------------------------------------------------------------
[[nodiscard]] Result<Figures> run_live_writers(const RunPlace& place); // rs-04
[[nodiscard]] Result<Figures> run_latency(const RunPlace& place);      // rs-07
[[nodiscard]] Result<Figures> run_handlers(const RunPlace& place);     // rs-08
[[nodiscard]] Result<Figures> run_resync(const RunPlace& place);       // rs-09
[[nodiscard]] Result<Figures> run_orphan_diff(const RunPlace& place);  // rs-10

// --- autoscaling.cpp -------------------------------------------------------------------------------------------------
[[nodiscard]] Result<Figures> run_reconciler(const RunPlace& place); // rs-15
[[nodiscard]] Result<Figures> run_evaluation(const RunPlace& place); // rs-16

// --- daemons.cpp -----------------------------------------------------------------------------------------------------
[[nodiscard]] Result<Figures> run_replicas(const RunPlace& place); // rs-13
[[nodiscard]] Result<Figures> run_takeover(const RunPlace& place); // rs-14

} // namespace yk::bench
