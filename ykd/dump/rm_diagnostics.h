// SPDX-License-Identifier: Apache-2.0
#pragma once
// rmDiagnostics of a full dump (I-435): the states of the RMs with capability stateDump, as they report them. All are
// asked at the same time; none is waited for longer than kStateDumpLimit. Thread: any.

#include <functional>
#include <string_view>

#include "ykd/request/call.h"
#include "ykd/rm/rm_table.h"
#include "ykd/runtime/workers.h"

namespace yk::service {

/// A JSON text as a value; or {Error: why not}, when it is no JSON text, is nested too deeply for a message, or takes
/// more than `max_bytes` in one.
[[nodiscard]] Value diagnostics_value(std::string_view json, std::size_t max_bytes);

/// Asks those of the `rms` that have the capability, and calls `done` with {rmID: state} on a worker; or with {empty:
/// why}, at once, when none has it. `most`: bytes of the answer that the states are for, of which they get half.
void ask_rm_states(const std::vector<RmPtr>& rms, Workers& workers, std::size_t most, std::function<void(Value)> done);

} // namespace yk::service
