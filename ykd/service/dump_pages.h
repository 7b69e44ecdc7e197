#pragma once
// Pages of dumps: of a snapshot that is kept, or, when there is more than one piece holds (adr 0008), of the state as
// it is when each page is made. Thread: any; the state is read on the owner threads.

#include "ykd/service/call.h"
#include "ykd/service/dump_kinds.h"
#include "ykd/service/dump_snapshots.h"
#include "ykd/service/dump_targets.h"

namespace yk::service {

/// {asOf, complete, cursor?, data} with `data` in encoded form, in two pieces.
void answer_dump(const CallPtr& call, Instant as_of, const std::string& cursor, std::string_view data_head,
                 std::string_view data);
/// Bytes that the data of an answer may have.
[[nodiscard]] std::size_t dump_room(const Call& call);

/// The page of a snapshot from `start` on. Of `query` the limit and the cursor are looked at.
void answer_page(const CallPtr& call, const DumpKind& kind, const SnapshotPtr& snapshot, std::size_t start,
                 const DumpQuery& query);
/// The page of the state from `place` on. REQUIRES: kind.go_on.
void answer_live_page(const CallPtr& call, const DumpKind& kind, const LivePlace& place, const DumpQuery& query);

} // namespace yk::service
