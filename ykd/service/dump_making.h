#pragma once
// Pictures of partitions and the full dump, made piece by piece on the owner threads and gone on with on a worker.

#include <functional>
#include <vector>

#include "ykd/service/call.h"
#include "ykd/service/dump_kinds.h"
#include "ykd/service/dump_targets.h"

namespace yk::service {

void make_snapshot(Daemon& daemon, const DumpQuery& query, decltype(DumpKind::collect) collect,
                   std::vector<DumpTarget> targets, std::function<void(SnapshotPtr)> done);

/// I-435. False: another one is being made (I-436), and `done` is not called.
[[nodiscard]] bool make_full_dump(const Viewer& viewer, const DumpQuery& query, std::vector<DumpTarget> targets,
                                  std::function<void(Value)> done);

} // namespace yk::service
