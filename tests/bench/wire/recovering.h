// SPDX-License-Identifier: Apache-2.0
#pragma once
// W8: what comes back after a restart, how fast, and what keeping it costs. A client and a ykd as two processes over
// ipc, as at level wire.

#include <cstdint>
#include <string>

#include "libcore/base/result.h"
#include "tests/bench/cases/placing.h"
#include "tests/bench/measure/measure.h"

namespace yk::bench {

/// W2's cluster with allocations that exist already: as many on each node.
struct RecoveryParameters {
    std::uint32_t nodes = 5000;
    std::uint32_t applications = 1000;
    std::uint32_t allocations = 100'000;
};

/// An RM registers with recovery and replays all it has, out of a memory of its own, to a ykd that knows nothing.
/// Sample: `seconds` from the registration to Running, `pause` to the report in the stream, which comes behind one
/// callback for each object.
[[nodiscard]] Result<Sample> run_recovery(const std::string& ykd, const RecoveryParameters& parameters);

enum class Owner { Served, Detached };
/// ykd is killed with SIGKILL and started at once; a served RM replays its own memory, the books (ykd --state) bring a
/// detached one back; then comes one ask. Sample: `seconds` from the kill to the allocation of that ask.
[[nodiscard]] Result<Sample> run_restart(const std::string& ykd, const RecoveryParameters& parameters, Owner owner);

/// W1 as level wire plays it, but for a detached RM, with its books or without. The end is when the last allocation
/// was read from the log of the stream.
[[nodiscard]] Result<Sample> run_wire_detached(const std::string& ykd, const MakeWorkload& make, bool with_books);

} // namespace yk::bench
