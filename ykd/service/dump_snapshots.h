#pragma once
// Snapshots of dumps that are fetched page by page (I-405, I-411): kept for 30 s per cursor, at most 8 per session.

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libcore/scheduler/view.h"
#include "protocol/wire/envelope.h"
#include "ykd/runtime/clock.h"

namespace yk::service {

/// What one partition contributes to a dump; only what the dump asks for is filled in.
struct DumpPart {
    std::string rm_id;
    std::string partition; // short
    std::optional<PartitionView> info;
    std::vector<QueueView> queues;
    std::vector<ApplicationView> applications;
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

/// Where a page begins.
struct PagePlace {
    SnapshotPtr snapshot;
    std::size_t start = 0; // of the main list, over all parts
};

/// Thread: any.
class DumpSnapshots {
public:
    /// The cursor of the next page.
    [[nodiscard]] std::string keep(const wire::Sid& session, PagePlace place);
    /// Nothing: unknown, of another session, or too old.
    [[nodiscard]] std::optional<PagePlace> find(const wire::Sid& session, const std::string& cursor);
    void sweep();
    /// I-436: the right to make a full dump, as long as it is held. nullptr: somebody else has it.
    [[nodiscard]] std::shared_ptr<void> claim_full_dump();

private:
    struct Kept {
        std::string cursor;
        wire::Sid session;
        PagePlace place;
        SteadyClock::time_point until;
    };
    void sweep_locked();

    std::mutex mutex_;
    std::weak_ptr<void> full_dump_;
    std::list<Kept> kept_; // oldest first
    std::uint64_t last_ = 0;
};

} // namespace yk::service
