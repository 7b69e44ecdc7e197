#pragma once
// What dumps are fetched from page by page (I-405, I-411): snapshots, and places in lists of the state, which are
// small; kept for 5 minutes per cursor. At most 8 dumps per session; in bytes all together are bounded.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libcore/scheduler/view.h"
#include "ykd/service/cursors.h"

namespace yk::service {

/// What one partition contributes to a dump; only what the dump asks for is filled in.
struct DumpPart {
    std::string rm_id;
    std::string partition;     // short
    bool is_too_large = false; // of a full dump: it cannot fit, nothing was made
    std::optional<PartitionView> info;
    std::vector<QueueView> queues;
    std::vector<ApplicationView> applications;
    std::vector<std::uint64_t> positions; // live applications: where the list goes on behind each
    std::vector<AskView> asks;
    std::vector<AllocationView> allocations;
    std::vector<NodeView> nodes;
    std::vector<ReservationView> reservations;
    std::vector<RuleView> rules;
    UsagePiece users, groups;
};

/// A picture of all partitions asked for. Immutable once made.
struct DumpSnapshot {
    std::string what;
    Instant as_of;
    std::vector<DumpPart> parts; // by RM, partition
};
using SnapshotPtr = std::shared_ptr<const DumpSnapshot>;

/// The dump of queues one by one, parents before children.
inline constexpr const char* kFlatQueues = "queues flat";

/// What a Dump asks for (interface.md 5.2).
struct DumpQuery {
    std::string what;
    std::string partition, rm_id, queue, application, key, node, user, group, state, status;
    std::optional<std::vector<std::string>> names; // of applications or nodes: only these, in whatever state they are
    bool subtree = false;
    std::size_t most = kAllObjects; // applications and nodes with more asks and allocations come without them
    std::uint32_t limit = 1000;
    std::string cursor;
};

/// The applications of a partition by id, while their pages are fetched: what ClusterContext::application_at() takes.
struct Roster {
    ApplicationRoster unsorted; // while it is made
    bool complete = false;
    std::vector<std::uint64_t> order;
};
using RosterPtr = std::shared_ptr<Roster>; // not changed any more when it is in order

/// How far the picture of a partition has got.
struct PicturePlace {
    std::size_t stage = 0;
    ViewPlace view;
    std::size_t room = 0; // objects that the piece may still take
    bool is_live = false; // of the state, not of a picture that is kept
    RosterPtr roster;     // live applications: who there is
};

struct LiveTarget {
    std::string rm_id; // by name: a list keeps no RM alive
    std::string partition;
};

/// Where a list of the state goes on.
struct LivePlace {
    DumpQuery query;
    std::vector<LiveTarget> targets;
    std::size_t target = 0; // the one at work
    bool opened = false;    // something was said of it
    PicturePlace picture;
    Instant as_of; // of the first piece
};

/// Where a page begins: in a snapshot, or in the state.
struct PagePlace {
    SnapshotPtr snapshot;
    std::size_t start = 0; // of the main list, over all parts
    std::shared_ptr<const LivePlace> live;
};

inline constexpr CursorBounds kDumpBounds{
    "page-",
    std::chrono::minutes{5}, // who reads a list within a list takes his time
    std::chrono::seconds{30},
    8,
    std::size_t{64} << 20U, // bytes
};

/// Thread: any.
class DumpSnapshots {
public:
    /// The cursor of the next page. `used`: the cursor of this one, which is kept for whoever asks again; those before
    /// it are forgotten.
    [[nodiscard]] std::string keep(const CursorOwner& owner, PagePlace place, const std::string& used);
    /// Nothing: unknown, of another session, or too old.
    [[nodiscard]] std::optional<PagePlace> find(const wire::Sid& session, const std::string& cursor);
    /// The last page was answered, whose cursor was `used`.
    void end(const wire::Sid& session, const std::string& used);
    void sweep(SteadyClock::time_point now = SteadyClock::now());
    /// I-436: the right to make a full dump, as long as it is held. nullptr: somebody else has it.
    [[nodiscard]] std::shared_ptr<void> claim_full_dump();

private:
    std::mutex mutex_;
    std::weak_ptr<void> full_dump_;
    Cursors<PagePlace, kDumpBounds> cursors_;
};

} // namespace yk::service
