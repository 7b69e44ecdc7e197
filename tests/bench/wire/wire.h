// SPDX-License-Identifier: Apache-2.0
#pragma once
// Level wire: a client and a ykd as two processes over ipc, through the project's own protocol library.

#include <string>

#include "libcore/base/result.h"
#include "tests/bench/cases/placing.h"
#include "tests/bench/measure/measure.h"

namespace yk::bench {

/// The daemon of a run: its program, and whether it keeps deployments, of which there are none.
struct WireDaemon {
    std::string ykd;
    bool has_state = false; // a folder for it, which deployments need
    bool has_mcs = false;
};

/// All asks in requests of 1,000; from the first one sent to the last allocation received. The processor time is the
/// daemon's, until the last of them is acknowledged; so is RSS.
[[nodiscard]] Result<Sample> run_wire(const WireDaemon& daemon, const MakeWorkload& make);

/// W9: the asks of the workload but the last `steps` first, then the rest one by one, each from the call to its
/// callback.
[[nodiscard]] Result<Sample> run_wire_latency(const WireDaemon& daemon, const MakeWorkload& make, std::uint32_t steps);

} // namespace yk::bench
