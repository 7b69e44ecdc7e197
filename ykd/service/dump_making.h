#pragma once
// Pictures of partitions and the full dump, made piece by piece on the owner threads and gone on with on a worker.

#include <functional>
#include <optional>
#include <vector>

#include "ykd/service/call.h"
#include "ykd/service/dump_kinds.h"
#include "ykd/service/dump_targets.h"

namespace yk::service {

void make_snapshot(Daemon& daemon, const DumpQuery& query, decltype(DumpKind::collect) collect,
                   std::vector<DumpTarget> targets, std::function<void(SnapshotPtr)> done);

/// The same when one piece of each partition holds all of it, else nullptr.
void make_small_snapshot(Daemon& daemon, const DumpQuery& query, decltype(DumpKind::collect) collect,
                         std::vector<DumpTarget> targets, std::function<void(SnapshotPtr)> done);

/// I-435. False: another one is being made (I-436), and `done` is not called. `done` gets nothing when what there is
/// cannot fit into `query.most` asks and allocations.
[[nodiscard]] bool make_full_dump(const Viewer& viewer, const DumpQuery& query, std::vector<DumpTarget> targets,
                                  std::function<void(std::optional<Value>)> done);

} // namespace yk::service
