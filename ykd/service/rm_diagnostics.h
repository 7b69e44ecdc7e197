#pragma once
// rmDiagnostics of a full dump (I-435): what the RMs with capability stateDump say of themselves. All are asked at the
// same time; none is waited for longer than kStateDumpLimit.

#include <functional>
#include <string_view>

#include "ykd/service/call.h"
#include "ykd/service/dump_targets.h"

namespace yk::service {

/// A JSON text as a value; or {Error: why not}, when it is none, is nested deeper than a message may be, or takes more
/// than `room` bytes in one.
[[nodiscard]] Value diagnostics_value(std::string_view json, std::size_t room);

/// Goes on with {rmID: state} on a worker, or with {empty: why}.
void ask_rm_states(const Viewer& viewer, const DumpQuery& query, std::function<void(Value)> done);

} // namespace yk::service
