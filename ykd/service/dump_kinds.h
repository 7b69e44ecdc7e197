#pragma once
// The dumps that are pictures of partitions: what each takes from a context, and how its elements are encoded.

#include <string>
#include <string_view>

#include "libcore/scheduler/cluster_context.h"
#include "ykd/service/dump_objects.h"
#include "ykd/service/dump_snapshots.h"

namespace yk::service {

struct DumpKind {
    std::string_view what;
    /// Fills in the next piece, on the owner thread; true: it was the last.
    bool (*collect)(const ClusterContext& context, const DumpQuery& query, PicturePlace& place, DumpPart& piece);
    /// The elements of the main list, one by one.
    std::size_t (*count)(const DumpPart& part);
    /// `brief`: it is too large with its lists.
    std::string (*encode)(const DumpPart& part, std::size_t index, bool brief);
    bool single = false;                     // one object, E_NOT_FOUND without
    const char* nest = nullptr;              // the list stands in a map per partition, under this key
    const char* nest_name = "partitionName"; // the key of its name there
    /// Lists that may be long: makes `place`, where the piece began, the place behind its first `taken` elements
    /// (at least one). nullptr: all of it is kept while its pages are fetched.
    void (*go_on)(const DumpPart& piece, std::size_t taken, PicturePlace& place) = nullptr;
};

/// nullptr: no such picture.
[[nodiscard]] const DumpKind* find_dump_kind(std::string_view what);
/// Everything of a partition, for the full state dump.
bool collect_everything(const ClusterContext& context, const DumpQuery& query, PicturePlace& place, DumpPart& piece);
/// Pieces of one partition become one part: add them in their order, then put it in order (I-404).
void add_piece(DumpPart& part, DumpPart&& piece);
void put_in_order(DumpPart& part);
/// The same for what a place of the state holds.
void put_in_order(PicturePlace& place);
[[nodiscard]] Value queue_of(const DumpPart& part, std::size_t index);
[[nodiscard]] Value application_of(const DumpPart& part, std::size_t index);
[[nodiscard]] Value user_of(const DumpPart& part, std::size_t index);
[[nodiscard]] Value group_of(const DumpPart& part, std::size_t index);

} // namespace yk::service
