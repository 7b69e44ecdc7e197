// SPDX-License-Identifier: Apache-2.0
#pragma once
// The dumps that are snapshots of partitions: what each takes from a partition's state, and how its elements are
// encoded. Pure. Thread: what reads the state runs on the owner thread, the rest on any.

#include <string>
#include <string_view>

#include "libcore/state/partition_state.h"
#include "ykd/dump/dump_objects.h"
#include "ykd/dump/dump_snapshots.h"

namespace yk::service {

/// One kind of dump. All are in a constant table.
struct DumpKind {
    std::string_view what; // of the request
    /// Fills in the next chunk and moves the cursor, on the owner thread. True: it was the last of the partition.
    bool (*collect)(const PartitionState& state, const DumpQuery& query, SnapshotCursor& cursor, DumpPart& chunk);
    /// How many elements the main list has.
    std::size_t (*count)(const DumpPart& part);
    /// Encodes one element of the main list. `brief`: without its own lists, because it is too large with them.
    std::string (*encode)(const DumpPart& part, std::size_t index, bool brief);
    bool single = false;                     // one object; E_NOT_FOUND when there is none
    const char* nest = nullptr;              // the key of the list in a map per partition; nullptr: there are no maps
    const char* nest_name = "partitionName"; // the key of the partition's name in that map
    /// For lists that may be long: moves `cursor` from where the chunk began to behind its first `taken` elements (at
    /// least one). nullptr: the whole snapshot is kept while its pages are fetched.
    void (*go_on)(const DumpPart& chunk, std::size_t taken, SnapshotCursor& cursor) = nullptr;
};

/// nullptr: there is no such kind.
[[nodiscard]] const DumpKind* find_dump_kind(std::string_view what);
/// Takes everything of a partition, for the full state dump; as DumpKind::collect.
bool collect_everything(const PartitionState& state, const DumpQuery& query, SnapshotCursor& cursor, DumpPart& chunk);
/// Moves a chunk to the end of the part of its partition.
void add_chunk(DumpPart& part, DumpPart&& chunk);
/// Sorts the lists of a part to which all chunks were added (I-404).
void put_in_order(DumpPart& part);
/// Sorts the roster of a cursor once it is complete; does nothing at other times. Costs O(n log n), so not on an owner
/// thread.
void put_in_order(SnapshotCursor& cursor);

// One element of a part's list as a value.
[[nodiscard]] Value queue_of(const DumpPart& part, std::size_t index);
[[nodiscard]] Value application_of(const DumpPart& part, std::size_t index);
[[nodiscard]] Value user_of(const DumpPart& part, std::size_t index);
[[nodiscard]] Value group_of(const DumpPart& part, std::size_t index);

} // namespace yk::service
