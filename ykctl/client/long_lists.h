// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes applications and nodes whose lists the daemon left out because they are long (`brief`). The lists are fetched
// page by page and are never held as a whole.

#include <cstdint>
#include <string>

#include "ykctl/client/context.h"
#include "ykctl/render/json_stream.h"

namespace yk::cli {

/// Writes one element of the dumps apps or nodes with its lists; `partition` of a node is that of the map around it.
[[nodiscard]] std::optional<Failure> write_whole(Context& context, JsonStream& to, const wire::Value& element,
                                                 const std::string& partition);

/// The asks or allocations of an application or node.
struct PartList {
    const char* member; // of the element that has them, unless that is `brief`
    const char* dump;   // that lists them
    std::int64_t count;
    std::string all; // the command that lists them
};
/// A table of the first few, with how many more there are and what shows them; with -o wide of all. Empty for none.
[[nodiscard]] Answer<std::string> first_rows(Context& context, const wire::Value& element, const PartList& list,
                                             const ListLayout& layout);
/// Prints an application or node in a machine format, with its lists also when they were left out.
[[nodiscard]] Outcome show_whole(Context& context, const wire::Value& element);

/// Writes a list of the queue trees of the visible partitions.
[[nodiscard]] std::optional<Failure> write_queue_trees(Context& context, JsonStream& to);

/// Writes the data of the dump `what`.
[[nodiscard]] std::optional<Failure> write_dump(Context& context, JsonStream& to, const std::string& what);

} // namespace yk::cli
