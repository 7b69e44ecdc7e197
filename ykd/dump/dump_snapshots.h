// SPDX-License-Identifier: Apache-2.0
#pragma once
// DumpSnapshots: what the pages of dumps are fetched from (I-405, I-411): snapshots, and positions in lists of the
// state, which are small. They are kept for 5 minutes per cursor; at most 8 dumps per session, and 64 MiB of all
// together.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libcore/ports/fragmentation_view.h"
#include "libcore/ports/view.h"
#include "protocol/si/tool_requests.h"
#include "ykd/request/cursors.h"

namespace yk::service {

/// What one partition contributes to a dump, or one chunk of it; only what the dump asks for is filled in.
struct DumpPart {
    std::string rm_id;
    std::string partition;     // short
    bool is_too_large = false; // only of a full dump: it cannot fit, and nothing was made
    std::optional<PartitionView> info;
    std::vector<QueueView> queues;
    std::vector<ApplicationView> applications;
    std::vector<std::uint64_t> positions; // of live applications: the position in the roster behind each
    std::vector<AskView> asks;
    std::vector<AllocationView> allocations;
    std::vector<NodeView> nodes;
    std::vector<ReservationView> reservations;
    std::vector<RuleView> rules;
    UsagePage users, groups;
    std::optional<FragmentationView> fragmentation;
};

/// A snapshot of all partitions that are asked for. Immutable once made.
struct DumpSnapshot {
    std::string what;
    Instant as_of;
    std::vector<DumpPart> parts; // one per partition, by RM and partition
};
using SnapshotPtr = std::shared_ptr<const DumpSnapshot>;

/// The dump of queues one by one, parents before children.
inline constexpr const char* kFlatQueues = "queues flat";
/// The dump of fragmentation node by node.
inline constexpr const char* kNodeFragments = "fragmentation flat";

/// What a Dump asks for (interface.md 5.2): the request with names in lower case where their case does not matter, and
/// within this daemon's limits.
struct DumpQuery : si::DumpRequest {
    std::size_t most = kAllObjects; // applications and nodes with more asks and allocations are shown without them
};

/// The applications of a partition in the order of their ids, while their pages are fetched.
struct Roster {
    ApplicationRoster unsorted; // while the roster is made
    bool complete = false;
    std::vector<std::uint64_t> order; // positions, as application_at() takes them
};
using RosterPtr = std::shared_ptr<Roster>; // not changed any more once it is in order

/// How far the snapshot of a partition has got.
struct SnapshotCursor {
    std::size_t stage = 0; // of collect_everything()
    ViewCursor view;
    std::size_t budget = 0; // objects that the chunk may still take
    bool is_live = false;   // pages are made from the state, not from a snapshot that is kept
    RosterPtr roster;       // of live applications
};

/// A partition whose list is read page by page.
struct LiveTarget {
    std::string rm_id; // not an RmPtr, so that a list keeps no RM alive
    std::string partition;
};

/// Where a list of the state continues.
struct LiveCursor {
    DumpQuery query;
    std::vector<LiveTarget> targets;
    std::size_t target = 0;          // the target at work, by its index
    bool opened = false;             // a page has begun with that target
    SnapshotCursor partition_cursor; // within that target
    Instant as_of;                   // of the first chunk
};

/// Where a page begins: in a snapshot, or in the state. One of the two pointers is set.
struct PageCursor {
    SnapshotPtr snapshot;
    std::size_t start = 0; // an index in the main list, over all parts of the snapshot
    std::shared_ptr<const LiveCursor> live;
};

inline constexpr CursorBounds kDumpBounds{
    "page-",
    std::chrono::minutes{5}, // whoever reads another list for each element needs time
    std::chrono::seconds{30},
    8,
    std::size_t{64} << 20U, // bytes
};

/// Owner: Daemon. Thread: any.
class DumpSnapshots {
public:
    /// Keeps where the next page begins and returns its cursor. `used`: the cursor of this page, which stays valid for
    /// whoever asks again; those before it are forgotten.
    [[nodiscard]] std::string keep(const CursorOwner& owner, PageCursor next, const std::string& used);
    /// Nothing: the cursor is unknown, of another session, or too old.
    [[nodiscard]] std::optional<PageCursor> find(const wire::Sid& session, const std::string& cursor);
    /// The last page was answered, whose cursor was `used`.
    void end(const wire::Sid& session, const std::string& used);
    /// Drops what was kept for too long.
    void sweep(SteadyClock::time_point now = SteadyClock::now());
    /// The right to make a full dump, for as long as the pointer is held (I-436). nullptr: somebody else has it.
    [[nodiscard]] std::shared_ptr<void> claim_full_dump();

private:
    std::mutex mutex_;
    std::weak_ptr<void> full_dump_;
    Cursors<PageCursor, kDumpBounds> cursors_;
};

} // namespace yk::service
