// SPDX-License-Identifier: Apache-2.0
#pragma once
// The workloads rs-01 to rs-16, which are the targets P-01 to P-16 of docs/spec/resource-state.md.

#include "tests/bench/suite.h"

namespace yk::bench {

/// Plays those that were asked for, on each database that the target names. `ykd`: the daemon.
void run_resource_state(const Options& options, const std::string& ykd, Report& report);

} // namespace yk::bench
