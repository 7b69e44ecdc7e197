// SPDX-License-Identifier: Apache-2.0
#pragma once
// DumpPager: answers with pages of dumps. A page is of a snapshot that is kept, or, for what does not fit into one
// chunk (docs/adr/0008), of the state as it is when that page is made. The state is read on the owner threads.

#include "ykd/dump/dump_kinds.h"
#include "ykd/dump/dump_snapshots.h"
#include "ykd/request/call.h"
#include "ykd/rm/rm_table.h"
#include "ykd/runtime/workers.h"

namespace yk::service {

/// Answers {asOf, complete, cursor?, data}, where `data` is `data_head` followed by `data`, both encoded.
void answer_dump(const CallPtr& call, Instant as_of, const std::string& cursor, std::string_view data_head,
                 std::string_view data);
/// How many bytes the data of an answer may have.
[[nodiscard]] std::size_t dump_limit(const Call& call);

/// Owner: Daemon. Thread: any.
class DumpPager {
public:
    DumpPager(const RmTable& rms, DumpSnapshots& kept, Workers& workers) : rms_(rms), kept_(kept), workers_(workers) {}

    /// Answers with the page of a snapshot from element `start` on. Of `query` only the limit and the cursor are used.
    void answer_page(const CallPtr& call, const DumpKind& kind, const SnapshotPtr& snapshot, std::size_t start,
                     const DumpQuery& query);
    /// Answers later with the page of the state from `live` on. REQUIRES: kind.go_on.
    void answer_live_page(const CallPtr& call, const DumpKind& kind, const LiveCursor& live, const DumpQuery& query);

private:
    class LivePage;

    const RmTable& rms_;
    DumpSnapshots& kept_;
    Workers& workers_;
};

} // namespace yk::service
