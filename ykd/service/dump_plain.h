#pragma once
// Dumps that are no pictures of partitions: what the daemon itself knows. And the full state dump (interface.md 5.5).

#include <optional>

#include "ykd/service/call.h"
#include "ykd/service/dump_kinds.h"
#include "ykd/service/dump_snapshots.h"
#include "ykd/service/dump_targets.h"

namespace yk::service {

/// The `data` of dumps clusters, config, confighistory, history, loglevels, streams. Nothing: another kind of dump, or
/// (`*answered`) the call was answered with what is wrong.
[[nodiscard]] std::optional<Value> plain_dump(const CallPtr& call, const DumpQuery& query, bool* answered);

/// I-435: everything. `snapshot` was made by collect_everything(), `diagnostics` by ask_rm_states().
/// `brief`: null stands for the lists that have dumps of their own, in pages.
[[nodiscard]] Value full_dump(const Viewer& viewer, const DumpSnapshot& snapshot, Value diagnostics, bool brief);

} // namespace yk::service
